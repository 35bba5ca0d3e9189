"""``Raiser``: an event of an entity workflow as its class gives it, ``OrderFlow.pay``.

Raising it runs its arm (rule W4), which ``semel.entities`` does.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, overload

from .event import Event

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession
    from sqlalchemy.orm import Session
    from typing_extensions import TypeVar

    from semel.run import Run

    T = TypeVar("T", default=None)
else:
    from typing import TypeVar

    T = TypeVar("T")
E = TypeVar("E")

_NONE_GIVEN: Any = object()


@dataclass(frozen=True, slots=True)
class Raised:
    """What came of raising an event: the state after it, and whether the arm waits, so that a worker goes on."""

    state: Enum
    parked: bool
    run: Run[None]


class Raiser(Generic[E, T]):
    """Raises one event of a workflow.

    A call runs the event's arm at once, in the caller: in a savepoint of ``session`` where one is given, else in a
    transaction of its own. ``later`` leaves it to a worker, durably; given a session, with that one's commit.

    Args:
        item: the entity whose run gets the event.
        payload: what the event carries, of the type that it was declared with; of one without, left out.
        session: the caller's own session.
        again: takes the next visit, where an execution of the arm with another payload has faulted (rule V7).

    Raises:
        TypeError: the item or the payload is of another type than was declared.
    """

    __slots__ = ("event", "workflow")

    def __init__(self, workflow: type, event: Event[T]) -> None:
        self.workflow = workflow
        self.event = event

    def __repr__(self) -> str:
        return f"<Raiser {self._name}>"

    @overload
    def __call__(self: Raiser[E, None], item: E, *, session: Session | None = None, again: bool = False) -> Raised: ...
    @overload
    def __call__(self, item: E, payload: T, *, session: Session | None = None, again: bool = False) -> Raised: ...
    def __call__(self, item: Any, payload: Any = _NONE_GIVEN, *, session: Any = None, again: bool = False) -> Any:
        given = self._checked(item, payload)
        return raising().raise_event(self.workflow, self.event.name, item, given, session, again)

    @overload
    async def call_async(
        self: Raiser[E, None], item: E, *, session: AsyncSession | None = None, again: bool = False
    ) -> Raised: ...
    @overload
    async def call_async(
        self, item: E, payload: T, *, session: AsyncSession | None = None, again: bool = False
    ) -> Raised: ...
    async def call_async(
        self, item: Any, payload: Any = _NONE_GIVEN, *, session: Any = None, again: bool = False
    ) -> Any:
        """Raises the event of a workflow with async bodies."""
        given = self._checked(item, payload)
        return await raising().raise_event_async(self.workflow, self.event.name, item, given, session, again)

    @overload
    def later(self: Raiser[E, None], item: E, *, session: Session | None = None) -> None: ...
    @overload
    def later(self, item: E, payload: T, *, session: Session | None = None) -> None: ...
    def later(self, item: Any, payload: Any = _NONE_GIVEN, *, session: Any = None) -> None:
        """Sends the event durably; a worker runs the arm."""
        given = self._checked(item, payload)
        raising().raise_later(self.workflow, self.event.name, item, given, session)

    @overload
    async def later_async(self: Raiser[E, None], item: E, *, session: AsyncSession | None = None) -> None: ...
    @overload
    async def later_async(self, item: E, payload: T, *, session: AsyncSession | None = None) -> None: ...
    async def later_async(self, item: Any, payload: Any = _NONE_GIVEN, *, session: Any = None) -> None:
        """``later`` with an async session."""
        given = self._checked(item, payload)
        await raising().raise_later_async(self.workflow, self.event.name, item, given, session)

    @property
    def _name(self) -> str:
        return f"{self.workflow.__qualname__}.{self.event.name}"

    def _checked(self, item: object, payload: object) -> object:
        """The payload as it is raised: None for an event that has none."""
        check_item(self.workflow, item, self._name)
        if not self.event.carries:
            if payload is _NONE_GIVEN or payload is None:
                return None
            raise TypeError(
                f"the event {self._name} has no payload, and was given a {type(payload).__qualname__}: write "
                f"{self._name}(item), or declare {self.event.name} = Event[{type(payload).__name__}]()"
            )
        declared = self.event.payload
        kind = declared.__qualname__ if declared is not None else "payload"
        if payload is _NONE_GIVEN:
            raise TypeError(f"the event {self._name} carries a {kind}, and none was given: write {self._name}(item, …)")
        if declared is not None and not isinstance(payload, declared):
            raise TypeError(f"the event {self._name} carries a {kind}, not a {type(payload).__qualname__}")
        return payload


def check_item(workflow: Any, item: object, what: str) -> None:
    """Raises TypeError where the item is none of those that the workflow tracks."""
    definition = getattr(workflow, "__definition__", None)
    if definition is not None and not isinstance(item, definition.entity):
        raise TypeError(f"{what} is for a {definition.entity.__qualname__}, not for a {type(item).__qualname__}")


def raising() -> Any:
    """What runs arms. Loaded when an event is raised: it needs SQLAlchemy, which declaring a workflow does not."""
    return importlib.import_module("semel.entities.raising")
