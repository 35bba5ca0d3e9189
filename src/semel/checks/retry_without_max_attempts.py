"""``retry-without-max-attempts`` (R2): a policy says how often the step is tried."""

from __future__ import annotations

from collections.abc import Iterator

from semel.compiler.model import Function, Model, Retry, Step

from .problem import Problem

RULE = "retry-without-max-attempts"


def check(model: Model, function: Function) -> Iterator[Problem]:
    for step in function.steps:
        if step.retry is not None and step.retry.bounded is False:
            yield _problem(step, step.retry)


def _problem(step: Step, retry: Retry) -> Problem:
    elsewhere = retry.definition.place != retry.given.place
    where = f", on line {retry.definition.place.line}," if elsewhere else ""
    message = (
        f"The policy of {step.called}({_label(step)}, …){where} has no max_attempts. A step that always fails would be "
        f"tried for ever: the run would never end, and nobody would hear that it fails. Say how often it is tried in "
        f"all; the last failure is then raised where the step stands."
    )
    bounded = f"{retry.definition.text}.max_attempts(4)"
    others = (retry.definition.place,) if elsewhere else ()
    if elsewhere and retry.given.text.isidentifier():
        return Problem(RULE, "R2", message, retry.given.place, others, f"{retry.given.text} = {bounded}")
    fix = step.text.replace(f"retry={retry.given.text}", f"retry={retry.given.text}.max_attempts(4)", 1)
    return Problem(RULE, "R2", message, retry.given.place, others, fix)


def _label(step: Step) -> str:
    return f'"{step.label}"' if step.label is not None else "…"
