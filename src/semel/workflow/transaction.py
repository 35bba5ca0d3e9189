"""``transaction``: a step that writes to the app's own database, once (rule W13)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, LiteralString, TypeVar

from semel.compiler import Path, intrinsic
from semel.engine.labels import segment_of_label
from semel.engine.transactional import Transactional, transacted
from semel.errors import NotAllowedHere

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession
    from sqlalchemy.orm import Session

T = TypeVar("T")


def transaction(label: LiteralString, work: Callable[[Session], T], /) -> T:
    """A step whose writes to the app's own database commit together with its record: they are there exactly once.

    What others should see while the body goes on, or waits, is written here; what the body writes through
    ``app.session()`` is seen when it ends, or never.

    Args:
        label: a string literal that names the step; the only one of that name in its function.
        work: a function or lambda; it is given a session on the app's database, which commits when it returns.

    Raises:
        NotAllowedHere: outside of a run, or after a write through ``app.session()``, which holds the database.
        ResultNotRecordable: what it returned cannot be recorded; nothing was committed.
        whatever ``work`` raises; its writes are rolled back.
    """
    raise _outside("transaction", label)


async def transaction_async(label: LiteralString, work: Callable[[AsyncSession], Awaitable[T]], /) -> T:
    """``transaction`` in an async body; ``work`` is async, and is given an ``AsyncSession``."""
    raise _outside("transaction_async", label)


def _outside(name: str, label: str) -> NotAllowedHere:
    return NotAllowedHere(
        f"{name}({label!r}, …) is a step of a run, and this is none, or is reached through code that semel does not "
        f"compile. Outside of a run write: with app.session() as session, session.begin(): …"
    )


def _at(is_async: bool, path: Path, passes: tuple[object, ...], awaited: bool) -> Callable[..., Any]:
    execution: Any = path.execution

    def call(label: str, work: Any, /) -> Any:
        step = Path(path, passes, segment_of_label(label), execution)
        if not callable(work):
            raise TypeError(f"transaction({label!r}, …) takes a function of a session, not a {type(work).__qualname__}")
        return transacted(execution, Transactional(step.step(), step, label, work, is_async=is_async))

    return call


intrinsic(transaction, lambda *at: _at(False, *at))
intrinsic(transaction_async, lambda *at: _at(True, *at))
