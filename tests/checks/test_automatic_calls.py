"""Rule A3 as the source shows it: which calls leave the process, and the names that their steps have (rule A8)."""

from __future__ import annotations

import importlib
import sys
import textwrap
from pathlib import Path
from types import MethodType
from typing import Any

import pytest

from semel.compiler.model import Call, Model, Source, build
from semel.compiler.operation import operation_name

HEAD = """\
import asyncio, contextlib, functools, http.client, smtplib, urllib.request
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Optional, Protocol
import aiohttp, aiosmtplib, anthropic, boto3, httpx, httpx2, openai, requests, stripe, urllib3
import semel
from openai import AsyncOpenAI, OpenAI
from semel import App, Client, external, once
app = App("shop")
client = httpx.Client()
lazy = None
class Payments(Client):
    @semel.post("/charges")
    def charge(self, amount): ...
    @semel.get("/charges/{id}")
    async def find(self, id): ...
    def both(self): return self.charge(1)
payments = Payments()
class Sends(Protocol):
    def deliver(self, text: str) -> None: ...
class Mailer:
    def deliver(self, text: str) -> None: smtplib.SMTP("mail").send_message(text)
@external
def legacy(x): httpx.get("inside")
class Shop:
    web: httpx.Client
    def __init__(self, session: requests.Session):
        self.session = session
        self.ai = OpenAI()
@dataclass
class Deps:
    payments: Payments
    web: httpx.AsyncClient = field(default_factory=httpx.AsyncClient)
class Api(httpx.Client):
    def ping(self): return self.get("/ping")
def make() -> httpx.Client: ...
def build(): return requests.Session()
def get_client():
    global lazy
    if lazy is None: lazy = httpx2.Client()
    return lazy
@contextlib.contextmanager
def opened():
    with httpx.Client() as inner: yield inner
"""


def program(body: str, parameters: str = "x=None, xs=()") -> str:
    kind = "async def" if "await " in body or "async " in body else "def"
    return f"{HEAD}{kind} f({parameters}):\n" + textwrap.indent(textwrap.dedent(body), "    ")


def model_of(text: str, **settings: tuple[str, ...]) -> Model:
    return build([Source("shop", "shop.py", text)], **settings)


def calls_out(text: str, **settings: tuple[str, ...]) -> list[Call]:
    found = model_of(text, **settings).functions["shop:f"].calls
    return [call for call in found if call.operation is not None]


def names(text: str, **settings: tuple[str, ...]) -> list[str]:
    return [call.operation.name for call in calls_out(text, **settings) if call.operation and call.operation.sure]


SPELLINGS = {
    "a function of httpx": ('httpx.post("u")', "httpx.post"),
    "a client of the module": ('client.get("u")', "httpx.Client.get"),
    "a function imported by name": ('from httpx import post as send\nsend("u")', "httpx.post"),
    "a client made in place": ('httpx.Client().put("u")', "httpx.Client.put"),
    "a client in a with": ('with httpx.Client() as c: c.patch("u")', "httpx.Client.patch"),
    "an async client": ('async with httpx.AsyncClient() as c: await c.post("u")', "httpx.AsyncClient.post"),
    "a streamed answer": ('with client.stream("GET", "u") as r: r.read()', "httpx.Client.stream"),
    "httpx2": ('httpx2.Client().delete("u")', "httpx2.Client.delete"),
    "a client made at first use": ('get_client().get("u")', "httpx2.Client.get"),
    "an attribute of self": ('Shop(x).session.get("u")', "requests.Session.get"),
    "an attribute that the class annotates": ('Shop(x).web.get("u")', "httpx.Client.get"),
    "a field of a dataclass": ('await Deps(payments).web.get("u")', "httpx.AsyncClient.get"),
    "a helper with a return annotation": ('make().send("r")', "httpx.Client.send"),
    "a helper without one": ('build().post("u")', "requests.Session.post"),
    "a manager of the user's own": ('with opened() as c: c.get("u")', "httpx.Client.get"),
    "a subclass in user code": ('Api().post("u")', "httpx.Client.post"),
    "a thread": ('await asyncio.to_thread(httpx.get, "u")', "httpx.get"),
    "a pool": ('with ThreadPoolExecutor() as pool: pool.submit(client.get, "u").result()', "httpx.Client.get"),
    "a partial": ('p = partial(httpx.post, "u")\np()', "httpx.post"),
    "requests": ('requests.get("u").json()', "requests.get"),
    "a session by its small name": ('requests.session().get("u")', "requests.Session.get"),
    "urllib3, by the class that defines it": (
        'urllib3.PoolManager().request("GET", "u")',
        "urllib3.RequestMethods.request",
    ),
    "urllib": ('urllib.request.urlopen("u").read()', "urllib.urlopen"),
    "http.client": ('c = http.client.HTTPSConnection("h")\nc.request("GET", "/")', "http.HTTPConnection.request"),
    "aiohttp": (
        'async with aiohttp.ClientSession() as s:\n    async with s.get("u") as r: await r.json()',
        "aiohttp.ClientSession.get",
    ),
    "smtplib": ('with smtplib.SMTP_SSL("h") as m: m.sendmail("a", "b", "c")', "smtplib.SMTP.sendmail"),
    "aiosmtplib": ('await aiosmtplib.send("m")', "aiosmtplib.send"),
    "openai": ('Shop(x).ai.chat.completions.create(model="m")', "openai.Completions.create"),
    "openai, async": ('await AsyncOpenAI().responses.create(model="m")', "openai.AsyncResponses.create"),
    "openai with options": ("OpenAI().with_options(timeout=1).embeddings.create(input=x)", "openai.Embeddings.create"),
    "openai's raw answers": ("OpenAI().embeddings.with_raw_response.create(input=x)", "openai.Embeddings.create"),
    "openai's own client": ('openai.chat.completions.create(model="m")', "openai.Completions.create"),
    "a page of openai": ("async for m in AsyncOpenAI().models.list(): print(m)", "openai.AsyncModels.list"),
    "anthropic": ('anthropic.Anthropic().messages.create(model="m")', "anthropic.Messages.create"),
    "anthropic, streamed": (
        'with anthropic.Anthropic().messages.stream(model="m") as s: s.get_final_message()',
        "anthropic.Messages.stream",
    ),
    "stripe": ("stripe.Charge.create(amount=1)", "stripe.Charge.create"),
    "stripe's client": ('stripe.StripeClient("k").v1.charges.create({})', "stripe.ChargeService.create"),
    "stripe in a module of its own": ("stripe.checkout.Session.create()", "stripe.Session.create"),
    "boto3": ('boto3.client("s3").get_object(Bucket="b")', "botocore.S3.get_object"),
    "a boto3 session": ('boto3.Session().client("sqs").send_message(x=1)', "botocore.SQS.send_message"),
    "a transfer of boto3": ('boto3.client("s3").upload_file("a", "b", "c")', "boto3.upload_file"),
    "a resource of boto3": ('boto3.resource("dynamodb").Table("t").put_item(Item={})', "boto3.dynamodb.Table.put_item"),
    "an operation of a Client": ("payments.charge(1)", "Payments.charge"),
    "an operation, async": ("await payments.find(1)", "Payments.find"),
    "a declared function": ("legacy(1)", "legacy"),
}  # fmt: skip

PARAMETERS = {
    "a client": ("c: httpx.Client", 'c.get("u")', "httpx.Client.get"),
    "a client or nothing": ("c: httpx.Client | None = None", 'c.get("u")', "httpx.Client.get"),
    "an optional client": ("c: Optional[requests.Session]", 'c.get("u")', "requests.Session.get"),
    "an annotation in quotes": ('c: "OpenAI"', "c.responses.create(x=1)", "openai.Responses.create"),
    "an annotated type": ("c: Annotated[httpx.Client, 1]", 'c.get("u")', "httpx.Client.get"),
    "a list of clients": ("cs: list[httpx.Client]", 'for c in cs: c.get("u")', "httpx.Client.get"),
    "what a dataclass holds": ("d: Deps", "d.payments.charge(1)", "Payments.charge"),
}


@pytest.mark.rule("A3")
@pytest.mark.parametrize(("body", "name"), SPELLINGS.values(), ids=SPELLINGS)
def test_a_call_that_leaves_is_known_and_named(body: str, name: str) -> None:
    for library in ("httpx2", "aiohttp", "anthropic", "boto3", "openai", "stripe"):
        if library in body.lower() or ("ai." in body and library == "openai"):
            pytest.importorskip(library)
    assert names(program(body)) == [name]


@pytest.mark.rule("A3")
@pytest.mark.parametrize(("parameters", "body", "name"), PARAMETERS.values(), ids=PARAMETERS)
def test_a_client_that_is_a_parameter_is_known_by_its_annotation(parameters: str, body: str, name: str) -> None:
    if "OpenAI" in parameters:
        pytest.importorskip("openai")
    assert names(program(body, parameters)) == [name]


@pytest.mark.rule("A3")
def test_an_operation_behind_a_protocol_is_reached_through_its_implementations() -> None:
    model = model_of(HEAD + "@app.workflow\ndef f(s: Sends): s.deliver('x')\n")
    assert model.holds_steps("shop:f")


@pytest.mark.rule("A4")
@pytest.mark.parametrize(
    "body",
    [
        "httpx.Client()",
        "client.close()",
        "client.build_request('GET', 'u')",
        "httpx.Timeout(5)",
        "httpx.Response(200).json()",
        "requests.codes.get('ok')",
        "requests.Session().headers.get('a')",
        "requests.Session().mount('a', x)",
        "urllib.request.Request('u')",
        "http.client.HTTPConnection('h').getresponse()",
        "smtplib.SMTP('h').login('a', 'b')",
        "OpenAI()",
        "OpenAI().close()",
        "OpenAI().with_options(timeout=1)",
        "OpenAI().copy()",
        "OpenAI().chat",
        "stripe.Webhook.construct_event('a', 'b', 'c')",
        "boto3.client('s3')",
        "boto3.resource('s3').Bucket('b')",
        "boto3.client('s3').generate_presigned_url('get_object')",
        "boto3.client('s3').get_paginator('list_objects')",
        "payments.close()",
        "{}.get('a'), [].pop()",
        "open('a').read()",
    ],
)
def test_what_does_not_leave_is_no_step(body: str) -> None:
    assert calls_out(program(body)) == []


RUNTIME = [
    ("httpx", "post"),
    ("httpx", "Client().post"),
    ("httpx", "AsyncClient().stream"),
    ("requests", "get"),
    ("requests", "session().get"),
    ("urllib3", "PoolManager().request"),
    ("urllib3", "PoolManager().urlopen"),
    ("urllib3", "HTTPSConnectionPool('h').urlopen"),
    ("urllib.request", "urlopen"),
    ("urllib.request", "build_opener().open"),
    ("http.client", "HTTPSConnection('h').request"),
    ("smtplib", "SMTP().send_message"),
    ("smtplib", "SMTP_SSL().sendmail"),
    ("aiosmtplib", "send"),
    ("aiosmtplib", "SMTP().send_message"),
    ("openai", "OpenAI(api_key='k').chat.completions.create"),
    ("openai", "OpenAI(api_key='k').with_options(timeout=1).responses.create"),
    ("openai", "OpenAI(api_key='k').embeddings.with_raw_response.create"),
    ("openai", "AsyncOpenAI(api_key='k').models.list"),
    ("anthropic", "Anthropic(api_key='k').messages.create"),
    ("anthropic", "Anthropic(api_key='k').messages.stream"),
    ("stripe", "Charge.create"),
    ("stripe", "checkout.Session.create"),
    ("stripe", "StripeClient('k').v1.charges.create"),
    ("boto3", "client('s3', region_name='eu-west-1').get_object"),
    ("boto3", "client('s3', region_name='eu-west-1').upload_file"),
    ("boto3", "client('s3', region_name='eu-west-1').get_paginator('list_objects').paginate"),
    ("boto3", "resource('dynamodb', region_name='eu-west-1').Table('t').put_item"),
    ("boto3", "resource('s3', region_name='eu-west-1').Object('b', 'k').put"),
    ("boto3", "resource('s3', region_name='eu-west-1').Object('b', 'k').upload_file"),
]


@pytest.mark.rule("A8")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("library", "callee"), RUNTIME)
def test_the_name_is_the_one_that_the_runtime_gives(library: str, callee: str) -> None:
    module = pytest.importorskip(library)
    real: Any = eval(f"module.{callee}", {"module": module})
    owner = real.__self__ if isinstance(real, MethodType) else None
    expected = operation_name(real.__func__ if isinstance(real, MethodType) else real, owner)
    assert names(program(f"import {library}\n{library}.{callee}(x)")) == [expected]


@pytest.mark.parametrize("library", ["aiohttp"])
async def test_the_name_of_a_session_is_the_one_that_the_runtime_gives(library: str) -> None:
    session = pytest.importorskip(library).ClientSession
    assert names(program("aiohttp.ClientSession().put('u')")) == [operation_name(session.put)]


# ---------------------------------------------------------------------------------------------------- declared, by name


@pytest.fixture(scope="module")
def home_of_mylib(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all tests: the program model remembers where it has found a library."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def mylib(home_of_mylib: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A library of no known kind, that raises when it is imported."""
    folder = home_of_mylib / "mylib_of_no_kind"
    folder.mkdir(exist_ok=True)
    (folder / "__init__.py").write_text("from .client import Session, fetch\nraise RuntimeError\n")
    (folder / "base.py").write_text("class Base:\n    def ask(self): ...\n")
    (folder / "client.py").write_text(
        "from .base import Base\ndef fetch(): ...\ndef connect() -> 'Session': ...\n"
        "class Session(Base):\n    def close(self): ...\n    def send(self): ...\n"
    )
    monkeypatch.syspath_prepend(str(home_of_mylib))
    importlib.invalidate_caches()
    return folder


@pytest.mark.rule("A3")
@pytest.mark.usefixtures("mylib")
@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("mylib_of_no_kind.fetch()", "mylib_of_no_kind.fetch"),
        ("mylib_of_no_kind.client.fetch()", "mylib_of_no_kind.fetch"),
        ("mylib_of_no_kind.Session().send()", "mylib_of_no_kind.Session.send"),
        ("mylib_of_no_kind.client.connect().send()", "mylib_of_no_kind.Session.send"),
        ("mylib_of_no_kind.Session().ask()", "mylib_of_no_kind.Base.ask"),
    ],
)
def test_a_pattern_of_the_project_is_matched_by_where_the_callee_is_defined(call: str, name: str) -> None:
    patterns = ("mylib_of_no_kind.client.fetch", "mylib_of_no_kind.client.Session.*")
    text = program(f"import mylib_of_no_kind, mylib_of_no_kind.client\n{call}")
    assert names(text, external=patterns) == [name]
    assert names(text) == []
    assert "mylib_of_no_kind" not in sys.modules


@pytest.mark.rule("A3")
def test_what_passes_through_is_no_step() -> None:
    text = program('client.get("u")\nrequests.get("u")')
    assert names(text, passthrough=("requests.*",)) == ["httpx.Client.get"]


# ---------------------------------------------------------------------------------------------------- what is not known


def test_a_client_that_may_be_a_double_is_not_sure() -> None:
    for body in ('httpx.Client(transport=x).get("u")', 'c = httpx.Client(mounts=x)\nc.get("u")'):
        (call,) = calls_out(program(body))
        assert call.operation is not None
        assert not call.operation.sure
    (call,) = calls_out(program('httpx.get("u")') + "\nfrom httpx import MockTransport\n")
    assert call.operation is not None
    assert not call.operation.sure


def test_one_of_two_kinds_of_client_is_not_sure() -> None:
    (call,) = calls_out(program('c.get("u")', "c: httpx.Client | requests.Session"))
    assert call.operation is not None
    assert not call.operation.sure


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("x.send()", "`x` has no annotation"),
        ("xs[0]()", "`xs[0]` is looked up when it runs"),
        ("import nowhere_at_all\nnowhere_at_all.Client().post()", "nowhere_at_all is not installed here"),
        ("nobody()", "nothing in the module defines `nobody`"),
        ("for y in xs: y.go()", "nothing shows what the items that `y` runs through are"),
        ("boto3.client(x).get_object()", "nothing shows what boto3.client(…) gives"),
    ],
)
def test_a_call_that_is_not_resolved_says_why(body: str, why: str) -> None:
    lost = [call.lost for call in model_of(program(body)).functions["shop:f"].calls if call.lost]
    assert lost
    assert why in lost[-1]


def test_calls_that_are_resolved_have_nothing_to_say() -> None:
    model = model_of(program('client.get("u").json()\nlegacy(1)\nlen(xs)\nPayments()\nDeps(payments)'))
    assert [call.lost for call in model.functions["shop:f"].calls if call.lost] == []


# ------------------------------------------------------------------------------------------------------- what is a step


@pytest.mark.rule("A7")
def test_a_call_made_directly_in_a_once_is_part_of_that_step() -> None:
    text = program('once("a", lambda: client.get("u"))\nonce("b", client.get)\nclient.get("u")')
    assert [call.is_step for call in calls_out(text)] == [False, False, True]


@pytest.mark.rule("A2")
def test_each_call_of_a_function_is_a_step_of_its_own() -> None:
    assert names(program('client.get("u")\nrequests.get("u")')) == ["httpx.Client.get", "requests.get"]


def test_what_a_declared_function_does_inside_is_not_looked_at() -> None:
    model = model_of(HEAD + "@app.workflow\ndef f(): legacy(1)\n")
    assert not model.reached("shop:legacy")
    assert model.functions["shop:legacy"].operation is not None
