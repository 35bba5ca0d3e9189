"""``Workflow``: a class that follows a row through the states of one of its columns (rule W2)."""

from __future__ import annotations

import sys
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from semel.errors import NotAllowedHere, RegistrationError

from .backoff import Backoff
from .declaring import Declaring
from .definition import Calendar, EntityDefinition, OnDelete

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession
    from sqlalchemy.orm import InstrumentedAttribute, Session

    from semel.app import App
    from semel.run import Run

E = TypeVar("E")


class Workflow(Generic[E]):
    """The base of an entity workflow::

        @app.workflow
        class OrderFlow(Workflow[Order], tracks=Order.stage, initial=Stage.PLACED, autostart=True):
            pay = Event[Payment]()

            @on(pay, Stage.PLACED)
            def paid(self, payment: Payment) -> Stage: ...

            charged = success(Stage.CHARGED, "paid")

    A body is a method, and each of its executions has an object of the class of its own. All bodies of a class are
    ``def``, or all are ``async def``. A base class without ``tracks`` only lends its declarations.

    Keywords of the class:
        tracks: the mapped attribute, of an enum, that only the run writes.
        initial: the state that a row begins in.
        autostart: inserting a row starts its run, in the same commit.
        name: the workflow's name in the database; the class's own if not given.
        strict: faults an execution that does not reach a step that an earlier attempt had done.
        redeliver: how often an execution that a worker runs is delivered again by itself after a fault, or a
            ``Backoff``.
        on_delete: what deleting the row does: it ends the run ("cancel"), is refused while the run goes on ("refuse"),
            or does nothing ("keep").
        calendar: counts the time of the clocks, where not every hour counts.

    Raises:
        RegistrationError: the declaration contradicts itself; the message names the place.
    """

    __definition__: ClassVar[EntityDefinition | None] = None
    __app__: ClassVar[App | None] = None

    _item: E
    _run_id: str
    _sessions: Any

    def __init_subclass__(
        cls,
        *,
        tracks: InstrumentedAttribute[Any] | None = None,
        initial: Enum | None = None,
        autostart: bool = False,
        name: str | None = None,
        strict: bool = False,
        redeliver: int | Backoff = 0,
        on_delete: OnDelete = "cancel",
        calendar: Calendar | None = None,
        **unknown: Any,
    ) -> None:
        super().__init_subclass__()
        frame = sys._getframe(1)
        place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        if unknown:
            raise RegistrationError(f"{cls.__qualname__} ({place}) has no keyword {', '.join(unknown)}=")
        cls.__app__ = None
        cls.__definition__ = None
        if tracks is None:
            if initial is not None or autostart:
                raise RegistrationError(
                    f"{cls.__qualname__} ({place}) says nothing of the column that it follows: write "
                    f"class {cls.__qualname__}(Workflow[Order], tracks=Order.stage, initial=…)"
                )
            return
        declaring = Declaring(cls, place, tracks, name or cls.__qualname__.replace("<locals>.", ""), Workflow)
        cls.__definition__ = declaring.definition(
            initial=initial,
            autostart=autostart,
            strict=strict,
            redeliver=redeliver,
            on_delete=on_delete,
            calendar=calendar,
        )

    def __init__(self) -> None:
        raise NotAllowedHere(
            f"{type(self).__qualname__}() is made by a run, for one execution of a body; raise an event, "
            f"{type(self).__qualname__}.pay(order), or insert a row"
        )

    @property
    def item(self) -> E:
        """The row that the run follows, in the body's session."""
        return self._item

    @property
    def run_id(self) -> str:
        """The id of the run: ``OrderFlow/5``."""
        return self._run_id

    @property
    def session(self) -> Session:
        """The body's session: what it writes commits with the row's next state, or not at all."""
        return self._sessions.session()  # type: ignore[no-any-return]

    @property
    def async_session(self) -> AsyncSession:
        """``session`` in an async body."""
        return self._sessions.async_session()  # type: ignore[no-any-return]

    @classmethod
    def run_of(cls, item: E, /, session: Session | None = None) -> Run[Any] | None:
        """The run that follows the row, or the last one that did; None if there was none."""
        from semel.entities.raising import run_of

        return run_of(cls, item, session)

    @classmethod
    async def run_of_async(cls, item: E, /, session: AsyncSession | None = None) -> Run[Any] | None:
        """``run_of`` for a coroutine."""
        from semel.entities.raising import run_of_async

        return await run_of_async(cls, item, session)

    @classmethod
    def adopt(cls, item: E, /, session: Session | None = None) -> Run[Any]:
        """The run that follows the row; one is started, in the state that the row is in, if there is none."""
        from semel.entities.raising import adopt

        return adopt(cls, item, session)

    @classmethod
    async def adopt_async(cls, item: E, /, session: AsyncSession | None = None) -> Run[Any]:
        """``adopt`` for a coroutine."""
        from semel.entities.raising import adopt_async

        return await adopt_async(cls, item, session)
