"""The refusals: what in a program would make a step run twice, or not at all, found before anything runs.

Each check is a file of its own with a stable id, and reads the program model only. What one function shows by itself
is an error when its module is imported (``function_refusals``); what takes the whole program is an error when the app
starts (``refusals``, which finds all of it).
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from semel.compiler.model import Function, Model, build, from_loaded, from_paths

from . import (
    automatic_call_twice,
    cannot_parse,
    entity_declaration,
    helper_called_twice,
    label_is_not_a_literal,
    label_used_twice,
    retried_step_waits,
    retry_without_max_attempts,
    step_in_a_bare_thread,
    step_is_a_value,
    step_waits_and_calls_out,
    step_where_no_path_leads,
    two_functions_of_one_name,
    undo_captures,
    wait_without_label_twice,
)
from .problem import Place, Problem, as_dict, render

__all__ = [
    "RULES",
    "Place",
    "Problem",
    "as_dict",
    "check_loaded",
    "check_paths",
    "function_refusals",
    "refusals",
    "render",
]

_OF_A_FUNCTION = (
    step_is_a_value,
    label_is_not_a_literal,
    label_used_twice,
    retry_without_max_attempts,
    undo_captures,
)
_OF_THE_PROGRAM = (
    cannot_parse,
    helper_called_twice,
    automatic_call_twice,
    wait_without_label_twice,
    two_functions_of_one_name,
    step_where_no_path_leads,
    step_in_a_bare_thread,
    retried_step_waits,
    step_waits_and_calls_out,
    entity_declaration,
)

#: The ids of all refusals; each has a page in the documentation.
RULES = tuple(check.RULE for check in (*_OF_A_FUNCTION, *_OF_THE_PROGRAM))


def refusals(model: Model) -> list[Problem]:
    """Everything that is refused in the program, in the order of the source."""
    found = _of_functions(model, model.functions.values())
    for check in _OF_THE_PROGRAM:
        found.extend(check.check(model))
    return _in_order(found)


def function_refusals(model: Model, module: str) -> list[Problem]:
    """What the functions of one module show by themselves, without the rest of the program."""
    functions = [function for function in model.functions.values() if function.module == module]
    return _in_order(_of_functions(model, functions))


def check_paths(
    paths: Iterable[str | os.PathLike[str]], *, external: Iterable[str] = (), passthrough: Iterable[str] = ()
) -> list[Problem]:
    """Everything that is refused in the Python files and folders; nothing is imported.

    ``external`` and ``passthrough`` are those of ``[tool.semel]``.

    Raises FileNotFoundError for a path that is not there.
    """
    return refusals(build(from_paths(paths), external=external, passthrough=passthrough))


def check_loaded(
    packages: frozenset[str], *, external: Iterable[str] = (), passthrough: Iterable[str] = ()
) -> list[Problem]:
    """Everything that is refused in the loaded modules of these top-level packages."""
    return refusals(build(from_loaded(packages), external=external, passthrough=passthrough))


def _of_functions(model: Model, functions: Iterable[Function]) -> list[Problem]:
    return [
        problem
        for function in functions
        if function.steps
        for check in _OF_A_FUNCTION
        # A module's own code runs once, at import, and in no run: its labels name nothing.
        if function.kind != "module" or check in (step_is_a_value, retry_without_max_attempts)
        for problem in check.check(model, function)
    ]


def _in_order(problems: list[Problem]) -> list[Problem]:
    return sorted(problems, key=lambda problem: (problem.place, problem.rule))
