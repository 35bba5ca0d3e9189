"""``workflow-global-changed``: a body keeps nothing in globals, containers of a module or attributes of a class."""

from __future__ import annotations

from collections.abc import Iterator

from semel.checks.problem import Problem
from semel.compiler.model import Function, Model
from semel.compiler.model.effects import Change
from semel.compiler.model.routes import Routes

from .telling import route_places, who

RULE = "workflow-global-changed"

_WHOSE = {
    "global": "which belongs to the module",
    "container": "which outlives the body",
    "class attribute": "which belongs to the class",
}


def check(model: Model, routes: Routes) -> Iterator[Problem]:
    for function in model.functions.values():
        if function.id in routes:
            for change in function.effects.changes:
                if change.within is None:
                    yield _problem(model, routes, function, change)


def _problem(model: Model, routes: Routes, function: Function, change: Change) -> Problem:
    message = (
        f"`{_short(change.text)}` in {who(model, routes, function)} changes {change.name}, {_WHOSE[change.kind]}. A "
        f"body runs again from its top after a crash, a wait or a retry, perhaps in another process: in this one the "
        f"change would be made twice, in another it would be missing, and other runs see it half-way. Keep it in a "
        f"variable of the body, give it on as an argument or a result, or write it to the app's database."
    )
    others = (*((change.defined,) if change.defined is not None else ()), *route_places(routes, function))
    name = change.name.rpartition(".")[2].strip("_").lower() or "value"
    fix = f"{name} = …    # a variable of the body: each attempt makes it anew, from arguments and results of steps"
    return Problem(RULE, "E", message, change.place, others, fix)


def _short(text: str) -> str:
    first, newline, _ = text.partition("\n")
    return f"{first}…" if newline else text
