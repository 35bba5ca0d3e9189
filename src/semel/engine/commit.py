"""The body's commit: the run's own state alone, or in one transaction with the app's rows (rule W1).

The sessions are made at first use. Until then, and where none is asked for, the outcome goes through the store's own
group commit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from semel.errors import NotAllowedHere
from semel.store.interface import Claim, Note, Outcome, Record, Store


class BodyCommit:
    """What one execution commits with. ``engines`` gives the SQLAlchemy engines of the app's database."""

    def __init__(self, store: Store, claim: Claim, engines: Callable[[], Any]) -> None:
        self._store = store
        self._claim = claim
        self._engines = engines
        self._session: Any = None
        self._async_session: Any = None
        self._transacted = False

    def session(self) -> Any:
        """The body's session; the same at each call."""
        if self._async_session is not None:
            raise NotAllowedHere("this body has opened app.async_session(); a body has one session, not two kinds")
        if self._session is None:
            self._session = self._engines().body_session()
        return self._session

    def async_session(self) -> Any:
        """The body's session in an async body."""
        if self._session is not None:
            raise NotAllowedHere("this body has opened app.session(); a body has one session, not two kinds")
        if self._async_session is None:
            self._async_session = self._engines().body_async_session()
        return self._async_session

    def finish(self, outcome: Outcome, notes: list[Note]) -> Any:
        """Commits the outcome: True, or False if the claim was lost."""
        if self._session is None and self._async_session is None:
            return self._store.finish(self._claim, outcome, notes)
        return Together(self._commit_session, self._commit_async_session, outcome, notes)

    def discard(self) -> Any:
        """Rolls the app's rows back."""
        return Together(self._discard_session, self._discard_async_session)

    def is_accident(self, error: BaseException) -> bool:
        """Whether the body met the app's database in a state that may be gone when it is delivered again (rule R11)."""
        opened = self._session is not None or self._async_session is not None or self._transacted
        return opened and bool(self._engines().is_accident(error))

    # --------------------------------------------------------------------------------------------- transactional steps

    def step_session(self) -> Any:
        """A session for one transactional step."""
        self._transacted = True
        return self._engines().step_session()

    def step_async_session(self) -> Any:
        """A session for one in an async body."""
        self._transacted = True
        return self._engines().step_async_session()

    def step_in(self, session: Any, record: Record) -> bool:
        """Writes the record of the step in its session's transaction; False if the claim was lost."""
        return self._store.step_in(session.connection().connection.dbapi_connection, self._claim, record)

    def has_written(self) -> bool:
        """Whether the body's own transaction holds the database."""
        return self._session is not None and bool(self._session.has_written())

    async def has_written_async(self) -> bool:
        """The same in an async body."""
        if self._async_session is None:
            return self.has_written()
        return bool(await self._async_session.run_sync(lambda sync: sync.has_written()))

    # ---------------------------------------------------------------------------------------------------------- insides

    def _commit_session(self, outcome: Outcome, notes: list[Note]) -> bool:
        session = self._session
        session.flush()
        kept = self._write(session, outcome, notes)
        if kept:
            session.commit_with_run()
        else:
            session.rollback()
        session.end()
        self._session = None
        if kept:
            self._store.release(self._claim, outcome.forget)
        return kept

    async def _commit_async_session(self, outcome: Outcome, notes: list[Note]) -> bool:
        if self._async_session is None:
            return self._commit_session(outcome, notes)
        session = self._async_session
        await session.flush()
        kept: bool = await session.run_sync(lambda sync: self._write(sync, outcome, notes))
        await session.run_sync(lambda sync: sync.commit_with_run() if kept else sync.rollback())
        await session.run_sync(lambda sync: sync.end())
        self._async_session = None
        if kept:
            self._store.release(self._claim, outcome.forget)
        return kept

    def _write(self, session: Any, outcome: Outcome, notes: list[Note]) -> bool:
        connection = session.connection().connection.dbapi_connection
        return self._store.finish_in(connection, self._claim, outcome, notes)

    def _discard_session(self) -> None:
        if self._session is not None:
            self._session.rollback()
            self._session.end()
            self._session = None

    async def _discard_async_session(self) -> None:
        self._discard_session()
        if self._async_session is not None:
            session, self._async_session = self._async_session, None
            await session.rollback()
            await session.run_sync(lambda sync: sync.end())


class Together:
    """One act on a session, waited for on a thread or on a loop."""

    def __init__(
        self, on_thread: Callable[..., Any], on_loop: Callable[..., Coroutine[Any, Any, Any]], *args: Any
    ) -> None:
        self._on_thread = on_thread
        self._on_loop = on_loop
        self._args = args

    def wait(self) -> Any:
        return self._on_thread(*self._args)

    def future(self, loop: asyncio.AbstractEventLoop) -> Coroutine[Any, Any, Any]:
        return self._on_loop(*self._args)
