"""``once-label-used-twice`` (O14): two steps of one function have two labels, in arms that exclude each other too."""

from __future__ import annotations

from collections.abc import Iterator

from semel.compiler.model import Function, Model, Step
from semel.compiler.model.texts import with_label

from .problem import Problem

RULE = "once-label-used-twice"


def check(model: Model, function: Function) -> Iterator[Problem]:
    seen: dict[tuple[int | None, int | None, str], list[Step]] = {}
    taken = {step.segment for step in function.steps}
    for step in sorted(function.steps, key=lambda step: step.place):
        if step.segment is None:
            continue
        outer = _enclosing(function, step) if step.label is not None else None
        if outer is not None:
            yield _problem(step, [outer], _nested(step, outer), taken)
        same = seen.setdefault((step.within, step.saga, step.segment), [])
        # Of two waits without a label it matters which of them can run, and another check tells that.
        earlier = [other for other in same if step.label is not None or other.label is not None]
        if earlier:
            yield _problem(step, earlier, _twice(function, step, earlier), taken)
        same.append(step)


def _enclosing(function: Function, step: Step) -> Step | None:
    """The step of the same label in whose lambda this one stands."""
    within = step.within
    while within is not None:
        outer = function.steps[within]
        if outer.label == step.label:
            return outer
        within = outer.within
    return None


def _twice(function: Function, step: Step, earlier: list[Step]) -> str:
    lines = " and ".join(str(other.place.line) for other in [*earlier, step])
    if any(other.label is None for other in [*earlier, step]):
        return (
            f'Two steps of {_name(function)} are named "{step.segment}", one by its label and one because it has none '
            f"(lines {lines}). They would share one record: the second would be taken for the first one."
        )
    return (
        f'Two steps of {_name(function)} have the label "{step.label}" (lines {lines}). They would share one record: '
        f"the second would be taken for the first one, and not run. That holds for arms of which only one runs, too: "
        f"an edit or another way through the function would find the other arm's record."
    )


def _nested(step: Step, outer: Step) -> str:
    return (
        f'The step "{step.label}" on line {step.place.line} stands inside the step of the same label on line '
        f"{outer.place.line}. Two steps of one label cannot be told apart: name the inner one for what it does."
    )


def _name(function: Function) -> str:
    return "this module" if function.kind == "module" else function.qualname


def _problem(step: Step, others: list[Step], message: str, taken: set[str | None]) -> Problem:
    number = 2
    while f"{step.segment}-{number}" in taken:
        number += 1
    new = f"{step.segment}-{number}"
    if step.label is None or step.label_expression is None:
        fix = with_label(step.text, new)
    else:
        fix = step.text.replace(step.label_expression.text, f'"{new}"', 1)
    fix += "    # or a name that says how it differs"
    return Problem(RULE, "O14", message, step.place, tuple(other.place for other in others), fix)
