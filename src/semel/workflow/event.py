"""Events of function workflows: ``wait_for`` parks a body until one comes, ``run.send`` sends it (rule W6)."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any, Generic, LiteralString, TypeVar, overload

from semel.compiler import Path, intrinsic
from semel.engine.labels import segment_of_label
from semel.engine.waits import seconds
from semel.errors import NotAllowedHere

T = TypeVar("T")


class Event(Generic[T]):
    """A named event with a payload of one type: ``paid = Event[Payment]("paid", Payment)``.

    ``payload`` is the class that ``run.send`` checks the payload against; without it only a type checker does.
    """

    def __init__(self, name: LiteralString, payload: type[T] | None = None) -> None:
        segment_of_label(name)
        self.name: str = name
        self.payload = payload

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
    if isinstance(event, Event):
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
