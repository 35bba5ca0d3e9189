"""``semel cancel``: a run is ended, with its children."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .application import app_option, load_app
from .group import DONE, NO
from .output import tell_list

if TYPE_CHECKING:
    from semel.app import App
    from semel.run import Run


@click.command("cancel", short_help="End a run, and its children.")
@click.argument("run_id", metavar="RUN")
@click.option("--yes", is_flag=True, help="Do not ask.")
@app_option
@click.pass_context
def command(ctx: click.Context, run_id: str, yes: bool, target: str | None) -> None:
    """Cancel the run RUN and all its children: one that waits at once, one that runs at its next step.

    What its open sagas have done is undone first, by a worker.

    Exits with 1 if there is no such run, or if it has ended.
    """
    from semel.store.interface import ENDED

    app = load_app(target)
    try:
        run = app.run(run_id)
        status = run.status
        if status not in ENDED and not yes:
            _tell_effects(app, run)
            stops = "; what runs of it stops at its next step" if status == "running" else ""
            click.confirm(f"The run {run_id} ({status}) will be cancelled{stops}. Go on?", abort=True, err=True)
        done = run.cancel()
        status = run.status
    finally:
        app.close()
    if not done:
        click.echo(f"too late: the run {run_id} has ended ({status})", err=True)
        ctx.exit(NO)
    ended = "is cancelled" if status == "cancelled" else "is cancelled as soon as a worker comes to it"
    click.echo(f"the run {run_id} {ended}")
    ctx.exit(DONE)


def _tell_effects(app: App, run: Run[object]) -> None:
    """Says what a cancel of the run ends with it, and what it undoes."""
    from .sagas import Sagas
    from .waits import runs_below

    below = list(runs_below(app, run.uid))
    tell_list("These children will be cancelled too:", [f"{child.id} ({child.status})" for child in below])
    undone = []
    for uid, of in [(run.uid, ""), *((child.uid, f" (of {child.id})") for child in below)]:
        for undo in Sagas(app.codec, app.store.records(uid)).pending():
            doubt = ", of which it is not known whether it was done" if undo.in_doubt else ""
            undone.append(f"{undo.step}{of}{doubt}")
    tell_list("What these steps have done will be undone, the latest first:", undone)
