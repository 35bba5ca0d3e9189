"""``semel migrate``: the database is made, or brought up to date."""

from __future__ import annotations

import click

from .application import app_option, database_of, load_app


@click.command("migrate", short_help="Make the database, or bring it up to date.")
@app_option
def command(target: str | None) -> None:
    """Make the database, or bring it up to date, and say what was applied. Back up the database before an upgrade."""
    from semel.store import open_store

    app = load_app(target)
    where = database_of(app)
    applied = open_store(app._database).migrate()
    for name in applied:
        click.echo(f"applied {name}")
    click.echo(f"{where} is up to date" if not applied else f"{where} is up to date now")
