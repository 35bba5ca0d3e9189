"""``semel cancel``: a run is ended, with its children."""

from __future__ import annotations

import click

from .application import app_option, load_app
from .group import DONE, NO


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

    from .waits import open_undos

    app = load_app(target)
    try:
        run = app.run(run_id)
        if run.status not in ENDED and not yes:
            children = [child.id for child in app.store.children(run.uid) if child.status not in ENDED]
            undone = open_undos(run.steps())
            if children:
                click.echo("\n  ".join(["These children will be cancelled too:", *children]), err=True)
            if undone:
                head = "What these steps have done will be undone, if their saga is still open:"
                click.echo("\n  ".join([head, *reversed(undone)]), err=True)
            click.confirm(f"The run {run_id} ({run.status}) will be cancelled. Go on?", abort=True, err=True)
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
