"""``step-where-no-path-leads`` (O15): no step in a property, an operator, ``__post_init__`` or a cached function.

What the language calls by itself has no call site that a path could name, and a cached function is not called again.
"""

from __future__ import annotations

from collections.abc import Iterator

from semel.compiler.model import Call, Function, Model

from .paths import name_of
from .problem import Problem

RULE = "step-where-no-path-leads"


def check(model: Model) -> Iterator[Problem]:
    told: set[str] = set()
    for function in model.functions.values():
        if not model.reached(function.id, surely=True):
            continue
        for call in function.calls:
            if call.certainty not in ("sure", "foreign"):
                continue
            for candidate in call.candidates:
                target = model.functions.get(candidate.function)
                if target is None or target.id in told or not model.holds_steps(target.id):
                    continue
                what = _what(target, call)
                if what is not None:
                    told.add(target.id)
                    yield _problem(model, target, call, what)


def _what(target: Function, call: Call) -> str | None:
    if target.cached_by is not None:
        return "cached"
    if call.how == "property":
        return "property"
    if call.how == "operator":
        return target.name
    return None


def _problem(model: Model, target: Function, call: Call, what: str) -> Problem:
    below = model.step_below(target.id)
    place = below[1].place if below is not None else target.place
    others = (call.place,) if below is None or below[0].id == target.id else (target.place, call.place)
    name = target.name.strip("_")
    parameters = ", ".join(parameter.name for parameter in target.parameters)
    where = f"line {call.place.line}"
    if what == "cached":
        message = (
            f"{name_of(target)} holds a step and is cached by {target.cached_by}: the second call (a later attempt, or "
            f"another run in this process) would get the cached value and never reach the step, and each run must do "
            f"its own work. It is called on {where}. Take the cache away: later attempts read the record."
        )
        kind = "async def" if target.is_async else "def"
        return Problem(RULE, "O15", message, place, others, f"{kind} {target.name}({parameters}):\n    …")
    if what == "property":
        message = (
            f"The property {name_of(target)} holds a step. It runs when the attribute is read, as on {where}; there is "
            f"no call that the step's path could name, so a later attempt could not find its record. Make it a method."
        )
        fix = f"def {target.name}(self):    # no @property\n    …\n\n{call.callee}()"
        return Problem(RULE, "O15", message, place, others, fix)
    message = (
        f"{name_of(target)} holds a step. Python calls it by itself, as on {where}; there is no call that the step's "
        f"path could name, so a later attempt could not find its record. Move the step to a method with a name, and "
        f"call that."
    )
    return Problem(RULE, "O15", message, place, others, f"def {name}_step(self):\n    …\n\n{call.callee}.{name}_step()")
