"""Programs with an entity workflow, and what tests of them need: a kit with the tables, a new row, a look at one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from semel.testing import Kit

HEAD = """
from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from enum import Enum

from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from semel import (
    App, Backoff, Event, Workflow, cancel, enter, error, expire, milestone, on, once, remind, run_child, saga, sleep,
    sleep_async, success, wait_for, wait_for_async,
)

app = App("shop")
did: list[object] = []
fails: list[str] = []


class Base(DeclarativeBase):
    pass


class Stage(Enum):
    PLACED = "placed"
    CHARGED = "charged"
    SHIPPED = "shipped"
    LAPSED = "lapsed"
    REVOKED = "revoked"


class Order(Base):
    __tablename__ = "orders"
    id: Mapped[int] = mapped_column(primary_key=True)
    stage: Mapped[Stage]
    note: Mapped[str | None]


def do(what: object) -> object:
    did.append(what)
    if what in fails:
        fails.remove(what)
        raise ConnectionError(what)
    return what

"""

#: An order is placed, charged with four attempts, shipped; it is reminded of, and lapses.
SHOP = (
    HEAD
    + """
@app.workflow
class OrderFlow(Workflow[Order], tracks=Order.stage, initial=Stage.PLACED, autostart=True):
    pay = Event[int]()
    note = Event[str]()
    ship = Event()
    revoke = Event()

    @on(pay, Stage.PLACED)
    def paid(self, amount: int) -> Stage:
        self.item.note = f"charged {amount}"
        once("charge", lambda: do("charge"), retry=Backoff.exponential(timedelta(seconds=2)).max_attempts(4))
        return Stage.CHARGED

    @on(note, Stage.PLACED, Stage.CHARGED)
    def noted(self, text: str) -> None:
        once("write", lambda: do(f"write {text}"))
        self.item.note = text
        once("tell", lambda: do("tell"))

    @on(ship, Stage.CHARGED)
    def sent(self) -> Stage:
        return Stage.SHIPPED

    @on(revoke)
    def revoked(self) -> Stage:
        return Stage.REVOKED

    @expire(Stage.PLACED, after=timedelta(days=7))
    def too_late(self) -> Stage:
        return Stage.LAPSED

    @remind(Stage.PLACED, after=timedelta(days=3), then_every=timedelta(days=2))
    def chase(self) -> None:
        once("mail", lambda: do("mail"))

    @enter(Stage.CHARGED)
    def charged(self) -> None:
        once("thank", lambda: do("thank"))

    shipped = success(Stage.SHIPPED, "on its way")
    lapsed = error(Stage.LAPSED, "never paid")
    dropped = cancel(Stage.REVOKED, "revoked")
"""
)

Load = Callable[[str], ModuleType]


@contextmanager
def kit_of(module: ModuleType) -> Iterator[Kit]:
    """A kit of the program's app, with the program's tables."""
    with Kit(module.app) as kit:
        with module.app.session() as session:
            module.Base.metadata.create_all(session.connection())
            session.commit()
        yield kit


def place(module: ModuleType, **values: Any) -> Any:
    """A new row of the program."""
    with module.app.session() as session:
        order = module.Order(**values)
        session.add(order)
        session.commit()
    return order


def seen(module: ModuleType, order: Any) -> tuple[str, str | None]:
    """The row's state and note, as they are in the database."""
    with module.app.session() as session:
        row = session.get(module.Order, order.id)
        return row.stage.name, row.note


def paths(run: Any) -> list[str]:
    """The paths of the run's steps."""
    return [record.path for record in run.steps() if not record.path.endswith("!begun")]
