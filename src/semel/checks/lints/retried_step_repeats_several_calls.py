"""``workflow-retried-step-repeats-several-calls`` (R4): a step with a retry makes one call that leaves the process.

Each attempt is new work from the start of the step. Where the second call fails, the first one is made again with it.
"""

from __future__ import annotations

from collections.abc import Iterator

from semel.checks.paths import name_of, named
from semel.checks.problem import Problem
from semel.checks.waits import leads_surely
from semel.compiler.model import Call, Function, Model, Place, Step, together
from semel.compiler.model.routes import Routes

from .telling import new_label, route_places, who

RULE = "workflow-retried-step-repeats-several-calls"

_DEEPEST = 20
#: A call that leaves, and the function that it stands in.
_Made = tuple[Function, Call]


def check(model: Model, routes: Routes) -> Iterator[Problem]:
    for function in model.functions.values():
        if function.id not in routes:
            continue
        for step in function.steps:
            if step.retry is not None and step.form == "once":
                made = _several(model, function, step.index, ())
                if made is not None:
                    yield _problem(model, routes, function, step, *made)


def _several(
    model: Model, function: Function, within: int | None, above: tuple[str, ...]
) -> tuple[_Made, _Made] | None:
    """Two calls that leave and may both be made, in the function or in what it surely calls; a loop's counts as two."""
    if function.id in above or len(above) > _DEEPEST:
        return None
    entries: list[tuple[Call, _Made]] = []
    for call in function.calls:
        if call.within == within:
            first = _first(model, function, call, above)
            if first is not None:
                entries.append((call, first))
    entries.sort(key=lambda entry: (entry[0].place, entry[0].site))
    for call, made in entries:
        if any(loop.kind != "while" for loop in call.loops):
            return made, made
    numbers = {call.site: bit for bit, (call, _) in enumerate(entries)}
    pairs = together(function.flow, numbers, function.never_returns)
    for position, (later, second) in enumerate(entries):
        for earlier, first in entries[:position]:
            if (min(earlier.site, later.site), max(earlier.site, later.site)) in pairs:
                return first, second
    for call, _ in entries:
        target = model.functions.get(call.candidates[0].function) if call.candidates else None
        found = _several(model, target, None, (*above, function.id)) if target is not None else None
        if found is not None:
            return found
    return None


def _first(model: Model, function: Function, call: Call, above: tuple[str, ...]) -> _Made | None:
    """The first call that leaves which a call is, or surely leads to, outside of nested steps."""
    if call.operation is not None:
        return (function, call) if call.operation.sure else None
    if not leads_surely(call) or len(above) > _DEEPEST:
        return None
    target = model.functions.get(call.candidates[0].function)
    if target is None or target.id == function.id or target.id in above:
        return None
    inner = [_first(model, target, one, (*above, function.id)) for one in target.calls if one.within is None]
    return next((made for made in inner if made is not None), None)


def _problem(model: Model, routes: Routes, function: Function, step: Step, one: _Made, other: _Made) -> Problem:
    label = f'"{step.label}"' if step.label is not None else f"on line {step.place.line}"
    if one == other:
        what = f"makes {_called(*one)}, in a loop"
        repeated = "those of the passes that went well"
    else:
        what = f"makes {_called(*one)} and {_called(*other)}"
        repeated = "the first one, though that went well,"
    message = (
        f"The step {label} of {who(model, routes, function)} has a retry and {what}. Each attempt is new work from the "
        f"start of the step: where a later call fails, {repeated} will be made again with it, as often as the step is "
        f"tried. Make each a step with a retry of its own."
    )
    places: tuple[Place, ...] = tuple(dict.fromkeys((one[1].place, other[1].place)))
    others = (*places, *route_places(routes, function))
    return Problem(RULE, "R4", message, step.place, others, _fix(function, step, one, other))


def _called(function: Function, call: Call) -> str:
    return f"{named(call)} on line {call.place.line} in {name_of(function)}"


def _fix(function: Function, step: Step, one: _Made, other: _Made) -> str:
    assert step.retry is not None
    lines = []
    for number, (_, call) in enumerate((one,) if one == other else (one, other), 1):
        words = call.callee.rpartition(".")[2] if call.callee.replace(".", "").isidentifier() else "call"
        wait = "await " if call.awaited or step.awaited else ""
        arguments = ", ".join(call.arguments)
        work = f"{call.callee}({arguments})" if "\n" not in arguments else f"{call.callee}(…)"
        label = new_label(function, words if one[1].callee != other[1].callee or one == other else f"{words}-{number}")
        lines.append(f'{wait}once("{label}", lambda: {work}, retry={step.retry.given.text})')
    if one == other:
        return f"for … in …:    # each pass is a step of its own\n    {lines[0]}"
    return "\n".join(lines)
