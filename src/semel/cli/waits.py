"""What a parked run waits for, for a person; and which runs hang on one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from semel.engine.parks import Wait, parked_executions

from .moments import iso, local

if TYPE_CHECKING:
    from semel.app import App
    from semel.store.interface import Run

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
                return f"{self.path}: {self._children()}"
        return f"{self.path}: until {when}"

    def _children(self) -> str:
        left, of = len(self.children), len(self.wait.children)
        if of == 1:
            return f"the child {named(self.children)}"
        which = "the first of" if self.wait.need < of else f"{left} of"
        return f"{which} {of} children: {named(self.children)}"


def named(names: Sequence[str], most: int = _NAMED) -> str:
    """The names, of many the first ones."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


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


def runs_below(app: App, uid: str) -> Iterator[Run]:
    """The children of the run that have not ended, and those below."""
    for child in app.store.children(uid):
        if child.finished_at is None:
            yield child
        yield from runs_below(app, child.uid)
