"""What is drawn of an entity workflow: its states, and the ways between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from semel.compiler.model import EntityWorkflow
from semel.compiler.model.entities import ANY, Hook

_LONGEST = 30  # characters of a delay that are drawn as they are written


@dataclass(frozen=True, slots=True)
class Way:
    """What happens in a state: an event, or a clock. ``to`` None stays in it."""

    state: str
    what: str
    to: str | None


@dataclass(frozen=True, slots=True)
class Drawing:
    """``ends`` are the terminal states, each with how it ends: "success", "error" or "cancel"."""

    name: str
    initial: str | None
    states: tuple[str, ...]
    ends: Mapping[str, str]
    ways: tuple[Way, ...]


def drawing(flow: EntityWorkflow) -> Drawing:
    """The states in the order in which they are named; milestones belong to none."""
    initial = flow.initial.name if flow.initial is not None else None
    ends = {end.state.name: end.kind for end in flow.terminals if end.state is not None}
    bodies = [(body.state, body.hook) for body in flow.bodies() if body.state is not None]
    named = [initial, *(state for state, _ in bodies), *ends, *(to for _, hook in bodies for to in hook.next)]
    states = tuple(dict.fromkeys(state for state in named if state is not None and state != ANY))
    ways: dict[Way, None] = {}
    for state, hook in bodies:
        for of in [state] if state != ANY else _all(flow, hook, states, ends):
            ways |= dict.fromkeys(Way(of, _told(hook), to) for to in hook.next or (None,))
    return Drawing(flow.name, initial, states, ends, tuple(ways))


def _all(flow: EntityWorkflow, hook: Hook, states: tuple[str, ...], ends: Mapping[str, str]) -> Iterator[str]:
    """The states that an arm for all of them is for, where the enum itself is not seen."""
    if hook.states == ():
        own = {state.name for other in flow.hooks if other.event == hook.event for state in other.states or ()}
        yield from (state for state in states if state not in ends and state not in own)


def _told(hook: Hook) -> str:
    if hook.kind == "event":
        return hook.event or "?"
    if hook.kind == "enter":
        return "enter"
    again = f", then every {_delay(hook.then_every)}" if hook.then_every is not None else ""
    return f"{hook.method} after {_delay(hook.after)}{again}"


def _delay(text: str | None) -> str:
    return text if text is not None and len(text) <= _LONGEST else "a time of the row's"
