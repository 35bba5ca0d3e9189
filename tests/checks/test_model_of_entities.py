"""The bodies of entity workflows in the program model: each method in each state, checked as any body is."""

from __future__ import annotations

import textwrap

import pytest

from semel.checks import refusals
from semel.checks.verdict import verdict
from semel.compiler.model import Source, build

PROGRAM = """
from enum import Enum
import httpx
from semel import App, Event, Workflow, enter, expire, milestone, on, once, remind, success
app = App("shop")
class Stage(Enum):
    PLACED = 1
    CHARGED = 2
def notify(who):
    httpx.post("http://mail", json={"to": who})
class Shared(Workflow):
    close = Event()
    @on(close)
    def closed(self):
        once("close", lambda: None)
@app.workflow
class OrderFlow(Shared, tracks=Order.stage, initial=Stage.PLACED, name="Orders"):
    pay = Event()
    shipped = milestone(Stage.CHARGED)
    @on(pay, Stage.PLACED, Stage.CHARGED)
    def paid(self):
        BODY
    @enter(Stage.PLACED)
    def placed(self):
        notify("ann")
    @expire(Stage.PLACED, after=week)
    def late(self): return Stage.CHARGED
    @remind(Stage.PLACED, after=day)
    def chase(self): ...
    @shipped.finished
    def told(self): ...
    def helper(self): ...
"""


def model_of(body: str):
    return build([Source("shop", "shop.py", textwrap.dedent(PROGRAM).replace("BODY", body))])


@pytest.mark.rule("A9")
@pytest.mark.rule("V1")
def test_each_method_is_a_body_in_each_of_its_states() -> None:
    told = verdict(model_of('once("charge", lambda: pay())'))
    assert [(body.workflow, body.body) for body in told.bodies] == [
        ("Orders", "PLACED.on_pay"),
        ("Orders", "CHARGED.on_pay"),
        ("Orders", "PLACED.enter"),
        ("Orders", "PLACED.expire"),
        ("Orders", "PLACED.remind_chase"),
        ("Orders", "shipped.finished"),
        ("Orders", "*.on_close"),
    ]
    assert [step.path for body in told.bodies for step in body.steps] == [
        "Orders/PLACED.on_pay@*#charge",
        "Orders/CHARGED.on_pay@*#charge",
        "Orders/PLACED.enter@*/notify#auto:httpx.post",
        "Orders/*.on_close@*#close",
    ]


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ('notify("a"); notify("b")', "helper-called-twice"),
        ('httpx.post("a"); httpx.post("b")', "automatic-call-twice"),
        ('once("a", lambda: 1); once("a", lambda: 2)', "once-label-used-twice"),
    ],
)
def test_what_is_refused_in_a_body_is_refused_in_these(body: str, rule: str) -> None:
    assert [problem.rule for problem in refusals(model_of(body))] == [rule]


def test_calls_in_two_arms_of_a_choice_are_one_call_here_too() -> None:
    assert refusals(model_of('notify("a") if self.item.big else notify("b")')) == []
