"""The verdict (rule A9): which functions are steps, and by which route; for every body the paths of its steps.

Reads the program model only. ``External`` is a function that makes, or leads to, a call that leaves the process;
``Step`` one that leads to a ``once`` or a wait alone; ``None`` is any other.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Literal

from semel.compiler.model import Body, Call, Function, Model, Place, Step, Unreadable

from .patterns import StepPattern, step_patterns

Durability = Literal["External", "Step", "None"]


@dataclass(frozen=True, slots=True)
class Hop:
    """A call on the way: where it stands, how it is written, and what it leads to."""

    function: str
    place: Place
    call: str
    to: str


@dataclass(frozen=True, slots=True)
class FunctionVerdict:
    """``via`` is the short form of what the route ends in: the operation, or the ``once`` or wait."""

    function: Function
    durability: Durability
    via: str | None
    route: tuple[Hop, ...]
    certain: bool
    reached: bool


@dataclass(frozen=True, slots=True)
class BodyVerdict:
    """``complete`` is false where not all paths are listed: a recursion, or too many."""

    workflow: str
    function: Function
    steps: tuple[StepPattern, ...]
    complete: bool
    body: str = "start"


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A call of which the model cannot say what it calls."""

    function: Function
    place: Place
    call: str
    why: str
    reached: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    bodies: tuple[BodyVerdict, ...]
    functions: tuple[FunctionVerdict, ...]
    unresolved: tuple[Unresolved, ...]
    unreadable: tuple[Unreadable, ...]


def verdict(model: Model) -> Verdict:
    """The verdict on the whole program."""
    routes = Routes(model)
    return Verdict(
        tuple(_body(model, routes, body) for body in model.bodies),
        tuple(told for function in model.functions.values() if _is_listed(told := routes.of(function))),
        tuple(
            Unresolved(function, call.place, call.callee, call.lost, model.reached(function.id))
            for function in model.functions.values()
            for call in function.calls
            if call.lost is not None
        ),
        model.unreadable,
    )


def _body(model: Model, routes: Routes, body: Body) -> BodyVerdict:
    function = model.functions[body.function]
    steps, complete = step_patterns(model, function, f"{body.name}/{body.body}@*", routes.leads)
    return BodyVerdict(body.name, function, steps, complete, body.body)


def _is_listed(told: FunctionVerdict) -> bool:
    kind = told.function.kind
    return kind != "module" and (kind != "lambda" or told.durability != "None")


#: For each function the next call on its way and where that leads; None where the way ends.
_Ways = dict[str, tuple[Call, str] | None]


class Routes:
    """The shortest way from each function to a call that leaves, or else to a ``once``; sure ways first."""

    def __init__(self, model: Model) -> None:
        self.model = model
        sure, likely = _callers(model)
        self._called = {
            call.operation.name
            for function in model.functions.values()
            if model.reached(function.id)
            for call in function.calls
            if call.operation is not None
        }
        self._out: _Ways = {}
        self._once: _Ways = {}
        functions = model.functions.values()
        _search([f.id for f in functions if _leaving(f, sure=True)], sure, self._out)
        self._certain = set(self._out)
        _search([f.id for f in functions if _leaving(f, sure=False)], likely, self._out)
        _search([f.id for f in functions if f.steps], sure, self._once)
        self._certain |= self._once.keys() - self._out.keys()
        _search([], likely, self._once)

    def leads(self, function: str) -> bool:
        """Whether the function makes a step of any kind, or may lead to one."""
        return function in self._out or function in self._once

    def of(self, function: Function) -> FunctionVerdict:
        reached, certain = self.model.reached(function.id), function.id in self._certain
        if function.operation is not None:
            name = function.operation.name
            return FunctionVerdict(function, "External", name, (), True, name in self._called)
        if function.id in self._out:
            via, route = self._route(function, self._out)
            return FunctionVerdict(function, "External", via, route, certain, reached)
        if function.id in self._once:
            via, route = self._route(function, self._once)
            return FunctionVerdict(function, "Step", via, route, certain, reached)
        return FunctionVerdict(function, "None", None, (), True, reached)

    def _route(self, function: Function, ways: _Ways) -> tuple[str, tuple[Hop, ...]]:
        hops: list[Hop] = []
        here = function
        while (way := ways[here.id]) is not None:
            call, target = way
            hops.append(Hop(here.id, call.place, call.callee, target))
            here = self.model.functions[target]
        end, name = _end(here, out=ways is self._out)
        text = end.callee if isinstance(end, Call) else end.shown
        hops.append(Hop(here.id, end.place, text, name))
        return name, tuple(hops)


def _search(start: list[str], callers: dict[str, list[tuple[str, Call]]], ways: _Ways) -> None:
    """Goes back from the functions where a way ends, and from all that have one already."""
    waiting = deque(ways)
    for function in start:
        if function not in ways:
            ways[function] = None
            waiting.append(function)
    while waiting:
        target = waiting.popleft()
        for caller, call in callers.get(target, ()):
            if caller not in ways:
                ways[caller] = (call, target)
                waiting.append(caller)


def _end(function: Function, *, out: bool) -> tuple[Call | Step, str]:
    if out:
        calls = [call for call in function.calls if call.operation is not None]
        best = min(calls, key=lambda call: (not call.operation.sure if call.operation else True, call.place))
        return best, best.operation.name if best.operation else best.callee
    step = function.steps[0]
    return step, step.brief


def _leaving(function: Function, *, sure: bool) -> bool:
    if function.operation is not None:
        return False
    return any(call.operation is not None and (call.operation.sure or not sure) for call in function.calls)


def _callers(model: Model) -> tuple[dict[str, list[tuple[str, Call]]], dict[str, list[tuple[str, Call]]]]:
    """Who calls each function: by calls that surely lead to it, and by all."""
    sure: dict[str, list[tuple[str, Call]]] = {}
    every: dict[str, list[tuple[str, Call]]] = {}
    for function in model.functions.values():
        for call in function.calls:
            for candidate in call.candidates:
                every.setdefault(candidate.function, []).append((function.id, call))
                if call.certainty == "sure" or (call.certainty == "foreign" and call.how == "callback"):
                    sure.setdefault(candidate.function, []).append((function.id, call))
    return sure, every
