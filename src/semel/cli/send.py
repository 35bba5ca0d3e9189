"""``semel send``: a run is sent an event."""

from __future__ import annotations

import click

from .application import app_option, load_app
from .group import DONE


@click.command("send", short_help="Send a run an event.")
@click.argument("run_id", metavar="RUN")
@click.argument("event")
@click.argument("payload", metavar="[JSON]", required=False)
@app_option
@click.pass_context
def command(ctx: click.Context, run_id: str, event: str, payload: str | None, target: str | None) -> None:
    """Send the run RUN the event EVENT, which a wait_for of its body takes. JSON is its payload; None if not given.

    Exits with 1 if there is no such run, or if it has ended.
    """
    from .values import given_value
    from .waits import waits_of

    if not event:
        raise click.UsageError("the event has no name")
    value = given_value(payload)
    app = load_app(target)
    try:
        run = app.run(run_id)
        row = app.store.get(run_id)
        waits = waits_of(app, row) if row is not None else []
        run.send(event, value)
    finally:
        app.close()
    others = sorted({repr(wait.wait.name) for wait in waits if wait.wait.kind == "event"})
    kept = f"; it waits for {' and '.join(others)}, and keeps this one" if others and repr(event) not in others else ""
    click.echo(f"the run {run_id} was sent the event {event!r}{kept}")
    ctx.exit(DONE)
