"""``step-in-a-bare-thread`` (O20): a thread or process of its own carries no path, and nothing waits for it."""

from __future__ import annotations

from collections.abc import Iterator

from semel.compiler.model import Call, Function, Model

from .paths import name_of, reached
from .problem import Problem

RULE = "step-in-a-bare-thread"


def check(model: Model) -> Iterator[Problem]:
    for function in reached(model):
        if not model.reached_outside_steps(function.id):
            continue
        for call in function.calls:
            if call.how != "thread" or call.within is not None:
                continue
            for candidate in call.candidates:
                if model.holds_steps(candidate.function):
                    yield _problem(model, function, call, candidate.function)
                    break


def _problem(model: Model, function: Function, call: Call, target: str) -> Problem:
    below = model.step_below(target)
    others = (below[1].place,) if below is not None else (model.functions[target].place,)
    kind = (call.foreign or "Thread").rpartition(".")[2]
    message = (
        f"{name_of(function)} starts a {kind} that runs {name_of(model.functions[target])}, which holds steps. A bare "
        f"thread or process has no part in the run: its steps have no path, and the body would end without waiting for "
        f"them. Use a pool, which the run waits for, or put the whole of it into one step."
    )
    fix = f"with ThreadPoolExecutor() as pool:\n    done = pool.submit({call.callee})\n    …\n    done.result()"
    return Problem(RULE, "O20", message, call.place, others, fix)
