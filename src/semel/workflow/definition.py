"""What an entity workflow declares (rule W2), as data: states, events, bodies, clocks, milestones.

Made by ``entity`` when the class is made, read by what runs it. Nothing here knows of a database.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, Literal, Protocol

from .backoff import Backoff

#: A length of time, an attribute of the item, or a function of it; these give a timedelta, an aware datetime or None.
Delay = timedelta | str | Callable[[Any], timedelta | datetime | None]

OnDelete = Literal["cancel", "refuse", "keep"]


class Calendar(Protocol):
    """Counts time for the clocks of a workflow: working days, opening hours."""

    def add(self, start: datetime, length: timedelta) -> datetime:
        """The moment at which ``length`` of the time that counts has passed since ``start``. Both are aware."""
        ...


@dataclass(frozen=True, slots=True)
class HookBody:
    """One body: a method in one state, or a milestone's hook.

    ``takes_payload`` says that it has a parameter for the payload; ``state`` is None for a milestone's hook.
    """

    name: str
    kind: Literal["event", "enter", "expire", "remind", "finished", "unfinished"]
    method: str
    function: Callable[..., Any]
    state: Enum | None
    takes_payload: bool = False
    redeliver: int | Backoff | None = None


@dataclass(frozen=True, slots=True)
class Clock:
    """When a state's body runs by itself: ``after`` its entry, and then every so often."""

    body: HookBody
    after: Delay
    then_every: Delay | None = None


@dataclass(frozen=True, slots=True)
class Terminal:
    """The end of a run: what it says when the item gets into this state."""

    attribute: str
    kind: Literal["success", "error", "cancel"]
    state: Enum
    message: str


@dataclass(frozen=True, slots=True)
class StateDefinition:
    """A state, and what happens in it. ``arms`` are by the event's name, those for all states among them."""

    member: Enum
    arms: dict[str, HookBody] = field(default_factory=dict)
    enter: HookBody | None = None
    expire: Clock | None = None
    reminders: dict[str, Clock] = field(default_factory=dict)
    terminal: Terminal | None = None


@dataclass(frozen=True, slots=True)
class MilestoneDefinition:
    """States to be reached in time. ``since`` is empty for the start of the run."""

    name: str
    states: tuple[Enum, ...]
    since: tuple[Enum, ...]
    within: Delay | None
    retries: int
    backoff: Backoff | None
    finished: HookBody | None
    unfinished: HookBody | None


@dataclass(frozen=True, slots=True)
class EntityDefinition:
    """A whole entity workflow. ``attribute`` is the tracked attribute's name on ``entity``, a mapped class."""

    name: str
    cls: type
    place: str
    entity: type
    attribute: str
    enum: type[Enum]
    initial: Enum
    autostart: bool
    is_async: bool
    strict: bool
    redeliver: int | Backoff
    on_delete: OnDelete
    calendar: Calendar | None
    #: event name -> the class of its payload, None where it has none or does not say
    events: dict[str, type | None]
    #: by the member's name
    states: dict[str, StateDefinition]
    #: by the attribute's name
    milestones: dict[str, MilestoneDefinition]
    #: by the body's name
    bodies: dict[str, HookBody]
