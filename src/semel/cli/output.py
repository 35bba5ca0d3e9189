"""How commands print: consoles that never fail on a character, and JSON documents."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.measure import Measurement


_WIDE = 240  # characters: room for ids and paths
_LISTED = 20  # lines of a list before a question


def console(*, wide: bool = False) -> Console:
    """Stdout, which takes text as it is: a path such as ``start@1[0]`` is no markup.

    ``wide`` is for tables: in a pipe, where no width is given, their cells are not broken into lines.
    """
    from rich.console import Console

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    width = _WIDE if wide and not sys.stdout.isatty() and "COLUMNS" not in os.environ else None
    return Console(width=width, markup=False, emoji=False, highlight=False)


class FoldedPath:
    """A step's path in a cell, broken where a name in it begins and not in the middle of one, if there is room."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._names = re.split(r"(?=[/#\[])", path)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        from rich.measure import Measurement

        return Measurement(max(map(len, self._names)), len(self._path)).with_maximum(options.max_width)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        lines = [""]
        for name in self._names:
            if lines[-1] and len(lines[-1]) + len(name) > options.max_width:
                lines.append("")
            lines[-1] += name
        yield Text("\n".join(lines), overflow="fold")


def printable(text: str) -> str:
    """The text without what would steer a terminal: it may come from an outside server."""
    return "".join([char if char.isprintable() or char in "\n\t" else f"\\x{ord(char):02x}" for char in text])


def tell_list(head: str, lines: Sequence[str]) -> None:
    """What a question is about, on stderr; of a long list the beginning. Nothing, if there is nothing."""
    if lines:
        more = [f"and {len(lines) - _LISTED} more"] if len(lines) > _LISTED else []
        click.echo("\n  ".join([head, *map(printable, lines[:_LISTED]), *more]), err=True)


def print_json(document: object) -> None:
    """One JSON document on stdout."""
    click.echo(json.dumps(document, indent=2))
