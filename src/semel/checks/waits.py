"""Where a step waits: in its own lambda, or in functions that it surely calls."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from semel.compiler.model import Call, Function, Model, Place, Step
from semel.compiler.model.intrinsics import form_of, is_join

from .paths import named

_PARKING = ("child", "sleep", "event", "first")


@dataclass(frozen=True, slots=True)
class Waiting:
    """A wait, or the start of a child.

    ``site`` is where the function of the step comes to it, ``way`` are the calls that lead there.
    """

    site: int
    made: Step | Call
    function: Function
    way: tuple[Call, ...]

    @property
    def place(self) -> Place:
        return self.made.place

    @property
    def name(self) -> str:
        """As a message names it."""
        return named(self.made) if isinstance(self.made, Step) else f"`{self.made.callee}(…)`"


def waits_of(model: Model, function: Function, step: Step) -> Iterator[Waiting]:
    """What the step waits for, those in its lambda first."""
    inside = {step.index}
    for other in function.steps:
        if other.within in inside:
            inside.add(other.index)
    calls = [call for call in function.calls if call.within in inside]
    made: list[Step | Call] = [s for s in function.steps if s.within in inside and parks(s)]
    made += [call for call in calls if _waits(call)]
    for one in sorted(made, key=lambda one: one.place):
        yield Waiting(one.site, one, function, ())
    for call in calls:
        below = _below(model, call)
        if below is not None:
            yield below


def parks(step: Step) -> bool:
    """Whether it waits, or starts what is to be waited for."""
    return step.form in _PARKING


def own_waits(function: Function) -> Iterator[Step | Call]:
    """The waits that the function makes itself."""
    yield from (step for step in function.steps if parks(step))
    yield from (call for call in function.calls if _waits(call))


def _waits(call: Call) -> bool:
    """Whether it waits for children, or is a wait that another function is given to call."""
    return is_join(call.foreign) or (call.foreign is not None and form_of(call.foreign) in _PARKING)


def _below(model: Model, call: Call) -> Waiting | None:
    """The nearest wait in what the call surely leads to."""
    seen: set[str] = set()
    waiting: deque[tuple[Call, tuple[Call, ...]]] = deque([(call, (call,))])
    while waiting:
        here, way = waiting.popleft()
        if not leads_surely(here):
            continue
        target = model.functions.get(here.candidates[0].function)
        if target is None or target.id in seen:
            continue
        seen.add(target.id)
        first = min(own_waits(target), key=lambda one: one.place, default=None)
        if first is not None:
            return Waiting(call.site, first, target, way)
        waiting.extend((inner, (*way, inner)) for inner in target.calls)
    return None


def leads_surely(call: Call) -> bool:
    """Whether the call runs one function of the program, and no other."""
    if len(call.candidates) != 1 or call.how in ("property", "operator", "thread"):
        return False
    return call.certainty == "sure" or (call.certainty == "foreign" and call.how == "callback")


def leading_to_joins(model: Model) -> frozenset[str]:
    """The functions that wait for children, or surely call one that does."""
    found = {f.id for f in model.functions.values() if any(is_join(call.foreign) for call in f.calls)}
    waiting = deque(found)
    callers: dict[str, list[str]] = {}
    for function in model.functions.values():
        for call in function.calls:
            if leads_surely(call):
                callers.setdefault(call.candidates[0].function, []).append(function.id)
    while waiting:
        for caller in callers.get(waiting.popleft(), ()):
            if caller not in found:
                found.add(caller)
                waiting.append(caller)
    return frozenset(found)
