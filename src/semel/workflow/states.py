"""What an entity workflow is written with (rule W2): ``@on``, ``@enter``, ``@expire``, ``@remind``, milestones, ends.

They note what was written; the class reads it when it is made (``declaring``). A body stays the function that it is.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from types import FunctionType
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, overload

from .backoff import Backoff
from .event import Event
from .places import caller_frame, caller_place, place_of, refused
from .raiser import Raiser

if TYPE_CHECKING:
    from sqlalchemy.orm import QueryableAttribute

    #: A length of time, an attribute of the item, or a function of it.
    After = timedelta | QueryableAttribute[Any] | Callable[[Any], timedelta | datetime | None]

P = TypeVar("P")
W = TypeVar("W")
R = TypeVar("R", bound="Enum | Coroutine[Any, Any, Enum | None] | None")

Kind = Literal["event", "enter", "expire", "remind", "finished", "unfinished"]

_MARKS = "__semel_marks__"


class Body(Protocol):
    """Declares a method without a payload as a body, and gives it back."""

    def __call__(self, method: Callable[[W], R], /) -> Callable[[W], R]: ...


class PayloadBody(Protocol[P]):
    """Declares a method that takes the event's payload as a body, and gives it back."""

    def __call__(self, method: Callable[[W, P], R], /) -> Callable[[W, P], R]: ...


class Milestone:
    """States to be reached in time, as ``milestone`` declares them; its hooks are declared with it."""

    def __init__(
        self,
        states: tuple[Any, ...],
        since: tuple[Any, ...],
        within: Any,
        retries: Any,
        backoff: Any,
    ) -> None:
        self.states = states
        self.since = since
        self.within = within
        self.retries = retries
        self.backoff = backoff
        self.place = caller_place()

    def finished(self, method: Callable[[W], R], /) -> Callable[[W], R]:
        """Declares what runs once when it is reached, in time or late."""
        _mark(method, Mark("finished", milestone=self))
        return method

    def unfinished(self, method: Callable[[W], R], /) -> Callable[[W], R]:
        """Declares what runs when its time is over and it was not reached, and again up to ``retries`` times."""
        _mark(method, Mark("unfinished", milestone=self))
        return method


@dataclass(frozen=True, slots=True, eq=False)
class End:
    """A terminal state, as ``success``, ``error`` or ``cancel`` declares it."""

    kind: Literal["success", "error", "cancel"]
    state: Any
    message: Any
    place: str


@dataclass(frozen=True, slots=True, eq=False)
class Mark:
    """What one decorator said of a method, as it was written."""

    kind: Kind
    states: tuple[Any, ...] = ()
    event: Any = None
    milestone: Milestone | None = None
    after: Any = None
    then_every: Any = None
    redeliver: Any = None


# An Event[None] fits both, and is to be taken by the first.
@overload
def on(  # pyright: ignore[reportOverlappingOverload]
    event: Event[None] | Raiser[Any, None], /, *states: Enum, redeliver: int | Backoff | None = None
) -> Body: ...
@overload
def on(
    event: Event[P] | Raiser[Any, P], /, *states: Enum, redeliver: int | Backoff | None = None
) -> PayloadBody[P]: ...
def on(event: Any, /, *states: Any, redeliver: Any = None) -> Any:
    """Declares an arm: what an event does in a state. It returns the next state; None stays in this one.

    ``@on(pay, Stage.PLACED) def paid(self, payment: Payment) -> Stage`` for an event with a payload, else
    ``def paid(self)``.

    Args:
        event: an ``Event`` of the class.
        states: one or several; none given is every state that is not terminal, and an arm that names one goes before.
        redeliver: as that of the workflow, for this arm (rule R11).
    """
    return _decorator(Mark("event", states, event=event, redeliver=redeliver), event, *states)


def enter(*states: Enum) -> Body:
    """Declares what runs when one of these states is entered. It returns the next state; None stays in this one."""
    return _decorator(Mark("enter", states), *states)


def expire(*states: Enum, after: After | None = None, redeliver: int | Backoff | None = None) -> Body:
    """Declares what runs when one of these states has lasted for ``after``. It returns the next state, or None.

    Args:
        after: a timedelta since the state was entered, ``Order.attribute``, or a function of the item; these give a
            timedelta, an aware datetime, or None: it does not expire.
        redeliver: as that of the workflow, for this body (rule R11).
    """
    return _decorator(Mark("expire", states, after=after, redeliver=redeliver), *states)


def remind(
    *states: Enum,
    after: After | None = None,
    then_every: After | None = None,
    redeliver: int | Backoff | None = None,
) -> Body:
    """Declares what runs while one of these states lasts: first ``after`` its entry, and then every ``then_every``.

    ``after`` and ``then_every`` are as those of ``expire``; without ``then_every`` it runs once.
    """
    return _decorator(Mark("remind", states, after=after, then_every=then_every, redeliver=redeliver), *states)


def milestone(
    *states: Enum,
    since: Enum | Sequence[Enum] | None = None,
    within: After | None = None,
    retries: int = 0,
    backoff: Backoff | None = None,
) -> Milestone:
    """Declares states to be reached in time: ``shipped = milestone(Stage.SHIPPED, within=timedelta(days=5))``.

    Args:
        states: it is reached when the item gets into one of them.
        since: the state, or states, from whose entry its time runs; from the start of the run if not given.
        within: its time, as ``after`` of ``expire``.
        retries: how many more times its ``unfinished`` hook runs while it is not reached.
        backoff: how far apart these are; ``within`` apart if not given.
    """
    several = tuple(since) if isinstance(since, Sequence) and not isinstance(since, str) else (since,)
    return Milestone(states, () if since is None else several, within, retries, backoff)


def success(state: Enum, message: str) -> End:
    """Declares a terminal state in which the run has done its work: ``charged = success(Stage.CHARGED, "paid")``."""
    return End("success", state, message, caller_place())


def error(state: Enum, message: str) -> End:
    """Declares a terminal state in which the run has failed."""
    return End("error", state, message, caller_place())


def cancel(state: Enum, message: str) -> End:
    """Declares a terminal state in which the run was called off."""
    return End("cancel", state, message, caller_place())


def marks_of(given: Any) -> tuple[Mark, ...]:
    """What the decorators said of a method, the lowest first."""
    return getattr(given, _MARKS, ()) if isinstance(given, FunctionType) else ()


_EXAMPLES = {
    "event": "@on(pay, Stage.PLACED)",
    "enter": "@enter(Stage.PLACED)",
    "expire": "@expire(Stage.PLACED, after=timedelta(days=7))",
    "remind": "@remind(Stage.PLACED, after=timedelta(days=3))",
}


def _decorator(mark: Mark, *given: Any) -> Body:
    bare = next((each for each in given if isinstance(each, FunctionType)), None)
    if bare is not None:
        raise refused(
            place_of(bare), bare.__qualname__, f"the decorator says not what for: write {_EXAMPLES[mark.kind]}"
        )

    def declare(method: Callable[[W], R], /) -> Callable[[W], R]:
        _mark(method, mark)
        return method

    return declare


def _mark(method: Any, mark: Mark) -> None:
    frame = caller_frame()
    if not isinstance(method, FunctionType):
        raise refused(
            f"{frame.f_code.co_filename}:{frame.f_lineno}",
            getattr(method, "__qualname__", repr(method)),
            f"a body is a method, and this is a {type(method).__qualname__}: put the decorator directly above `def` or "
            f"`async def`, and no @staticmethod, @classmethod or @property on it",
        )
    other: Any = frame.f_locals.get(method.__name__)
    if other is not method and marks_of(other) and other.__qualname__ == method.__qualname__:
        raise refused(
            place_of(method),
            method.__qualname__,
            f"there is a body of that name at {place_of(other)}, which would never run: give one of them another name",
        )
    setattr(method, _MARKS, (*marks_of(method), mark))
