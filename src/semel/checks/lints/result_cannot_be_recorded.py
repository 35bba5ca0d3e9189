"""``workflow-result-cannot-be-recorded`` (O23): what a step, a body or an external function gives can be recorded."""

from __future__ import annotations

import re
from collections.abc import Iterator

from semel.checks.paths import name_of
from semel.checks.problem import Place, Problem
from semel.compiler.model import Function, Model, Step
from semel.compiler.model.effects import Unrecordable

RULE = "workflow-result-cannot-be-recorded"


def check(model: Model, routes: object) -> Iterator[Problem]:
    bodies = {body.function for body in model.bodies}
    for function in model.functions.values():
        told: set[int] = set()
        for trouble in function.effects.unrecordable:
            if trouble.step is None:
                if function.id in bodies or (
                    function.operation is not None and function.operation.source == "external"
                ):
                    yield _of_function(function, trouble, is_body=function.id in bodies)
            elif function.kind != "module" and trouble.step not in told:
                told.add(trouble.step)
                yield _of_step(function, function.steps[trouble.step], trouble)


def _of_step(function: Function, step: Step, trouble: Unrecordable) -> Problem:
    name = f'The step "{step.label}"' if step.label is not None else "The step"
    message = (
        f"{name} gives {_what(trouble)}, which cannot be recorded. It would run, once, and then this and every later "
        f"attempt would end with ResultNotRecordable, because what it gave is lost. Return plain data: text, numbers, "
        f"a list, a dict, a dataclass."
    )
    others: tuple[Place, ...] = (trouble.place,) if trouble.place.line != step.place.line else ()
    return Problem(RULE, "O23", message, step.place, others, _fix(function, step, trouble))


def _of_function(function: Function, trouble: Unrecordable, *, is_body: bool) -> Problem:
    if is_body:
        wrong = "The run would do all of its work and then fault, because its result cannot be stored."
    else:
        wrong = "Each call of it is a step: it would run, once, and then this and every later attempt would fail."
    message = (
        f"{name_of(function)} gives {_what(trouble)}, which cannot be recorded. {wrong} Return plain data: text, "
        f"numbers, a list, a dict, a dataclass."
    )
    advice = trouble.advice if not trouble.part else ""
    fix = f"return {advice.format('…')}" if advice else "return …    # text, numbers, a list, a dict, a dataclass"
    return Problem(RULE, "O23", message, trouble.place, (), fix)


def _what(trouble: Unrecordable) -> str:
    shown = f"`{trouble.type}`" if "\n" not in trouble.type else f"`{trouble.type.partition(chr(10))[0]}…`"
    if trouble.part:
        return f"{shown}, whose part {trouble.part} is {trouble.reason}"
    return f"{shown}, {trouble.reason}"


def _fix(function: Function, step: Step, trouble: Unrecordable) -> str:
    label = f'"{step.label}"' if step.label is not None else "…"
    waits = any(call.within == step.index and call.awaited for call in function.calls)
    work = step.step.text if step.step is not None else "…"
    if trouble.advice == "{}.stdout" and not {"capture_output", "stdout"} & set(re.findall(r"\w+", work)):
        return step.text.replace(work, f"{work}.returncode", 1)
    if not trouble.advice or trouble.part or waits or trouble.advice.startswith("await"):
        return f"once({label}, lambda: …)    # give back what the body needs of it: text, numbers, a dataclass"
    if work.startswith("lambda"):
        head, _, inner = work.partition(":")
        return step.text.replace(work, f"{head}: {trouble.advice.format(inner.strip())}", 1)
    return step.text.replace(work, f"lambda: {trouble.advice.format(f'{work}()')}", 1)
