"""The block of one saga: how it is entered, the steps in it, and how it is left (rule W7).

Left by an exception, that is recorded before the first undo runs: a later delivery finishes the undos and raises it at
the top of the block, which it does not enter again. Where it ends the body the round is closed, and the work is done
anew under paths of its own.
"""

from __future__ import annotations

import asyncio
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any

from semel.compiler import Path, original_of
from semel.errors import NotAllowedHere
from semel.store.interface import Record

from .halt import Unwind
from .labels import segment_of_label
from .outcomes import CANCELLED, is_recordable_failure, outcome_of_failure, outcome_of_value
from .retry import Policy
from .sagas import CLOSED, KEPT, UNDO, WITHIN, Block, Sagas, SagaStep, Steps, blocks
from .undoing import Undo, name_of_undo
from .waiting import on_loop, on_thread
from .writes import durable, past_failures, recorded

if TYPE_CHECKING:
    from .execution import Execution


class SagaBlock:
    """One saga, from its ``with`` on. ``text`` is its path in its round, which ``number`` counts from 0."""

    def __init__(self, execution: Execution, parent: Path, passes: tuple[object, ...], label: str) -> None:
        self._execution = execution
        self._sagas: Sagas = execution.sagas
        self._parent = parent
        self._passes = passes
        self._name = segment_of_label(label)
        self._path = Path(parent, passes, self._name, execution)
        self._steps: list[SagaStep] = []
        self._is_open = False
        self._keeping: Any = None
        self._around: tuple[Block, ...] = ()
        self._first = 0  # step of the block, among those of this delivery
        self._first_skipped = 0
        self.number = 0
        self.text = self._path.step()

    # -------------------------------------------------------------------------------------------------------- the block

    def enter(self) -> Steps:
        """Before the block. Raises what an earlier delivery left it by, when what that has to undo is undone."""
        execution, sagas = self._execution, self._sagas
        execution.claim(self.text, self._path)
        self._around = blocks.get()
        self.number = self._around[0].number if self._around else 0
        for number in range(self.number):
            self._passed(number)
        while True:
            round_path = self._round()
            self.text = round_path.step()
            execution.also_claimed(round_path)
            if sagas.record(self.text + CLOSED) is None:
                failure = sagas.record(self.text)
                if failure is not None and failure.kind != "result":
                    yield from self._raise_again(failure)
                cancelled = sagas.record(self.text + CANCELLED)
                if cancelled is None:
                    break
                yield from self._cancel_again(cancelled)
            self._passed(self.number)
            self.number += 1
        self._is_open = True
        self._first = execution.claims
        self._first_skipped = execution.replay.skips
        sagas.open += 1
        blocks.set((self, *self._around))

    def _round(self, number: int | None = None) -> Path:
        number = self.number if number is None else number
        name = f"{self._name}~r{number}" if number else self._name  # no attempt: its steps have keys of their own
        return Path(self._parent, self._passes, name, self._execution)

    def _passed(self, number: int) -> None:
        """A round that is over: what is recorded in it is not unreached."""
        path = self._round(number)
        self._execution.also_claimed(path)
        self._execution.replay.found(path.step())
        self._execution.replay.found(self._path.step())

    def _raise_again(self, failure: Record) -> Steps:
        self._skip()
        yield from past_failures(self._execution)
        yield from self._sagas.undo(self._sagas.below(self.text), self._path)
        try:
            self._execution.replay.seen(self.text, failure)
        except Exception as error:
            self._sagas.left_by(self.text, error)
            raise

    def _skip(self) -> None:
        within: Any = self._sagas.record(self.text + WITHIN)
        if within is not None:
            self._execution.replay.skipped(self._execution.codec.decode(within.data))

    def _cancel_again(self, cancelled: Record) -> Steps:
        yield from self._sagas.undo(self._sagas.below(self.text), self._path)
        try:
            yield _CancelledAgain(self._execution, cancelled)
        except asyncio.CancelledError as error:
            self._skip()
            self._sagas.left_by(self.text, error)
            raise
        yield from recorded(self._execution, [self._sagas.add(self.text + CLOSED)])  # nothing does so: it is done anew

    def leave(self, error: BaseException | None) -> Steps:
        """After the block; who calls raises the exception on."""
        execution, sagas = self._execution, self._sagas
        self._is_open = False
        sagas.open -= 1
        blocks.set(self._around)
        if execution.halted is not None or (error is not None and not is_recordable_failure(error)):
            return  # not left for good: the next delivery comes to it again
        if execution.over:
            return  # in a task that has outlived the body: what ended it there is no outcome of the block
        yield execution.drain.gone(self._steps)
        if execution.halted is not None:
            raise Unwind(execution.halted)
        yield from self._kept()
        if error is None:
            if sagas.record(self.text) is None:
                yield from past_failures(execution)
                yield from recorded(execution, [sagas.add(self.text)])
            return
        sagas.left_by(self.text, error)
        execution.facts.forgo(error)
        yield from past_failures(execution)
        come_to = [*execution.claimed_since(self._first), *execution.replay.skipped_since(self._first_skipped)]
        within = outcome_of_value(execution.codec, come_to)
        facts = [sagas.add(self.text + WITHIN, within), self._failure(error), *self._failed_steps()]
        yield from recorded(execution, facts)
        yield from sagas.undo(sagas.below(self.text), self._path)

    def _failure(self, error: BaseException) -> Record:
        codec = self._execution.codec
        if isinstance(error, asyncio.CancelledError):
            return self._sagas.add(self.text + CANCELLED, outcome_of_value(codec, None))
        return self._sagas.add(self.text, outcome_of_failure(codec, error))

    def _failed_steps(self) -> list[Record]:
        """That a step of this round failed is a fact, whatever becomes of the body."""
        execution = self._execution
        failed = [(live, live.raised) for live in self._steps if live.raised is not None and live.outcome is None]
        return [execution.record_of(live, live.failed(execution.codec, error), False) for live, error in failed]

    # ------------------------------------------------------------------------------------------------------------ in it

    def step(
        self, parent: Path, passes: tuple[object, ...], is_async: bool, label: str, do: Any, undo: Any, policy: Policy
    ) -> Any:
        """A step of the saga; ``policy`` is that of its undo's retry."""
        execution = self._execution
        segment = segment_of_label(label)
        if not self._is_open:
            raise NotAllowedHere(f"{self.text}: the step {label!r} was reached outside of the saga's block")
        round_name = self._round().name
        if parent is self._parent:
            around, inner = self._passes, passes[len(self._passes) :]
        else:  # in a function that was given the saga
            around, inner = passes, ()
        path = Path(Path(parent, around, round_name, execution), inner, segment, execution)
        live = SagaStep(path.step(), path, label, do)
        execution.claim(live.text, path)
        intention = None
        if undo is not None:
            if not is_async and iscoroutinefunction(original_of(undo)):
                raise TypeError(f"{live.text}: its undo is async, and its saga is not; write `async with saga(…)`")
            sagas = (self.text, *(block.text for block in self._around))
            intention = Undo.planned(execution, live.text, name_of_undo(undo, label), sagas, policy)
        if is_async:
            return self._step_async(live, intention)
        on_thread(self._begin(live, intention))
        record = execution.records.get(live.text)
        if record is not None:
            return execution.replay.give(live.text, record, do, False)
        try:
            return execution.run_here(live)
        except BaseException as error:
            live.raised = error
            raise

    async def _step_async(self, live: SagaStep, intention: Undo | None) -> Any:
        execution = self._execution
        try:
            await on_loop(self._begin(live, intention))
        except BaseException as error:  # cancelled before it began
            live.raised = error
            raise
        if execution.records.get(live.text + CANCELLED) is not None:
            return await execution.replay.until_cancelled(live)
        record = execution.records.get(live.text)
        if record is not None:
            execution.replay.found(live.text)
            return execution.replay.seen(live.text, record)
        try:
            return await execution.run_awaited(live)
        except BaseException as error:
            live.raised = error
            raise

    def _begin(self, live: SagaStep, intention: Undo | None) -> Steps:
        yield from self._kept()
        if self._execution.records.get(live.text) is None:
            self._steps.append(live)
            self._sagas.runs(live)
        if intention is not None and self._sagas.record(live.text + UNDO) is None:
            yield from past_failures(self._execution)
            yield from recorded(self._execution, [self._sagas.intend(intention)])

    def keep(self) -> None:
        """Nothing that the saga has done, or does yet, is undone: that is durable before its next step starts."""
        if not self._is_open:
            raise NotAllowedHere(f"{self.text}: keep() was reached outside of the saga's block")
        if self._sagas.record(self.text + KEPT) is None:
            self._keeping = self._execution.journal.append([self._sagas.add(self.text + KEPT)], [], [])

    def _kept(self) -> Steps:
        ticket, self._keeping = self._keeping, None
        if ticket is not None:
            yield from durable(self._execution, lambda: ticket)


class _CancelledAgain:
    """What cancelled the block in an earlier delivery, waited for."""

    def __init__(self, execution: Execution, record: Record) -> None:
        self._execution = execution
        self._record = record

    def wait(self) -> None:
        """Nothing cancels a body on a thread."""

    async def future(self, loop: asyncio.AbstractEventLoop) -> None:
        await self._execution.replay.cancelled_again(self._record, self._goes_on)

    def _goes_on(self) -> None:
        if self._execution.halted is not None:
            raise Unwind(self._execution.halted)
