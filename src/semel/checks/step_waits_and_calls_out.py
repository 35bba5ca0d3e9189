"""``step-waits-and-calls-out`` (W11): a step that waits makes no call of its own that leaves the process."""

from __future__ import annotations

from collections.abc import Iterator

from semel.compiler.model import Call, Function, Model, Step, together

from .paths import name_of, named, reached
from .problem import Problem
from .waits import Waiting, waits_of

RULE = "step-waits-and-calls-out"


def check(model: Model) -> Iterator[Problem]:
    for function in reached(model):
        for step in function.steps:
            if step.form != "once" or step.retry is not None:  # a step with a retry may not wait at all
                continue
            calls = [c for c in function.calls if c.within == step.index and c.operation and c.operation.sure]
            waits = list(waits_of(model, function, step)) if calls else []
            clash = _together(function, calls, waits)
            if clash is not None:
                yield _problem(function, step, *clash)


def _together(function: Function, calls: list[Call], waits: list[Waiting]) -> tuple[Call, Waiting] | None:
    """A call and a wait that may both run; one where the wait is last, if there is one."""
    sites = sorted({*(call.site for call in calls), *(wait.site for wait in waits)})
    pairs = together(function.flow, {site: bit for bit, site in enumerate(sites)}, function.never_returns)
    both = [
        (call, wait)
        for call in calls
        for wait in waits
        if call.site == wait.site or (min(call.site, wait.site), max(call.site, wait.site)) in pairs
    ]
    return min(both, key=lambda pair: (pair[0].site > pair[1].site, pair[0].place), default=None)


def _problem(function: Function, step: Step, call: Call, wait: Waiting) -> Problem:
    through = f", through {name_of(wait.function)}" if wait.way else ""
    again = (
        "and that call, which is part of the step and has no record of its own, would be made again"
        if call.site < wait.site
        else "and a call of its own has no record until the step ends: it would be made again as soon as a wait, or an "
        "edit, comes after it"
    )
    message = (
        f"The step {_label(step)} waits ({wait.name} on line {wait.place.line}{through}) and makes {named(call)} "
        f"itself. When the wait is over the body runs again from its top and the step from its start, {again}. Give "
        f"the call a step of its own; a call in a function that the step calls is one by itself."
    )
    others = (call.place, wait.place, *(way.place for way in wait.way))
    return Problem(RULE, "W11", message, step.place, others, _fix(function, step, call))


def _label(step: Step) -> str:
    return f'"{step.label}"' if step.label is not None else "on this line"


def _fix(function: Function, step: Step, call: Call) -> str:
    work = f"{call.callee}({', '.join(call.arguments)})"
    taken = {other.segment for other in function.steps}
    label = next(name for name in ("call", "call-out", f"call-{call.site}") if name not in taken)
    wait = "await " if call.awaited else ""
    inner = f'{wait}once("{label}", lambda: {work})'
    source = f"{wait}{work}"
    if source in step.text:
        return step.text.replace(source, inner, 1) + "    # a better label says what the call is for"
    return f"{inner}    # in the step; a better label says what the call is for"
