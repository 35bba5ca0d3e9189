"""What the model knows of entity workflows (rule W2): frozen data about their states and what happens in them.

Everything is as the source shows it. What cannot be seen there is None, and no check speaks of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from .data import Place

HookKind = Literal["event", "enter", "expire", "remind", "finished", "unfinished"]
TerminalKind = Literal["success", "error", "cancel"]

#: Stands in a body's name for what the source does not show.
ANY = "*"


@dataclass(frozen=True, slots=True)
class Named:
    """A state that the source names. ``is_member`` says whether the tracked enum has it, None where it is not seen."""

    name: str
    is_member: bool | None
    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class DeclaredEvent:
    """``pay = Event[Payment]()``. ``payload`` is the text of the class that it carries."""

    payload: str | None
    place: Place


@dataclass(frozen=True, slots=True)
class Hook:
    """A method that is run as a body.

    ``states`` are those it is declared for; none for a milestone's hook, and for an arm of every state that is not
    terminal. ``next`` are the states that its returns show, ``leads`` all that it may lead to, None if that may be any.
    ``wrapped`` says that a decorator may put another function in its place.
    """

    kind: HookKind
    function: str
    method: str
    place: Place
    states: tuple[Named, ...] | None
    event: str | None
    milestone: str | None
    after: str | None
    then_every: str | None
    next: tuple[str, ...]
    leads: frozenset[str] | None
    wrapped: bool

    @property
    def segment(self) -> str:
        """What names the body beside its state: ``on_pay``, ``enter``, ``remind_chase``."""
        if self.kind == "event":
            return f"on_{self.event or ANY}"
        return f"remind_{self.method}" if self.kind == "remind" else self.kind


@dataclass(frozen=True, slots=True)
class Milestone:
    """``shipped = milestone(…)``."""

    name: str
    place: Place
    reached: tuple[Named, ...] | None
    since: tuple[Named, ...] | None
    within: str | None


@dataclass(frozen=True, slots=True)
class Terminal:
    """``charged = success(Stage.CHARGED, "paid")``."""

    name: str
    kind: TerminalKind
    state: Named | None
    message: str | None
    place: Place


@dataclass(frozen=True, slots=True)
class EntityBody:
    """A hook in one state. ``state`` is None for a milestone's hook, ``ANY`` where it is not seen."""

    name: str
    state: str | None
    hook: Hook


@dataclass(frozen=True, slots=True)
class EntityWorkflow:
    """A class that follows an entity through the states of one of its columns.

    ``tracks`` and ``enum`` are texts of the source. ``states`` are the members of the enum, and ``initial`` is None
    where it is not seen or, with ``has_no_initial``, not there. ``complete`` says that nothing else can be declared.
    """

    name: str
    cls: str
    place: Place
    tracks: str | None
    enum: str | None
    states: Mapping[str, Place] | None
    initial: Named | None
    has_no_initial: bool
    events: Mapping[str, DeclaredEvent]
    hooks: tuple[Hook, ...]
    milestones: tuple[Milestone, ...]
    terminals: tuple[Terminal, ...]
    complete: bool

    def bodies(self) -> Iterator[EntityBody]:
        """One for each hook and state. An arm that names its state is taken before one for all states."""
        ends = {terminal.state.name for terminal in self.terminals if terminal.state is not None}
        named = {(hook.event, state.name) for hook in self.hooks if hook.event for state in hook.states or ()}
        for hook in self.hooks:
            if hook.milestone is not None or hook.kind in ("finished", "unfinished"):
                yield EntityBody(f"{hook.milestone or ANY}.{hook.kind}", None, hook)
                continue
            states = dict.fromkeys(state.name for state in hook.states or ())
            if hook.states == () and hook.kind == "event" and self.states is not None:
                states = {s: None for s in self.states if s not in ends and (hook.event, s) not in named}
            elif not states:
                states = {ANY: None}
            for state in states:
                yield EntityBody(f"{state}.{hook.segment}", state, hook)
