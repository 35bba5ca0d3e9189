"""Two processes raise one event on one row, and one of them dies: ``python entity_kills.py FOLDER`` tells the story.

For each crash point, and each time that it is come to, both are forked; the second one comes when the first is in the
body, or dead; then a worker finishes.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from enum import Enum
from pathlib import Path

from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from semel import App, Event, Workflow, enter, on, once
from semel.engine import points

POINTS = (
    "step.before",
    "step.returned",
    "step.recorded",
    "journal.in_batch",
    "journal.after_commit",
    "body.before_commit",
    "body.after_commit",
)
_MOST = 12  # hits of one point

folder = Path(sys.argv[1])
case = "none"
gate: int | None = None  # told that the body has begun
app = App("kills", database=f"sqlite:///{folder / 'none.db'}")


class Base(DeclarativeBase):
    pass


class Stage(Enum):
    PLACED = 1
    CHARGED = 2


class Order(Base):
    __tablename__ = "orders"
    id: Mapped[int] = mapped_column(primary_key=True)
    stage: Mapped[Stage]
    note: Mapped[str | None]


def do(what: str) -> str:
    with (folder / f"{case}.log").open("a") as file:
        file.write(f"{what}\n")
    return what


@app.workflow
class Flow(Workflow[Order], tracks=Order.stage, initial=Stage.PLACED, autostart=True):
    pay = Event()

    @on(pay, Stage.PLACED)
    def paid(self) -> Stage:
        if gate is not None:
            os.write(gate, b"!")
        self.item.note = once("reserve", lambda: do("reserve"))
        once("charge", lambda: do("charge"))
        return Stage.CHARGED

    @enter(Stage.CHARGED)
    def charged(self) -> None:
        once("thank", lambda: do("thank"))


def made() -> None:
    with app.session() as session:
        Base.metadata.create_all(session.connection())
        session.commit()
        session.add(Order(id=1))
        session.commit()


def raises(spec: str | None, told: int, at: tuple[int, int]) -> None:
    """One of the two; ``spec`` says where the first one dies, and the second one waits for it."""
    global gate
    reading, writing = at
    if spec is None:
        os.close(writing)
        os.read(reading, 1)
    else:
        gate = writing
    with app.session() as session:
        order = session.get(Order, 1)
    assert order is not None
    points.arm(spec)
    try:
        what = Flow.pay(order).state.name
    except Exception as error:
        what = type(error).__name__
    points.arm(None)
    os.write(told, what.encode())


def finishes() -> None:
    """A worker, and what is there when nothing is left to do."""
    with app.session() as session:
        order = session.get(Order, 1)
    assert order is not None
    run = Flow.run_of(order)
    assert run is not None
    with app.worker():
        while run.status != "parked":
            pass
    with app.session() as session:
        order = session.get(Order, 1)
        assert order is not None
        row = app.store.get(run.id)
        assert row is not None
        done = (folder / f"{case}.log").read_text().split()
        doubled = [note.path for note in run.notes() if note.kind == "possibly doubled"]
        tell("left", order.stage.name, order.note, row.visits, done, doubled)


def tell(*what: object) -> None:
    print(json.dumps([case, *what]), flush=True)


def forked(act: Callable[[], None]) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            act()
            app.close()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    return pid


def ended(pid: int) -> int:
    """How a process ended: 0, or minus the signal that killed it."""
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        return -os.WTERMSIG(status)
    if os.WEXITSTATUS(status):
        sys.exit(f"{case} failed")
    return 0


def story(spec: str) -> bool:
    """Whether the point was come to that often."""
    ended(forked(made))
    outcomes = []
    pipes = [os.pipe(), os.pipe()]
    at = os.pipe()
    pids = [
        forked(lambda: raises(spec, pipes[0][1], at)),
        forked(lambda: raises(None, pipes[1][1], at)),
    ]
    os.close(at[0])
    os.close(at[1])
    died = ended(pids[0]) != 0
    ended(pids[1])
    for reading, writing in pipes:
        os.close(writing)
        outcomes.append(os.read(reading, 100).decode())
        os.close(reading)
    tell("raised", died, *outcomes)
    ended(forked(finishes))
    return died


if __name__ == "__main__":
    for point in POINTS:
        for hit in range(1, _MOST):
            case = f"{point}:{hit}"
            app._database = f"sqlite:///{folder / case.replace(':', '_')}.db"
            if not story(case):
                break
