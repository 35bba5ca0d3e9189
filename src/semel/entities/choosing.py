"""What a run does next for its row, of all that is due. A pure question: nothing is changed here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from semel.engine.parks import Parked
from semel.errors import EntityStateChanged
from semel.store.interface import Event
from semel.workflow.definition import EntityDefinition, HookBody, StateDefinition

from .flow import Flow, body_and_visit, is_ready

RAISED = "~"  # begins the name of an event that was raised durably, and is not one that a body waits for


@dataclass(frozen=True, slots=True)
class Next:
    """A delivery of a body ("body"); the undos of an execution that was abandoned ("undo"); an event that nothing takes
    ("drop"); the end of the run ("end").

    ``execution`` is ``PLACED.on_pay@1``. ``event`` is the number of a durable event, 0 if there is none; ``due`` the
    time of a clock. ``opened`` says that the execution has begun before.
    """

    kind: Literal["body", "undo", "drop", "end"]
    execution: str = ""
    payload: bytes = b""
    event: int = 0
    due: float | None = None
    opened: bool = False

    @property
    def body(self) -> str:
        return body_and_visit(self.execution)[0]

    @property
    def visit(self) -> int:
        return body_and_visit(self.execution)[1]


@dataclass(frozen=True, slots=True)
class Situation:
    """All that the choice depends on. ``ended`` are the uids of children that have ended."""

    flow: Flow
    visits: Mapping[str, int]
    parked: Mapping[str, Parked]
    events: Sequence[Event]
    ended: frozenset[str]
    now: float


def choose(definition: EntityDefinition, of: Situation) -> Next | None:
    """What is next; None if all waits.

    Raises:
        EntityStateChanged: the program no longer has the state, or a body that is open.
    """
    flow = of.flow
    state = state_of(definition, flow.state)
    for execution in flow.abandoned:
        if _may_go_on(execution, of):
            return Next("undo", execution, opened=True)
    if flow.entering and state.enter is not None:
        return fresh(state.enter, of)
    for execution, opened in flow.open.items():
        if execution in flow.abandoned:
            continue
        body_of(definition, execution)
        if opened.again or (execution in of.parked and _may_go_on(execution, of)):
            return Next("body", execution, opened.payload, opened=True)
    for hook in flow.hooks:
        return fresh(body_of(definition, hook), of)
    if state.terminal is not None:
        return None if flow.abandoned else Next("end")
    return _next_of_clocks_and_events(definition, state, of)


def state_of(definition: EntityDefinition, name: str) -> StateDefinition:
    """The state of this name."""
    state = definition.states.get(name)
    if state is None:
        raise EntityStateChanged(
            f"the run is in the state {name!r}, and {definition.enum.__qualname__} has no member of that name any more "
            f"(it has {', '.join(definition.states)}). Put it back under its old name, then run.retry()"
        )
    return state


def body_of(definition: EntityDefinition, execution: str) -> HookBody:
    """The body of an execution."""
    name = execution.partition("@")[0]
    body = definition.bodies.get(name)
    if body is None:
        raise EntityStateChanged(
            f"the run has begun {execution}, and {definition.name} has no body {name} any more. Put it back, then "
            f"run.retry(); or run.cancel()"
        )
    return body


def fresh(body: HookBody, of: Situation, payload: bytes = b"", event: int = 0, due: float | None = None) -> Next:
    """A new execution of the body."""
    visit = of.visits.get(body.name, 0) + 1
    while f"{body.name}@{visit}" in of.flow.open:  # one that has faulted, and whose visit is not counted
        visit += 1
    return Next("body", f"{body.name}@{visit}", payload, event, due)


def faulted_before(body: HookBody, of: Situation) -> str | None:
    """An execution of the body that has faulted, and is not over."""
    for execution, opened in of.flow.open.items():
        if execution.partition("@")[0] == body.name and opened.failed and execution not in of.parked:
            return execution
    return None


def parked_before(body: HookBody, of: Situation) -> str | None:
    """An execution of the body that waits."""
    return next((each for each in of.parked if each.partition("@")[0] == body.name), None)


def _next_of_clocks_and_events(definition: EntityDefinition, state: StateDefinition, of: Situation) -> Next | None:
    """The earliest of the clocks that are due and of the events that can be taken, each arm's in their order."""
    clock = min(((at, name) for name, at in of.flow.clocks.items() if at <= of.now), default=None)
    waiting: set[str] = set()
    for event in of.events:
        if not event.name.startswith(RAISED):
            continue
        if clock is not None and clock[0] <= event.at:
            break
        arm = state.arms.get(event.name.removeprefix(RAISED))
        if arm is None:
            return Next("drop", event=event.seq)
        if arm.name in waiting or parked_before(arm, of) is not None:
            waiting.add(arm.name)
            continue
        before = faulted_before(arm, of)
        if before is not None and of.flow.open[before].payload == event.payload:
            return Next("body", before, event.payload, event.seq, opened=True)
        return fresh(arm, of, event.payload, event.seq)
    if clock is None:
        return None
    return fresh(body_of(definition, clock[1]), of, due=clock[0])


def _may_go_on(execution: str, of: Situation) -> bool:
    parked = of.parked.get(execution)
    if parked is None:
        return True
    events = frozenset(event.name for event in of.events if not event.name.startswith(RAISED))
    return is_ready(parked, of.now, events, of.ended)
