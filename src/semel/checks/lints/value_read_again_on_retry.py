"""``workflow-value-read-again-on-retry`` (A5): what is stored after a retried step is not read anew by each attempt.

An attempt of a retry reads times, ids and random numbers anew. A value that was read above the step is another one in
each attempt, so what the step was given in the first is not what is stored after the last.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from semel.checks.paths import name_of, named
from semel.checks.problem import Problem
from semel.checks.waits import leads_surely
from semel.compiler.model import Function, Model, Place, Step, together
from semel.compiler.model.effects import Reading, Store
from semel.compiler.model.routes import Routes

from .telling import new_label, route_places, who

RULE = "workflow-value-read-again-on-retry"


@dataclass(frozen=True, slots=True)
class _Retried:
    """A retried step, or a call that leads to one."""

    site: int
    place: Place
    name: str


def check(model: Model, routes: Routes) -> Iterator[Problem]:
    leading = _leading(model)
    for function in model.functions.values():
        if function.id not in routes or not function.effects.readings or not function.effects.stores:
            continue
        retried = list(_retried(function, leading))
        stores = [store for store in function.effects.stores if _is_kept(model, store)]
        sites = {one.site for one in retried} | {store.site for store in stores}
        sites |= {reading.site for reading in function.effects.readings}
        pairs = together(function.flow, {site: bit for bit, site in enumerate(sorted(sites))}, function.never_returns)
        for number, reading in enumerate(function.effects.readings):
            clash = _first(reading, retried, [store for store in stores if number in store.read], pairs)
            if clash is not None:
                yield _problem(model, routes, function, reading, *clash)


def _is_kept(model: Model, store: Store) -> bool:
    return store.kind != "call" or any(model.holds_steps(target) for target in store.functions)


def _leading(model: Model) -> frozenset[str]:
    """The functions that surely lead to a retried step of their own."""
    found = {f.id for f in model.functions.values() if any(_is_retried(step) for step in f.steps)}
    grown = True
    while grown:
        more = {
            f.id
            for f in model.functions.values()
            if f.id not in found
            and any(c.within is None and leads_surely(c) and c.candidates[0].function in found for c in f.calls)
        }
        found |= more
        grown = bool(more)
    return frozenset(found)


def _is_retried(step: Step) -> bool:
    return step.retry is not None and step.form == "once" and step.within is None


def _retried(function: Function, leading: frozenset[str]) -> Iterator[_Retried]:
    for step in function.steps:
        if _is_retried(step):
            yield _Retried(step.site, step.place, named(step))
    for call in function.calls:
        if call.within is None and leads_surely(call) and call.candidates[0].function in leading:
            yield _Retried(call.site, call.place, f"`{call.callee}`, which holds one,")


def _first(
    reading: Reading, retried: list[_Retried], stores: list[Store], pairs: set[tuple[int, int]]
) -> tuple[_Retried, Store] | None:
    """The first store after a retried step, and that; both in one pass with the reading."""
    for store in sorted(stores, key=lambda store: store.place):
        for step in sorted(retried, key=lambda step: step.place):
            in_order = reading.place < step.place < store.place
            if in_order and _both(step.site, store.site, pairs) and _both(reading.site, step.site, pairs):
                return step, store
    return None


def _both(one: int, other: int, pairs: set[tuple[int, int]]) -> bool:
    return (min(one, other), max(one, other)) in pairs


def _problem(
    model: Model, routes: Routes, function: Function, reading: Reading, step: _Retried, store: Store
) -> Problem:
    text, newline, _ = store.text.partition("\n")
    message = (
        f"`{reading.name}` in {who(model, routes, function)} comes from {reading.reader}, above {step.name} on line "
        f"{step.place.line}, which has a retry, and is stored after it on line {store.place.line} "
        f"(`{text}{'…' if newline else ''}`). Each attempt of a retry runs {name_of(function)} from its top and reads "
        f"such values anew: what is stored belongs to the last attempt, and what the earlier ones did with it, to "
        f"others. Read it in a step, so that all attempts have one; or read it below the retried step."
    )
    value = reading.text if "\n" not in reading.text else "…"
    label = new_label(function, reading.name)
    fix = f'{reading.name} = once("{label}", lambda: {value})'
    others = (step.place, store.place, *route_places(routes, function))
    return Problem(RULE, "A5", message, reading.place, others, fix)
