"""``semel fork``: a new run goes on from a step of another one."""

from __future__ import annotations

import click

from .application import app_option, load_app
from .group import DONE
from .output import tell_list


@click.command("fork", short_help="Start a new run from a step of another one.")
@click.argument("run_id", metavar="RUN")
@click.argument("path")
@click.option("--id", "new_id", metavar="ID", help="The id of the new run; made up if not given.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@app_option
@click.pass_context
def command(ctx: click.Context, run_id: str, path: str, new_id: str | None, yes: bool, target: str | None) -> None:
    """Start a new run that takes over what the run RUN has recorded before the step PATH, and does that step and what
    comes after it. RUN itself stays as it is.

    Exits with 1 if there is no such run or record, or if the id is taken.
    """
    from semel.forking import reused

    app = load_app(target)
    try:
        run = app.run(run_id)
        records = run.steps()
        kept = reused(records, path)
        if not yes:
            there = {record.path for record in kept}
            taken = [record.path for record in kept if "!" not in record.path]
            anew = [record.path for record in records if "!" not in record.path and record.path not in there]
            tell_list("It takes over, and does not do again:", taken or ["nothing"])
            tell_list("It does anew, with new idempotency keys, as all that comes after:", anew)
            click.confirm(f"A new run will go on from {path} of the run {run_id}. Go on?", abort=True, err=True)
        new = app.fork(run, path, id=new_id)
    finally:
        app.close()
    click.echo(f"the run {new.id} goes on from {path} of the run {run_id}")
    ctx.exit(DONE)
