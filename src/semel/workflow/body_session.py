"""The session of a body: its one transaction ends with the body, and only the body's commit ends it (rule W1).

A ``with app.session() as session:`` in a body does not close it, a ``commit()`` in a body is refused, and so is a write
in a step: the step's record would outlive the rollback of the row, and no later attempt would write it again.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import exc
from sqlalchemy.orm import Session

from semel.compiler import current
from semel.errors import NotAllowedHere

#: What of SQLite's errors may be gone when the body is delivered again.
_ACCIDENTS = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_FULL", "SQLITE_IOERR", "SQLITE_CANTOPEN", "SQLITE_INTERRUPT")


class BodySession(Session):
    """A session whose transaction is the body's."""

    def commit(self) -> None:
        """Refused: the body commits, when it ends.

        Raises:
            NotAllowedHere: always.
        """
        raise NotAllowedHere(
            "commit() in the body of a run: what the body writes is committed with the run when the body ends, or not "
            "at all. Leave the commit out; what must be there before is a step of its own, or a run of its own"
        )

    def begin(self, nested: bool = False) -> Any:
        """A savepoint; the transaction itself is the body's.

        Raises:
            NotAllowedHere: ``nested`` is not given.
        """
        if not nested:
            raise NotAllowedHere(
                "session.begin() in the body of a run would commit at its end; the body's transaction is there "
                "already, and is committed when the body ends. Leave it out, or write session.begin_nested() for a "
                "savepoint"
            )
        return super().begin(nested=True)

    def close(self) -> None:
        """Nothing yet: the body's commit closes it."""

    def flush(self, objects: Any = None) -> None:
        if self.new or self.dirty or self.deleted:
            self._not_in_a_step()
        super().flush(objects)

    def connection(self, *args: Any, **kwargs: Any) -> Any:
        self._not_in_a_step()
        return super().connection(*args, **kwargs)

    def has_written(self) -> bool:
        """Whether its transaction holds the database's lock."""
        return self.in_transaction() and in_transaction(Session.connection(self))

    def commit_with_run(self) -> None:
        """The body's own commit."""
        super().commit()

    def end(self) -> None:
        """Closes it, when the body has ended."""
        super().close()

    def _not_in_a_step(self) -> None:
        path = current.get()
        if path is not None and path.in_step and not path.execution.over:
            raise NotAllowedHere(
                f"a write through app.session() inside a step (under {path.text()}): it is rolled back if the body "
                f"fails, but the step's record stays, so no later attempt would write it again. Write it in the body, "
                f'after the step; or in a step with a transaction of its own: transaction("label", lambda session: …)'
            )


class StepSession(BodySession):
    """The session of one transactional step (rule W13)."""

    def _not_in_a_step(self) -> None:
        """Its writes commit with the step's record."""


def in_transaction(connection: Any) -> bool:
    """Whether SQLite's driver has begun a transaction on a SQLAlchemy connection, as it does before a write."""
    driver = connection.connection.dbapi_connection
    inner = getattr(driver, "_connection", None)
    return bool(getattr(driver, "in_transaction", getattr(inner, "in_transaction", False)))


def is_accident(error: BaseException) -> bool:
    """Whether a database error may be gone when the body is delivered again: a locked file, a full disk (rule R11)."""
    if not isinstance(error, exc.OperationalError):
        return False
    return str(getattr(error.orig, "sqlite_errorname", "")).startswith(_ACCIDENTS)
