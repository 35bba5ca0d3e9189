"""``semel record``: the outcome of a step is stated by hand."""

from __future__ import annotations

import click

from .application import app_option, load_app
from .group import DONE
from .output import printable


@click.command("record", short_help="State the outcome of a step by hand.")
@click.argument("run_id", metavar="RUN")
@click.argument("path")
@click.argument("value", metavar="JSON")
@click.option("--yes", is_flag=True, help="Do not ask.")
@app_option
@click.pass_context
def command(ctx: click.Context, run_id: str, path: str, value: str, yes: bool, target: str | None) -> None:
    """State that the step PATH of the run RUN has returned JSON.

    The step, and what it calls, does not run any more: every later delivery is given that value.

    Exits with 1 if there is no such run, if PATH is none of a step of its workflow, or if a worker has the run.
    """
    from .values import given_value, shortened, step_outcome

    stated = given_value(value)
    app = load_app(target)
    try:
        run = app.run(run_id)
        known = next((record for record in run.steps() if record.path == path), None)
        row = app.store.get(run_id)
        if not yes and row is not None and path.startswith(f"{row.workflow}/") and "#" in path:
            if known is None:
                told = f"{path} has no record yet; if the body comes to it, it will not run."
            else:
                outcome = step_outcome(app.codec, known)
                told = f"The record of {path} will be replaced ({outcome.kind}: {outcome.text}); it will not run again."
            click.echo(printable(told), err=True)
            effect = "The run has completed, so nothing comes of it. " if row.status == "completed" else ""
            shown = shortened(repr(stated))
            click.confirm(f"{effect}The run {run_id} will be given {shown} there. Go on?", abort=True, err=True)
        run.record(path, stated)
    finally:
        app.close()
    click.echo(f"{path} of the run {run_id} has returned {shortened(repr(stated))}, as you say")
    ctx.exit(DONE)
