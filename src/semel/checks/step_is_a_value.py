"""``once-step-is-a-value`` (O4): what is given to ``once`` must be a function, so that it can be left uncalled."""

from __future__ import annotations

import re
from collections.abc import Iterator

from semel.compiler.model import Function, Model, Step

from .problem import Problem

RULE = "once-step-is-a-value"


def check(model: Model, function: Function) -> Iterator[Problem]:
    for step in function.steps:
        if step.step_kind not in ("function", "none"):
            yield Problem(RULE, "O4", _message(step), step.step.place if step.step else step.place, (), step.corrected)


def _message(step: Step) -> str:
    name = f'"{step.label}"' if step.label is not None else "…"
    match step.step_kind:
        case "value":
            assert step.step is not None
            return _value(step.step.text, name, step.called)
        case "missing":
            return (
                f"{step.called}({name}, …) has no step. It takes the step's label and then what the step does, as a "
                f"lambda or a function; nothing would run here."
            )
        case "too many":
            if step.form != "once":
                return f"{step.called} takes a label and the step. Arguments for the step go into its lambda."
            return (
                "once takes a label, perhaps a scope, and the step as the last of two or three arguments. With more it "
                "cannot be told which is the step. Arguments for the step go into its lambda."
            )
        case "keyword":
            parts = "The label, the scope" if step.form == "once" else "The label"
            return f"{parts} and the step of {step.called} are given by position, not by keyword."
        case _:
            return (
                "The starred arguments hide the step's label. The label is the step's identity and must stand in the "
                "source as a string literal."
            )


def _value(text: str, name: str, takes: str) -> str:
    shown = " ".join(text.split())
    called = re.match(r"(?:await\s+)?([\w.]+)\s*\(", shown)
    if called is not None:
        return (
            f"`{called[1]}` would have run first: Python works out `{shown}` before it calls {takes}, so `{called[1]}` "
            f"would run at every attempt, whether or not the step {name} has a record. Give {takes} a lambda, which "
            f"it calls only if the step has not run."
        )
    return (
        f"`{shown}` is a value, not a function: Python works it out before it calls {takes}, at every attempt, and "
        f"there is nothing left for the step {name} to run. Give {takes} a lambda."
    )
