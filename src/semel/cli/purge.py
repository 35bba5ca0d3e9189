"""``semel purge``: ended runs are deleted, with all their records."""

from __future__ import annotations

import sys
from datetime import timedelta
from typing import TYPE_CHECKING

import click

from .application import app_option, load_app
from .group import DONE, NO
from .moments import age, local

if TYPE_CHECKING:
    from semel.app import App

_PAGE = 1000


@click.command("purge", short_help="Delete runs that ended long ago.")
@click.option("--older-than", type=age, required=True, help="How long ago a run must have ended: 30d, 12h, …")
@click.option("--yes", is_flag=True, help="Do not ask. Needed where nobody can be asked.")
@app_option
@click.pass_context
def command(ctx: click.Context, older_than: timedelta, yes: bool, target: str | None) -> None:
    """Delete the runs that ended longer ago than --older-than, with all their records. Their ids stay taken.

    Says how many there are and asks first, unless --yes is given. Exits with 1 if the answer is no.
    """
    app = load_app(target)
    try:
        before = max(app.now() - older_than.total_seconds(), 0.0)
        number = _ended_before(app, before)
        click.echo(f"{number} {'run has' if number == 1 else 'runs have'} ended before {local(before)}")
        if not number:
            return
        if not yes:
            if not can_ask():
                raise click.UsageError("there is nobody to ask; give --yes to delete them")
            if not click.confirm("delete them with all their records?"):
                click.echo("nothing was deleted")
                ctx.exit(NO)
        # Time has passed while the question stood; the runs are those that were counted.
        purged = app.purge(older_than=timedelta(seconds=app.now() - before))
        click.echo(f"deleted {purged}")
        ctx.exit(DONE)
    finally:
        app.close()


def can_ask() -> bool:
    """Whether there is somebody at a terminal."""
    return sys.stdin.isatty()


def _ended_before(app: App, before: float) -> int:
    """The number of runs that ended before that time, looked through in pages: a run is created before it ends."""
    seen: set[str] = set()
    total = 0
    until, limit = before, _PAGE
    while True:
        page = app.runs(until=until, limit=limit)
        total += sum(
            1 for row in page if row.uid not in seen and row.finished_at is not None and row.finished_at < before
        )
        if len(page) < limit:
            return total
        oldest = page[-1].created_at
        if oldest == until:  # a page of one instant: a larger one gets past it
            limit *= 2
        seen = {row.uid for row in page} | (seen if oldest == until else set())
        until = oldest
