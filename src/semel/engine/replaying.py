"""The records of earlier deliveries: what a step that is found in them gives, and which of them were not come to."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from semel.errors import RecordUnreadable, StoreError
from semel.store.interface import Record

from .halt import Halt
from .labels import enclosing_steps
from .live import Live
from .moment import passed
from .outcomes import CANCELLED, Outcome, is_of_failure, seen_by_body, unrecordable
from .stated import BY_HAND, is_awaited

if TYPE_CHECKING:
    from .execution import Execution

log = logging.getLogger("semel")

_GRACE = 1.0  # seconds that what cancels a step may take longer than it did
_LOOK = 0.5  # seconds between two looks whether the execution still goes on


class Replay:
    """What earlier deliveries of the execution have recorded, by path; and what this one has found there."""

    def __init__(self, execution: Execution, records: Mapping[str, Record]) -> None:
        self._execution = execution
        self._records = records
        self._found: set[str] = set()
        self._skipped: dict[str, None] = {}

    def give(self, path: str, record: Record, step: object, awaited: bool) -> Any:
        """The recorded outcome, as an awaitable where the step gave one. Called by ``once``, which the body calls."""
        self._found.add(path)
        if not awaited and asyncio.events._get_running_loop() is not None:
            awaited = record.awaited or (record.delivery == BY_HAND and is_awaited(step, sys._getframe(2).f_code))
        return self._later(path, record) if awaited else self.seen(path, record)

    async def _later(self, path: str, record: Record) -> object:
        return self.seen(path, record)

    def found(self, path: str) -> None:
        """The record of this path was come to."""
        self._found.add(path)

    def skipped(self, paths: Iterable[str]) -> None:
        """Steps in a block that is over, and is not entered again."""
        self._skipped.update(dict.fromkeys(paths))
        self._found.update(self._skipped)

    @property
    def skips(self) -> int:
        """How many steps were skipped so far."""
        return len(self._skipped)

    def skipped_since(self, number: int) -> list[str]:
        """The steps that were skipped after so many others."""
        return list(self._skipped)[number:]

    def seen(self, path: str, outcome: Outcome | Record) -> object:
        """What the body gets of an outcome; raises if that is a failure.

        A record that cannot be read, and a failure that could not be recorded, are no outcome that the body could act
        on: the execution faults with it, whatever the body does.
        """
        execution = self._execution
        if isinstance(outcome, Record):
            passed(outcome.finished_at)
        if outcome.kind == "unrecordable":
            error = unrecordable(execution.codec, path, outcome)
            raise execution.halt(Halt("fault", error)) if is_of_failure(execution.codec, outcome) else error
        try:
            value = seen_by_body(execution.codec, path, outcome)
        except RecordUnreadable as error:
            raise execution.halt(Halt("fault", error)) from error
        if outcome.kind == "failure":
            assert isinstance(value, BaseException)
            raise value
        return value

    async def until_cancelled(self, live: Live) -> object:
        """Replays a step that the body saw cancelled: it waits for what cancels it, which is replayed too.

        What cancelled it may not do so again, when the body had ended with a fault: a sibling that failed has succeeded
        meanwhile. So the wait is no longer than it took from the start of that attempt to the cancellation; then the
        step has its own outcome.
        """
        execution = self._execution
        cancelled = self._records[live.text + CANCELLED]
        self._found.add(live.text)
        await self.cancelled_again(cancelled, lambda: execution.goes_on(live))
        log.warning(
            "run %s: the step %s was cancelled in an earlier attempt, and nothing has cancelled it in this one; "
            "it has its own outcome now",
            execution.run,
            live.text,
        )
        try:
            kept = await execution.journal.append([], [], [cancelled.path]).future(asyncio.get_running_loop())
        except StoreError as error:
            raise execution.halt(Halt("store", error)) from error
        if not kept:
            raise execution.halt(Halt("lease lost"))
        record = self._records.get(live.text)
        if record is not None:
            return live.replayed(execution, record)
        self._found.discard(live.text)
        return await execution.run_awaited(live)

    async def cancelled_again(self, record: Record, goes_on: Callable[[], object]) -> None:
        """Waits for what cancelled the body there before; comes back if nothing does so in time."""
        loop = asyncio.get_running_loop()
        end = loop.time() + max(0.0, record.finished_at - record.started_at) + _GRACE
        while (left := end - loop.time()) > 0:
            try:
                await asyncio.sleep(min(left, _LOOK))
            except asyncio.CancelledError:
                passed(record.finished_at)
                raise
            goes_on()

    def unreached(self, claimed: Mapping[str, object]) -> list[str]:
        """The recorded steps that this attempt did not come to (rule W12)."""
        return [
            path for path in self._records if path not in claimed and CANCELLED not in path and not self.covers(path)
        ]

    def covers(self, path: str) -> bool:
        """Whether the step counts as come to all the same: it is inside a found step, or a block that is over."""
        return path in self._skipped or not self._found.isdisjoint(enclosing_steps(path))
