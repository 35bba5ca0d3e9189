"""Lists of runs, by what the main file says and by who holds which run now."""

from __future__ import annotations

from semel.store.interface import Run, RunFilter

from .queries import JOURNAL, MAIN
from .rows import listed, run_of, running
from .session import Session


def list_runs(session: Session, which: RunFilter, now: float) -> list[Run]:
    """The runs of ``Store.list``."""
    held = session.living(session.journal_readers.all(JOURNAL["live_claims"], (now,)))
    conditions = ["1"]
    parameters: list[object] = []
    for condition, value in (
        ("workflow = ?", which.workflow),
        ("created_at >= ?", which.since),
        ("created_at <= ?", which.until),
    ):
        if value is not None:
            conditions.append(condition)
            parameters.append(value)
    if which.status == "running":
        conditions.append("+status = 'pending' AND uid IN (SELECT value FROM json_each(?))")
        parameters.append(listed(held))
    elif which.status == "pending":
        conditions.append("status = 'pending' AND uid NOT IN (SELECT value FROM json_each(?))")
        parameters.append(listed(held))
    elif which.status is not None:
        conditions.append("status = ?")
        parameters.append(which.status)
    query = MAIN["list"].format(conditions=" AND ".join(conditions))
    rows = session.main_readers.all(query, (*parameters, which.limit))
    live = frozenset(held)
    runs = [run_of(row) for row in rows]
    return [running(run) if run.status == "pending" and run.uid in live else run for run in runs]
