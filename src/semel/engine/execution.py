"""One execution of a body: which steps it has claimed, which are recorded, and how a live one is run.

Relies on the compiler for the path of every step, on the codec for values, and on a ``Journal`` to make records
durable. It knows no store, no worker and no clock of its own. Sync and async bodies share it; a step is awaited where
its callable gives an awaitable.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from inspect import isawaitable
from typing import Any

from semel.codec import Codec
from semel.compiler import Path, begins_step
from semel.errors import NotAllowedHere, PathClaimedTwice, ProgramError, StoreError
from semel.store.interface import Note, NoteKind, Record, Sending

from . import points
from .alone import durable_alone, ended_alone, too_late
from .automatic import Automatic
from .derive import Values
from .doubt import Doubt
from .facts import Facts
from .flow import Drain, ThreadFlow, current_flow, run_as_flow
from .halt import STRONGER, Halt, Unwind
from .labels import scope_and_step, segment_of_label
from .live import Live, as_task
from .marks import Marks
from .moment import passed
from .needs import Journal, Keys, Outside
from .outcomes import CANCELLED, Outcome
from .parks import Parked, Parks
from .replaying import Replay
from .retry import Attempt, attempted
from .sagas import Sagas
from .waits import Waits
from .writes import write_again, written

#: What steps return most: asking ``isawaitable`` costs more than all the rest that is asked of a value.
_NOT_AWAITABLE = frozenset({type(None), bool, int, float, str, bytes, dict, list, tuple})


class Execution:
    """One delivery of one body. ``body`` is ``start@1``; ``records`` are those of earlier deliveries, by path.

    ``doubtful`` says that an earlier delivery was cut off, so that a step may have been in flight without a record;
    ``began_at`` is when the first one was claimed.
    """

    def __init__(
        self,
        *,
        run: str,
        workflow: str = "",
        body: str,
        delivery: int,
        doubtful: bool,
        records: Mapping[str, Record],
        codec: Codec,
        keys: Keys,
        journal: Journal,
        now: Callable[[], float],
        began_at: float,
        parked: Parked = Parked(),  # noqa: B008 (immutable)
        outside: Outside | None = None,
        ending: bool = False,
    ) -> None:
        self.run = run
        self.workflow = workflow
        self.body = body
        self.delivery = delivery
        self.over = False
        self.ending = ending  # the run is to end: only undos run
        self.halted: Halt | None = None
        self.drain = Drain()
        self.root_flow = ThreadFlow()
        self.facts = Facts(self)
        self.codec = codec
        self.journal = journal
        self.now = now
        self.transaction: object = None
        self.records = records
        self.replay = Replay(self, records)
        self._began = now()
        self.keys = keys
        self._claimed: dict[str, object] = {}
        self.automatic = Automatic(self, records)
        self.marks = Marks(journal)
        self._doubt = Doubt(self, doubtful)
        self.began_at = max(began_at, parked.entered)
        self.values = Values(self, keys, self.began_at, parked.entry)
        self.parks = Parks(self, parked)
        self.waits = Waits(self, records, outside)
        self.sends: list[Sending] = []  # events for other runs, which the body's commit sends
        self.called_out: set[Path] = set()  # steps that have made a call of their own
        self.sagas = Sagas(self, records)

    # ----------------------------------------------------------------------------------------- what compiled code calls

    def once(
        self, parent: Path, passes: tuple[object, ...], awaited: bool, label: str, *rest: Any, **options: Any
    ) -> Any:
        """One ``once`` of the user's program, reached over ``parent`` and ``passes``."""
        scope, step = scope_and_step(label, rest)
        path = Path(parent, passes, segment_of_label(label), self)
        text = path.step()
        if self.halted is not None or self.over or self._claimed.setdefault(text, path) is not path:
            self._claim(text, path)
        records = self.records
        if records:
            if text + CANCELLED in records:
                return self.replay.until_cancelled(Live(text, path, label, scope, step, len(rest) == 2))
            record = records.get(text)
            if record is not None:
                return self.replay.give(text, record, step, awaited)
        if options:
            return attempted(self, Attempt(text, path, label, scope, step, len(rest) == 2), awaited, **options)
        live = Live(text, path, label, scope, step, len(rest) == 2)
        return self.run_awaited(live) if awaited else self.run_here(live)

    def run_callback(self, call: object, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        """A compiled function that foreign code calls back: a flow of its own."""
        return run_as_flow(call, args, kwargs)

    # ----------------------------------------------------------------------------------------------------------- claims

    def unreached(self) -> list[str]:
        """The recorded steps that this attempt did not come to (rule W12)."""
        return self.replay.unreached(self._claimed)

    def halt(self, halt: Halt) -> Unwind:
        """Sets the halt and gives what carries it out of the body. The first one stays, but that a park goes wrong."""
        if self.halted is None or (self.halted.reason in ("parked", "again") and halt.reason in STRONGER):
            self.halted = halt
            self.parks.wake()
        return Unwind(self.halted)

    @property
    def claims(self) -> int:
        """How many steps this delivery has come to."""
        return len(self._claimed)

    def also_claimed(self, path: Path) -> None:
        """The step whose claim is another path is at this one, too: an attempt with its number."""
        self._claimed[path.step()] = path

    def claimed_since(self, number: int) -> list[str]:
        """The steps that this delivery has come to after so many others."""
        return list(self._claimed)[number:]

    def has_claimed(self, text: str) -> bool:
        """Whether this delivery has come to the step."""
        return text in self._claimed

    def is_step(self, path: Path) -> bool:
        """Whether this is the path of a step that runs: what its lambda calls directly belongs to it (rule A7)."""
        return path.parent is not None and self._claimed.get(path.step()) is path

    def claim(self, text: str, path: Path, twice: Callable[[], ProgramError] | None = None) -> None:
        """Claims the path of a step for the call at ``path``; raises what stands against it.

        ``twice`` makes the error of a path that another call has.
        """
        if self.halted is not None or self.over or self._claimed.setdefault(text, path) is not path:
            if twice is not None and self.halted is None and not self.over:
                raise self.condemned(twice())
            self._claim(text, path)

    def _claim(self, path: str, claimant: Path) -> None:
        if self.halted is not None:
            raise Unwind(self.halted)
        if self.over:
            raise NotAllowedHere(
                f"the step {path} was reached after its body had ended; a task or thread that the body started must "
                f"be awaited or joined in the body"
            )
        if self._claimed.setdefault(path, claimant) is not claimant:
            raise self.condemned(
                PathClaimedTwice(
                    f"two steps of this execution have the path {path}; the second one was not run, because it would "
                    f"have read the first one's record. Give them different labels, call the helper in a loop (each "
                    f"pass is a step of its own), or make two functions of it"
                )
            )

    def condemned(self, error: ProgramError) -> ProgramError:
        """The run faults with this error, also if the body handles it: a step that was not run must not go unseen."""
        self.halt(Halt("fault", error))
        return error

    def goes_on(self, live: Live) -> None:
        """The step is still to start: raises if the body has ended, or the execution was halted."""
        if self.over or self.halted is not None:
            self._claimed.pop(live.text, None)
            self._claim(live.text, live.path)

    # ------------------------------------------------------------------------------------------------------ a live step

    def _begin(self, live: Live) -> Callable[[], object]:
        """The last look before a step starts; gives the call to make. After it, ``drain.leave`` must follow."""
        self.drain.enter(live)
        try:
            self.goes_on(live)
            if not self.journal.may_start():
                raise self.halt(Halt("lease lost"))
            call = live.call(self)
            live.started = self.now()
            return call
        except BaseException:
            self.drain.leave(live)
            raise

    def run_here(self, live: Live) -> Any:
        """Runs a step where it stands; gives its value, or an awaitable if the step is async after all."""
        if self.facts.pending or self._doubt.cut:
            try:
                kept = self.facts.record_past(self._doubt.notes(live)).wait()
            except StoreError as error:
                raise self.halt(Halt("store", error)) from error
            self.facts.settle(kept)
        call = self._begin(live)
        try:
            value = self._call(live, call)
            if type(value) not in _NOT_AWAITABLE and isawaitable(value):
                return self._await_later(live, value)
            try:
                record = self.returned(live, value, awaited=False)
                if record is None:
                    return value
                kept = live.durable or written(self, record)
            except StoreError as error:
                raise self.halt(Halt("store", error)) from error
            return self._finish(live, kept)
        finally:
            self.drain.leave(live)

    async def _await_later(self, live: Live, awaitable: Awaitable[object]) -> object:
        """Awaits a step that was made before: only now, if ever, it is in flight."""
        self.drain.enter(live)
        try:
            self.goes_on(live)
        except BaseException:
            self.drain.leave(live)
            if isinstance(awaitable, Coroutine):
                awaitable.close()
            raise
        return await self._await_step(live, awaitable)

    async def run_awaited(self, live: Live) -> Any:
        """Runs a step that the body awaits."""
        loop = asyncio.get_running_loop()
        if self.facts.pending or self._doubt.cut:
            try:
                kept = await self.facts.record_past(self._doubt.notes(live)).future(loop)
            except StoreError as error:
                raise self.halt(Halt("store", error)) from error
            except asyncio.CancelledError:  # before it began: a fact all the same
                live.started = self.now()
                self._cancelled(live)
                raise
            self.facts.settle(kept)
        call = self._begin(live)
        try:
            value = self._call(live, call)
        except BaseException:
            self.drain.leave(live)
            raise
        if type(value) not in _NOT_AWAITABLE and isawaitable(value):
            return await self._await_step(live, value)
        return await self._make_durable(loop, live, value, awaited=False)

    def _call(self, live: Live, call: Callable[[], object]) -> object:
        if points.armed:
            points.hit("step.before", live.text)
        self.marks.mark(live)
        try:
            return call()
        except BaseException as error:
            self._failed(live, error, awaited=False)
            raise

    async def _await_step(self, live: Live, awaitable: Awaitable[object]) -> object:
        """Awaits a started step, shielded: a cancelled body does not cancel it (rule O20)."""
        loop = asyncio.get_running_loop()
        try:
            task = as_task(loop, awaitable)
        except BaseException as error:  # an eager task that exits
            self._failed(live, error, awaited=True)
            self.drain.leave(live)
            raise
        if not task.done():
            limit = None if live.limit is None else loop.call_later(live.limit, live.out_of_time, task)
            try:
                await asyncio.shield(task)
            except asyncio.CancelledError:
                if not task.done() or not task.cancelled():
                    self._cancelled(live)
                    task.add_done_callback(lambda done: ended_alone(self, live, done))
                    raise
            except BaseException:  # noqa: S110 - the step's own failure; told apart below
                pass
            finally:
                if limit is not None:
                    limit.cancel()
        try:
            value = live.result_of(task)
        except BaseException as error:
            self._failed(live, error, awaited=True)
            self.drain.leave(live)
            raise
        return await self._make_durable(loop, live, value, awaited=True)

    async def _make_durable(self, loop: asyncio.AbstractEventLoop, live: Live, value: object, awaited: bool) -> object:
        try:
            record = self.returned(live, value, awaited=awaited)
            if record is None or live.durable:
                self.drain.leave(live)
                return value if record is None else self._finish(live, True)
            ticket = self.journal.append([record], [], [])
        except BaseException:
            self.drain.leave(live)
            raise
        again: asyncio.Task[bool] | None = None
        try:
            try:
                kept = await ticket.future(loop)
            except StoreError as error:
                again = loop.create_task(write_again(self, record, error))
                kept = await asyncio.shield(again)
        except asyncio.CancelledError:
            # The record is on its way; only the body stops waiting for it.
            self._cancelled(live)
            (again or ticket.future(loop)).add_done_callback(lambda kept: durable_alone(self, live, kept))
            raise
        except StoreError as error:
            self.drain.leave(live)
            raise self.halt(Halt("store", error)) from error
        except BaseException:
            self.drain.leave(live)
            raise
        self.drain.leave(live)
        return self._finish(live, kept)

    # ------------------------------------------------------------------------------------------------ what became of it

    def returned(self, live: Live, value: object, *, awaited: bool) -> Record | None:
        """The record of what the step returned; None where it is a fact only if the body goes on past it."""
        if points.armed:
            points.hit("step.returned", live.text)
        live.ended = self.now()
        at_once = live.returned(self.codec, value)
        assert live.outcome is not None
        if at_once:
            return self.record_of(live, live.outcome, awaited)
        passed(live.ended)
        if self.halted is None:
            self._doubt.passed()
            self.facts.answered(live, current_flow(self.root_flow), awaited=awaited)
        return None

    def record_of(self, live: Live, outcome: Outcome, awaited: bool, suffix: str = "") -> Record:
        """The record of a step of this execution; that of a cancellation counts from the start of the attempt."""
        return Record(
            self.run,
            self.body,
            live.text + suffix,
            outcome.kind,
            outcome.data,
            awaited,
            self._began if suffix else live.started,
            live.cancelled if suffix else live.ended,
            self.delivery,
        )

    def _finish(self, live: Live, kept: bool) -> object:
        """What the body sees of a step whose record is durable, or whose claim was lost."""
        if not kept:
            too_late(self, live)
            raise self.halt(Halt("lease lost"))
        if points.armed:
            points.hit("step.recorded", live.text)
        self.marks.unmark(live)
        if self._doubt.cut:
            self._doubt.passed()
        passed(live.ended)
        return live.given(self)

    def _failed(self, live: Live, error: BaseException, *, awaited: bool) -> None:
        if isinstance(error, Unwind) and error.halt.reason == "stopping":
            text = "its worker stopped while the step ran, after calls that it may have made; they are made again"
            self.journal.late(self.note(live.text, "possibly doubled", text))
        if isinstance(error, Unwind | ProgramError) or self.halted is not None:
            return
        live.ended = self.now()
        passed(live.ended)
        self._doubt.passed()
        if not live.took(error):
            self.take_failure(live, error, awaited=awaited)

    def take_failure(self, live: Live, error: BaseException, *, awaited: bool) -> None:
        """What a step raised is a fact if the body goes on past it."""
        self.facts.failed(live, error, current_flow(self.root_flow), awaited=awaited)

    def _cancelled(self, live: Live) -> None:
        """The body was cancelled while it awaited the step: what it saw is a fact if it goes on past it."""
        if self.halted is None:
            live.cancelled = self.now()
            passed(live.cancelled)
            self._doubt.passed()
            self.facts.cancelled(live, current_flow(self.root_flow))

    def note(self, path: str, kind: NoteKind, text: str) -> Note:
        return Note(run=self.run, path=path, kind=kind, text=text, at=self.now())


begins_step(Execution._call.__code__)
