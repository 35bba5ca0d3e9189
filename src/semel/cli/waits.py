"""What a parked run waits for, and what its sagas are at, for a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from semel.engine.parks import Wait, parked_executions
from semel.engine.sagas import CLOSED, KEPT, UNDO, UNDONE, WITHIN

from .moments import iso, local

if TYPE_CHECKING:
    from semel.app import App
    from semel.store.interface import Record, Run

_NAMED = 5  # children that are named


@dataclass(frozen=True, slots=True)
class Waiting:
    """One wait of a run. ``at`` is when its clock is due; ``children`` are the ids of those that have not ended."""

    path: str
    wait: Wait
    children: Sequence[str]

    def as_json(self) -> dict[str, Any]:
        wait = self.wait
        return {
            "path": self.path,
            "kind": wait.kind,
            "until": iso(wait.at),
            "attempt": wait.attempt + 1 if wait.kind == "retry" else None,
            "event": wait.name or None,
            "children": list(self.children),
        }

    def told(self) -> str:
        wait = self.wait
        when = local(wait.at) if wait.at is not None else ""
        match wait.kind:
            case "retry":
                return f"{self.path}: attempt {wait.attempt + 1}, at {when}"
            case "redelivery":
                return f"to be delivered again, at {when}"
            case "event":
                return f"{self.path}: the event {wait.name!r}" + (f", until {when}" if when else "")
            case "child":
                named = ", ".join(self.children[:_NAMED])
                more = f" and {len(self.children) - _NAMED} more" if len(self.children) > _NAMED else ""
                which = "one of " if wait.need < len(wait.children) else ""
                return f"{self.path}: {which}{'the child' if len(self.children) == 1 else 'the children'} {named}{more}"
        return f"{self.path}: until {when}"


def waits_of(app: App, row: Run) -> list[Waiting]:
    """What the run waits for, if it is parked."""
    if row.status != "parked":
        return []
    executions = parked_executions(row.parked)
    waits = [(path, wait) for execution in executions.values() for path, wait in execution.waits.items()]
    ids: Mapping[str, str] = {}
    if any(wait.kind == "child" for _, wait in waits):
        ids = {child.uid: child.id for child in app.store.children(row.uid) if child.finished_at is None}
    return [Waiting(path, wait, [ids[uid] for uid in wait.children if uid in ids]) for path, wait in waits]


def is_of_saga(record: Record) -> bool:
    """Whether the record is what a saga keeps beside its steps, and no step."""
    return record.path.endswith((UNDO, KEPT, WITHIN, CLOSED))


def open_undos(records: Sequence[Record]) -> list[str]:
    """The steps that have an undo, none that has run, and no saga that was left."""
    there = {record.path: record for record in records}
    steps = [path.removesuffix(UNDO) for path in there if path.endswith(UNDO)]
    return [step for step in steps if step + UNDONE not in there and step in there and there[step].kind == "result"]


__all__ = ["UNDONE", "Waiting", "is_of_saga", "open_undos", "waits_of"]
