"""``semel lint``: what runs, and would hurt later; found from the source alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .application import app_option
from .check import print_problems, sources_of_app
from .group import DONE, NO
from .sources import program

if TYPE_CHECKING:
    from semel.checks import Problem


@click.command("lint", short_help="Find what would hurt later, without importing anything.")
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif", "github"]),
    default="text",
    show_default=True,
    help="How findings are printed.",
)
@click.option("--select", multiple=True, metavar="RULE", help="Only these rules; a refusal may be one. Repeatable.")
@click.option("--ignore", multiple=True, metavar="RULE", help="Not these rules. Repeatable.")
@app_option
@click.pass_context
def command(
    ctx: click.Context,
    paths: tuple[Path, ...],
    form: str,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    target: str | None,
) -> None:
    """Find what is allowed and would hurt later, from the source alone: nothing is imported.

    PATHS are files and folders that belong to one program. Without any, the package of the app is looked at, and what
    [tool.semel] packages names; without an app, the current folder. What `semel check` refuses is not told here.

    A finding that is right as it is takes a comment, on its line or the line above: `# semel: ignore[RULE] reason`.

    Exits with 1 if there are findings.
    """
    rules = _rules(select, ignore)
    looked_at = paths or sources_of_app(target)
    problems, unreadable = _found(looked_at, rules)
    if unreadable:
        click.echo(f"not looked at, because it is no Python: {', '.join(unreadable)} (semel check says why)", err=True)
    _print(problems, form, rules, looked_at)
    ctx.exit(NO if problems else DONE)


def _rules(select: Iterable[str], ignore: Iterable[str]) -> list[str]:
    """The rules to ask. Several may stand in one option, with commas between."""
    from semel.checks import RULES
    from semel.checks.ignores import OF_IGNORES
    from semel.checks.lints import LINTS

    selected, ignored = _names(select), _names(ignore)
    known = (*LINTS, *OF_IGNORES, *RULES)
    for name in (*selected, *ignored):
        if name not in known:
            raise click.UsageError(f"there is no rule {name!r}; the rules are {', '.join(known)}")
    return [rule for rule in selected or (*LINTS, *OF_IGNORES) if rule not in ignored]


def _names(given: Iterable[str]) -> list[str]:
    return [name.strip() for names in given for name in names.split(",") if name.strip()]


def _found(paths: Sequence[Path], rules: Sequence[str]) -> tuple[list[Problem], list[str]]:
    """The findings, and the files that could not be read."""
    from semel.checks import refusals
    from semel.checks.ignores import ignores, without_ignored
    from semel.checks.lints import lints

    model = program(paths)
    asked = [problem for problem in refusals(model) if problem.rule in rules]
    problems = without_ignored([*lints(model, rules), *asked], ignores(model), rules)
    return problems, [unreadable.place.file for unreadable in model.unreadable]


def _print(problems: list[Problem], form: str, rules: Sequence[str], paths: Sequence[Path]) -> None:
    from semel.checks.formats import as_github, as_json, as_sarif

    match form:
        case "json":
            click.echo(as_json(problems))
        case "sarif":
            click.echo(as_sarif(problems, rules, Path.cwd()))
        case "github":
            if problems:
                click.echo(as_github(problems, Path.cwd()))
        case _:
            print_problems(problems, paths, "finding")
