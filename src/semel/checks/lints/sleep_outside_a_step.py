"""``workflow-sleep-outside-a-step``: a body does not sleep; a step may."""

from __future__ import annotations

from collections.abc import Iterator

from semel.checks.problem import Problem
from semel.compiler.model import Function, Model
from semel.compiler.model.effects import Effect
from semel.compiler.model.routes import Routes

from .telling import new_label, route_places, who

RULE = "workflow-sleep-outside-a-step"


def check(model: Model, routes: Routes) -> Iterator[Problem]:
    for function in model.functions.values():
        if function.id not in routes:
            continue
        told = [e for e in function.effects.effects if e.kind == "sleep" and e.within is None]
        for number, effect in enumerate(told, 1):
            yield _problem(model, routes, function, effect, number)


def _problem(model: Model, routes: Routes, function: Function, effect: Effect, number: int) -> Problem:
    message = (
        f"`{effect.text}` in {who(model, routes, function)} stands in no step. A body runs again from its top after a "
        f"crash or a retry, and would wait its whole time anew at each attempt, though the steps before it are long "
        f"done. In a step it is waited for once."
    )
    wait = "await " if effect.awaited else ""
    fix = f'{wait}once("{new_label(function, "wait", number)}", lambda: {effect.text})'
    return Problem(RULE, "E", message, effect.place, route_places(routes, function), fix)
