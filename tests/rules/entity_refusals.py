"""Classes that are refused, each a right one with one change, and what is told (rule W2)."""

from __future__ import annotations

HEAD = """
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, Generic, TypeVar
from sqlalchemy import Enum as EnumType, String, TypeDecorator
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship
from semel import *

class Base(DeclarativeBase):
    pass

class Stage(Enum):
    PLACED = "placed"
    CHARGED = "charged"
    LAPSED = "lapsed"
    REVOKED = "revoked"
    GONE = "revoked"

class Other(Enum):
    PLACED = "placed"

class Order(Base):
    __tablename__ = "orders"
    id: Mapped[int] = mapped_column(primary_key=True)
    stage: Mapped[Stage]
    note: Mapped[str]
    due: Mapped[datetime | None]
    buyer: Mapped["NotYetDefined"] = relationship()

class Invoice(Base):
    __tablename__ = "invoices"
    id: Mapped[int] = mapped_column(primary_key=True)
    stage: Mapped[Stage]
    due: Mapped[datetime]

@dataclass
class Payment:
    amount: int

week = timedelta(days=7)
"""

#: A right class: each refusal is shown by one change of it.
SMALL = """
class OrderFlow(Workflow[Order], tracks=Order.stage, initial=Stage.PLACED):
    pay = Event[Payment]()
    cancel_it = Event()

    @on(pay, Stage.PLACED)
    def paid(self, payment: Payment):
        return anything

    @on(cancel_it)
    def cancelled(self): ...

    revoked = cancel(Stage.REVOKED, "revoked by the seller")
"""


def changed(*changes: tuple[str, str]) -> str:
    """The text of the right class, with these changes."""
    text = HEAD + SMALL
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


def body(text: str) -> tuple[str, str]:
    """A change that puts these lines above the arm of ``cancel_it``."""
    return "    @on(cancel_it)\n", f"    {text}\n    @on(cancel_it)\n"


def line(text: str) -> tuple[str, str]:
    """A change that puts these lines before the last of the class."""
    return "    revoked =", f"    {text}\n    revoked ="


#: By what is wrong: the changes, and what the refusal says.
REFUSED: dict[str, tuple[list[tuple[str, str]], str]] = {
    "an unknown keyword": (
        [("initial=", "intial=Stage.PLACED, initial=")],
        r"OrderFlow: intial= is none of its keywords .*no effect: write initial=",
    ),
    "no column": (
        [("tracks=Order.stage", "tracks='stage'")],
        r"tracks='stage' is no column of a mapped class.*write tracks=Order.stage",
    ),
    "a relationship": ([("tracks=Order.stage", "tracks=Order.buyer")], r"tracks=Order\.buyer holds no enum"),
    "a column of no enum": ([("tracks=Order.stage", "tracks=Order.note")], r"tracks=Order\.note holds no enum.*write"),
    "the column of another class": (
        [("tracks=Order.stage", "tracks=Invoice.stage")],
        r"it is a Workflow\[Order\] and tracks Invoice.stage.*write class OrderFlow\(Workflow\[Invoice\]",
    ),
    "no initial state": (
        [(", initial=Stage.PLACED", "")],
        r"no initial state, so no run could start: write initial=Stage\.PLACED",
    ),
    "no column, but an initial state": (
        [("tracks=Order.stage, ", "")],
        r"says not which column it follows.*tracks=Order\.stage",
    ),
    "an initial state of another enum": (
        [("initial=Stage.PLACED", "initial=Other.PLACED")],
        r"initial= names Other\.PLACED, which is no state: Order\.stage holds Stage \(PLACED, .*write Stage\.PLACED",
    ),
    "an initial state that is terminal": (
        [("initial=Stage.PLACED", "initial=Stage.REVOKED")],
        r"initial=Stage\.REVOKED is terminal, so its runs would end where they start: .*take revoked away",
    ),
    "a name that cannot stand in a path": (
        [("initial=", "name='a/b', initial=")],
        r"the workflow name 'a/b' of OrderFlow \(.*may not",
    ),
    "a strictness that is none": ([("initial=", "strict='no', initial=")], r"strict='no' is neither.*strict=True"),
    "an autostart that is none": ([("initial=", "autostart=1, initial=")], r"autostart=1 is neither.*autostart=True"),
    "another way to delete": ([("initial=", "on_delete='drop', initial=")], r"on_delete='drop'.*on_delete=\"can"),
    "a calendar that cannot count": ([("initial=", "calendar=7, initial=")], r"calendar=7 cannot count.*def add\(self"),
    "a redelivery without an end": (
        [("initial=", "redeliver=Backoff.constant(week), initial=")],
        r"OrderFlow .*delivered for ever; write .*max_attempts",
    ),
    "a state of another enum": (
        [("@on(pay, Stage.PLACED)", "@on(pay, Other.PLACED)")],
        r"OrderFlow\.paid: @on\(…\) names Other\.PLACED, which is no state: .*write Stage\.PLACED",
    ),
    "a terminal state of another enum": (
        [("cancel(Stage.REVOKED", "cancel('REVOKED'")],
        r"OrderFlow\.revoked: cancel\(…\) names REVOKED, .*write Stage\.REVOKED",
    ),
    "a terminal state that says nothing": (
        [('"revoked by the seller"', '""')],
        r"OrderFlow\.revoked: the run would end and not say how: write cancel\(Stage\.REVOKED, ",
    ),
    "two terminals of one state": (
        [line("lapsed = error(Stage.REVOKED, 'lapsed')")],
        r"OrderFlow\.revoked: Stage\.REVOKED is terminal by lapsed already \(.*py:\d+\).*take one of them away",
    ),
    "an arm of a terminal state": (
        [("@on(cancel_it)", "@on(cancel_it, Stage.REVOKED)")],
        r"OrderFlow\.cancelled: Stage\.REVOKED is terminal by revoked \(.*py:\d+\).*would never run. Take",
    ),
    "an enter of a terminal state": (
        [body("@enter(Stage.REVOKED)")],
        r"OrderFlow\.cancelled: Stage\.REVOKED is terminal",
    ),
    "a clock of a terminal state": (
        [body("@remind(Stage.REVOKED, after=week)")],
        r"OrderFlow\.cancelled: Stage\.REVOKED is terminal",
    ),
    "an event that no state takes": (
        [("    cancel_it = Event()", "    cancel_it = Event()\n    ship = Event[Payment]()")],
        r"OrderFlow\.ship: no state takes this event.*write @on\(ship\) above def ship_came\(self, payload: Payment\)",
    ),
    "two arms for one event in one state": (
        [body("@on(cancel_it)\n    def first(self): ...")],
        r"OrderFlow\.cancelled: first \(.*py:\d+\) runs when cancel_it comes in Stage\.PLACED already.*take one away",
    ),
    "two particular arms for one event in one state": (
        [body("@on(pay, Stage.PLACED, Stage.CHARGED)\n    def second(self, payment): ...")],
        r"OrderFlow\.second: paid \(.*py:\d+\) runs when pay comes in Stage\.PLACED already",
    ),
    "an event of nobody": (
        [("@on(cancel_it)", "@on(Event())")],
        r"OrderFlow\.cancelled: <Event ''> is no event of OrderFlow, .*write pay = Event\[Payment\]\(\)",
    ),
    "an event by its name": ([("@on(cancel_it)", "@on('cancel_it')")], r"'cancel_it' is no event of OrderFlow"),
    "an event of another name": (
        [("cancel_it = Event()", "cancel_it = Event('cancel')")],
        r"OrderFlow\.cancel_it: the event is called 'cancel' too.*write cancel_it = Event\[…\]\(\)",
    ),
    "an event under two names": (
        [("cancel_it = Event()", "cancel_it = revoke_it = Event()")],
        r"OrderFlow\.revoke_it: the event is called 'cancel_it' too",
    ),
    "an event that hides a Workflow's own": (
        [("cancel_it", "item")],
        r"OrderFlow\.item: item is a Workflow's own: give it another name",
    ),
    "a payload that is not taken": (
        [("def paid(self, payment: Payment)", "def paid(self)")],
        r"OrderFlow\.paid: pay carries a payload, .*write def paid\(self, payload: Payment\)",
    ),
    "a payload that does not come": (
        [("def cancelled(self)", "def cancelled(self, reason)")],
        r"OrderFlow\.cancelled: cancel_it has no payload to give to it: write def cancelled\(self\)",
    ),
    "two payloads": (
        [("def paid(self, payment: Payment)", "def paid(self, payment: Payment, more)")],
        r"OrderFlow\.paid: pay carries a payload, .*write def paid\(self, payload: Payment\)",
    ),
    "an enter with a payload": (
        [
            body("@on(cancel_it)\n    def it(self): ...\n    @enter(Stage.PLACED)"),
            ("    @on(cancel_it)\n    def cancelled(self)", "    def cancelled(self, x)"),
        ],
        r"OrderFlow\.cancelled: it takes more than self.*write def cancelled\(self\)",
    ),
    "sync and async bodies": (
        [("def cancelled", "async def cancelled")],
        r"OrderFlow\.cancelled: paid is a def \(.*\) and cancelled an async def \(.*write async def paid",
    ),
    "a generator": (
        [("def cancelled(self): ...", "def cancelled(self): yield")],
        r"OrderFlow\.cancelled: it is a generator.*return the next state",
    ),
    "two enters of one state": (
        [body("@enter(Stage.PLACED)\n    def one(self): ...\n    @enter(Stage.PLACED)")],
        r"OrderFlow\.cancelled: one \(.*py:\d+\) runs when Stage\.PLACED is entered already",
    ),
    "two expires of one state": (
        [body("@expire(Stage.PLACED, after=week)\n    def one(self): ...\n    @expire(Stage.PLACED, after=week)")],
        r"OrderFlow\.cancelled: one \(.*py:\d+\) runs when Stage\.PLACED expires already",
    ),
    "an enter of no state": (
        [body("@enter()")],
        r"OrderFlow\.cancelled: it names no state.*write @enter\(Stage\.PLACED",
    ),
    "a decorator without brackets": (
        [body("@enter\n    def one(self): ...")],
        r"OrderFlow\.one: the decorator says not what for: write @enter\(Stage\.PLACED\)",
    ),
    "a reminder without a time": (
        [body("@remind(Stage.PLACED)")],
        r"OrderFlow\.cancelled: @remind\(…\) says not after what time.*@remind\(Stage\.PLACED, after=timedelta",
    ),
    "a time without a unit": (
        [body("@expire(Stage.PLACED, after=7)")],
        r"OrderFlow\.cancelled: after of @expire\(…\) is 7, which is no length of time: .*after=timedelta",
    ),
    "a time that is over": (
        [body("@remind(Stage.PLACED, after=week, then_every=week - week)")],
        r"OrderFlow\.cancelled: then_every of @remind\(…\) is 0:00:00, so its time would be over",
    ),
    "the time of another item": (
        [body("@expire(Stage.PLACED, after=Invoice.due)")],
        r"after of @expire\(…\) is Invoice\.due, and the item is no Invoice: write .*after=Order\.due",
    ),
    "a time that a function cannot give": (
        [body("@expire(Stage.PLACED, after=lambda: week)")],
        r"after of @expire\(…\) is a function that cannot be called with the item alone",
    ),
    "a redelivery of an arm without an end": (
        [("@on(cancel_it)", "@on(cancel_it, redeliver=Backoff.constant(week))")],
        r"of OrderFlow\.cancelled \(.*py:\d+\) has no max_attempts",
    ),
    "a body of a taken name": (
        [body("@enter(Stage.PLACED)\n    def cancelled(self): ...")],
        r"OrderFlow\.cancelled: there is a body of that name at .*py:\d+, which would never run",
    ),
    "a body that is no function": (
        [("@on(cancel_it)", "@on(cancel_it)\n    @staticmethod")],
        r"OrderFlow\.cancelled: a body is a method, and this is a staticmethod",
    ),
    "a constructor": (
        [line("def __init__(self): ...")],
        r"OrderFlow\.__init__: it would never run: .*keep what lasts in columns of the item",
    ),
    "retries of nothing": (
        [line("soon = milestone(Stage.CHARGED, within=week, retries=2)")],
        r"OrderFlow\.soon: retries=2 says how often its unfinished hook.*write @soon\.unfinished above a method",
    ),
    "retries that do not count": (
        [line("soon = milestone(Stage.CHARGED, within=week, retries=-1)")],
        r"OrderFlow\.soon: retries=-1 does not say how often: write retries=2",
    ),
    "a backoff that is none": (
        [line("soon = milestone(Stage.CHARGED, within=week, backoff=week)")],
        r"OrderFlow\.soon: backoff=.*write backoff=Backoff\.constant",
    ),
    "a milestone of no state": (
        [line("soon = milestone(within=week)")],
        r"OrderFlow\.soon: it names no state, so it is never reached",
    ),
    "a milestone of a state of another enum": (
        [line("soon = milestone(Stage.CHARGED, since=Other.PLACED)")],
        r"OrderFlow\.soon: since= names Other\.PLACED",
    ),
    "a milestone whose time is never over": (
        [line("soon = milestone(Stage.CHARGED)\n    @soon.unfinished\n    def late(self): ...")],
        r"OrderFlow\.soon: its time is never over, so late would never run: write milestone\(…, within=",
    ),
    "a hook that is declared twice": (
        [
            line("soon = milestone(Stage.CHARGED)"),
            line("@soon.finished\n    def one(self): ..."),
            line("@soon.finished\n    def two(self): ..."),
        ],
        r"OrderFlow\.two: one \(.*py:\d+\) runs when soon is finished already",
    ),
    "a hook of nobody": (
        [line("@milestone(Stage.CHARGED).finished\n    def one(self): ...")],
        r"OrderFlow\.one: its milestone is no attribute of OrderFlow.*write shipped = milestone",
    ),
    "a subclass of a workflow": (
        [('the seller")\n', 'the seller")\n\nclass Special(OrderFlow): ...\n')],
        r"Special: OrderFlow tracks a column, and this class says not which",
    ),
}
