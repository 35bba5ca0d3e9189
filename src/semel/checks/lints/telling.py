"""What the messages of lints share: who does it, how a body leads there, and the corrected call of ``once``."""

from __future__ import annotations

import re

from semel.checks.paths import name_of
from semel.compiler.model import Call, Function, Model, Place
from semel.compiler.model.routes import Routes

_MOST_PLACES = 3


def who(model: Model, routes: Routes, function: Function) -> str:
    """``save (which fulfil leads to)``, or the body itself."""
    route = routes.to(function.id)
    if not route:
        return name_of(function)
    return f"{name_of(function)}, which {name_of(body_of(model, routes, function))} leads to,"


def body_of(model: Model, routes: Routes, function: Function) -> Function:
    """The body at the start of the route to a function."""
    route = routes.to(function.id)
    bodies = (model.functions[body.function] for body in model.bodies)
    return next((body for body in bodies if route and any(call is route[0] for call in body.calls)), function)


def route_places(routes: Routes, function: Function) -> tuple[Place, ...]:
    """Where the calls stand that lead to the function, from the nearest."""
    return tuple(call.place for call in reversed(routes.to(function.id)))[:_MOST_PLACES]


def new_label(function: Function, words: str, number: int = 1) -> str:
    """A label that no step of the function has; ``number`` counts those that are given out besides."""
    base = re.sub(r"[^\w.]+", "-", words).strip("-_").replace("_", "-") or "step"
    taken = {step.label for step in function.steps}
    label = base if number == 1 else f"{base}-{number}"
    while label in taken:
        number += 1
        label = f"{base}-{number}"
    return label


def wrapped_call(model: Model, routes: Routes, function: Function) -> str | None:
    """The call that leads to a function, put into a step; None where that is not the way to write it."""
    route = routes.to(function.id)
    if not route or model.holds_steps(function.id):
        return None
    call: Call = route[-1]
    text = f"{call.callee}({', '.join(call.arguments)})"
    if call.how != "call" or "\n" in text or len(text) > 80 or function.kind == "lambda":
        return None
    wait = "await " if call.awaited else ""
    return f'{wait}once("{function.name.strip("_").replace("_", "-")}", lambda: {text})    # line {call.place.line}'
