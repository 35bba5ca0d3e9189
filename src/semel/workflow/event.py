"""Events of function workflows, which ``wait_for`` waits for and ``run.send`` sends (rule W6); and of entity workflows,
which are raised on a row (rule W2).
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from datetime import timedelta
from types import NoneType
from typing import TYPE_CHECKING, Any, Generic, LiteralString, Self, TypeVar, get_args, get_origin, overload

from semel.compiler import Path, intrinsic
from semel.engine.labels import segment_of_label
from semel.engine.waits import seconds
from semel.errors import NotAllowedHere

from .raiser import Raiser

if TYPE_CHECKING:
    from .entity import Workflow

T = TypeVar("T")
E = TypeVar("E")


class Event(Generic[T]):
    """A named event with a payload of one type: ``paid = Event[Payment]("paid", Payment)``.

    In an entity workflow its name is the attribute's: ``pay = Event[Payment]()``, or ``close = Event()`` for one that
    carries nothing. ``payload`` is the class that a payload is checked against.
    """

    @overload
    def __init__(self: Event[None]) -> None: ...
    @overload
    def __init__(self, name: LiteralString = "", payload: type[T] | None = None) -> None: ...
    def __init__(self, name: str = "", payload: type[Any] | None = None) -> None:
        if name:
            segment_of_label(name)
        self.name: str = name
        self._payload = payload

    def __set_name__(self, owner: type, name: str) -> None:
        if not self.name:
            segment_of_label(name)
            self.name = name

    @overload
    def __get__(self, instance: None, owner: type[Workflow[E]]) -> Raiser[E, T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Self: ...
    def __get__(self, instance: object, owner: type) -> Any:
        return Raiser(owner, self) if hasattr(owner, "__definition__") else self

    @property
    def payload(self) -> type | None:
        """The class of its payload; None where nothing is said of it."""
        if self._payload is not None:
            return self._payload
        given: Any = next(iter(get_args(getattr(self, "__orig_class__", None))), None)
        found = get_origin(given) or given
        return found if isinstance(found, type) else None

    @property
    def has_payload(self) -> bool:
        """Whether an arm of it takes a payload."""
        given = get_args(getattr(self, "__orig_class__", None))
        return self._payload not in (None, NoneType) or bool(given and given[0] not in (None, NoneType))

    def __repr__(self) -> str:
        return f"<Event {self.name!r}>"

    def check(self, payload: object) -> None:
        """Raises TypeError where the payload is of another type than was declared."""
        if self.payload is not None and not isinstance(payload, self.payload):
            raise TypeError(
                f"the event {self.name!r} carries a {self.payload.__qualname__}, not a {type(payload).__qualname__}"
            )


def event_name(event: object) -> str:
    """The name of an event that is given by name, or as an ``Event``."""
    if isinstance(event, Event) and event.name:
        return event.name
    if isinstance(event, str) and event:
        return event
    raise TypeError(f'an event is a name or an Event, not {event!r}: wait_for("paid")')


@overload
def wait_for(event: Event[T], *, timeout: timedelta | None = None, label: LiteralString | None = None) -> T: ...
@overload
def wait_for(event: LiteralString, *, timeout: timedelta | None = None, label: LiteralString | None = None) -> Any: ...
def wait_for(event: Any, *, timeout: timedelta | None = None, label: str | None = None) -> Any:
    """Waits durably for the next event of this name, and gives its payload.

    Nothing is held in memory meanwhile: the body runs again from its top when the event comes, its steps found. An
    event that came before is taken at once; each is taken once.

    Args:
        event: an ``Event``, or its name, a string literal.
        timeout: how long to wait at most; what comes first, the event or the timeout, stays so.
        label: names the wait where there are two for one event in a function.

    Raises:
        WaitTimedOut: no event came in time. It is a TimeoutError.
        NotAllowedHere: outside of a run, or in a step with a retry.
    """
    raise _outside(f"wait_for({event_name(event)!r})")


@overload
def wait_for_async(
    event: Event[T], *, timeout: timedelta | None = None, label: LiteralString | None = None
) -> Coroutine[Any, Any, T]: ...
@overload
def wait_for_async(
    event: LiteralString, *, timeout: timedelta | None = None, label: LiteralString | None = None
) -> Coroutine[Any, Any, Any]: ...
def wait_for_async(event: Any, *, timeout: timedelta | None = None, label: str | None = None) -> Any:
    """``wait_for`` in an async body; other tasks of the body go on meanwhile, until all of them wait."""
    raise _outside(f"wait_for_async({event_name(event)!r})")


def _outside(what: str) -> NotAllowedHere:
    return NotAllowedHere(
        f"{what} waits in the body of a run, and this is none, or is reached through code that semel does not compile"
    )


def _at(is_async: bool, path: Path, passes: tuple[object, ...], awaited: bool) -> Callable[..., Any]:
    execution: Any = path.execution

    def call(event: Any, *, timeout: timedelta | None = None, label: str | None = None) -> Any:
        name = event_name(event)
        segment = f"wait_for:{segment_of_label(name)}" if label is None else segment_of_label(label)
        limit = None if timeout is None else seconds(timeout, f"the timeout of wait_for({name!r})")
        return execution.waits.event(path, passes, is_async, segment, name, limit)

    return call


intrinsic(wait_for, lambda *at: _at(False, *at))
intrinsic(wait_for_async, lambda *at: _at(True, *at))
