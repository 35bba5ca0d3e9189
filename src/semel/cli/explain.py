"""``semel explain``: the page of a rule."""

from __future__ import annotations

import click

from .group import NO
from .output import console


@click.command("explain", short_help="Explain a rule that a check names.")
@click.argument("rule")
@click.pass_context
def command(ctx: click.Context, rule: str) -> None:
    """Print the page of RULE: what it says, why, the mistake and the fix.

    Exits with 1 if there is no such rule.
    """
    from rich.markdown import Markdown

    from semel.checks import RULES
    from semel.checks.pages import page

    try:
        text = page(rule)
    except LookupError as error:
        click.echo(f"{error}; the rules are {', '.join(RULES)}", err=True)
        ctx.exit(NO)
    if console().is_terminal:
        console().print(Markdown(text))
    else:
        click.echo(text)
