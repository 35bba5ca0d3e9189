"""A worker process: ``python -m crash_worker SPEC``. It starts the runs, drives them, and reports when all have ended.

Each process of a story starts the same runs; as the ids are the same, so are the runs.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

from crash_effects import workflow_of

_PATIENCE = 60.0  # seconds; only a failing test waits so long


def main() -> None:
    spec = json.loads(sys.argv[1])
    app = importlib.import_module(spec["program"]).app
    if spec["start"]:
        runs = [app.start(app.workflows[workflow_of(run)].function, run, id=run) for run in spec["runs"]]
    else:
        runs = [app.run(run) for run in spec["runs"]]
    with app.worker(threads=spec["threads"], lease=timedelta(seconds=spec["lease"])):
        os.write(int(os.environ["CRASH_WATCHER"]), b"!")
        report = {run.id: _ended(app, run) for run in runs}
        for run in runs:
            report |= _children(app, run)
    app.close()
    unfinished = Path(f"{spec['report']}.{os.getpid()}")
    unfinished.write_text(json.dumps(report))
    unfinished.rename(spec["report"])


def _children(app: Any, run: Any) -> dict[str, dict[str, Any]]:
    """What became of the children of a run, by the names that they have in the log: their first arguments."""
    rows = app.store.children(run.uid)
    return {app.codec.decode(row.args)[0][0]: _ended(app, app.run(row.id)) for row in rows}


def _ended(app: Any, run: Any) -> dict[str, Any]:
    result, error = None, None
    try:
        result = run.result(timeout=_PATIENCE)
    except Exception as raised:
        error = f"{type(raised).__name__}: {raised}"
    row = app.store.get(run.id)
    return {
        "status": row.status,
        "result": result,
        "error": error,
        "visits": row.visits,
        "notes": [[note.kind, note.path] for note in run.notes()],
        "steps": [record.path for record in run.steps()],
    }


if __name__ == "__main__":
    main()
