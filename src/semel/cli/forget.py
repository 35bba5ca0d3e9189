"""``semel forget``: the record of a step is deleted, so that the step runs again."""

from __future__ import annotations

import click

from .application import app_option, load_app
from .group import DONE


@click.command("forget", short_help="Let a recorded step run again.")
@click.argument("run_id", metavar="RUN")
@click.argument("path")
@click.option("--yes", is_flag=True, help="Do not ask.")
@app_option
@click.pass_context
def command(ctx: click.Context, run_id: str, path: str, yes: bool, target: str | None) -> None:
    """Delete the record of the step PATH of the run RUN, with the records of what ran inside it and of all exchanges of
    its call. The next delivery runs the step again, whatever it has done.

    Exits with 1 if there is no such run or record, or if a worker has the run at this moment.
    """
    from semel.engine.nested import forgotten_with

    app = load_app(target)
    try:
        run = app.run(run_id)
        paths = forgotten_with(path, run.steps())
        status = run.status
        if paths and not yes:
            click.echo("\n  ".join([f"These records of the run {run_id} will be deleted:", *paths]), err=True)
            effect = _MEANS_NOTHING if status == "completed" else _RUNS_AGAIN
            click.confirm(f"{effect} Go on?", abort=True, err=True)
        run.forget(path)
    finally:
        app.close()
    others = f" and {len(paths) - 1} that go with it" if len(paths) > 1 else ""
    effect = {
        "completed": "it has completed, and nothing runs again",
        "faulted": f"it runs again after: semel retry {run_id}",
    }.get(status, "it runs again when the run is delivered")
    click.echo(f"{path} of the run {run_id}{others} is forgotten; {effect}")
    ctx.exit(DONE)


_RUNS_AGAIN = "What they stand for will be done again when the run is delivered."
_MEANS_NOTHING = "The run has completed, so nothing will be done again."
