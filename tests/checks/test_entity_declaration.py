"""``entity-declaration``: what ``semel check`` finds of an entity workflow without importing it."""

from __future__ import annotations

import textwrap

import pytest

from semel.checks import refusals
from semel.compiler.model import Source, build

RIGHT = """
from enum import Enum
from semel import App, Event, Workflow, cancel, enter, error, expire, milestone, on, remind, success
app = App("shop")
class Stage(Enum):
    PLACED = 1
    CHARGED = 2
    LAPSED = 3
class Order: ...
@app.workflow
class OrderFlow(Workflow[Order], tracks=Order.stage, initial=Stage.PLACED):
    pay = Event()
    note = Event[str]()
    @on(pay, Stage.PLACED)
    def paid(self):
        return Stage.CHARGED if self.item.due else None
    @on(note)
    def noted(self, text): ...
    @on(note, Stage.PLACED)
    def noted_early(self, text): ...
    @enter(Stage.PLACED)
    def begin(self): ...
    @remind(Stage.PLACED, after=day)
    def chase(self): ...
    @remind(Stage.PLACED, after=week)
    def chase_again(self): ...
    @expire(Stage.PLACED, after=month)
    def late(self):
        return Stage.LAPSED
    charged = success(Stage.CHARGED, "paid")
    lapsed = error(Stage.LAPSED, "never paid")
"""


def told(*changes: tuple[str, str]) -> list[str]:
    text = textwrap.dedent(RIGHT)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    found = refusals(build([Source("shop", "shop.py", text)]))
    assert {problem.rule for problem in found} <= {"entity-declaration"}
    return [problem.message for problem in found]


@pytest.mark.rule("W2")
def test_what_is_right_is_not_refused() -> None:
    assert told() == []


@pytest.mark.rule("W2")
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("@on(pay, Stage.PLACED)", "@on(pay, Stage.PALCED)", "Stage.PALCED is no member of Stage"),
        (", initial=Stage.PLACED", "", "OrderFlow says not in which state a row begins."),
        ("initial=Stage.PLACED", "initial=Stage.CHARGED", "begins in CHARGED, which is a terminal state"),
        ("@enter(Stage.PLACED)", "@enter(Stage.CHARGED)", "begin is for CHARGED, which is a terminal state"),
        ("@on(note)\n", "@on(pay, Stage.PLACED)\n", "paid and noted are both on_pay in PLACED"),
        ("@remind(Stage.PLACED, after=day)", "@expire(Stage.PLACED, after=day)", "chase and late are both expire"),
        ("lapsed = error(Stage.LAPSED", "lapsed = error(Stage.CHARGED", "There are two ends for CHARGED"),
        ("    @on(pay, Stage.PLACED)\n", "", "No state takes the event pay"),
        ("    def begin", "    async def begin", "begin is async and"),
        ("        return Stage.LAPSED\n", "        pass\n", "No body returns Stage.LAPSED"),
    ],
)
def test_what_cannot_be_is_refused_with_the_place(old: str, new: str, message: str) -> None:
    assert message in "\n".join(told((old, new)))


@pytest.mark.rule("W2")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        return Stage.LAPSED\n", "        return self.next_state()\n"),
        ("class Stage(Enum):", "class Stage(make_enum()):"),
        ("@on(note)\n", "@on(some(note))\n"),
        ("@on(note, Stage.PLACED)", "@on(note, *early)"),
        ("tracks=Order.stage, initial=Stage.PLACED", "**keywords(Stage.PLACED)"),
    ],
)
def test_what_the_source_does_not_show_is_let_be(old: str, new: str) -> None:
    assert told((old, new)) == []
