"""Forks: a new run that takes over what another one has done before one of its steps, and goes on from there."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from .engine.keys import forked_seed
from .engine.labels import enclosing_steps
from .engine.nested import forgotten_with
from .errors import StepNotFound, WorkflowUnknown
from .starting import check_id
from .store.interface import NewRun, Record
from .store.interface import Run as Row

if TYPE_CHECKING:
    from .app import App


def reused(records: Sequence[Record], from_path: str) -> list[Record]:
    """The records that a fork takes over: those made before the step at ``from_path`` and what ran in it.

    Raises:
        StepNotFound: the run has no record of that path.
    """
    there = [record.path for record in records]
    within = set(forgotten_with(from_path, records))
    within |= {path for path in there if path.split("!")[0] == from_path or from_path in enclosing_steps(path)}
    if not within:
        known = ", ".join(path for path in there if "!" not in path) or "none"
        raise StepNotFound(
            f"the run has no record of {from_path!r}, so it cannot be forked there; its records: {known}"
        )
    first = min(there.index(path) for path in within)
    return [record for record in records[:first] if record.body == records[first].body]


def forked(app: App, row: Row, from_path: str, id: str | None) -> tuple[NewRun, list[Record]]:
    """The new run, and the records that it begins with."""
    workflow = app.workflows.get(row.workflow)
    if workflow is None:
        raise WorkflowUnknown(
            f"the run {row.id!r} is of {row.workflow!r}, which the app {app.name!r} does not register"
        )
    kept = reused(app.store.records(row.uid), from_path)
    now = app.now()
    new = NewRun(
        uid=secrets.token_hex(16),
        id=check_id(id),
        workflow=row.workflow,
        args=row.args if row.visit_args is None else row.visit_args,
        seed=forked_seed(row.seed, secrets.token_bytes(32)),
        format=row.format,
        created_at=now,
        deadline=None if workflow.timeout is None else now + workflow.timeout.total_seconds(),
    )
    return new, [_taken_over(record, row.workflow, new.uid) for record in kept]


def _taken_over(record: Record, workflow: str, uid: str) -> Record:
    """The record under the paths of the first visit, which a new run begins with."""
    body = f"{record.body.partition('@')[0]}@1"
    path = f"{workflow}/{body}{record.path.removeprefix(f'{workflow}/{record.body}')}"
    return msgspec.structs.replace(record, run=uid, body=body, path=path)
