"""How commands print: consoles that never fail on a character, and JSON documents."""

from __future__ import annotations

import io
import json
import os
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console


_WIDE = 240  # characters: room for ids and paths


def console(*, wide: bool = False) -> Console:
    """Stdout, which takes text as it is: a path such as ``start@1[0]`` is no markup.

    ``wide`` is for tables: in a pipe, where no width is given, their cells are not broken into lines.
    """
    from rich.console import Console

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    width = _WIDE if wide and not sys.stdout.isatty() and "COLUMNS" not in os.environ else None
    return Console(width=width, markup=False, emoji=False, highlight=False)


def printable(text: str) -> str:
    """The text without what would steer a terminal: it may come from an outside server."""
    return "".join([char if char.isprintable() or char in "\n\t" else f"\\x{ord(char):02x}" for char in text])


def print_json(document: object) -> None:
    """One JSON document on stdout."""
    click.echo(json.dumps(document, indent=2))
