"""What the methods of an entity workflow are declared as: arms, entries, clocks, milestones; and its ends (rule W2)."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, TypeVar, overload

from .backoff import Backoff
from .definition import Delay
from .event import Event

T = TypeVar("T")
W = TypeVar("W")
S = TypeVar("S", bound=Enum | Coroutine[Any, Any, Enum | None] | None)
F = TypeVar("F", bound=Callable[..., Any])

#: Where a decorator leaves what a method is declared as.
MARKS = "__semel_marks__"


@dataclass(frozen=True, slots=True)
class Mark:
    """What one decorator says of a method. ``states`` empty means every state that is not terminal."""

    kind: Literal["event", "enter", "expire", "remind"]
    states: tuple[Enum, ...] = ()
    event: Event[Any] | None = None
    after: Delay | None = None
    then_every: Delay | None = None
    redeliver: int | Backoff | None = None


@overload
def on(
    event: Event[None], /, *states: Enum, redeliver: int | Backoff | None = None
) -> Callable[[Callable[[W], S]], Callable[[W], S]]: ...
@overload
def on(
    event: Event[T], /, *states: Enum, redeliver: int | Backoff | None = None
) -> Callable[[Callable[[W, T], S]], Callable[[W, T], S]]: ...
def on(event: Any, /, *states: Enum, redeliver: int | Backoff | None = None) -> Any:
    """The arm of an event in these states, or in every state that is not terminal if none is given.

    An arm for a particular state goes before one for all. The method is given the payload, if the event carries one,
    and returns the next state, or None to stay.

    Args:
        redeliver: how often an arm that a worker runs is delivered again by itself after a fault.
    """
    if not isinstance(event, Event):
        raise TypeError(f"@on takes an event of the class, and its states: @on(pay, Stage.PLACED); not {event!r}")
    return _marked(Mark("event", states, event, redeliver=redeliver))


def enter(*states: Enum, redeliver: int | Backoff | None = None) -> Callable[[F], F]:
    """Runs when a state is entered, after the commit that entered it."""
    return _marked(Mark("enter", _some("enter", states), redeliver=redeliver))


def expire(*states: Enum, after: Delay, redeliver: int | Backoff | None = None) -> Callable[[F], F]:
    """Runs when the row has been in a state for so long.

    Args:
        after: a timedelta, an attribute of the item (``Order.due_at`` or its name), or a function of the item; these
            give a timedelta since the entry, an aware datetime, or None: then it is not armed. Asked at the entry.
    """
    return _marked(Mark("expire", _some("expire", states), after=_delay("expire", after), redeliver=redeliver))


def remind(
    *states: Enum, after: Delay, then_every: Delay | None = None, redeliver: int | Backoff | None = None
) -> Callable[[F], F]:
    """Runs when the row has been in a state for so long, and then every so often while it stays there.

    What is missed while no worker runs is made up for once.

    Args:
        after, then_every: as ``after`` of ``expire``.
    """
    again = None if then_every is None else _delay("remind", then_every)
    return _marked(Mark("remind", _some("remind", states), None, _delay("remind", after), again, redeliver))


class Milestone:
    """States to be reached in time; its hooks are declared with ``@shipped.finished`` and ``@shipped.unfinished``."""

    def __init__(
        self,
        states: tuple[Enum, ...],
        since: tuple[Enum, ...],
        within: Delay | None,
        retries: int,
        backoff: Backoff | None,
    ) -> None:
        self.states = states
        self.since = since
        self.within = within
        self.retries = retries
        self.backoff = backoff
        self.hooks: dict[str, Callable[..., Any]] = {}
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def finished(self, method: F) -> F:
        """Runs when the milestone is reached."""
        return self._hook("finished", method)

    def unfinished(self, method: F) -> F:
        """Runs when the time is over before, and again as often as ``retries`` says."""
        return self._hook("unfinished", method)

    def _hook(self, kind: str, method: F) -> F:
        if kind in self.hooks:
            raise TypeError(
                f"the milestone has two hooks {kind}: {self.hooks[kind].__qualname__}, {method.__qualname__}"
            )
        self.hooks[kind] = method
        return method


def milestone(
    *states: Enum,
    within: Delay | None = None,
    since: Enum | tuple[Enum, ...] = (),
    retries: int = 0,
    backoff: Backoff | None = None,
) -> Milestone:
    """A milestone: the row is to be in one of these states within a time.

    Args:
        within: how long it may take, as ``after`` of ``expire``.
        since: the states whose entry begins the time; the start of the run, if none is given.
        retries: how often ``unfinished`` runs again while the milestone is not reached.
        backoff: the waits between these; ``within`` each, if not given.
    """
    began = since if isinstance(since, tuple) else (since,)
    if retries < 0:
        raise ValueError(f"milestone(retries={retries}) counts how often unfinished runs again; it is 0 or more")
    return Milestone(
        _some("milestone", states), began, within if within is None else _delay("milestone", within), retries, backoff
    )


class End:
    """A terminal state: ``charged = success(Stage.CHARGED, "paid")``."""

    def __init__(self, kind: Literal["success", "error", "cancel"], state: Enum, message: str) -> None:
        self.kind: Literal["success", "error", "cancel"] = kind
        self.state = state
        self.message = message


def success(state: Enum, message: str) -> End:
    """The run ends well in this state; the message is its result."""
    return End("success", state, message)


def error(state: Enum, message: str) -> End:
    """The run ends badly in this state: asking for its result raises ``WorkflowFailed`` with the message."""
    return End("error", state, message)


def cancel(state: Enum, message: str) -> End:
    """The run ends as cancelled in this state."""
    return End("cancel", state, message)


def _marked(mark: Mark) -> Callable[[F], F]:
    def mark_method(method: F) -> F:
        vars(method).setdefault(MARKS, []).append(mark)
        return method

    return mark_method


def _some(decorator: str, states: tuple[Enum, ...]) -> tuple[Enum, ...]:
    for state in states:
        if not isinstance(state, Enum):
            raise TypeError(f"{decorator}(…) takes states, members of the tracked enum, and not {state!r}")
    if not states:
        raise TypeError(f"{decorator}(…) needs a state: @{decorator}(Stage.PLACED, …)")
    return states


def _delay(decorator: str, given: Any) -> Delay:
    """The delay; an attribute of the entity (``Order.due_at``) by its name."""
    key = getattr(given, "key", None)
    if isinstance(key, str) and not isinstance(given, type):
        return key
    if isinstance(given, str) or callable(given):
        return given  # type: ignore[no-any-return]
    from datetime import timedelta

    if not isinstance(given, timedelta):
        raise TypeError(
            f"a delay of {decorator}(…) is a timedelta, an attribute of the item or a function of it, not {given!r}: "
            f"timedelta(days=3)"
        )
    if given < timedelta(0):
        raise ValueError(f"a delay of {decorator}(…) is negative: {given!r}")
    return given
