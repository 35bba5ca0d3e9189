"""The command line, one file per command. What a command needs is imported when it runs, so that help is quick."""

from __future__ import annotations

from .group import cli

__all__ = ["cli", "main"]


def main() -> None:
    """The entry point of the ``semel`` script and of ``python -m semel``."""
    cli(prog_name="semel")
