"""A problem that a check found in the program, and how it is shown to a person and to a tool."""

from __future__ import annotations

import linecache
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from semel.compiler.model.data import Place

__all__ = ["Place", "Problem", "as_dict", "render"]


@dataclass(frozen=True, slots=True)
class Problem:
    """``rule`` is the check's stable id, ``spec`` the rule of the specification that it keeps.

    ``place`` is where to look first, ``others`` the places that it clashes with, ``fix`` the corrected code.
    """

    rule: str
    spec: str
    message: str
    place: Place
    others: tuple[Place, ...]
    fix: str


def render(problem: Problem, source_lines: Callable[[str], Sequence[str]] | None = None) -> str:
    """The problem as plain text for a terminal, with the source lines of all its places and the corrected code.

    ``source_lines`` gives the lines of a file (``Model.lines`` does); without it they are read from disk.
    """
    lines_of = source_lines or (lambda file: [line.rstrip("\n") for line in linecache.getlines(file)])
    place = problem.place
    parts = [f"{place.file}:{place.line}:{place.column}: {problem.rule} ({problem.spec})"]
    parts.append(textwrap.indent(textwrap.fill(problem.message, 96, break_long_words=False), "  "))
    shown = _excerpts(problem, lines_of)
    if shown:
        parts.append("\n".join(shown))
    if problem.fix:
        parts.append("  Write:\n" + textwrap.indent(problem.fix, "      "))
    parts.append(f"  More: semel explain {problem.rule}")
    return "\n\n".join(parts)


def _excerpts(problem: Problem, lines_of: Callable[[str], Sequence[str]]) -> list[str]:
    places = sorted({problem.place, *problem.others})
    several_files = len({place.file for place in places}) > 1
    width = max(len(str(place.line)) for place in places)
    shown = []
    file = line = None
    for place in places:
        lines = lines_of(place.file)
        if place.line > len(lines):
            continue
        if several_files and place.file != file:
            shown.append(f"    {place.file}")
        text = lines[place.line - 1]
        if (place.file, place.line) != (file, line):
            shown.append(f"    {place.line:>{width}} | {text}")
        # Tabs are kept, so that the mark stands under the place however wide the terminal shows them.
        blank = "".join("\t" if character == "\t" else " " for character in text[: place.column - 1])
        shown.append(f"    {'':>{width}} | {blank}^")
        file, line = place.file, place.line
    return shown


def as_dict(problem: Problem) -> dict[str, object]:
    """The problem for JSON."""
    return {
        "rule": problem.rule,
        "spec": problem.spec,
        "message": problem.message,
        "place": _place(problem.place),
        "others": [_place(place) for place in problem.others],
        "fix": problem.fix,
    }


def _place(place: Place) -> dict[str, object]:
    return {"file": place.file, "line": place.line, "column": place.column}
