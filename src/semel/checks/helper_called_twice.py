"""``helper-called-twice`` (O18): two calls that may both run do not lead to the steps of one function by one path."""

from __future__ import annotations

from collections.abc import Iterator

from semel.compiler.model import Call, Function, Model, together

from .paths import keyed, name_of, named, reached, same_callee, same_passes
from .problem import Problem

RULE = "helper-called-twice"


def check(model: Model) -> Iterator[Problem]:
    for function in reached(model):
        clashes: dict[int, tuple[Call, str, dict[int, Call]]] = {}
        for calls in keyed(model, function).values():
            by_target: dict[str, list[Call]] = {}
            for call, target in calls:
                by_target.setdefault(target, []).append(call)
            for target, sites in by_target.items():
                if len(sites) > 1:
                    _collect(function, target, sites, clashes)
        for later, target, earlier in clashes.values():
            yield _problem(model, function, later, target, list(earlier.values()))


def _collect(
    function: Function, target: str, calls: list[Call], clashes: dict[int, tuple[Call, str, dict[int, Call]]]
) -> None:
    calls = sorted(calls, key=lambda call: (call.place, call.site))
    numbers = {call.site: bit for bit, call in enumerate(calls)}
    pairs = together(function.flow, numbers, function.never_returns)
    for position, later in enumerate(calls):
        for earlier in calls[:position]:
            both = (min(earlier.site, later.site), max(earlier.site, later.site)) in pairs
            if both and same_callee(earlier, later) and same_passes(earlier, later):
                _, _, others = clashes.setdefault(later.site, (later, target, {}))
                others.setdefault(earlier.site, earlier)


def _problem(model: Model, function: Function, later: Call, target: str, earlier: list[Call]) -> Problem:
    callee = model.functions[target]
    places = tuple(call.place for call in earlier)
    lines = " and ".join(str(place.line) for place in [*places, later.place])
    below = model.step_below(target)
    step = ""
    if below is not None:
        holder, made = below
        step = f" ({named(made)} of {name_of(holder)}, for one)"
    through = f" through {later.foreign}" if later.how == "callback" and later.foreign else ""
    message = (
        f"{name_of(callee)} holds steps{step} and is called {_times(len(earlier) + 1)}{through} in "
        f"{name_of(function)}, on lines {lines}. The calls have one path, so the steps of the second would be taken "
        f"for those of the first, and not run. Make the calls passes of one loop, or, if they are different work, give "
        f"each a function of its own."
    )
    return Problem(RULE, "O18", message, later.place, places, _fix(earlier[0], later))


def _times(count: int) -> str:
    return "twice" if count == 2 else f"{count} times"


def _fix(first: Call, second: Call) -> str:
    """The two ways out, with the author's own calls."""
    name = first.callee.rpartition(".")[2] if first.callee.replace(".", "").isidentifier() else "work"
    return f"{_loop(first, second)}\n\n# or two functions:\n{_two_functions(first, second, name)}"


def _loop(first: Call, second: Call) -> str:
    wait = "await " if first.awaited else ""
    if first.how != "call" or first.callee != second.callee:
        return f"for item in (…, …):\n    {wait}{first.callee}(item)    # each pass is a step of its own"
    differing = [i for i, (a, b) in enumerate(zip(first.arguments, second.arguments, strict=False)) if a != b]
    if len(first.arguments) != len(second.arguments) or len(differing) > 1:
        rows = ", ".join(_row(call.arguments) for call in (first, second))
        return f"for arguments in ({rows}):\n    {wait}{first.callee}(*arguments)"
    if not differing:
        return f"for _ in range(2):\n    {wait}{first.callee}({', '.join(first.arguments)})"
    index = differing[0]
    prefix, first_value = _split(first.arguments[index])
    _, second_value = _split(second.arguments[index])
    arguments = [*first.arguments]
    arguments[index] = f"{prefix}item"
    return f"for item in ({first_value}, {second_value}):\n    {wait}{first.callee}({', '.join(arguments)})"


def _row(arguments: tuple[str, ...]) -> str:
    values = [_split(argument)[1] for argument in arguments]
    return f"({', '.join(values)}{',' if len(values) == 1 else ''})"


def _split(argument: str) -> tuple[str, str]:
    """``amount=3`` as ``amount=`` and ``3``; a positional argument has no first part."""
    name, equals, value = argument.partition("=")
    return (name + equals, value) if equals and name.isidentifier() and not value.startswith("=") else ("", argument)


def _two_functions(first: Call, second: Call, name: str) -> str:
    wait, coroutine = ("await ", "async ") if first.awaited else ("", "")
    lines = []
    for suffix, call in (("first", first), ("second", second)):
        work = f"{call.callee}({', '.join(call.arguments)})" if call.how == "call" else "…"
        lines.append(f"{coroutine}def {name}_{suffix}(…):    # a better name says what the call is for")
        lines.append(f"    return {wait}{work}\n")
    lines.append(f"{wait}{name}_first(…)\n{wait}{name}_second(…)")
    return "\n".join(lines)
