"""When the program is checked: at import what one function shows, at start what needs the whole program (rule E)."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

from .checks import Problem, check_loaded, function_refusals, render
from .compiler.model import Source, build
from .errors import Refused

_checked: set[tuple[str, str]] = set()


def at_import(function: Callable[..., Any]) -> None:
    """Checks the module of a workflow as it registers: each function by itself, once per module.

    Raises:
        Refused: with every problem found.
    """
    module = function.__globals__.get("__name__", "")
    file = function.__code__.co_filename
    if (module, file) in _checked:
        return
    _checked.add((module, file))
    lines = linecache.getlines(file, function.__globals__)
    if lines:
        try:
            refuse(function_refusals(build([Source(module, file, "".join(lines))]), module))
        except Refused:
            _checked.discard((module, file))  # an edited module is looked at again
            raise


def at_start(packages: frozenset[str]) -> None:
    """Checks all user code that is loaded, as one program.

    Raises:
        Refused: with every problem found.
    """
    refuse(check_loaded(packages))


def refuse(problems: list[Problem]) -> None:
    """Raises what was found, if anything was."""
    if problems:
        told = "\n\n".join(render(problem) for problem in problems)
        raise Refused(f"nothing has run, because this program cannot run safely:\n\n{told}", tuple(problems))
