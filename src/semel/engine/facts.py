"""Failures that the body may go on past (rule O24).

A step that raised has no record yet: if the body ends with that failure, the step is to run again. It becomes a fact,
and is recorded, before the next step of that flow starts and before the body's commit. A failure of another flow counts
as past when that flow has ended and its exception was taken; should it end the body all the same, it is retracted.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from semel.codec import Codec
from semel.errors import ResultNotRecordable
from semel.store.interface import Note, Record, Ticket

from .flow import Flow, ThreadFlow, current_flow, is_past
from .halt import Halt
from .outcomes import CANCELLED, Outcome, is_recordable_failure, outcome_of_failure, unrecordable

if TYPE_CHECKING:
    from .execution import Execution


@dataclass(slots=True)
class _Failure:
    live: Any
    error: BaseException | None
    flow: Flow
    awaited: bool
    suffix: str

    def outcome(self, codec: Codec) -> Outcome:
        if self.suffix:
            assert self.error is not None
            return outcome_of_failure(codec, self.error)
        outcome: Outcome = self.live.outcome if self.error is None else self.live.failed(codec, self.error)
        return outcome

    def ended(self, errors: set[int]) -> bool:
        """Whether one of these exceptions, by their ids, is what came of it."""
        error = self.error
        if error is None and isinstance(self.flow, asyncio.Task) and self.flow.done() and not self.flow.cancelled():
            error = self.flow.exception()
        elif error is None and isinstance(self.flow, ThreadFlow):
            error = self.flow.error
        return error is not None and id(error) in errors


class Facts:
    """The failures of one execution that are not recorded yet, and those recorded on another flow's word."""

    def __init__(self, execution: Execution) -> None:
        self._execution = execution
        self._lock = threading.Lock()
        self._recorded_for_others: list[_Failure] = []
        self._refused: ResultNotRecordable | None = None
        self.pending: list[_Failure] = []

    def failed(self, live: Any, error: BaseException, flow: Flow, *, awaited: bool) -> None:
        """The step raised; whether that is a fact shows later."""
        if is_recordable_failure(error):
            with self._lock:
                self.pending.append(_Failure(live, error, flow, awaited, ""))

    def answered(self, live: Any, flow: Flow, *, awaited: bool) -> None:
        """The step has an outcome that its call may yet make a failure of (rule A10): that it is a fact shows later."""
        with self._lock:
            self.pending.append(_Failure(live, None, flow, awaited, ""))

    def cancelled(self, live: Any, flow: Flow) -> None:
        """The body stopped waiting for the step, which goes on by itself."""
        with self._lock:
            self.pending.append(_Failure(live, asyncio.CancelledError(), flow, True, CANCELLED))

    def record_past(self, notes: Sequence[Note] = (), *, all_of_them: bool = False) -> Ticket[bool]:
        """Queues the records of the failures that the calling flow goes on past, and these notes."""
        execution = self._execution
        mine = current_flow(execution.root_flow)
        with self._lock:
            past = [f for f in self.pending if all_of_them or is_past(f.flow, mine)]
            self.pending = [f for f in self.pending if f not in past]
        records: list[Record] = []
        for failure in past:
            outcome = failure.outcome(execution.codec)
            if outcome.kind == "unrecordable":
                self._refused = unrecordable(execution.codec, failure.live.text, outcome)
            records.append(execution.record_of(failure.live, outcome, failure.awaited, failure.suffix))
            if failure.flow is not mine and not failure.suffix:
                self._recorded_for_others.append(failure)
        return execution.journal.append(records, [*notes], []) if records or notes else _NOTHING

    def settle(self, kept: bool) -> None:
        """After the records are durable: goes on, or raises what stands against it."""
        if not kept:
            raise self._execution.halt(Halt("lease lost"))
        refused, self._refused = self._refused, None
        if refused is not None:
            raise self._execution.halt(Halt("fault", refused))

    def forgo(self, error: BaseException) -> None:
        """These failures have ended something that will be done anew: they are no facts (rules R4, W7)."""
        ended = parts_of(error)
        with self._lock:
            self.pending = [failure for failure in self.pending if not failure.ended(ended)]

    def retracted_by(self, fault: BaseException) -> list[str]:
        """The paths of failures that were recorded for another flow and have ended the body after all.

        And those of the failed exchanges before the one that ended a call: the call is made anew as a whole.
        """
        ended = parts_of(fault)
        retracted = [failure.live.text for failure in self._recorded_for_others if failure.ended(ended)]
        return [*retracted, *self._execution.automatic.failed_before([failure.live for failure in self.pending])]


def parts_of(error: BaseException) -> set[int]:
    """The ids of the exception, of those that it groups, and of those that it came from."""
    return set(map(id, _parts(error)))


def _parts(error: BaseException) -> list[BaseException]:
    """The exception, those it groups and those it was raised from; each once, because a chain may be a circle."""
    found: dict[int, BaseException] = {}
    left: list[BaseException | None] = [error]
    while left:
        part = left.pop()
        if part is None or id(part) in found:
            continue
        found[id(part)] = part
        left += [part.__cause__, part.__context__]
        if isinstance(part, BaseExceptionGroup):
            left += part.exceptions
    return list(found.values())


class _Nothing:
    """A write of nothing, already durable."""

    def wait(self) -> bool:
        return True

    def future(self, loop: asyncio.AbstractEventLoop) -> asyncio.Future[bool]:
        done: asyncio.Future[bool] = loop.create_future()
        done.set_result(True)
        return done


_NOTHING = _Nothing()
