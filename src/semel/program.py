"""When the program is checked: at import what one function shows, at start what needs the whole program (rule E)."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from .checks import Problem, check_loaded, function_refusals, render
from .compiler import is_user_module, user_packages
from .compiler.model import Source, build
from .errors import Refused
from .workflow.once import once

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
            refuse(function_refusals(build([Source(module, file, "".join(lines))], libraries=False), module))
        except Refused:
            _checked.discard((module, file))  # an edited module is looked at again
            raise


def at_start(packages: frozenset[str], *, external: Iterable[str] = (), passthrough: Iterable[str] = ()) -> None:
    """Checks all user code that is loaded, as one program; ``external`` and ``passthrough`` are the project's settings.

    Raises:
        Refused: with every problem found.
    """
    refuse(check_loaded(packages, external=external, passthrough=passthrough))
    refuse_unlisted(packages)


def refuse_unlisted(packages: frozenset[str]) -> None:
    """Refuses modules that hold steps, are imported by user code, and are not listed as such.

    A step in them would have no path. It would be refused when it is reached, and that would be half-way through a run.
    """
    found = sorted(_unlisted(packages))
    if found:
        names = ", ".join(f'"{name}"' for name in sorted({name.partition(".")[0] for name in found}))
        places = "\n".join(f"  {name} ({getattr(sys.modules[name], '__file__', '?')})" for name in found)
        raise Refused(
            f"nothing has run: these modules use once and are imported by this program, but are not among its "
            f"packages, so no later attempt could find their steps:\n{places}\nList them in pyproject.toml:\n\n"
            f"  [tool.semel]\n  packages = [{names}]"
        )


def _unlisted(packages: frozenset[str]) -> set[str]:
    return {
        name
        for name in _imported(packages)
        if name.partition(".")[0] not in packages | {"semel"}
        and any(value is once for value in list(vars(sys.modules[name]).values()))
    }


def _imported(packages: frozenset[str]) -> set[str]:
    """The loaded modules that those of these packages import, or import something of."""
    imported: set[str] = set()
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in packages and hasattr(module, "__dict__"):
            for value in list(vars(module).values()):
                home = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
                if isinstance(home, str):
                    imported.add(home)
    return {name for name in imported if hasattr(sys.modules.get(name), "__dict__")}


def find_user_code() -> frozenset[str]:
    """The top-level packages of user code, with the modules beside them that they import."""
    while True:
        packages = user_packages()
        for name in _imported(packages):
            is_user_module(name)  # looks at each that it does not know yet
        if user_packages() == packages:
            return packages


def refuse(problems: list[Problem]) -> None:
    """Raises what was found, if anything was."""
    if problems:
        told = "\n\n".join(render(problem) for problem in problems)
        raise Refused(f"nothing has run, because this program cannot run safely:\n\n{told}", tuple(problems))
