"""The part of the store that is there for entity workflows: runs found by the row that they follow.

What is done in a caller's transaction is done on its connection, which another driver may have opened.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any, TypeVar, cast

from semel.store.interface import Claim, NewRun, Run

from . import effects, faults, finishing
from .claims import Claims
from .queries import JOURNAL, MAIN
from .rows import run_of
from .session import Session
from .ticket import Steps

T = TypeVar("T")


class Following:
    """What ``Sqlite`` is made of, beside its own."""

    path: Any

    def _both(self) -> tuple[Session, Claims]:
        raise NotImplementedError

    def of_entity(self, workflow: str, entity: str, connection: Any = None) -> Run | None:
        session, _ = self._both()
        if connection is None:
            row = session.main_readers.one(MAIN["of_entity"], (workflow, entity))
            return None if row is None else run_of(row)

        def work(cursor: sqlite3.Cursor) -> Run | None:
            found = effects.rows(cursor, MAIN["of_entity"], (workflow, entity))
            return run_of(found[0]) if found else None

        return self._on(connection, work)

    def start_in(self, connection: Any, run: NewRun) -> bool:
        return self._on(connection, lambda cursor: finishing.start(cursor, run))

    def send_in(self, connection: Any, run: str, name: str, payload: bytes, now: float) -> bool:
        return self._on(connection, lambda cursor: effects.send(cursor, run, name, payload, now))

    def cancel_in(self, connection: Any, run: str, now: float) -> bool:
        return self._on(connection, lambda cursor: effects.cancel(cursor, run, now, "cancelled") is not None)

    def leave_in(self, connection: Any, run: str, now: float) -> None:
        def work(cursor: sqlite3.Cursor) -> None:
            effects.cancel(cursor, run, now, "cancelled")
            cursor.execute(MAIN["leave_entity"], (run,))

        self._on(connection, work)

    def claim_run(self, owner: str, run: Run, now: float, begins: float) -> Steps[Claim | None]:
        _, claims = self._both()
        return Steps(claims.claim_run(owner, run, now, begins))

    def bodies(self, run: str) -> list[str]:
        session, _ = self._both()
        return [cast(str, body) for (body,) in session.journal_readers.all(JOURNAL["bodies"], (run,))]

    def _in_caller(self, connection: Any, claim: Claim, work: Callable[[sqlite3.Cursor], bool]) -> bool:
        """Works in the transaction that the caller has open, if the claim is still held."""
        _, claims = self._both()
        return claims.holds(claim) and self._on(connection, work)

    def _on(self, connection: Any, work: Callable[[sqlite3.Cursor], T]) -> T:
        cursor = connection.cursor()
        try:
            return work(cursor)
        except sqlite3.Error as error:
            raise faults.translate(error, self.path) from error
        finally:
            cursor.close()
