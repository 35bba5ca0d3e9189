"""``retried-step-waits`` (R8): a step with a retry starts no child and waits for nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from semel.compiler.model import Model, Step

from .paths import name_of, reached
from .problem import Problem
from .waits import Waiting, waits_of

RULE = "retried-step-waits"


def check(model: Model) -> Iterator[Problem]:
    for function in reached(model):
        for step in function.steps:
            if step.retry is None or step.form != "once":  # that of a saga's step is for its undo
                continue
            first = next(waits_of(model, function, step), None)
            if first is not None:
                yield _problem(step, first)


def _problem(step: Step, wait: Waiting) -> Problem:
    what = f"starts {wait.name}" if isinstance(wait.made, Step) and wait.made.form == "child" else f"waits: {wait.name}"
    through = f", through {name_of(wait.function)}" if wait.way else ""
    message = (
        f"The step {_label(step)} has a retry and {what} on line {wait.place.line}{through}. Each attempt is new work "
        f"from its start, so what is waited for would be begun and waited for anew at every attempt, and a wait that "
        f"is under way would be lost with the attempt that fails. Two ways out: let a child carry the retry, or move "
        f"the wait out of the step."
    )
    others = (wait.place, *(call.place for call in wait.way))
    return Problem(RULE, "R8", message, step.place, others, _fix(step, wait))


def _label(step: Step) -> str:
    return f'"{step.label}"' if step.label is not None else "on this line"


def _fix(step: Step, wait: Waiting) -> str:
    """Both ways out, with the author's own label and policy."""
    assert step.retry is not None
    label = step.label or "work"
    name = re.sub(r"\W", "_", label)
    policy = f"retry={step.retry.given.text}"
    kind, pause = ("async ", "await ") if step.awaited else ("", "")
    result = "result_async" if step.awaited else "result"
    waited = wait.made.text if isinstance(wait.made, Step) else f"{wait.made.callee}(…)"
    before = f"{pause}{waited}" if "\n" not in waited else f"{pause}{waited.partition('(')[0]}(…)"
    if isinstance(wait.made, Step) and wait.made.form == "child":
        before = f"{waited.partition(chr(10))[0]}" if "\n" not in waited else before.removeprefix(pause)
    return (
        f"# a child carries the retry:\n"
        f"@app.workflow\n"
        f"{kind}def {name}_run(…):\n"
        f'    return {pause}once("{label}", lambda: …, {policy})    # without the wait\n'
        f"\n"
        f'{pause}run_child("{label}", {name}_run, …).{result}()\n'
        f"\n"
        f"# or the wait stands outside of the step:\n"
        f"{before}\n"
        f'{pause}once("{label}", lambda: …, {policy})'
    )
