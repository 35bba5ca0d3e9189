"""Parks: what an execution waits for, and how its body lets go of its worker until then (rules R1, W1, W6).

A body cannot be resumed in its middle, so it unwinds, and runs again from its top when something has woken the run.
What it waited for is kept in the run's row, by execution. A wait in the body's own flow, or in a thread, parks at once.
One in another task of an async body lets the other tasks go on, and parks when nothing is in flight any more.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from semel.compiler import Path
from semel.errors import NotAllowedHere, ProgramError

from .halt import Halt, Unwind

if TYPE_CHECKING:
    from .execution import Execution

_QUIET = 0.005  # seconds without a step, after which the tasks of an async body count as waiting, too


class Wait(msgspec.Struct, frozen=True, omit_defaults=True):
    """One wait. ``at`` is when its clock is due, in seconds since the epoch; None: it has none.

    ``attempt`` counts the attempts of a retried step that have failed, ``since`` is when the first one began,
    ``awaited`` says that the step is async; ``name`` is that of an event; ``children`` are the uids of runs, of which
    ``need`` more must end.
    """

    kind: Literal["retry", "sleep", "event", "child", "redelivery"]
    at: float | None = None
    attempt: int = 0
    since: float = 0.0
    awaited: bool = False
    name: str = ""
    children: tuple[str, ...] = ()
    need: int = 0


class Parked(msgspec.Struct, frozen=True, omit_defaults=True):
    """A parked execution. ``entry`` counts its re-entries by a retry, the latest of which ``entered`` at that time."""

    entry: int = 0
    entered: float = 0.0
    waits: dict[str, Wait] = {}


_read = msgspec.json.Decoder(dict[str, Parked]).decode
_write = msgspec.json.Encoder().encode


def parked_executions(text: str) -> dict[str, Parked]:
    """What a run's row holds, by execution (``start@1``)."""
    return _read(text) if text != "{}" else {}


def parked_text(executions: Mapping[str, Parked]) -> str:
    """What a run's row is to hold."""
    return _write(executions).decode()


class Parks:
    """The waits of one delivery: those that it came with, and those that it has come to."""

    def __init__(self, execution: Execution, parked: Parked) -> None:
        self._execution = execution
        self._before = {path: wait for path, wait in parked.waits.items() if path}
        self._waits: dict[str, Wait] = {}
        self._paths: dict[str, Path] = {}
        self._sleepers: dict[asyncio.Future[None], asyncio.AbstractEventLoop] = {}
        self._retried: dict[Path, str] = {}
        self._lock = threading.Lock()
        self._parked = parked
        self._re_entries = 0
        self._changes = 0
        self.body_task: asyncio.Task[Any] | None = None

    # ------------------------------------------------------------------------------------------------------------ waits

    def wait_of(self, text: str) -> Wait | None:
        """What the execution waited for at this path when it was parked."""
        return self._before.get(text)

    def over(self, text: str) -> None:
        """The wait at this path is over, and its outcome recorded."""
        self._before.pop(text, None)

    def at(self, text: str, path: Path, wait: Wait) -> Park:
        """The wait at ``path``, to be yielded by who waits."""
        self._changes += 1
        return Park(self, text, path, wait)

    def enter(self, text: str, path: Path, wait: Wait) -> None:
        """The flow has come to a wait that is not over.

        Raises what stands against it: it is in a step with a retry (R8), or that has made a call of its own (W11).
        """
        if self._execution.halted is not None:
            raise Unwind(self._execution.halted)
        if wait.kind != "retry":
            self._refuse_in_a_retry(text, path)
        self._refuse_after_a_call(text, path)
        with self._lock:
            self._waits[text] = wait
            self._paths[text] = path
            if wait.kind == "retry" and self._before.get(text) != wait:
                self._re_entries += 1

    def leave(self, text: str) -> None:
        """The flow was cancelled while it waited."""
        with self._lock:
            self._waits.pop(text, None)
            self._paths.pop(text, None)

    def park(self) -> Unwind:
        """Parks now."""
        return self._execution.halt(Halt("parked"))

    # ---------------------------------------------------------------------------------------------- in an async body

    async def until_quiet(self, text: str) -> None:
        """Waits in this task, while the body's others go on; raises ``Unwind`` when the execution parks, or is
        halted.
        """
        loop = asyncio.get_running_loop()
        if asyncio.current_task() is self.body_task:
            raise self.park()
        sleeper: asyncio.Future[None] = loop.create_future()
        with self._lock:
            self._sleepers[sleeper] = loop
        loop.call_later(_QUIET, self._look, loop, self._seen())
        task = asyncio.current_task()
        if task is not None:
            task.add_done_callback(self._left_to_park)
        try:
            if self._execution.halted is not None:
                raise Unwind(self._execution.halted)
            await sleeper
        except asyncio.CancelledError:
            if self._execution.halted is None:
                self.leave(text)
            raise
        finally:
            with self._lock:
                self._sleepers.pop(sleeper, None)
        assert self._execution.halted is not None
        raise Unwind(self._execution.halted)

    def _left_to_park(self, task: asyncio.Task[Any]) -> None:
        """That a task was left because the execution parks is no failure that asyncio should tell of."""
        if self._execution.halted is not None and not task.cancelled():
            task.exception()

    def _look(self, loop: asyncio.AbstractEventLoop, before: int) -> None:
        """Parks if nothing has happened meanwhile, and nothing is in flight but steps that wait themselves."""
        execution = self._execution
        if execution.halted is not None or execution.over or not self._sleepers:
            return
        seen = self._seen()
        if seen == before and self._only_waiting():
            execution.halt(Halt("parked"))
            return
        loop.call_later(_QUIET, self._look, loop, seen)

    def _seen(self) -> int:
        """Rises with each step and each wait that the body comes to."""
        return self._changes + self._execution.claims

    def _only_waiting(self) -> bool:
        enclosing: set[Path] = set()
        for path in list(self._paths.values()):
            above = path.parent
            while above is not None:
                enclosing.add(above)
                above = above.parent
        return all(getattr(step, "path", None) in enclosing for step in self._execution.drain.steps())

    def wake(self) -> None:
        """The execution was halted: whoever waits here is to unwind."""
        with self._lock:
            sleepers = list(self._sleepers.items())
        for sleeper, loop in sleepers:
            if not loop.is_closed():
                loop.call_soon_threadsafe(_release, sleeper)

    # --------------------------------------------------------------------------------------------------------- refusals

    def retries(self, path: Path, label: str) -> None:
        """The step that runs at ``path`` has a retry."""
        self._retried[path] = label

    def _refuse_in_a_retry(self, text: str, path: Path) -> None:
        for above in self._steps_above(path):
            label = self._retried.get(above)
            if label is not None:
                raise self._execution.condemned(
                    NotAllowedHere(
                        f"{text} waits inside the step {label!r}, which has a retry: the wait would end with the "
                        f"attempt, and each attempt would wait anew (rule R8). There are two ways out. Let the child "
                        f"run carry the retry, and wait for it outside of any retry:\n"
                        f"    child = run_child({label!r}, …)          # its own steps have the retry\n"
                        f"    child.result()\n"
                        f"Or move the wait out of the step:\n"
                        f"    sleep(timedelta(minutes=5))\n"
                        f"    once({label!r}, lambda: …, retry=…)"
                    )
                )

    def _refuse_after_a_call(self, text: str, path: Path) -> None:
        for above in self._steps_above(path):
            if above in self._execution.called_out:
                raise self._execution.condemned(_called_out(text, above))

    def _steps_above(self, path: Path) -> list[Path]:
        found: list[Path] = []
        above = path.parent
        while above is not None:
            if self._execution.is_step(above):
                found.append(above)
            above = above.parent
        return found

    # ---------------------------------------------------------------------------------------------------------- storing

    @property
    def children(self) -> tuple[tuple[str, ...], int]:
        """The uids of the runs that are waited for, and how many of them must have ended."""
        waits = [wait for wait in self._waits.values() if wait.kind == "child"]
        uids = tuple(dict.fromkeys(uid for wait in waits for uid in wait.children))
        return uids, min((wait.need for wait in waits), default=0)

    @property
    def due(self) -> float | None:
        """When the first clock of the execution is due."""
        now = self._execution.now()
        late = [wait.at for text, wait in self._left().items() if text not in self._waits and (wait.at or 0.0) > now]
        return min([at for at in (*(wait.at for wait in self._waits.values()), *late) if at is not None], default=None)

    def _left(self) -> dict[str, Wait]:
        """The waits that it came with and that are not over: a fault keeps them all with the run."""
        records = self._execution.records
        return {text: wait for text, wait in self._before.items() if text not in records}

    def parked_until(self, at: float) -> Parked:
        """The execution as it is stored when it has faulted, and is delivered again at that time."""
        waits = {**self._left(), "": Wait("redelivery", at)}
        return Parked(self._parked.entry, self._parked.entered, waits)

    def parked(self) -> Parked:
        """The execution as it is stored.

        A re-entry by a retry is counted as the park is stored, and its time set, so that a delivery after a crash reads
        the same values (rule A5).
        """
        waits = {**self._left(), **self._waits}
        if not self._re_entries:
            return Parked(self._parked.entry, self._parked.entered, waits)
        due = [wait.at for wait in self._waits.values() if wait.kind == "retry" and wait.at is not None]
        others = len(due) < len(self._waits)
        entered = self._execution.now() if others or not due else min(due)
        return Parked(self._parked.entry + self._re_entries, max(entered, self._parked.entered), waits)


class Park:
    """A wait that a flow has come to: on a thread it parks at once, on a loop when the other tasks wait, too."""

    def __init__(self, parks: Parks, text: str, path: Path, wait: Wait) -> None:
        self._parks = parks
        self._text = text
        self._path = path
        self._wait = wait

    def wait(self) -> None:
        self._parks.enter(self._text, self._path, self._wait)
        raise self._parks.park()

    async def future(self, loop: asyncio.AbstractEventLoop) -> None:
        self._parks.enter(self._text, self._path, self._wait)
        await self._parks.until_quiet(self._text)


def _release(sleeper: asyncio.Future[None]) -> None:
    if not sleeper.done():
        sleeper.set_result(None)


def _called_out(text: str, step: Path) -> ProgramError:
    return NotAllowedHere(
        f"{text} waits inside the step {step.step()}, which has made a call of its own: when the wait is over the step "
        f"runs again from its top, and would make that call again (rule W11). Give the call a step of its own, or move "
        f"the wait out of the step:\n"
        f'    once("call", lambda: …)\n'
        f"    sleep(timedelta(minutes=5))"
    )
