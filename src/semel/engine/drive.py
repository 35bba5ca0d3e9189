"""The drive: one delivery of a body from its top to its end, and what is committed of it.

Written once, as a generator that yields what it waits for; it is driven on a thread or on an event loop (``waiting``).
The order is that of rule O20 and O24: the body ends, no new step starts, those in flight are waited for, failures gone
past are recorded, then the outcome commits.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from semel.codec import NotEncodable
from semel.compiler import Path, current
from semel.errors import SemelError, StoreError, UnreachedSteps
from semel.store.interface import Note, Outcome

from . import points
from .body import Body, BodyCall
from .endings import Endings
from .execution import Execution
from .facts import parts_of
from .flow import flow_of_context
from .frames import told_briefly
from .halt import Halt, Unwind
from .moment import moment_of_flow
from .waiting import Waiting
from .writes import past_failures, recorded

log = logging.getLogger("semel")


class Commit(Protocol):
    """How the outcome becomes durable, fenced by the claim: with the app's rows, if the body has any."""

    def finish(self, outcome: Outcome, notes: list[Note]) -> Waiting: ...

    def discard(self) -> Waiting: ...

    def is_accident(self, error: BaseException) -> bool: ...


@dataclass(frozen=True, slots=True)
class Ended:
    """How a delivery ended. ``again`` says that the same execution is to be delivered again at once."""

    how: Literal["completed", "faulted", "lost", "released", "again", "parked", "ended"]
    error: BaseException | None = None


Steps = Generator[Waiting, Any, Ended]


def deliver(
    body: Body, execution: Execution, commit: Commit, endings: Endings, *, strict: bool, pause: float | None
) -> Steps:
    """Runs the body and commits its outcome, which ``endings`` makes.

    ``pause`` is how many seconds after a fault the execution is delivered again by itself; None: it is not.
    """
    root = body.root(execution)
    fault: BaseException | None = None
    value: object = None
    try:
        with _inside(execution, root):
            value = yield BodyCall(body, root)
            if not strict and execution.halted is None:
                yield from execution.sagas.undo(execution.sagas.unreached())
    except BaseException as error:
        fault = error
    if not execution.drain.idle:
        yield execution.drain
    if execution.halted is None and isinstance(fault, asyncio.CancelledError) and _cancelled_from_outside():
        execution.halt(Halt("stopping", fault))  # the loop is being closed: the run is given back as it is
    if execution.halted is None and fault is None:
        fault, data, notes = yield from _before_commit(execution, endings, value, strict)
        if fault is None:
            try:
                return (yield from _commit(commit, endings.completed(data), notes))
            except Exception as error:  # what the body's rows violate shows when they are written
                fault = error
    halted = execution.halted
    if halted is not None and halted.reason in ("parked", "again"):
        fault = yield from _before_park(execution, endings)
        if fault is None:
            return (yield from _let_go(execution, commit, endings))
        halted = execution.halted
    if halted is not None and halted.reason not in ("fault", "parked", "again"):
        yield commit.discard()
        return _halted(halted)
    if halted is not None and halted.reason == "fault":
        fault = halted.error
    assert fault is not None
    if commit.is_accident(fault):
        yield commit.discard()
        yield from _close_rounds(execution, fault)
        return Ended("again", StoreError(f"the app's own database: {told_briefly(fault)}"))
    return (yield from _fault(execution, commit, endings, fault, pause))


def end(body: Body, execution: Execution, commit: Commit, endings: Endings, outcome: Outcome) -> Steps:
    """Runs the undos that the body has left, and commits ``outcome``."""
    try:
        with _inside(execution, body.root(execution)):
            due = execution.sagas.due()
            if due:
                yield from recorded(execution, execution.sagas.closed_with(due))
            yield from execution.sagas.undo(due)
            yield from past_failures(execution, all_of_them=True)
    except Unwind:
        pass
    if not execution.drain.idle:
        yield execution.drain
    if execution.halted is None:
        ended = yield from _commit(commit, outcome, [])
        return Ended("ended") if ended.how == "completed" else ended
    if execution.halted.reason == "parked":
        return (yield from _let_go(execution, commit, endings))
    yield commit.discard()
    return _halted(execution.halted)


@contextmanager
def _inside(execution: Execution, root: Path) -> Iterator[None]:
    """In it user code finds the execution that it runs in; after it the execution is over."""
    path_token = current.set(root)
    flow_token = flow_of_context.set(execution.root_flow)
    moment_token = moment_of_flow.set(execution.began_at)
    try:
        yield
    finally:
        execution.over = True
        current.reset(path_token)
        flow_of_context.reset(flow_token)
        moment_of_flow.reset(moment_token)


def _close_rounds(execution: Execution, fault: BaseException) -> Generator[Waiting, Any, None]:
    """The sagas that have ended the body are done anew, if it is delivered again."""
    closed = execution.sagas.closed_by(parts_of(fault))
    if closed:
        yield execution.journal.append(closed, [], [])


def _cancelled_from_outside() -> bool:
    """Whether somebody cancelled the task that drives; else the body raised the CancelledError by itself."""
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return False
    return task is not None and task.cancelling() > 0


def _before_commit(
    execution: Execution, endings: Endings, value: object, strict: bool
) -> Generator[Waiting, Any, tuple[BaseException | None, bytes | None, list[Note]]]:
    try:
        yield from past_failures(execution, all_of_them=True)
    except Unwind as error:
        return error, None, []
    try:
        data = endings.result(value)
    except SemelError as error:
        return error, None, []
    unreached = execution.unreached()
    if unreached:
        log.warning("run %s ended without reaching steps that an earlier attempt did: %s", execution.run, unreached)
        if strict:
            return (
                UnreachedSteps(
                    f"the body ended without reaching steps that an earlier attempt had done: {', '.join(unreached)}. "
                    f"Mend the body so that it reaches them, or drop strict=True"
                ),
                None,
                [],
            )
    text = "done by an earlier attempt; the attempt that was committed did not come to it"
    return None, data, [execution.note(path, "unreached", text) for path in unreached]


def _before_park(execution: Execution, endings: Endings) -> Generator[Waiting, Any, BaseException | None]:
    """What must be durable before the worker lets go of the run (rule O24)."""
    halted = execution.halted
    assert halted is not None
    try:
        if halted.reason == "again":
            endings.again(halted.args)
        yield from past_failures(execution, all_of_them=True)
    except NotEncodable as error:
        return TypeError(f"an argument of app.again(…) cannot be recorded: {error}")
    except SemelError as error:
        return error
    except Unwind as error:  # it is halted for that now
        return error
    return None


def _let_go(execution: Execution, commit: Commit, endings: Endings) -> Steps:
    """The commit of a park, which rolls the app's rows back; or of a visit that ``app.again`` has ended."""
    halted = execution.halted
    assert halted is not None
    if halted.reason == "again":
        return (yield from _park(commit, endings.again(halted.args)))
    yield commit.discard()
    return (yield from _park(commit, endings.parked()))


def _park(commit: Commit, outcome: Outcome) -> Steps:
    ended = yield from _commit(commit, outcome, [])
    return Ended("parked") if ended.how == "completed" else ended


def _commit(commit: Commit, outcome: Outcome, notes: list[Note]) -> Steps:
    if points.armed:
        points.hit("body.before_commit")
    try:
        kept = yield commit.finish(outcome, notes)
    except StoreError as error:
        return Ended("again", error)
    if points.armed:
        points.hit("body.after_commit")
    return Ended("completed" if kept else "lost")


def _fault(execution: Execution, commit: Commit, endings: Endings, fault: BaseException, pause: float | None) -> Steps:
    yield commit.discard()
    notes: list[Note] = []
    retracted = execution.facts.retracted_by(fault)
    if pause is not None:
        notes = [execution.note("", "redelivered", f"after {told_briefly(fault)}"[:500])]
    closed = execution.sagas.closed_by(parts_of(fault))
    try:
        if (retracted or notes or closed) and not (yield execution.journal.append(closed, notes, retracted)):
            return Ended("lost")
        if pause is not None:
            return (yield from _park(commit, endings.redelivered(pause))) if pause else Ended("again", fault)
        outcome = endings.faulted(fault)
        kept = outcome is None or (yield commit.finish(outcome, []))
    except StoreError as error:
        return Ended("again", error)
    return Ended("faulted" if kept else "lost", fault)


def _halted(halt: Halt) -> Ended:
    if halt.reason == "lease lost":
        return Ended("lost")
    if halt.reason == "store":
        return Ended("again", halt.error)
    return Ended("released", halt.error)
