"""``wait-without-label-twice`` (A8): of two waits that may both run, and have one derived name, one has a label."""

from __future__ import annotations

from collections.abc import Iterator

from semel.compiler.model import Function, Model, Step, together
from semel.compiler.model.texts import with_label

from .paths import name_of, reached, same_passes
from .problem import Problem

RULE = "wait-without-label-twice"

_NUMBERS = ("second", "third", "fourth", "fifth", "sixth")


def check(model: Model) -> Iterator[Problem]:
    for function in reached(model):
        if function.kind == "module":
            continue
        by_name: dict[tuple[int | None, int, str], list[Step]] = {}
        for step in function.steps:
            if step.is_wait and step.label is None and step.segment is not None:
                by_name.setdefault((step.within, len(step.loops), step.segment), []).append(step)
        for steps in by_name.values():
            if len(steps) > 1:
                yield from _clashes(function, steps)


def _clashes(function: Function, steps: list[Step]) -> Iterator[Problem]:
    steps = sorted(steps, key=lambda step: (step.place, step.site))
    numbers = {step.site: bit for bit, step in enumerate(steps)}
    pairs = together(function.flow, numbers, function.never_returns)
    for position, later in enumerate(steps):
        earlier = [
            step
            for step in steps[:position]
            if (min(step.site, later.site), max(step.site, later.site)) in pairs and same_passes(step, later)
        ]
        if earlier:
            yield _problem(function, earlier, later)


def _problem(function: Function, earlier: list[Step], later: Step) -> Problem:
    places = tuple(step.place for step in earlier)
    lines = " and ".join(str(place.line) for place in [*places, later.place])
    count = len(earlier) + 1
    times = "twice" if count == 2 else f"{count} times"
    what = f"waits {times} for the event {later.event}" if later.form == "event" else f"calls {later.callee} {times}"
    message = (
        f"{name_of(function)} {what}, on lines {lines}, without a label. A wait is a step by itself, and these would "
        f"have one path, …#{later.segment}: the second would be taken for the first one, and be over before it began. "
        f"Give one of them a label that says what it waits for; the other keeps the derived name. In a loop no label "
        f"is needed: each pass is a wait of its own."
    )
    return Problem(RULE, "A8", message, later.place, places, _fix(function, later, len(earlier)))


def _fix(function: Function, step: Step, number: int) -> str:
    taken = {other.segment for other in function.steps}
    label = next((word for word in _NUMBERS[number - 1 :] if word not in taken), f"wait-{number + 1}")
    wait = "await " if step.awaited else ""
    return f"{wait}{with_label(step.text, label)}    # a better label says what it waits for"
