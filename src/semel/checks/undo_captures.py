"""``undo-captures`` (W7): the undo of a saga's step is a function of a module, and uses nothing else of the body."""

from __future__ import annotations

import re
from collections.abc import Iterator

from semel.compiler.model import Function, Model, Step, Undo

from .problem import Problem

RULE = "undo-captures"

_WHAT = {
    "lambda": "a lambda",
    "nested": "a function of the body",
    "bound": "a method bound to an object",
    "partial": "a partial",
    "call": "what a call gives",
    "object": "an object",
}


def check(model: Model, function: Function) -> Iterator[Problem]:
    for step in function.steps:
        if step.undo is not None and step.undo.fault is not None:
            yield _problem(step, step.undo)


def _problem(step: Step, undo: Undo) -> Problem:
    assert undo.fault is not None
    label = f'"{step.label}"' if step.label is not None else "on this line"
    held = ""
    if undo.captured:
        names = ", ".join(f"`{name}`" for name in undo.captured)
        held = f" and holds {names} of the body"
    message = (
        f"The undo of the step {label}, `{' '.join(undo.given.text.split())}`, is {_WHAT[undo.fault]}{held}. An undo "
        f"runs when the body is gone, perhaps in another process and after a restart, where only a function that "
        f"stands at the top level of a module can be found again. It is given what its step returned, and nothing "
        f"else: let the step return all that the undo needs."
    )
    return Problem(RULE, "W7", message, undo.given.place, (step.place,), _fix(step, undo))


def _fix(step: Step, undo: Undo) -> str:
    words = re.sub(r"\W", "_", step.label or "step").strip("_") or "step"
    own = re.search(r"(\w+)\W*$", undo.given.text) if undo.fault in ("nested", "bound") else None
    name = own[1] if own else f"cancel_{words}"
    parameter = undo.parameter or words
    needs = f"    # {', '.join(undo.captured)} too: let the step return what is needed" if undo.captured else ""
    function = f"def {name}({parameter}: …) -> None:    # at the top level of the module\n    {undo.work or '…'}{needs}"
    call = step.text.replace(f"undo={undo.given.text}", f"undo={name}", 1)
    return f"{function}\n\n{'await ' if step.awaited else ''}{call}"
