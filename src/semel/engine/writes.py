"""Records that the engine makes durable. One that the store could not take is offered again, for about as long as the
lease lasts.

The step has run, and its result is at hand: giving up at once would run it a second time. An append that did reach the
disk although the store said otherwise is not made twice, because the record of a path is written once.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any

from semel.errors import StoreError
from semel.store.interface import Note, Record

from .halt import Halt
from .waiting import Waiting

if TYPE_CHECKING:
    from .execution import Execution

log = logging.getLogger("semel")

_PAUSES = (0.1, 0.3, 1.0, 3.0)  # seconds


def written(execution: Execution, record: Record) -> bool:
    """Makes a record durable, on a thread; False if the claim was lost."""
    for pause in _PAUSES:
        try:
            return execution.journal.append([record], [], []).wait()
        except StoreError as error:
            _give_up_or_wait(execution, record, error, pause)
        time.sleep(pause)
    return execution.journal.append([record], [], []).wait()


async def write_again(execution: Execution, record: Record, error: StoreError) -> bool:
    """The same on an event loop, after the first attempt has failed."""
    loop = asyncio.get_running_loop()
    for pause in _PAUSES:
        _give_up_or_wait(execution, record, error, pause)
        await asyncio.sleep(pause)
        try:
            return await execution.journal.append([record], [], []).future(loop)
        except StoreError as failed:
            error = failed
    raise error


def _give_up_or_wait(execution: Execution, record: Record, error: StoreError, pause: float) -> None:
    if execution.halted is not None or not execution.journal.may_start():
        raise error
    log.warning("run %s: the step %s is not recorded yet (%s); again in %s s", record.run, record.path, error, pause)


def recorded(
    execution: Execution, records: list[Record], notes: Sequence[Note] = (), retracted: Sequence[str] = ()
) -> Generator[Waiting, Any, None]:
    """Makes records durable that nothing had to run for; raises ``Unwind`` where that cannot be."""
    yield from durable(execution, lambda: execution.journal.append(records, [*notes], [*retracted]))


def durable(execution: Execution, write: Callable[[], Waiting]) -> Generator[Waiting, Any, None]:
    """Waits for a write to be durable; raises ``Unwind`` where it cannot be."""
    try:
        kept = yield write()
    except StoreError as error:
        raise execution.halt(Halt("store", error)) from error
    if not kept:
        raise execution.halt(Halt("lease lost"))


def past_failures(execution: Execution, *, all_of_them: bool = False) -> Generator[Waiting, Any, None]:
    """Makes the failures that the flow goes on past durable (rule O24); raises what stands against it."""
    if execution.facts.pending:
        try:
            kept = yield execution.facts.record_past(all_of_them=all_of_them)
        except StoreError as error:
            raise execution.halt(Halt("store", error)) from error
        execution.facts.settle(kept)
