"""What a run of an entity workflow knows of the row that it follows, for a person."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .moments import iso, local

if TYPE_CHECKING:
    from semel.app import App
    from semel.entities.flow import Flow
    from semel.store.interface import Run


def row_facts(app: App, run: Run) -> Iterator[tuple[str, str]]:
    """The row, its state, its clocks, and what has faulted there."""
    if run.flow is None or run.entity is None:
        return
    from semel.entities.flow import flow_of
    from semel.entities.identity import identity_of

    flow = flow_of(run.flow)
    definition = app.entities.get(run.workflow)
    entity = definition.entity.__qualname__ if definition is not None else "row"
    yield "row", f"{entity} {', '.join(map(repr, identity_of(app.codec, run.entity)))}"
    yield "state", f"{flow.state}, since {local(flow.since)}"
    if run.finished_at is not None:
        return
    for body, at in sorted(flow.clocks.items(), key=lambda clock: clock[1]):
        yield "clock", f"{body}, at {local(at)}"
    for execution in faulted(flow):
        yield "faulted", execution


def row_json(app: App, run: Run) -> dict[str, Any] | None:
    """The same as JSON; None for a function workflow."""
    if run.flow is None or run.entity is None:
        return None
    from semel.entities.flow import flow_of
    from semel.entities.identity import identity_of

    flow = flow_of(run.flow)
    return {
        "key": [str(part) for part in identity_of(app.codec, run.entity)],
        "state": flow.state,
        "since": iso(flow.since),
        "clocks": {body: iso(at) for body, at in flow.clocks.items()},
        "faulted": faulted(flow),
    }


def faulted(flow: Flow) -> list[str]:
    """The executions that have faulted, and wait for an operator."""
    return [execution for execution, opened in flow.open.items() if opened.fault]
