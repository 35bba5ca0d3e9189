"""``semel forget``: the record of a step is deleted, so that the step runs again."""

from __future__ import annotations

import click

from semel.errors import NotAllowedHere

from .application import app_option, load_app
from .group import DONE, NO


@click.command("forget", short_help="Let a recorded step run again.")
@click.argument("run_id", metavar="RUN")
@click.argument("path")
@click.option("--yes", is_flag=True, help="Do not ask.")
@app_option
@click.pass_context
def command(ctx: click.Context, run_id: str, path: str, yes: bool, target: str | None) -> None:
    """Delete the record of the step PATH of the run RUN. The next delivery runs the step again, whatever it has done.

    Exits with 1 if there is no such run or record, or if a worker has the run at this moment.
    """
    app = load_app(target)
    try:
        run = app.run(run_id)
        if not yes:
            click.confirm(f"{path} of the run {run_id} will run again. Go on?", abort=True, err=True)
        try:
            run.forget(path)
        except (LookupError, NotAllowedHere) as error:
            click.echo(str(error), err=True)
            ctx.exit(NO)
    finally:
        app.close()
    click.echo(f"{path} of the run {run_id} is forgotten; it runs again when the run is delivered")
    ctx.exit(DONE)
