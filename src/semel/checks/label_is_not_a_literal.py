"""``once-label-is-not-a-literal`` (O13): a label stands in the source as a string literal."""

from __future__ import annotations

from collections.abc import Iterator

from semel.compiler.model import Expression, Function, Model

from .problem import Problem

RULE = "once-label-is-not-a-literal"


def check(model: Model, function: Function) -> Iterator[Problem]:
    for step in function.steps:
        label = step.label_expression
        if label is None or step.label is not None or step.step_kind in ("missing", "too many"):
            continue
        fix = step.corrected
        if step.step_kind == "value":
            fix = fix.replace(label.text, f'"{step.label_hint}"', 1)
        message = _message(label) if step.form != "event" or "label=" in step.text else _event(label)
        yield Problem(RULE, "O13", message, label.place, (), fix)


def _event(name: Expression) -> str:
    return (
        f"The name of the event, `{' '.join(name.text.split())}`, is made at run time, and the wait has no label, so "
        f"that it would be named after it. A later attempt finds what it has waited for by that name, which may be "
        f"another one then. Give the wait a label, a string literal; in a loop one is enough."
    )


def _message(label: Expression) -> str:
    text = " ".join(label.text.split())
    if text.strip("'\"rRuU") == "":
        return "The label is empty. It is the step's durable identity: give it a name that says what the step does."
    advice = "Write the label where it is used, as a string literal."
    if "{" in text or "+" in text or "%" in text:
        advice += " In a loop one label is enough: each pass is a step of its own."
    return (
        f"The label `{text}` is not a string literal. A later attempt finds the step's record by its label; a label "
        f"made at run time may be another one then, and the step would run a second time. {advice}"
    )
