"""Entity workflows as program texts: a right one, and changes of it."""

from __future__ import annotations

from check_programs import marks, model_of

from semel.checks import Problem, refusals

HEAD = """\
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
import httpx
import semel
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from semel import App, Event, Workflow, cancel, enter, error, expire, milestone, on, once, remind, sleep, success
app = App("shop")
WEEK = timedelta(days=7)
class Base(DeclarativeBase): ...
class Stage(Enum):
    PLACED = "placed"
    CHARGED = "charged"
    SHIPPED = "shipped"
    LAPSED = "lapsed"
    REVOKED = "revoked"
    GONE = "revoked"
class Other(Enum):
    PLACED = "placed"
    BURNED = "burned"
@dataclass
class Payment: amount: int
class Order(Base):
    __tablename__ = "orders"
    id: Mapped[int] = mapped_column(primary_key=True)
    stage: Mapped[Stage]
    due: Mapped[datetime | None]
    def weigh(self): return once("weigh", lambda: self.id)
"""
FLOW = """\
@app.workflow
class OrderFlow(Workflow[Order], tracks=Order.stage, initial=Stage.PLACED, autostart=True):
    pay = Event[Payment]()
    ship = Event()
    cancel_it = Event()

    @on(pay, Stage.PLACED)
    def paid(self, payment: Payment) -> Stage:
        self.charge(payment)
        self.item.weigh()
        return Stage.CHARGED

    def charge(self, payment):
        once("charge", lambda key: httpx.post("https://pay.example", json=payment))

    @on(ship, Stage.CHARGED)
    def sent(self) -> Stage:
        return Stage.SHIPPED

    @on(cancel_it)
    def cancelled(self) -> Stage:
        httpx.post("https://mail.example")
        return Stage.REVOKED

    @enter(Stage.CHARGED)
    def charged(self):
        once("tell", lambda: print(self.item.id))

    @expire(Stage.PLACED, after=WEEK)
    def too_late(self) -> Stage:
        return Stage.LAPSED

    @remind(Stage.PLACED, after=timedelta(days=3), then_every=timedelta(days=2))
    def chase(self) -> None:
        once("chase", lambda: print(self.item.id))

    shipped = milestone(Stage.SHIPPED, since=Stage.CHARGED, within=timedelta(days=5), retries=2)

    @shipped.finished
    def told(self): ...

    @shipped.unfinished
    def late(self):
        once("late", lambda: print(self.item.id))

    done = success(Stage.SHIPPED, "on its way")
    lapsed = error(Stage.LAPSED, "never paid")
    revoked = cancel(Stage.REVOKED, "revoked by the seller")
"""


def changed(*changes: tuple[str, str]) -> str:
    """The text of the right program, with these changes."""
    text = HEAD + FLOW
    for old, new in changes:
        assert text.count(old) >= 1, old
        text = text.replace(old, new)
    return text


def inside(text: str) -> tuple[str, str]:
    """A change that puts these lines into the class."""
    return "    done = success", "".join(f"    {line}\n" for line in text.split("\n")) + "    done = success"


def assert_refused(text: str, rule: str) -> Problem:
    """The program is refused by this rule alone, at its marked lines."""
    problems = refusals(model_of(text))
    assert [problem.rule for problem in problems] == [rule] * len(problems), problems
    expected = marks(text)
    assert sorted({problem.place.line for problem in problems}) == expected.place, problems
    others = {place.line for problem in problems for place in problem.others} - set(expected.place)
    assert sorted(others) == expected.others, problems
    assert all(problem.message and problem.fix for problem in problems)
    return problems[0]
