"""``semel explain``: the page of a rule, or why a path or a function is a step."""

from __future__ import annotations

from pathlib import Path

import click

from .application import app_option
from .check import sources_of_app
from .group import NO
from .output import console
from .sources import program


@click.command("explain", short_help="Explain a rule, or why something is a step.")
@click.argument("subject", metavar="RULE|PATH|FUNCTION")
@click.argument("paths", nargs=-1, metavar="[FILE]…", type=click.Path(exists=True, path_type=Path))
@app_option
@click.pass_context
def command(ctx: click.Context, subject: str, paths: tuple[Path, ...], target: str | None) -> None:
    """Print the page of a rule: what it says, why, the mistake and the fix. Or say why a step's path
    (fulfil/start@1/notify#auto:httpx.post, or a pattern of it) or a function (notify, shop.notify) is a step or is not.

    FILEs are files and folders of the program; without any, the same as for semel check. Nothing is imported.

    Exits with 1 if there is no such rule or function.
    """
    from rich.markdown import Markdown

    from semel.checks import RULES
    from semel.checks.explanation import explanation, is_subject
    from semel.checks.ignores import OF_IGNORES
    from semel.checks.lints import LINTS
    from semel.checks.pages import page

    try:
        text = page(subject)
    except LookupError as error:
        if not is_subject(subject):
            click.echo(f"{error}; the rules are {', '.join((*RULES, *LINTS, *OF_IGNORES))}", err=True)
            ctx.exit(NO)
    else:
        if console().is_terminal:
            console().print(Markdown(text))
        else:
            click.echo(text)
        return
    try:
        click.echo(explanation(program(paths or sources_of_app(target)), subject))
    except LookupError as error:
        click.echo(str(error), err=True)
        ctx.exit(NO)
