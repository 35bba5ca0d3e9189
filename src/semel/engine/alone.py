"""Steps that end alone: their body was cancelled, or lost its lease, and no longer waits for them (rule O20)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from .halt import Halt
from .live import Live

if TYPE_CHECKING:
    from .execution import Execution


def ended_alone(execution: Execution, live: Live, task: asyncio.Future[object]) -> None:
    """A step whose body was cancelled has ended: it is recorded all the same, before the run is let go."""
    if task.cancelled() or task.exception() is not None:
        execution.drain.leave(live)
        return
    loop = asyncio.get_running_loop()
    try:
        record = execution.returned(live, task.result(), awaited=True)
        if record is None:
            execution.drain.leave(live)
            return
        ticket = execution.journal.append([record], [], [])
        ticket.future(loop).add_done_callback(lambda kept: durable_alone(execution, live, kept))
    except BaseException as error:
        execution.halt(Halt("store", error))
        execution.drain.leave(live)


def durable_alone(execution: Execution, live: Live, kept: asyncio.Future[bool]) -> None:
    """The record of a step that the body no longer waits for is durable, or cannot be made so."""
    error = asyncio.CancelledError() if kept.cancelled() else kept.exception()
    if error is not None:
        execution.halt(Halt("store", error))
    elif not kept.result():
        too_late(execution, live)
        execution.halt(Halt("lease lost"))
    execution.marks.unmark(live)
    execution.drain.leave(live)


def too_late(execution: Execution, live: Live) -> None:
    """The lease was lost while the step ran: its result becomes a note."""
    text = "the step ended here after the lease was lost; its result is not used, and it may have run twice"
    execution.journal.late(execution.note(live.text, "late result", text))
