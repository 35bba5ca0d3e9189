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
        f"`{effect.text}` in {who(model, routes, function)} stands in no step. It holds a worker for all of its time. "
        f"A body runs again from its top after a crash or a retry, and would wait that time anew at each attempt, "
        f"though the steps before it are long done. semel's sleep lets go of the worker, and is waited for once, also "
        f"through a restart."
    )
    return Problem(RULE, "E", message, effect.place, route_places(routes, function), _fix(function, effect, number))


def _fix(function: Function, effect: Effect, number: int) -> str:
    name = "sleep_async" if function.is_async else "sleep"
    named = any(step.segment == "sleep" for step in function.steps)  # one may do without a label
    label = f', label="{new_label(function, "wait", number - (not named))}"' if named or number > 1 else ""
    wait = "await " if effect.awaited else ""
    return f"{wait}{name}(timedelta(seconds={_seconds(effect)}){label})    # from semel import {name}"


def _seconds(effect: Effect) -> str:
    """The author's own expression; of ``to_thread(time.sleep, 5)`` the last one."""
    start, _, inside = effect.text.partition("(")
    inside = inside.rpartition(")")[0]
    if "(" in inside or "\n" in inside:
        return "…"
    handed_on = not start.endswith("sleep") and "," in inside
    return (inside.rpartition(",")[2] if handed_on else inside.partition(",")[0]).strip() or "…"
