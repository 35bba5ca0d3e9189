"""Callers of W4's table, each a process of its own: ``python entity_joined.py FOLDER KIND`` tells what became of each.

A caller is forked for every case, acts on a database of its own, and may kill itself; then another process is forked
that looks at what is there, and raises the event again.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from datetime import timedelta
from enum import Enum
from itertools import product
from pathlib import Path
from typing import Any

from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from semel import App, Event, Workflow, error, expire, on, once, sleep, sleep_async

CALLERS = ("commits", "rolls back", "dies", "rolls back a savepoint", "had flushed")
ARMS = ("complete", "move", "fault", "park")
ROWS = ("old", "new")

folder, kind = Path(sys.argv[1]), sys.argv[2]
case = "none"
app = App("joined", database=f"sqlite:///{folder / 'none.db'}", now=lambda: 1_800_000_000.0)


class Base(DeclarativeBase):
    pass


class Stage(Enum):
    PLACED = 1
    CHARGED = 2
    LAPSED = 3


class Order(Base):
    __tablename__ = "orders"
    id: Mapped[int] = mapped_column(primary_key=True)
    stage: Mapped[Stage]
    note: Mapped[str | None]
    other: Mapped[str | None]


def did() -> str:
    with (folder / f"{case}.log").open("a") as file:
        file.write("x")
    return "done"


class Common(Workflow[Order]):
    complete = Event()
    move = Event()
    fault = Event()
    park = Event()
    lapsed = error(Stage.LAPSED, "too late")


if kind == "sync":

    @app.workflow
    class Flow(Common, tracks=Order.stage, initial=Stage.PLACED, autostart=True):
        @on(Common.__dict__["complete"], Stage.PLACED)
        def completes(self) -> None:
            self.item.note = once("step", did)

        @on(Common.__dict__["move"], Stage.PLACED)
        def moves(self) -> Stage:
            self.item.note = once("step", did)
            return Stage.CHARGED

        @on(Common.__dict__["fault"], Stage.PLACED)
        def faults(self) -> None:
            self.item.note = once("step", did)
            raise ConnectionError("broken")

        @on(Common.__dict__["park"], Stage.PLACED)
        def parks(self) -> None:
            self.item.note = once("step", did)
            sleep(timedelta(hours=1))

        @expire(Stage.PLACED, Stage.CHARGED, after=timedelta(days=1))
        def expires(self) -> Stage:
            return Stage.LAPSED

else:

    @app.workflow
    class Flow(Common, tracks=Order.stage, initial=Stage.PLACED, autostart=True):  # type: ignore[no-redef]
        @on(Common.__dict__["complete"], Stage.PLACED)
        async def completes(self) -> None:
            self.item.note = await once("step", step)

        @on(Common.__dict__["move"], Stage.PLACED)
        async def moves(self) -> Stage:
            self.item.note = await once("step", step)
            return Stage.CHARGED

        @on(Common.__dict__["fault"], Stage.PLACED)
        async def faults(self) -> None:
            self.item.note = await once("step", step)
            raise ConnectionError("broken")

        @on(Common.__dict__["park"], Stage.PLACED)
        async def parks(self) -> None:
            self.item.note = await once("step", step)
            await sleep_async(timedelta(hours=1))

        @expire(Stage.PLACED, Stage.CHARGED, after=timedelta(days=1))
        async def expires(self) -> Stage:
            return Stage.LAPSED


async def step() -> str:
    return did()


# -------------------------------------------------------------------------------------------------------------- callers


def calls(caller: str, arm: str, row: str) -> None:
    """The caller, with a sync session."""
    with app.session() as session:
        order = session.get(Order, 1) if row == "old" else Order(id=2)
        assert order is not None
        session.add(order)
        order.other = "the caller's"
        if caller == "had flushed":
            session.flush()
        outer = session.begin_nested() if caller == "rolls back a savepoint" else None
        try:
            raised = getattr(Flow, arm)(order, session=session)
            tell(raised.state.name, "parked" if raised.parked else "done", order.stage.name)
        except ConnectionError as error:
            tell("raised", str(error), order.stage.name)
        if caller == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        if outer is not None:
            outer.rollback()
        session.rollback() if caller == "rolls back" else session.commit()


async def calls_async(caller: str, arm: str, row: str) -> None:
    """The caller, with an ``AsyncSession``."""
    async with app.async_session() as session:
        order = await session.get(Order, 1) if row == "old" else Order(id=2)
        assert order is not None
        session.add(order)
        order.other = "the caller's"
        if caller == "had flushed":
            await session.flush()
        outer = await session.begin_nested() if caller == "rolls back a savepoint" else None
        try:
            raised = await getattr(Flow, arm).call_async(order, session=session)
            await session.refresh(order)
            tell(raised.state.name, "parked" if raised.parked else "done", order.stage.name)
        except ConnectionError as error:
            await session.refresh(order)
            tell("raised", str(error), order.stage.name)
        if caller == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        if outer is not None:
            await outer.rollback()
        await (session.rollback() if caller == "rolls back" else session.commit())


def looks(caller: str, arm: str, row: str) -> None:
    """Another process, afterwards."""
    key = 1 if row == "old" else 2
    with app.session() as session:
        order = session.get(Order, key)
        tell(None if order is None else [order.stage.name, order.note, order.other])
    if order is None:
        tell(len(app.runs()))
        return
    run = Flow.run_of(order)
    assert run is not None
    found = app.store.get(run.id)
    assert found is not None
    assert found.flow is not None
    tell(found.visits, sorted(json.loads(found.flow)["clocks"]), sorted(json.loads(found.parked)))
    tell([record.path for record in run.steps()])
    before = ran()
    try:
        raised = getattr(Flow, arm)(order) if kind == "sync" else asyncio.run(getattr(Flow, arm).call_async(order))
        what = f"{raised.state.name}, parked" if raised.parked else raised.state.name
    except Exception as error:
        what = type(error).__name__
    tell(what, ran() - before)


def ran() -> int:
    """How often the step has run."""
    file = folder / f"{case}.log"
    return len(file.read_text()) if file.exists() else 0


def tell(*what: object) -> None:
    """One line of the story."""
    print(json.dumps([case, *what]), flush=True)


# ------------------------------------------------------------------------------------------------------------ the story


def forked(act: Callable[[], Any]) -> None:
    """Does it in a process of its own."""
    pid = os.fork()
    if pid == 0:
        try:
            act()
            app.close()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    _, status = os.waitpid(pid, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        sys.exit(f"{case} failed")


def made() -> None:
    """The database, with one row."""
    with app.session() as session:
        Base.metadata.create_all(session.connection())
        session.commit()
        session.add(Order(id=1))
        session.commit()


if __name__ == "__main__":
    for caller, arm, row in product(CALLERS, ARMS, ROWS):
        case = f"{caller}, {arm}, {row}"
        app._database = f"sqlite:///{folder / case.replace(', ', '-').replace(' ', '_')}.db"
        forked(made)
        if kind == "sync":
            forked(lambda: calls(caller, arm, row))
        else:
            forked(lambda: asyncio.run(calls_async(caller, arm, row)))
        forked(lambda: looks(caller, arm, row))
