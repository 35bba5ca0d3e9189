"""``workflow-handler-swallows-a-park``: round a step nothing ends the exceptions by which semel stops a body."""

from __future__ import annotations

from collections.abc import Iterator

from semel.checks.paths import name_of, named
from semel.checks.problem import Problem
from semel.checks.waits import leading_to_joins, leads_surely
from semel.compiler.model import Call, Function, Model, Place
from semel.compiler.model.effects import Handler
from semel.compiler.model.intrinsics import is_join

RULE = "workflow-handler-swallows-a-park"


def check(model: Model, routes: object) -> Iterator[Problem]:
    joining = leading_to_joins(model)
    for function in model.functions.values():
        if not model.reached(function.id, surely=True):
            continue
        for handler in function.effects.handlers:
            inside = _step_inside(model, function, handler, joining)
            if inside is not None:
                yield _problem(function, handler, *inside)


def _step_inside(
    model: Model, function: Function, handler: Handler, joining: frozenset[str]
) -> tuple[str, Place] | None:
    """What the first step is called that the handler is round, and where it is made."""
    places: list[tuple[Place, str]] = [(step.place, named(step)) for step in function.steps]
    for call in function.calls:
        if call.is_step and call.operation is not None and call.operation.sure:
            places.append((call.place, named(call)))
        elif _leads_to_steps(model, call):
            places.append((call.place, f"`{call.callee}`, which holds steps,"))
        elif is_join(call.foreign) or _leads_to(joining, call):
            places.append((call.place, f"`{call.callee}`, which waits,"))
    held = [(place, name) for place, name in places if handler.first_line <= place.line <= handler.last_line]
    if not held:
        return None
    place, name = min(held)
    return name, place


def _leads_to(joining: frozenset[str], call: Call) -> bool:
    return leads_surely(call) and call.candidates[0].function in joining


def _leads_to_steps(model: Model, call: Call) -> bool:
    if call.certainty not in ("sure", "likely", "foreign") or call.how in ("property", "operator", "thread"):
        return False
    return any(model.holds_steps(candidate.function) for candidate in call.candidates)


def _problem(function: Function, handler: Handler, name: str, place: Place) -> Problem:
    match handler.kind:
        case "except":
            what = f"`{handler.text}` takes every exception and does not raise it again"
        case "suppress":
            what = f"`{handler.text}` takes every exception"
        case _:
            what = f"`{handler.text}` in a `finally` ends whatever exception is on its way"
    message = (
        f"{what}, in {name_of(function)} round {name} on line {place.line}. By such exceptions semel also stops a "
        f"body: to let it wait, to cancel it, to end a run that cannot go on. The code behind would run as if the step "
        f"had failed or the wait were over, and that work would be done although it is still to come. "
    )
    if handler.kind == "finally":
        message += "Leave the `finally` by its end."
    else:
        message += "Take Exception, which none of these is."
    return Problem(RULE, "E", message, handler.place, (place,), handler.corrected)
