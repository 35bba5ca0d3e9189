"""SDKs that nobody has told semel of: whether their source leads to an HTTP client, and how surely."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest
from check_programs import model_of

from semel.compiler.model import Operation

pytestmark = pytest.mark.rule("A3")

SDK = {
    "__init__.py": "from ._client import Thing, Things, fetch, make\nraise RuntimeError\n",
    "_client.py": """\
from __future__ import annotations
import httpx
from functools import cached_property
from ._things import Things
class Thing:
    def __init__(self, owner: Things) -> None: self.owner = owner
    def refresh(self) -> None: self.owner.get_one("x")
    def describe(self) -> str: return str(self)
class Client:
    _http: httpx.Client
    token: str | None
    def __init__(self, key: str) -> None: self._http = httpx.Client()
    @cached_property
    def things(self) -> Things: return Things(self)
    def send_one(self, path: str) -> dict: return self._http.post(path).json()
    def with_key(self, key: str) -> Client: return Client(key)
    def close(self) -> None: self._http.close()
    def ensure_token(self) -> str:
        if self.token is None:
            self.token = self.send_one("/token")["token"]
        return self.token
def make(key: str) -> Client: return Client(key)
def fetch(url: str) -> bytes:
    with httpx.stream("GET", url) as answer:
        return answer.read()
""",
    "_things.py": """\
from __future__ import annotations
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from ._client import Client, Thing
class Base:
    def __init__(self, client: Client) -> None:
        self._client = client
        self._send = client.send_one
class Things(Base):
    def get_one(self, name: str) -> Thing: return self._send("/one")
    def name_of(self, thing: Thing) -> str: return thing.describe()
    def many(self) -> Pages: return Pages(self)
class Pages:
    def __init__(self, things: Things) -> None: self.things = things
    def __iter__(self): yield self.things.get_one("x")
""",
}


@pytest.fixture(scope="module")
def sdk(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A package that requires httpx, and raises when it is imported."""
    name = "madeup_sdk"
    folder = tmp_path_factory.mktemp("site")
    for file, text in SDK.items():
        (folder / name).mkdir(exist_ok=True)
        (folder / name / file).write_text(text)
    (folder / "madeup_plain").mkdir()
    (folder / "madeup_plain" / "__init__.py").write_text("import httpx\ndef fetch(): return httpx.get('x')\n")
    for distribution, requires in (("madeup-sdk", "httpx>=0.2"), ("madeup-plain", 'httpx; extra == "http"')):
        info = folder / f"{distribution.replace('-', '_')}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1\nRequires-Dist: {requires}\n"
        )
    return str(folder)


def operations(call: str, sdk: str, monkeypatch: pytest.MonkeyPatch) -> list[Operation]:
    monkeypatch.syspath_prepend(sdk)
    importlib.invalidate_caches()
    model = model_of(f"import madeup_sdk, madeup_plain\ndef f(x, c: madeup_sdk._client.Client):\n    {call}\n")
    assert not {"madeup_sdk", "madeup_plain"} & sys.modules.keys()
    return [call.operation for call in model.functions["shop:f"].calls if call.operation is not None]


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("madeup_sdk.make('k').send_one('p')", "madeup_sdk.Client.send_one"),
        ("madeup_sdk.make('k').with_key('l').things.get_one('p')", "madeup_sdk.Things.get_one"),
        ("c.things.get_one('p')", "madeup_sdk.Things.get_one"),
        ("madeup_sdk.fetch('u')", "madeup_sdk.fetch"),
        ("madeup_sdk.Thing(x).refresh()", "madeup_sdk.Thing.refresh"),
    ],
)
def test_a_method_that_always_makes_a_request_is_a_step(
    call: str, name: str, sdk: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (operation,) = operations(call, sdk, monkeypatch)
    assert (operation.name, operation.sure, operation.source, operation.library) == (name, True, "sdk", "madeup_sdk")


@pytest.mark.parametrize(
    ("call", "name"),
    [("c.ensure_token()", "madeup_sdk.Client.ensure_token"), ("c.things.many()", "madeup_sdk.Things.many")],
)
def test_one_that_makes_it_sometimes_or_later_is_known_and_never_refused(
    call: str, name: str, sdk: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (operation,) = operations(call, sdk, monkeypatch)
    assert operation.name == name
    assert not operation.sure


@pytest.mark.parametrize(
    "call",
    [
        "madeup_sdk.make('k')",
        "c.with_key('l')",
        "c.close()",
        "c.things.name_of(x)",
        "madeup_sdk.Thing(x).describe()",
        "madeup_plain.fetch()",
    ],
)
def test_what_makes_no_request_and_what_only_an_extra_requires_is_none(
    call: str, sdk: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert operations(call, sdk, monkeypatch) == []


def test_what_an_sdk_does_not_show_is_said_to_be_unknown(sdk: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(sdk)
    model = model_of("import madeup_sdk\ndef f(): madeup_sdk.make('k').nothing_of_this_name()\n")
    (call,) = [call for call in model.functions["shop:f"].calls if call.lost]
    assert call.lost == "madeup_sdk is built on an HTTP client, and its source does not show what this is"


def test_the_files_of_the_sdk_are_read_and_never_run(sdk: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Path(sdk, "madeup_sdk", "__init__.py").read_text().endswith("raise RuntimeError\n")
    assert operations("madeup_sdk.fetch('u')", sdk, monkeypatch)
