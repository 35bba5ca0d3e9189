"""Rule A9: for every function whether it is a step and by which route, for every body the paths of its steps."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from check_programs import model_of

from semel.checks.patterns import StepPattern
from semel.checks.verdict import FunctionVerdict, Verdict, verdict
from semel.checks.verdict_json import as_dict

pytestmark = pytest.mark.rule("A9")

HEAD = """\
import asyncio, httpx
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol
from semel import App, Client, each, once, post
app = App("shop")
web = httpx.Client()
class Payments(Client):
    @post("/charges")
    def charge(self, amount): ...
payments = Payments()
def notify(x): web.post("u", json=x)
def indirect(x): return notify(x)
def record(x): return once("record", lambda: x)
def pure(x): return x + 1
class Sends(Protocol):
    def send_it(self, x): ...
class Mailer:
    def send_it(self, x): notify(x)
class Silent:
    def send_it(self, x): ...
"""


def told_of(body: str, parameters: str = "a, xs") -> Verdict:
    indented = "\n".join(f"    {line}" for line in body.split("\n"))
    kind = "async def" if "await " in body else "def"
    return verdict(model_of(f"{HEAD}@app.workflow\n{kind} fulfil({parameters}):\n{indented}\n"))


def steps(body: str, parameters: str = "a, xs") -> list[StepPattern]:
    (only,) = told_of(body, parameters).bodies
    return list(only.steps)


def paths(body: str) -> list[str]:
    return [step.path for step in steps(body)]


def function(told: Verdict, name: str) -> FunctionVerdict:
    (found,) = [one for one in told.functions if one.function.qualname == name]
    return found


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ("web.get('u')", "fulfil/start@*#auto:httpx.Client.get"),
        ("payments.charge(1)", "fulfil/start@*#auto:Payments.charge"),
        ("once('x', lambda: 1)", "fulfil/start@*#x"),
        ("notify(1)", "fulfil/start@*/notify#auto:httpx.Client.post"),
        ("indirect(1)", "fulfil/start@*/indirect/notify#auto:httpx.Client.post"),
        ("for x in xs: web.get('u')", "fulfil/start@*[*]#auto:httpx.Client.get"),
        ("for x in xs:\n    while x: notify(x)", "fulfil/start@*[*][*]/notify#auto:httpx.Client.post"),
        ("[notify(x) for x in xs]", "fulfil/start@*[*]/notify#auto:httpx.Client.post"),
        ("def inner(): notify(1)\ninner()", "fulfil/start@*/fulfil.inner/notify#auto:httpx.Client.post"),
        ("Mailer().send_it(1)", "fulfil/start@*/Mailer.send_it/notify#auto:httpx.Client.post"),
        ("await asyncio.to_thread(notify, 1)", "fulfil/start@*/notify#auto:httpx.Client.post"),
        ("await asyncio.to_thread(web.get, 'u')", "fulfil/start@*#auto:httpx.Client.get"),
        ("with ThreadPoolExecutor() as p: p.submit(notify, 1)", "fulfil/start@*/notify#auto:httpx.Client.post"),
        ("sorted(xs, key=indirect)", "fulfil/start@*/sorted[*]/indirect/notify#auto:httpx.Client.post"),
        ("once('a/b', lambda: 1)", "fulfil/start@*#a%2Fb"),
    ],
)
def test_a_step_has_the_path_that_leads_to_it(body: str, path: str) -> None:
    assert paths(body) == [path]


@pytest.mark.rule("A7")
def test_a_call_by_a_helper_in_a_once_is_a_nested_step_and_a_direct_one_is_none() -> None:
    assert paths("once('a', lambda: web.get('u'))\nonce('b', lambda: notify(1))\nonce('c', notify)") == [
        "fulfil/start@*#a",
        "fulfil/start@*#b",
        "fulfil/start@*/b/notify#auto:httpx.Client.post",
        "fulfil/start@*#c",
        "fulfil/start@*/c/notify#auto:httpx.Client.post",
    ]


def test_a_workflow_goes_by_its_name() -> None:
    for decorated in (
        "@app.workflow(name='full')\ndef f(): notify(1)\n",
        "def f(): notify(1)\napp.workflow(name='full')(f)\n",
    ):
        (body,) = verdict(model_of(HEAD + decorated)).bodies
        assert [step.path for step in body.steps] == ["full/start@*/notify#auto:httpx.Client.post"]


def test_what_may_be_another_is_not_certain() -> None:
    for body, parameters in (
        ("s.send_it(1)", "s: Sends"),
        ("a.send_it(1)", "a"),
        ("httpx.Client(transport=a).get('u')", "a"),
    ):
        assert [step.certain for step in steps(body, parameters)] == [False]
    assert [step.certain for step in steps("notify(1)")] == [True]


def test_a_function_that_calls_itself_does_not_go_on_for_ever() -> None:
    told = verdict(model_of(HEAD + "@app.workflow\ndef f(n):\n    notify(n)\n    if n: f(n - 1)\n"))
    assert [step.path for step in told.bodies[0].steps] == ["f/start@*/notify#auto:httpx.Client.post"]
    assert not told.bodies[0].complete


def test_many_ways_are_cut_off_and_said_to_be() -> None:
    chain = "".join(
        f"def f{n}(x):\n    a{n}(x)\n    b{n}(x)\ndef a{n}(x): f{n + 1}(x)\ndef b{n}(x): f{n + 1}(x)\n"
        for n in range(20)
    )
    told = verdict(model_of(f"{HEAD}{chain}def f20(x): notify(x)\n@app.workflow\ndef body(x): f0(x)\n"))
    assert not told.bodies[0].complete
    assert len(told.bodies[0].steps) == 2_000


@pytest.mark.parametrize(
    ("name", "durability", "via"),
    [
        ("Payments.charge", "External", "Payments.charge"),
        ("notify", "External", "httpx.Client.post"),
        ("indirect", "External", "httpx.Client.post"),
        ("record", "Step", 'once("record")'),
        ("pure", "None", None),
        ("fulfil", "External", "Payments.charge"),
    ],
)
def test_every_function_has_a_durability_and_says_by_way_of_what(name: str, durability: str, via: str | None) -> None:
    told = function(told_of("payments.charge(1)\nrecord(1)\npure(1)"), name)
    assert (told.durability, told.via) == (durability, via)


def test_a_once_round_a_call_that_leaves_is_external() -> None:
    assert function(told_of("once('a', lambda: notify(1))"), "fulfil").durability == "External"


def test_the_route_names_each_call_on_the_way() -> None:
    told = function(told_of("pure(1)\nindirect(1)"), "fulfil")
    assert [(hop.call, hop.to) for hop in told.route] == [
        ("indirect", "shop:indirect"),
        ("notify", "shop:notify"),
        ("web.post", "httpx.Client.post"),
    ]
    assert [hop.function for hop in told.route] == ["shop:fulfil", "shop:indirect", "shop:notify"]
    assert told.certain


def test_a_sure_route_is_told_before_a_shorter_one_that_may_be_another() -> None:
    told = function(told_of("a.send_it(1)\nindirect(1)"), "fulfil")
    assert [hop.call for hop in told.route] == ["indirect", "notify", "web.post"]
    doubtful = function(told_of("a.send_it(1)"), "fulfil")
    assert doubtful.durability == "External"
    assert not doubtful.certain


def test_calls_that_are_not_resolved_are_listed_with_the_reason() -> None:
    told = told_of("a(1)\nnotify(a)")
    assert [(call.call, call.why, call.reached) for call in told.unresolved] == [("a", "`a` has no annotation", True)]


def test_a_file_that_cannot_be_read_is_in_the_verdict() -> None:
    told = verdict(model_of("def f(:\n"))
    assert as_dict(told)["unreadable"][0]["file"] == "shop.py"


def test_the_document_in_the_reference_is_the_one_that_is_made() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "model.md").read_text()
    (source,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (document,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    assert as_dict(verdict(model_of(source))) == json.loads(document)


def test_every_field_is_described_in_the_reference() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "model.md").read_text()
    prose = page.partition("## The fields")[2]
    for field in set(_fields(as_dict(told_of("indirect(1)\na(1)")))):
        assert f"`{field}`" in prose, field


def _fields(value: object) -> list[str]:
    if isinstance(value, dict):
        return [*value, *[name for inner in value.values() for name in _fields(inner)]]
    return [name for inner in value for name in _fields(inner)] if isinstance(value, list) else []
