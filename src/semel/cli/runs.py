"""``semel runs``: the runs of an app, newest first."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import click

from .application import app_option, database_of, load_app
from .moments import duration, iso, local, moment, seconds_of
from .output import console, print_json, printable

if TYPE_CHECKING:
    from semel.store.interface import Run, Status

#: The colour of each status.
STYLES: dict[Status, str] = {
    "completed": "green",
    "faulted": "bold red",
    "running": "cyan",
    "pending": "yellow",
    "parked": "blue",
    "cancelled": "magenta",
}


@click.command("runs", short_help="List runs, newest first.")
@click.option("--workflow", metavar="NAME", help="Only runs of this workflow.")
@click.option("--status", type=click.Choice(list(STYLES)), help="Only runs of this status.")
@click.option("--since", type=moment, help="Only runs created at or after: ISO 8601, or an age such as 2h or 3d.")
@click.option("--until", type=moment, help="Only runs created at or before.")
@click.option("--limit", type=click.IntRange(min=1), default=100, show_default=True, help="So many at most.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@app_option
def command(
    workflow: str | None,
    status: Status | None,
    since: datetime | timedelta | None,
    until: datetime | timedelta | None,
    limit: int,
    as_json: bool,
    target: str | None,
) -> None:
    """List runs, newest first. A time without a zone is local; JSON has UTC."""
    app = load_app(target)
    try:
        now = app.now()
        rows = app.runs(
            workflow=workflow, status=status, since=seconds_of(since, now), until=seconds_of(until, now), limit=limit
        )
    finally:
        app.close()
    if as_json:
        print_json({"runs": [_as_json(row) for row in rows]})
    else:
        _print(rows, limit, database_of(app))


def run_times(row: Run) -> dict[str, str | None]:
    """The times of a run, as JSON has them."""
    return {
        "created_at": iso(row.created_at),
        "started_at": iso(row.started_at),
        "finished_at": iso(row.finished_at),
    }


def fault_line(row: Run) -> str | None:
    """The last line of a fault's traceback: the exception."""
    from .values import shortened

    lines = (row.fault or "").strip().splitlines()
    return shortened(lines[-1]) if lines else None


def took(row: Run) -> float | None:
    """Seconds from the creation of a run to its end."""
    return None if row.finished_at is None else row.finished_at - row.created_at


def _as_json(row: Run) -> dict[str, object]:
    return {
        "id": row.id,
        "workflow": row.workflow,
        "status": row.status,
        **run_times(row),
        "visits": row.visits,
        "fault": fault_line(row),
    }


def _print(rows: list[Run], limit: int, database: str) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    out = console(wide=True)
    if not rows:
        out.print(f"no such runs in {database}", soft_wrap=True)
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("run", "workflow"):
        table.add_column(name, overflow="fold")
    table.add_column("status", no_wrap=True)
    table.add_column("created", no_wrap=True)
    table.add_column("took", justify="right", no_wrap=True)
    faults = any(row.fault for row in rows)
    if faults:
        table.add_column("fault", overflow="fold")
    for row in rows:
        status = Text(row.status, STYLES[row.status])
        cells: list[str | Text] = [row.id, row.workflow, status, local(row.created_at), duration(took(row))]
        table.add_row(*cells, *([printable(fault_line(row) or "")] if faults else []))
    out.print(table)
    if len(rows) == limit:
        out.print(Text(f"the newest {limit}; --limit shows more", "dim"))
