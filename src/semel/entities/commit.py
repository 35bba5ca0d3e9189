"""The commit of an entity's body: the row, its state and its run, in one transaction (rules W1, W4).

``OwnCommit`` has a transaction of its own, and ``JoinedCommit`` works in a savepoint of its caller's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from semel.engine.commit import BodyCommit, Together
from semel.store.interface import Claim, Note, Outcome, Store
from semel.workflow.session import begin

from .endings import EntityEndings
from .joined import Joined
from .rows import Row


class OwnCommit(BodyCommit):
    """What a body that a worker runs, or a caller without a session, commits with."""

    def __init__(self, store: Store, claim: Claim, engines: Callable[[], Any], row: Row) -> None:
        super().__init__(store, claim, engines)
        self._row = row
        self._item: Any = None
        self.endings: EntityEndings | None = None

    def load(self, is_async: bool) -> Together:
        """The item; the session that it is in is the body's."""

        async def on_loop() -> Any:
            return await self.async_session().run_sync(self._load)

        return Together(lambda: self._load(self.session()), on_loop)

    def _load(self, session: Any) -> Any:
        endings = self.endings
        assert endings is not None
        self._item = self._row.load(session, endings.before.state)
        endings.began_with(self._item)
        return self._item

    def _write(self, session: Any, outcome: Outcome, notes: list[Note]) -> bool:
        if outcome.status != "completed" or self.endings is None or self._item is None:
            return super()._write(session, outcome, notes)
        return super()._write(session, settled(self._row, self.endings, session, self._item), notes)


class JoinedCommit:
    """What a body commits with that its caller runs in the caller's own transaction: a savepoint of it."""

    def __init__(self, store: Store, claim: Claim, joined: Joined, row: Row) -> None:
        self._store = store
        self._claim = claim
        self._joined = joined
        self._row = row
        self._item: Any = None
        self._savepoint: Any = None
        self.endings: EntityEndings | None = None

    def load(self, is_async: bool) -> Together:
        """The item, the caller's own if it is in the session; from here on all is in the savepoint."""
        return self._joined.act(self._load)

    def _load(self, session: Any) -> Any:
        assert self.endings is not None
        self._savepoint = self._joined.begin(session)
        self._item = self._row.load(session, self.endings.before.state)
        self.endings.began_with(self._item)
        return self._item

    def session(self) -> Any:
        """The caller's session."""
        return self._joined.sync_session()

    def async_session(self) -> Any:
        """The caller's session in an async body."""
        return self._joined.async_session()

    def finish(self, outcome: Outcome, notes: list[Note]) -> Any:
        """Writes the outcome into the caller's transaction; True, or False if the claim was lost."""
        return self._joined.act(lambda session: self._finish(session, outcome, notes))

    def _finish(self, session: Any, outcome: Outcome, notes: list[Note]) -> bool:
        if self._savepoint is None:  # a park: what the body wrote is rolled back
            kept = self._write(session, outcome, notes)
        else:
            if not self._savepoint.is_active:  # the body has rolled back all of its caller's transaction
                raise self._row.lost()
            session.flush()
            assert self.endings is not None
            kept = self._write(session, settled(self._row, self.endings, session, self._item), notes)
            if kept:
                self._joined.end(self._savepoint, commit=True)
                self._savepoint = None
            else:
                self._discard(session)
        if kept:
            self._joined.keep(session, self._claim)
        return kept

    def _write(self, session: Any, outcome: Outcome, notes: list[Note]) -> bool:
        connection = session.connection().connection.dbapi_connection
        return self._store.finish_in(connection, self._claim, outcome, notes)

    def discard(self) -> Any:
        """Rolls back to the savepoint."""
        return self._joined.act(self._discard)

    def _discard(self, session: Any) -> None:
        savepoint, self._savepoint = self._savepoint, None
        if savepoint is not None:
            self._joined.end(savepoint, commit=False)

    def is_accident(self, error: BaseException) -> bool:
        """Whatever it is, it travels to the caller, whose transaction it is."""
        return False

    def has_written(self) -> bool:
        """The savepoint has begun the transaction, so a transactional step would wait for it in vain."""
        return True

    async def has_written_async(self) -> bool:
        """The same in an async body."""
        return True


def settled(row: Row, endings: EntityEndings, session: Any, item: Any) -> Outcome:
    """The outcome of a body that has ended, its row written.

    The row is compared with the run when the database is this transaction's, so that nobody else can write it.
    """
    row.still_in(session, item)
    begin(session.connection())
    row.compare(session, endings.before.state)
    if endings.target is not None:
        row.move(session, item, endings.target)
    return endings.settled(item)
