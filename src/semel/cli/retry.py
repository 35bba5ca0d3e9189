"""``semel retry``: a faulted run is delivered again."""

from __future__ import annotations

import click

from .application import app_option, load_app
from .group import DONE, NO


@click.command("retry", short_help="Deliver a faulted run again.")
@click.argument("run_id", metavar="RUN")
@click.option("--yes", is_flag=True, help="Do not ask.")
@app_option
@click.pass_context
def command(ctx: click.Context, run_id: str, yes: bool, target: str | None) -> None:
    """Deliver the faulted run with the id RUN again: its steps are found, and what failed runs again.

    Exits with 1 if there is no such run, or if it has not faulted.
    """
    from .sagas import Sagas

    app = load_app(target)
    try:
        run = app.run(run_id)
        row = app.store.get(run_id)
        if row is not None and row.fault is not None and row.status in ("faulted", "parked") and not yes:
            records = run.steps()
            anew = Sagas(app.codec, records).done_anew()
            gone = {path for paths in anew.values() for path in paths}
            found = sum("!" not in record.path and record.path not in gone for record in records)
            steps = "1 recorded step is" if found == 1 else f"{found} recorded steps are"
            click.echo(f"{steps} found, and not done again.", err=True)
            for saga in anew:
                click.echo(f"The saga {saga} was undone, and is done anew.", err=True)
            click.confirm("What failed, and what comes after it, will be done. Go on?", abort=True, err=True)
        again = run.retry()
        status = run.status
    finally:
        app.close()
    if again:
        click.echo(f"the run {run_id} is pending again; a worker goes on with it")
        ctx.exit(DONE)
    click.echo(f"the run {run_id} is {status}; only a faulted run is delivered again", err=True)
    ctx.exit(NO)
