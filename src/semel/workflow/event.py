"""Events: ``wait_for`` parks a function's body until one comes, ``run.send`` sends it (rule W6).

An event of an entity workflow is an attribute of its class, and is raised by it: ``OrderFlow.pay(order, payment)``.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from datetime import timedelta
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Generic, LiteralString, get_args, get_origin, overload

from semel.compiler import Path, intrinsic
from semel.engine.labels import segment_of_label
from semel.engine.waits import seconds
from semel.errors import NotAllowedHere

from .places import caller_place

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from .entity import Workflow
    from .raiser import Raiser

    T = TypeVar("T", default=None)
    E = TypeVar("E")
else:
    from typing import TypeVar

    T = TypeVar("T")


class Event(Generic[T]):
    """A named event with a payload of one type.

    Of a function workflow, ``paid = Event[Payment]("paid", Payment)``: ``payload`` is the class that ``run.send``
    checks the payload against; without it only a type checker does.

    Of an entity workflow, ``pay = Event[Payment]()`` in the class: its name is the attribute's, and its payload is
    checked when it is raised. ``Event()`` has no payload. On the class it is a ``Raiser``.
    """

    @overload
    def __init__(self) -> None: ...
    @overload
    def __init__(self, *, payload: type[T]) -> None: ...
    @overload
    def __init__(self, name: LiteralString, payload: type[T] | None = None) -> None: ...
    def __init__(self, name: str | None = None, payload: type[T] | None = None) -> None:
        if name is not None:
            segment_of_label(name)
        self.name: str = name or ""
        self.payload = payload
        self.place = caller_place()

    def __set_name__(self, owner: type, name: str) -> None:
        if not self.name:
            self.name = name
            if self.payload is None:
                self.payload = _class_of(self._argument())

    @overload
    def __get__(self, instance: Any, owner: type[Workflow[E]]) -> Raiser[E, T]: ...
    @overload
    def __get__(self, instance: Any, owner: type) -> Event[T]: ...
    def __get__(self, instance: Any, owner: Any) -> Any:
        from .entity import Workflow
        from .raiser import Raiser

        return Raiser(owner, self) if issubclass(owner, Workflow) else self

    def __repr__(self) -> str:
        return f"<Event {self.name!r}>"

    @property
    def carries(self) -> bool:
        """Whether a payload is declared, if only for type checkers."""
        return self.payload is not None or self._argument() not in (None, NoneType)

    def _argument(self) -> Any:
        """What stands in the brackets of ``Event[…]``; None if there are none."""
        written = get_args(getattr(self, "__orig_class__", None))
        return written[0] if written else None

    def check(self, payload: object) -> None:
        """Raises TypeError where the payload is of another type than was declared."""
        if self.payload is not None and not isinstance(payload, self.payload):
            raise TypeError(
                f"the event {self.name!r} carries a {self.payload.__qualname__}, not a {type(payload).__qualname__}"
            )


def _class_of(hint: Any) -> Any:
    """The class that a payload of this type is an instance of; None where that cannot be looked at."""
    found = get_origin(hint) or hint
    if not isinstance(found, type) or found in (NoneType, UnionType):
        return None
    try:
        isinstance(None, found)
    except TypeError:  # Any, a TypedDict, a Protocol
        return None
    return found


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
