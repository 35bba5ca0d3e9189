"""The transactional step: what it writes to the app's own database commits together with its record (rule W13).

Its record is in the app's database, so that there is no moment at which one is there without the other.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import iscoroutine
from typing import TYPE_CHECKING, Any

from semel.compiler import Path, step_call
from semel.errors import NotAllowedHere, ResultNotRecordable
from semel.store.interface import Record

from . import points
from .halt import Halt
from .live import Live
from .outcomes import outcome_of_value

if TYPE_CHECKING:
    from .execution import Execution


class Transactional(Live):
    """A step with a transaction of its own."""

    __slots__ = ("_is_async", "durable")
    exactly_once = True

    def __init__(self, text: str, path: Path, label: str, step: object, *, is_async: bool) -> None:
        super().__init__(text, path, label, None, step, False)
        self._is_async = is_async
        self.durable = False

    def returned(self, codec: Any, value: object) -> bool:
        """Its outcome is known since it was committed."""
        return True

    def call(self, execution: Execution) -> Callable[[], object]:
        work = step_call(self.path, self.step)
        if self._is_async:
            return lambda: self._run_async(execution, work)
        return lambda: self._run(execution, work)

    def _run(self, execution: Execution, work: Callable[[Any], object]) -> object:
        commit: Any = execution.transaction
        if commit.has_written():
            raise self._too_late()
        session = commit.step_session()
        try:
            value = work(session)
            if iscoroutine(value):
                value.close()
                raise TypeError(f"the work of transaction({self.label!r}, …) is async: write transaction_async")
            session.flush()
            kept = self._write(execution, session, value)
            if kept:
                session.commit_with_run()
        finally:
            session.rollback()
            session.end()
        return self._committed(execution, kept, value)

    async def _run_async(self, execution: Execution, work: Callable[[Any], Any]) -> object:
        commit: Any = execution.transaction
        if await commit.has_written_async():
            raise self._too_late()
        session = commit.step_async_session()
        try:
            value = await work(session)
            await session.flush()
            kept = await session.run_sync(lambda sync: self._write(execution, sync, value))
            if kept:
                await session.run_sync(lambda sync: sync.commit_with_run())
        finally:
            await session.rollback()
            await session.run_sync(lambda sync: sync.end())
        return self._committed(execution, kept, value)

    def _write(self, execution: Execution, session: Any, value: object) -> bool:
        """Writes the record into the transaction; False if the claim was lost."""
        commit: Any = execution.transaction
        outcome = outcome_of_value(execution.codec, value)
        if outcome.kind == "unrecordable":
            what = execution.codec.decode(outcome.data)
            raise ResultNotRecordable(
                f"the transactional step {self.text} {what}, which cannot be recorded, so its transaction was rolled "
                f"back. Return something that can be recorded from it: a str, a dict, a dataclass, …"
            )
        self.outcome = outcome
        self.ended = execution.now()
        record: Record = execution.record_of(self, outcome, self._is_async)
        if points.armed:
            points.hit("transaction.before_commit", self.text)
        kept: bool = commit.step_in(session, record)
        return kept

    def _committed(self, execution: Execution, kept: bool, value: object) -> object:
        if not kept:
            raise execution.halt(Halt("lease lost"))
        if points.armed:
            points.hit("transaction.after_commit", self.text)
        self.durable = True
        return value

    def _too_late(self) -> NotAllowedHere:
        return NotAllowedHere(
            f"transaction({self.label!r}, …) has a transaction of its own, and the body has written through "
            f"app.session() before it, which keeps the database locked until the body ends. Make the transactional "
            f"step before that write, or write in it what the body has written"
        )


def transacted(execution: Execution, live: Transactional) -> Any:
    """Runs the step, or gives its record."""
    execution.claim(live.text, live.path)
    record = execution.records.get(live.text)
    if record is not None:
        return execution.replay.give(live.text, record, live.step, live._is_async)
    return execution.run_awaited(live) if live._is_async else execution.run_here(live)
