"""Sagas: what their steps have done, and what of it is to be undone (rules W7, W8).

All that an undo needs is durable before its step begins: an *intention* beside the step's path, which names the undo
and the sagas round it. So the undos can run when the body is gone. What is recorded, for the saga ``…#trip``::

    …/trip#flight!undo      the intention of the step …/trip#flight
    …/trip#flight!undone    what became of the undo
    …#trip                  how the block was left: a failure, before the first undo runs, or a result
    …#trip!within           the steps that the block had come to when it failed: it is not entered again
    …#trip!kept             nothing of it is undone any more
    …#trip!closed           all is undone, and the failure ended the body: the work is done anew, as ``…#trip~r1``
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from semel.compiler import Path
from semel.store.interface import Record

from .frames import told_briefly
from .halt import Unwind
from .live import Live
from .outcomes import Outcome, is_of_failure, outcome_of_failure, outcome_of_value
from .undoing import Undo, Undoing
from .waiting import Waiting
from .writes import recorded

if TYPE_CHECKING:
    from .execution import Execution

log = logging.getLogger("semel")

Steps = Generator[Waiting, Any, None]

UNDO, UNDONE, KEPT, WITHIN, CLOSED = "!undo", "!undone", "!kept", "!within", "!closed"


class Block(Protocol):
    """The block of a saga, as far as those inside it ask."""

    number: int
    text: str


#: The blocks that the flow is in, the innermost first.
blocks: contextvars.ContextVar[tuple[Block, ...]] = contextvars.ContextVar("semel_sagas", default=())


class SagaStep(Live):
    """A step of a saga that runs now. ``raised`` is what its body saw of it in place of a result."""

    __slots__ = ("raised",)

    def __init__(self, text: str, path: Path, label: str, step: object) -> None:
        super().__init__(text, path, label, None, step, False)
        self.raised: BaseException | None = None


class Sagas:
    """The sagas of one delivery, and what earlier ones have left of them."""

    def __init__(self, execution: Execution, records: Mapping[str, Record]) -> None:
        self._execution = execution
        self._records = records
        self._added: dict[str, Record] = {}
        self._live: dict[str, SagaStep] = {}
        self._failed: list[tuple[str, BaseException]] = []
        self.open = 0  # how many blocks the body is in

    # ------------------------------------------------------------------------------------------------------ records

    def record(self, path: str) -> Record | None:
        """What is recorded there, or about to be."""
        return self._records.get(path) or self._added.get(path)

    def add(self, path: str, outcome: Outcome | None = None) -> Record:
        """A record that this delivery is to make durable; of nothing, if no outcome is given."""
        execution = self._execution
        known = outcome or outcome_of_value(execution.codec, None)
        now = execution.now()
        made = Record(execution.run, execution.body, path, known.kind, known.data, False, now, now, execution.delivery)
        self._added[path] = made
        return made

    def intend(self, undo: Undo) -> Record:
        """The record of an intention."""
        return self.add(undo.step + UNDO, outcome_of_value(self._execution.codec, undo.plain))

    def runs(self, step: SagaStep) -> None:
        """The step runs in this delivery."""
        self._live[step.text] = step

    # --------------------------------------------------------------------------------------------- what is to be undone

    def due(self) -> list[Undo]:
        """What is to be undone if the run ends now, the latest step first."""
        return [undo for undo in self._left() if not self._is_over(undo)]

    def unreached(self) -> list[Undo]:
        """What is to be undone because the body that commits did not come to its step (rule W12)."""
        execution = self._execution
        return [
            undo
            for undo in self._left()
            if not execution.has_claimed(undo.step) and not execution.replay.covers(undo.step)
        ]

    def below(self, saga: str) -> list[Undo]:
        """What is to be undone of a saga, and of those inside it."""
        return [undo for undo in self._left() if saga in undo.sagas]

    def _left(self) -> list[Undo]:
        undos = []
        for path, record in reversed([*self._records.items(), *self._added.items()]):
            if path.endswith(UNDO):
                undos.append(Undo.read(path.removesuffix(UNDO), self._execution.codec.decode(record.data)))
        return [undo for undo in undos if not self._is_done(undo) and not self._has_failed(undo)]

    def _is_done(self, undo: Undo) -> bool:
        kept = any(self.record(saga + KEPT) is not None for saga in undo.sagas)
        return kept or self.record(undo.step + UNDONE) is not None

    def _is_over(self, undo: Undo) -> bool:
        """Whether the body has left the outermost saga as it should."""
        left = self.record(undo.sagas[-1])
        return left is not None and left.kind == "result"

    def _has_failed(self, undo: Undo) -> bool:
        """Whether the step did not get through, so that there is nothing to undo."""
        live = self._live.get(undo.step)
        if live is not None and live.outcome is None:
            return live.raised is not None and live not in self._execution.drain.steps()
        outcome = self._outcome(undo.step)
        if outcome is None:
            return False
        return outcome.kind == "failure" or (
            outcome.kind == "unrecordable" and is_of_failure(self._execution.codec, outcome)
        )

    def _outcome(self, step: str) -> Outcome | Record | None:
        live = self._live.get(step)
        return live.outcome if live is not None else self._records.get(step)

    # ---------------------------------------------------------------------------------------------------------- undoing

    def undo(self, undos: list[Undo], saga: Path | None = None) -> Steps:
        """Runs these one after the other; one that fails for good is noted, and the others still run."""
        cancelled: asyncio.CancelledError | None = None
        for undo in undos:
            undoing = Undoing(self._execution, undo, saga)
            self._execution.claim(undoing.text, undoing.path)
            try:
                yield from self._undo(undo, undoing)
            except asyncio.CancelledError as error:  # of the body: what has begun is finished first
                cancelled = error
                yield self._execution.drain.gone([undoing])
            if self.record(undo.step + UNDONE) is None:
                self.add(undo.step + UNDONE)
        if cancelled is not None:
            raise cancelled

    def _undo(self, undo: Undo, undoing: Undoing) -> Steps:
        try:
            undoing.prepare(undo, self._outcome(undo.step))
            yield undoing
        except (Unwind, asyncio.CancelledError, KeyboardInterrupt):
            raise
        except BaseException as raised:
            error = raised if isinstance(raised, Exception) else RuntimeError(f"the undo exited: {raised!r}")
            log.error("run %s: the undo of %s failed: %s", self._execution.run, undo.step, told_briefly(error))
            if not undoing.recorded:  # it did not even start
                record = self.add(undo.step + UNDONE, outcome_of_failure(self._execution.codec, error))
                yield from recorded(self._execution, [record], undoing.notes(self._execution, error))

    # ----------------------------------------------------------------------------------------------------------- rounds

    def left_by(self, saga: str, error: BaseException) -> None:
        """A block was left by an exception, in this round of its saga."""
        self._failed.append((saga, error))

    def closed_by(self, errors: set[int]) -> list[Record]:
        """The records that close the rounds whose failure, by its id, has ended the body; not before all is undone."""
        ended = [saga for saga, error in self._failed if id(error) in errors]
        return [self.add(saga + CLOSED) for saga in ended if not self.below(saga)]

    def closed_with(self, undos: list[Undo]) -> list[Record]:
        """The records that close the rounds of these undos, which run because the run is ended from outside."""
        return [self.add(saga + CLOSED) for saga in dict.fromkeys(undo.sagas[-1] for undo in undos)]
