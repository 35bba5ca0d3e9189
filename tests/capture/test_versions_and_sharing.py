"""Records outlive the versions of an SDK, and a client may serve a run and a request handler at the same time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from counting_server import Counting
from harness import case

FIRST = """
import httpx
VERSION = 1

class Charge:
    def __init__(self, id, amount):
        self.id, self.amount = id, amount

    @classmethod
    def create(cls, url):
        said = httpx.post(url + "/charges", trust_env=False).json()
        return cls(said["path"], said["count"])
"""

SECOND = """
import dataclasses
import httpx
VERSION = 2
_client = httpx.Client(trust_env=False)

@dataclasses.dataclass
class Charge:
    id: str
    amount: int
    currency: str = "eur"

    @classmethod
    def create(cls, url, *, currency="eur"):
        answer = _client.request("POST", url + "/charges?currency=" + currency, headers={"x-sdk": "2"})
        return cls(answer.json()["path"], answer.json()["count"])
"""


@pytest.fixture
def server() -> Iterator[Counting]:
    with Counting() as made:
        yield made


@pytest.mark.rule("A11")
@pytest.mark.rule("D1")
def test_what_one_version_of_an_sdk_recorded_the_next_one_reads(tmp_path: Path, server: Counting) -> None:
    versions = {}
    for name, text in (("first", FIRST), ("second", SECOND)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "vendor_sdk.py").write_text(text)
        versions[name] = str(tmp_path / name)
    run = case("versions_program", "charged", server.url, folder=tmp_path)
    live = run.attempt("body.before_commit:1", SDK=versions["first"])
    server.stop()
    again = run.attempt(SDK=versions["second"])
    assert live.shown == [
        {"mapping": "builtins.dict", "vars": {}, "items": [["id", "/charges"], ["amount", 1], ["version", 1]]}
    ]
    assert again.shown[0]["items"] == [["id", "/charges"], ["amount", 1], ["version", 2]]
    assert run.steps() == ["charged/start@1#auto:vendor_sdk.Charge.create"]
    assert again.result == "/charges"


@pytest.mark.rule("A6")
def test_a_request_handler_that_shares_the_client_is_not_recorded(tmp_path: Path, server: Counting) -> None:
    run = case("versions_program", "beside_a_handler", server.url, folder=tmp_path)
    live = run.live()
    assert sorted(server.asked) == [*(f"GET /body/{number}" for number in range(3)), *["GET /handler"] * 3]
    server.stop()
    assert run.replayed().shown == live.shown
    assert run.steps() == [f"beside_a_handler/start@1[{number}]#auto:httpx.Client.get" for number in range(3)]
