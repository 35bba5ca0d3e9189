"""What the sagas of a run are at, for a person: which steps have an undo, and what has become of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from semel.codec import Codec
from semel.engine.outcomes import CANCELLED, is_of_failure
from semel.engine.sagas import CLOSED, KEPT, UNDO, UNDONE, WITHIN
from semel.engine.undoing import Undo

if TYPE_CHECKING:
    from semel.store.interface import Record

#: ``open``: undone if its saga fails; ``due``: about to be undone; ``kept``: not undone any more.
UndoState = Literal["open", "due", "undone", "failed", "kept"]
RecordRole = Literal["step", "undo", "saga"]

_BESIDE = (UNDO, KEPT, WITHIN, CLOSED)  # what a saga keeps beside its steps


@dataclass(frozen=True, slots=True)
class StepUndo:
    """The undo of the step at the path ``step``. ``saga`` is the path of the outermost saga round it.

    ``in_doubt`` says that the step began, and nobody knows whether it was done.
    """

    step: str
    saga: str
    state: UndoState
    in_doubt: bool


class Sagas:
    """The sagas of a run, as its records tell them."""

    def __init__(self, codec: Codec, records: Sequence[Record]) -> None:
        self._codec = codec
        self._there = {record.path: record for record in records}
        undos = [self._read(record) for record in records if record.path.endswith(UNDO)]
        self._blocks = {saga for undo in undos for saga in undo.sagas}
        for path in self._there:
            self._blocks.update(path.removesuffix(end) for end in (KEPT, WITHIN, CLOSED) if path.endswith(end))
        self.undos = {undo.step: found for undo in undos if (found := self._undo(undo)) is not None}

    def role(self, record: Record) -> RecordRole:
        """Whether the record is of a step, of the undo of one, or of a saga itself."""
        path = record.path.removesuffix(CANCELLED)
        if path.endswith(UNDONE):
            return "undo"
        return "saga" if path.endswith(_BESIDE) or path in self._blocks else "step"

    def is_shown(self, record: Record) -> bool:
        """Whether the record is a line of its own for a person."""
        return not record.path.endswith(_BESIDE)

    def pending(self) -> list[StepUndo]:
        """The undos that run if the run ends now, in their order."""
        return [undo for undo in reversed(self.undos.values()) if undo.state in ("open", "due")]

    def done_anew(self) -> dict[str, list[str]]:
        """The sagas whose work is done anew when the run is delivered again, and the paths recorded in each."""
        closed = [path.removesuffix(CLOSED) for path in self._there if path.endswith(CLOSED)]
        return {saga: [path for path in self._there if _is_of(path, saga)] for saga in closed}

    def _read(self, record: Record) -> Undo:
        return Undo.read(record.path.removesuffix(UNDO), self._codec.decode(record.data))

    def _undo(self, undo: Undo) -> StepUndo | None:
        there = self._there
        outcome = there.get(undo.step)
        outermost = there.get(undo.sagas[-1])
        done = there.get(undo.step + UNDONE)
        state: UndoState = "open"
        if done is not None:
            state = "undone" if done.kind == "result" else "failed"
        elif outcome is not None and self._is_failure(outcome):
            return None
        elif any(saga + KEPT in there for saga in undo.sagas) or (outermost and outermost.kind == "result"):
            state = "kept"
        elif any(self._has_failed(saga) for saga in undo.sagas):
            state = "due"
        return StepUndo(undo.step, undo.sagas[-1], state, outcome is None or outcome.kind != "result")

    def _is_failure(self, outcome: Record) -> bool:
        return outcome.kind == "failure" or (outcome.kind == "unrecordable" and is_of_failure(self._codec, outcome))

    def _has_failed(self, saga: str) -> bool:
        left = self._there.get(saga)
        return saga + CANCELLED in self._there or (left is not None and left.kind != "result")


def _is_of(path: str, saga: str) -> bool:
    parent, _, label = saga.rpartition("#")
    inside = f"{parent}/{label}"
    return path == saga or (path.startswith(inside) and path[len(inside) :].startswith(("/", "#", "[")))
