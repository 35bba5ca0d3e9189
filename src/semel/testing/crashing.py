"""A crash of a delivery in a process that lives on: where it can come, and what makes it as good as a real one.

The execution is halted as if its lease were lost, and its journal takes nothing any more, so that also a step that was
in flight beside the crash leaves no record. Its marks stay, as those of a killed process do.
"""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from typing import Any

from semel.engine.drive import Ended, Steps
from semel.engine.execution import Execution
from semel.engine.halt import Halt, Unwind
from semel.engine.marks import Marks
from semel.store.interface import Note, Record

#: The points at which ``Kit.crash`` lets a delivery die: those that a body comes to by itself.
KIT_POINTS = (
    "step.before",
    "step.returned",
    "step.recorded",
    "transaction.before_commit",
    "transaction.after_commit",
    "body.before_commit",
    "body.after_commit",
)


@dataclass
class _Crash:
    point: str
    step: str | None
    hits: int  # until it comes


class Crashes:
    """The crashes that a test has asked for, and that have not come."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked: list[_Crash] = []

    def ask(self, point: str, step: str | None, hit: int) -> None:
        """Asks for one at the n-th time from now that something comes to the point."""
        if point not in KIT_POINTS:
            raise ValueError(f"there is no crash point {point!r} in a Kit; the points are {', '.join(KIT_POINTS)}")
        if hit < 1:
            raise ValueError(f"hit={hit}: the first time that a run comes to the point is 1")
        self._asked.append(_Crash(point, step, hit))

    def comes_now(self, point: str, path: str) -> bool:
        """A delivery has come to a point: whether it dies there."""
        with self._lock:
            for crash in self._asked:
                if crash.point == point and _is_at(crash.step, path):
                    crash.hits -= 1
            due = [crash for crash in self._asked if crash.hits == 0]
            self._asked = [crash for crash in self._asked if crash.hits > 0]
        return bool(due)

    def left(self) -> list[str]:
        """Those that have not come."""
        return [f"{crash.point} of {crash.step}" if crash.step else crash.point for crash in self._asked]


def _is_at(step: str | None, path: str) -> bool:
    """Whether ``step``, a label or a whole path (None: any), means the step at ``path``."""
    return step is None or step in (path, path.rpartition("#")[2].partition("~")[0])


def kill(execution: Execution) -> Unwind:
    """The execution dies here, with all that it has in flight; gives what carries it out of the body."""
    execution.journal = _Gone()
    execution.marks = Marks(execution.journal)  # so that those of the steps in flight stay as they are
    return execution.halt(Halt("lease lost"))


def is_dead(execution: Execution) -> bool:
    """Whether it was killed."""
    return isinstance(execution.journal, _Gone)


def cut(execution: Execution, steps: Steps) -> Steps:
    """The steps of a delivery, where a crash may come in the midst of its commit: then that is rolled back."""
    try:
        return (yield from steps)
    except Unwind:
        commit: Any = execution.transaction
        yield commit.discard()
        return Ended("lost")


class _Gone:
    """The journal of an owner that is no more."""

    def append(self, records: list[Record], notes: list[Note], retracted: list[str]) -> _Refused:
        return _Refused()

    def late(self, note: Note) -> None:
        pass

    def may_start(self) -> bool:
        return False

    def mark(self, path: str) -> object:
        return None

    def unmark(self, mark: object) -> None:
        pass


class _Refused:
    """A write that the claim no longer allows."""

    def wait(self) -> bool:
        return False

    def future(self, loop: asyncio.AbstractEventLoop) -> asyncio.Future[bool]:
        future: asyncio.Future[bool] = loop.create_future()
        future.set_result(False)
        return future
