"""``Workflow``: the base class of entity workflows, which follow one column of one mapped class (rule W2)."""

from __future__ import annotations

from difflib import get_close_matches
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Never, TypeVar

from semel.errors import NotAllowedHere

from .backoff import Backoff
from .declaring import Options, define
from .definition import Calendar, EntityDefinition, OnDelete
from .places import caller_place, place_of, refused
from .raiser import check_item, raising

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession
    from sqlalchemy.orm import QueryableAttribute, Session

    from semel.app import App
    from semel.run import Run

E = TypeVar("E")
S = TypeVar("S", bound=Enum)


class Workflow(Generic[E]):
    """A workflow that each row of a table has a run of, and whose states are those of an enum column::

        @app.workflow
        class OrderFlow(Workflow[Order], tracks=Order.stage, initial=Stage.PLACED, autostart=True):
            pay = Event[Payment]()

            @on(pay, Stage.PLACED)
            def paid(self, payment: Payment) -> Stage:
                once("charge", lambda key: charge(payment, key))
                return Stage.CHARGED

            charged = success(Stage.CHARGED, "paid")

        OrderFlow.pay(order, payment, session=session)

    A class without ``tracks`` is a base for others: what it declares counts as declared by them. All bodies are
    ``def``, or all ``async def``. An instance is made for each execution of a body, and holds nothing between two.

    Args:
        tracks: the enum column, ``Order.stage``.
        initial: the state that a run starts in.
        autostart: inserting a row starts its run, in the same commit (rule W3).
        name: the workflow's name in the database; the class's own if not given.
        strict: faults a body that ends without reaching a step that an earlier attempt had done (rule W12).
        redeliver: how often a faulted execution is delivered again by itself, or a ``Backoff`` (rule R11).
        on_delete: what deleting the row does to its run: cancels it, is refused, or leaves it (``"keep"``).
        calendar: what counts the time of its clocks, in place of all hours of all days.

    Raises of the class: RegistrationError, with the place and the fix.
    """

    __definition__: ClassVar[EntityDefinition]
    __app__: ClassVar[App | None] = None

    _item: Any = None
    _run_id: Any = None
    _sessions: Any = None

    def __init_subclass__(
        cls,
        *,
        tracks: QueryableAttribute[S] | None = None,
        initial: S | None = None,
        autostart: bool = False,
        name: str | None = None,
        strict: bool = False,
        redeliver: int | Backoff = 0,
        on_delete: OnDelete = "cancel",
        calendar: Calendar | None = None,
        **unknown: Never,
    ) -> None:
        super().__init_subclass__()
        place = caller_place()
        for keyword in unknown:
            meant = (get_close_matches(keyword, Options.__slots__) or ["…"])[0]
            raise refused(
                place,
                cls.__qualname__,
                f"{keyword}= is none of its keywords ({', '.join(Options.__slots__)}), so it would have no effect: "
                f"write {meant}=, or take it away",
            )
        options = Options(tracks, initial, autostart, name, strict, redeliver, on_delete, calendar)
        _refuse_init(cls)
        parent = getattr(cls, "__definition__", None)
        if tracks is not None:
            cls.__app__ = None
            cls.__definition__ = define(cls, Workflow, options, place)
        elif options != Options() or parent is not None:
            told = f"{parent.cls.__qualname__} tracks a column, and this class" if parent is not None else "it"
            raise refused(
                place,
                cls.__qualname__,
                f"{told} says not which column it follows, so no run could be in a state: write "
                f"class {cls.__name__}(…, tracks=Order.stage, initial=Stage.PLACED)",
            )

    def __init__(self) -> None:
        name = type(self).__qualname__
        raise NotAllowedHere(
            f"{name}() makes no run: a run starts with its row, {name}.adopt(item) starts that of a row which has "
            f"none, and {name}.run_of(item) gives it"
        )

    @property
    def item(self) -> E:
        """The row that the run is of, in the session of the body."""
        return self._inside("item")._item  # type: ignore[no-any-return]

    @property
    def run_id(self) -> str:
        """The id of the run."""
        return self._inside("run_id")._run_id  # type: ignore[no-any-return]

    @property
    def session(self) -> Session:
        """The session of a sync body: its writes commit with the run's own state, or not at all (rule W1)."""
        return self._inside("session")._sessions.session()  # type: ignore[no-any-return]

    @property
    def async_session(self) -> AsyncSession:
        """The session of an async body."""
        return self._inside("async_session")._sessions.async_session()  # type: ignore[no-any-return]

    def _inside(self, name: str) -> Any:
        if self._sessions is None:
            raise NotAllowedHere(f"self.{name} is there in the body of a run, and this is none")
        return self

    @classmethod
    def run_of(cls, item: E, session: Session | None = None) -> Run[None] | None:
        """The run of an item; None if it has none.

        Raises:
            TypeError: the item is of another class than the workflow tracks.
        """
        check_item(cls, item, f"{cls.__qualname__}.run_of")
        return raising().run_of(cls, item, session)  # type: ignore[no-any-return]

    @classmethod
    async def run_of_async(cls, item: E, session: AsyncSession | None = None) -> Run[None] | None:
        """``run_of`` for a coroutine."""
        check_item(cls, item, f"{cls.__qualname__}.run_of_async")
        return await raising().run_of_async(cls, item, session)  # type: ignore[no-any-return]

    @classmethod
    def adopt(cls, item: E, session: Session | None = None) -> Run[None]:
        """Starts the run of an item that has none, in the state that the item is in.

        Args:
            item: a row that was there before the workflow was, or whose workflow has no ``autostart``.
            session: the caller's own session; the run starts with its commit.

        Raises:
            TypeError: the item is of another class than the workflow tracks.
        """
        check_item(cls, item, f"{cls.__qualname__}.adopt")
        return raising().adopt(cls, item, session)  # type: ignore[no-any-return]

    @classmethod
    async def adopt_async(cls, item: E, session: AsyncSession | None = None) -> Run[None]:
        """``adopt`` for a coroutine."""
        check_item(cls, item, f"{cls.__qualname__}.adopt_async")
        return await raising().adopt_async(cls, item, session)  # type: ignore[no-any-return]


def _refuse_init(cls: type) -> None:
    for each in cls.__mro__:
        init = vars(each).get("__init__")
        if each not in (Workflow, Generic, object) and init is not None:
            place = place_of(init) if hasattr(init, "__code__") else caller_place()
            raise refused(
                place,
                f"{each.__qualname__}.__init__",
                "it would never run: an instance is made for each execution of a body, and holds nothing. Take it "
                "away, and keep what lasts in columns of the item",
            )
