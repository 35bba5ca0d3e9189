"""``OrderFlow.pay``: an event of an entity workflow, to be raised on a row (rule W4)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession
    from sqlalchemy.orm import Session

    from semel.run import Run

    from .event import Event

E = TypeVar("E")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Raised:
    """What became of an event. ``state`` is the row's state now; ``parked`` says that a worker goes on with the arm,
    which waits, or is still to run.
    """

    state: Enum
    parked: bool
    run: Run[Any]


class Raiser(Generic[E, T]):
    """One event of one workflow. Calling it runs the arm of the row's state at once, in the caller."""

    def __init__(self, workflow: type, event: Event[T]) -> None:
        self._workflow = workflow
        self._event = event

    def __repr__(self) -> str:
        return f"<{self._workflow.__qualname__}.{self._event.name}>"

    @overload
    def __call__(
        self: Raiser[E, None], item: E, /, *, session: Session | None = None, again: bool = False
    ) -> Raised: ...
    @overload
    def __call__(self, item: E, payload: T, /, *, session: Session | None = None, again: bool = False) -> Raised: ...
    def __call__(self, item: Any, payload: Any = None, /, *, session: Any = None, again: bool = False) -> Raised:
        """Runs the arm, in a transaction of its own; or in the caller's, in a savepoint of ``session``.

        A fault of the arm travels to the caller, and what it wrote is rolled back; the steps that it has done are found
        when the same event is raised again. One that waits gives back control at once. Inside a body of a run the event
        is raised when that body commits.

        Args:
            item: the row, an object of the entity that the workflow follows.
            payload: what the event carries.
            session: whose transaction the arm joins; the caller commits.
            again: the event was raised before with another payload, and is to be new work (rule V7).

        Raises:
            EventNotTaken: the state does not take it, the run has ended, or the same arm still waits.
            PayloadChanged: it was raised with another payload, and its arm had done steps when it failed.
            EntityNotFollowed, EntityGone, EntityStateChanged: there is no run, no row, or they differ.
            RunBusy: somebody else has the run in hand.
            TypeError: the payload is not of the type that the event was declared with.
        """
        from semel.entities.raising import raise_event

        self._event.check(payload)
        return raise_event(self._workflow, self._event.name, item, payload, session, again)

    @overload
    async def call_async(
        self: Raiser[E, None], item: E, /, *, session: AsyncSession | None = None, again: bool = False
    ) -> Raised: ...
    @overload
    async def call_async(
        self, item: E, payload: T, /, *, session: AsyncSession | None = None, again: bool = False
    ) -> Raised: ...
    async def call_async(
        self, item: Any, payload: Any = None, /, *, session: Any = None, again: bool = False
    ) -> Raised:
        """The same for a coroutine. A plain function that is the arm runs in a thread; or, with a session, on the
        loop's own, which it holds up.
        """
        from semel.entities.raising import raise_event_async

        self._event.check(payload)
        return await raise_event_async(self._workflow, self._event.name, item, payload, session, again)

    @overload
    def later(self: Raiser[E, None], item: E, /, *, session: Session | None = None) -> None: ...
    @overload
    def later(self, item: E, payload: T, /, *, session: Session | None = None) -> None: ...
    def later(self, item: Any, payload: Any = None, /, *, session: Any = None) -> None:
        """Hands the event to a worker, durably: when this returns, or with the commit of ``session``.

        Events of one arm are delivered in their order. One that the state does not take when its turn comes is dropped,
        with a note on the run.

        Raises as calling it does, but for what only its arm can show.
        """
        from semel.entities.raising import raise_later

        self._event.check(payload)
        raise_later(self._workflow, self._event.name, item, payload, session)

    @overload
    async def later_async(self: Raiser[E, None], item: E, /, *, session: AsyncSession | None = None) -> None: ...
    @overload
    async def later_async(self, item: E, payload: T, /, *, session: AsyncSession | None = None) -> None: ...
    async def later_async(self, item: Any, payload: Any = None, /, *, session: Any = None) -> None:
        """``later`` for a coroutine."""
        from semel.entities.raising import raise_later_async

        self._event.check(payload)
        await raise_later_async(self._workflow, self._event.name, item, payload, session)
