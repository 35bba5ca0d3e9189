"""Which call sites of one function lead to one path: the question behind the checks of O18."""

from __future__ import annotations

from collections.abc import Iterator

from semel.compiler.model import Call, Function, Loop, Model, Step

#: Where a call's path goes: the step whose lambda it stands in, the number of loops round it, and the segment.
Key = tuple[int | None, int, str]


def keyed(model: Model, function: Function) -> dict[Key, list[tuple[Call, str]]]:
    """The calls of the function that lead to steps, by key, each with the id of the function it leads to."""
    found: dict[Key, list[tuple[Call, str]]] = {}
    for call in function.calls:
        if call.certainty == "unknown" or call.how in ("property", "operator", "thread"):
            continue
        for candidate in call.candidates:
            if model.holds_steps(candidate.function):
                key = (call.within, len(call.loops), candidate.segment)
                found.setdefault(key, []).append((call, candidate.function))
    return found


def same_callee(first: Call, second: Call) -> bool:
    """Whether two calls that may lead to one function surely do.

    Where one of them has several candidates (an interface with two implementations, a method known by name alone), only
    the same callee, written the same way, is surely the same; the rest is caught when it happens (rule O19).
    """
    if {first.certainty, second.certainty} <= {"sure", "foreign"}:
        return True
    return first.callee == second.callee and first.stable and second.stable


def same_passes(first: Call | Step, second: Call | Step) -> bool:
    """Whether the passes of the loops round the two calls can have the same names."""
    return all(_same_pass(one, other) for one, other in zip(first.loops, second.loops, strict=True))


def _same_pass(one: Loop, other: Loop) -> bool:
    return one == other or {one.passes, other.passes} != {"number", "key"}


def reached(model: Model) -> Iterator[Function]:
    """The functions that a body may lead to, in the order of the source."""
    return (function for function in model.functions.values() if model.reached(function.id))


def name_of(function: Function) -> str:
    """The function as a message names it."""
    if function.kind == "module":
        return f"the module {function.module}"
    if function.kind == "lambda":
        return f"the lambda on line {function.place.line}"
    return function.qualname.replace(".<locals>", "")


def named(step: Step | Call) -> str:
    """A step, or a call that is one by itself, as a message names it."""
    if isinstance(step, Step):
        kind = "child" if step.form == "child" else "saga" if step.form == "saga" else "step"
        if step.is_wait:
            return f'the wait "{step.label}"' if step.label is not None else f"`{step.shown}`"
        return f'the {kind} "{step.label}"' if step.label is not None else f"a {kind}"
    return f"the call of {step.operation.name}" if step.operation is not None else f"the call of {step.callee}"
