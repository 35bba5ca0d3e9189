"""A change of state: which clocks it arms, which milestones it reaches, and what becomes of what was open."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from msgspec.structs import replace

from semel.engine.parks import Parked
from semel.workflow.definition import EntityDefinition, MilestoneDefinition

from .clocks import due_after
from .flow import Flow, body_and_visit, without


@dataclass(frozen=True, slots=True)
class Moved:
    """What a change of state makes of a run. ``left`` are the executions that were abandoned by it."""

    flow: Flow
    visits: dict[str, int]
    parked: dict[str, Parked]
    left: tuple[str, ...] = ()


def begun(definition: EntityDefinition, item: Any, state: Enum, now: float) -> Flow:
    """What a run begins with, for a row in this state."""
    flow = Flow(state.name, now)
    for milestone in definition.milestones.values():
        if not milestone.since and state not in milestone.states:
            flow = _armed_milestone(definition, flow, milestone, item, now)
    return _entered(definition, flow, item, state, now)


def moved(
    definition: EntityDefinition, before: Moved, recorded: Iterable[str], item: Any, to: Enum, now: float
) -> Moved:
    """The row goes on to the state ``to``.

    What the state left had open is over: a parked execution is abandoned, and the visit of one that has faulted is
    counted (rules W10, V7). ``recorded`` are the executions that have records.
    """
    flow, old = before.flow, before.flow.state
    visits, parked = dict(before.visits), before.parked
    left = tuple(name for name in flow.open if _is_of(definition, name, old))
    for name in (*left, *(each for each in recorded if _is_of(definition, each, old))):
        body, visit = body_and_visit(name)
        visits[body] = max(visits.get(body, 0), visit)
    undone = tuple(name for name in left if flow.open[name].undos)
    flow = replace(
        flow,
        state=to.name,
        since=now,
        clocks={name: at for name, at in flow.clocks.items() if not _is_of(definition, name, old)},
        open=without(flow.open, *(name for name in left if name not in undone)),
        abandoned=(*flow.abandoned, *undone),
    )
    return Moved(_entered(definition, flow, item, to, now), visits, without(parked, *left), left)


def _entered(definition: EntityDefinition, flow: Flow, item: Any, state: Enum, now: float) -> Flow:
    entered = definition.states[state.name]
    clocks = dict(flow.clocks)
    for clock in (entered.expire, *entered.reminders.values()):
        if clock is not None:
            at = due_after(clock.after, item, now, definition.calendar, f"{definition.name}/{clock.body.name}")
            if at is not None:
                clocks[clock.body.name] = at
    flow = replace(flow, clocks=clocks, entering=entered.enter is not None)
    for milestone in definition.milestones.values():
        if state in milestone.states:
            flow = _reached(flow, milestone)
        elif state in milestone.since:
            flow = _armed_milestone(definition, flow, milestone, item, now)
    return flow


def _reached(flow: Flow, milestone: MilestoneDefinition) -> Flow:
    name = f"{milestone.name}.unfinished"
    hooks = flow.hooks
    if milestone.finished is not None and milestone.finished.name not in hooks:
        hooks = (*hooks, milestone.finished.name)
    return replace(flow, clocks=without(flow.clocks, name), left=without(flow.left, milestone.name), hooks=hooks)


def _armed_milestone(
    definition: EntityDefinition, flow: Flow, milestone: MilestoneDefinition, item: Any, now: float
) -> Flow:
    if milestone.within is None or milestone.unfinished is None:
        return flow
    at = due_after(milestone.within, item, now, definition.calendar, f"{definition.name}/{milestone.unfinished.name}")
    if at is None:
        return flow
    clocks = {**flow.clocks, milestone.unfinished.name: at}
    return replace(flow, clocks=clocks, left={**flow.left, milestone.name: milestone.retries})


def _is_of(definition: EntityDefinition, name: str, state: str) -> bool:
    """Whether the body, or the execution, is one of the state's."""
    return name.partition("@")[0].startswith(f"{state}.") and name.partition(".")[0] not in definition.milestones
