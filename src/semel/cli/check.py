"""``semel check``: what is refused, found from the source alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .application import app_option, app_target, source_of
from .group import DONE, NO
from .output import console, print_json
from .sources import program

if TYPE_CHECKING:
    from rich.text import Text

    from semel.checks import Problem


@click.command("check", short_help="Find what semel refuses, without importing anything.")
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@app_option
@click.pass_context
def command(ctx: click.Context, paths: tuple[Path, ...], as_json: bool, target: str | None) -> None:
    """Find what semel refuses to run, from the source alone: nothing is imported.

    PATHS are files and folders that belong to one program. Without any, the package of the app is checked, and what
    [tool.semel] packages names; without an app, the current folder.

    Exits with 1 if there are problems.
    """
    from semel.checks import as_dict, refusals

    looked_at = paths or sources_of_app(target)
    problems = refusals(program(looked_at))
    if as_json:
        print_json({"problems": [as_dict(problem) for problem in problems]})
    else:
        print_problems(problems, looked_at)
    ctx.exit(NO if problems else DONE)


def sources_of_app(target: str | None) -> Sequence[Path]:
    """The source of the app's package and of those that the project names; without an app, the current folder."""
    from semel.config import load

    settings = load()
    if target is None and settings.app is None and not settings.packages:
        return (Path(),)
    names = list(settings.packages)
    if target is not None or settings.app is not None:
        names.insert(0, app_target(target).partition(":")[0])
    found = []
    for name in dict.fromkeys(name.partition(".")[0] for name in names):
        source = source_of(name)
        if source is None:
            raise click.UsageError(f"the source of {name!r} was not found from {Path.cwd()}; name its folder")
        found.append(_from_here(source))
    return found


def _from_here(path: Path) -> Path:
    """The path as a person in the current folder would write it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def print_problems(problems: Sequence[Problem], paths: Sequence[Path], what: str = "problem") -> None:
    """Each with its source lines and the corrected code, then how many there are."""
    from rich.text import Text

    from semel.checks import render

    out = console()
    for problem in problems:
        out.print(_coloured(render(problem)), soft_wrap=True)
        out.print()
    where = ", ".join(str(path) for path in paths)
    if problems:
        files = len({problem.place.file for problem in problems})
        out.print(
            Text(f"{_count(len(problems), what)} in {_count(files, 'file')} of {where}", "bold red"),
            soft_wrap=True,
        )
    else:
        out.print(Text(f"✓ no {what}s in {where}", "green"), soft_wrap=True)


def _coloured(text: str) -> Text:
    """The place bold, the marks under the source red, the corrected code green."""
    from rich.text import Text

    told = Text()
    corrected = False
    for number, line in enumerate(text.split("\n")):
        corrected = (corrected or line.startswith("  Write:")) and not line.startswith("  More:")
        if number == 0:
            style = "bold"
        elif line.strip() == "^":
            style = "bold red"
        elif line.startswith("  More:"):
            style = "dim"
        else:
            style = "green" if corrected else ""
        told.append(f"{line}\n", style)
    told.rstrip()
    return told


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
