"""``automatic-call-twice`` (A8): two calls of one operation that may both run do not have one path.

A call that leaves the process is a step named after the operation, so two calls of one operation in one function, in
the same loops, would share a record. Naming one of them is enough.
"""

from __future__ import annotations

from collections.abc import Iterator

from semel.compiler.model import Call, Function, Model, together

from .paths import name_of, reached, same_passes
from .problem import Problem

RULE = "automatic-call-twice"

_NUMBERS = ("second", "third", "fourth", "fifth", "sixth")


def check(model: Model) -> Iterator[Problem]:
    for function in reached(model):
        if function.kind == "module":
            continue
        by_name: dict[tuple[str, int], list[Call]] = {}
        for call in function.calls:
            if call.is_step and call.operation is not None and call.operation.sure:
                by_name.setdefault((call.operation.name, len(call.loops)), []).append(call)
        for (name, _), calls in by_name.items():
            if len(calls) > 1:
                yield from _clashes(function, name, calls)


def _clashes(function: Function, name: str, calls: list[Call]) -> Iterator[Problem]:
    calls = sorted(calls, key=lambda call: (call.place, call.site))
    numbers = {call.site: bit for bit, call in enumerate(calls)}
    pairs = together(function.flow, numbers, function.never_returns)
    for position, later in enumerate(calls):
        earlier = [
            call
            for call in calls[:position]
            if (min(call.site, later.site), max(call.site, later.site)) in pairs and same_passes(call, later)
        ]
        if earlier:
            yield _problem(function, name, earlier, later)


def _problem(function: Function, name: str, earlier: list[Call], later: Call) -> Problem:
    places = tuple(call.place for call in earlier)
    lines = " and ".join(str(place.line) for place in [*places, later.place])
    count = len(earlier) + 1
    message = (
        f"{name_of(function)} calls {name} {'twice' if count == 2 else f'{count} times'}, on lines {lines}. Each call "
        f"is a step by itself, and they would have one path, …#auto:{name}: the second would be taken for the first "
        f"one, and not made. Name one of them by what it is for; the other keeps the derived name."
    )
    return Problem(RULE, "A8", message, later.place, places, _fix(function, later, len(earlier)))


def _fix(function: Function, call: Call, number: int) -> str:
    taken = {step.label for step in function.steps}
    label = next((word for word in _NUMBERS[number - 1 :] if word not in taken), f"call-{number + 1}")
    wait = "await " if call.awaited else ""
    comment = "    # a better label says what the call is for"
    if call.how == "callback":
        return f'{wait}once("{label}", lambda: {call.callee}(…)){comment}'
    return f'{wait}once("{label}", lambda: {call.callee}({", ".join(call.arguments)})){comment}'
