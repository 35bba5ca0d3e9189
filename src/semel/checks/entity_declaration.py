"""``entity-declaration`` (W2): what an entity workflow declares can happen: its states are there, and are reached."""

from __future__ import annotations

from collections.abc import Iterator

from semel.compiler.model import EntityStates, Hook, Model, Place

from .problem import Problem

RULE = "entity-declaration"
_ANY, _UNSEEN = "*", "?"


def check(model: Model) -> Iterator[Problem]:
    for of in model.entities:
        yield from _states(of)
        yield from _ends(of)
        yield from _twice(of)
        yield from _events(of)
        yield from _both_kinds(of)
        yield from _unreachable(of)


def _states(of: EntityStates) -> Iterator[Problem]:
    if of.initial is None and of.hooks and not of.hidden:
        first = f"{of.enum or 'Stage'}.{of.members[0] if of.members else 'PLACED'}"
        yield _problem(of.place, f"{of.name} says not in which state a row begins.", f"initial={first}")
    for state, place in of.named if of.members is not None else ():
        assert of.members is not None
        if state not in of.members:
            told = f"{of.enum}.{state} is no member of {of.enum}, which has {', '.join(of.members)}."
            yield _problem(place, told, f"{of.enum}.{of.members[0]}")


def _ends(of: EntityStates) -> Iterator[Problem]:
    if of.initial in of.ends:
        told = f"{of.name} begins in {of.initial}, which is a terminal state: its runs would end where they start."
        yield _problem(of.place, told, f"initial={of.enum}.…    # a state in which something happens")
    for hook in of.hooks:
        if hook.state in of.ends:
            told = f"{hook.method} is for {hook.state}, which is a terminal state: the run has ended there."
            yield _problem(hook.place, told, f"take {of.enum}.{hook.state} out of the decorator")
    seen: dict[str, Place] = {}
    for state, place in of.ends_at:
        if state in seen:
            told = f"There are two ends for {state}, and only one of them could say how the run ends."
            yield _problem(place, told, "leave one of them out", seen[state])
        seen[state] = place


def _twice(of: EntityStates) -> Iterator[Problem]:
    """Two arms of one event in one state, two entries, two clocks that end it."""
    seen: dict[tuple[str, str], Hook] = {}
    for hook in of.hooks:
        if hook.state == _ANY and not hook.segment.startswith("on_"):
            continue
        if hook.segment.startswith("remind_") or _UNSEEN in (hook.state, hook.segment.removeprefix("on_")):
            continue
        before = seen.setdefault((hook.state, hook.segment), hook)
        if before is not hook:
            where = "in every state" if hook.state == _ANY else f"in {hook.state}"
            told = f"{before.method} and {hook.method} are both {hook.segment} {where}, and only one of them could run."
            yield _problem(hook.place, told, "take the state out of one of the decorators", before.place)


def _events(of: EntityStates) -> Iterator[Problem]:
    taken = {hook.segment for hook in of.hooks}
    if f"on_{_UNSEEN}" in taken:
        return
    for event, place in of.events:
        if f"on_{event}" not in taken:
            told = f"No state takes the event {event}, so raising it would always fail."
            yield _problem(place, told, f"@on({event}, {of.enum or 'Stage'}.…)    # above the method that it runs")


def _both_kinds(of: EntityStates) -> Iterator[Problem]:
    kinds = {hook.is_async: hook for hook in of.hooks}
    if len(kinds) == 2:
        told = f"{kinds[True].method} is async and {kinds[False].method} is not; all bodies of a class are of one kind."
        yield _problem(kinds[True].place, told, "write both as def, or both as async def", kinds[False].place)


def _unreachable(of: EntityStates) -> Iterator[Problem]:
    """A state for which something is declared, and that no body returns; where all that is returned can be seen."""
    if of.initial is None or any(hook.returns is None for hook in of.hooks):
        return
    reached = {of.initial, *(state for hook in of.hooks for state in hook.returns or ())}
    for state, place in dict(reversed(of.named)).items():
        if state not in reached and (of.members is None or state in of.members):
            told = f"No body returns {of.enum}.{state}, so that no row ever comes to what is declared for it."
            yield _problem(place, told, f"return {of.enum}.{state}")


def _problem(place: Place, told: str, fix: str, *others: Place) -> Problem:
    return Problem(RULE, "W2", told, place, others, fix)
