"""The app's own database through SQLAlchemy, so that a body's rows and the run's state are one commit (rule W1).

Until the first write of a session no transaction is open, so no lock is held while a step is slow; the first write
begins it as ``BEGIN IMMEDIATE``. SQLite's driver begins none before a SAVEPOINT, which would make the savepoint a
transaction of its own, and none before a write that does not begin with its verb (``WITH … UPDATE``, ``CREATE``), which
would be committed at once; the hooks here do.
"""

from __future__ import annotations

import os
import re
import weakref
from contextlib import suppress
from typing import Any

from semel.errors import ConfigurationError

_BUSY = 30.0  # seconds that a write waits for another process's write

#: Writes that SQLite's driver takes for reads. A ``WITH … SELECT`` that has such a word begins one needlessly.
_HIDDEN_WRITE = re.compile(
    r"\s*(?:CREATE|ALTER|DROP|WITH\b.*\b(?:INSERT|UPDATE|DELETE|REPLACE))\b", re.IGNORECASE | re.DOTALL
)


class Engines:
    """The sync and the async engine of one database; each made at first use, or taken from the user."""

    def __init__(self, database: Any) -> None:
        try:
            import sqlalchemy
            from sqlalchemy.ext import asyncio as sqlalchemy_asyncio
        except ImportError:
            raise ConfigurationError(
                "app.session() needs SQLAlchemy, which is not installed: pip install 'semel[sqlalchemy]'"
            ) from None
        self._sqlalchemy = sqlalchemy
        self._asyncio = sqlalchemy_asyncio
        self._own: list[Any] = []
        self._sync: Any = None
        self._async: Any = None
        if isinstance(database, sqlalchemy_asyncio.AsyncEngine):
            self._async = _hooked(database, database.sync_engine)
        elif isinstance(database, sqlalchemy.Engine):
            self._sync = _hooked(database, database)
        self._url = sqlalchemy.engine.make_url(database) if isinstance(database, str) else database.url
        _engines.add(self)

    def session(self) -> Any:
        """A new session on the sync engine."""
        from sqlalchemy.orm import Session

        return Session(self._sync_engine(), expire_on_commit=False)

    def body_session(self) -> Any:
        """A new session whose transaction is a body's."""
        from .body_session import BodySession

        return BodySession(self._sync_engine(), expire_on_commit=False)

    def async_session(self) -> Any:
        """A new session on the async engine."""
        return self._asyncio.AsyncSession(self._async_engine(), expire_on_commit=False)

    def body_async_session(self) -> Any:
        """``body_session`` for an async body."""
        from .body_session import BodySession

        return self._asyncio.AsyncSession(self._async_engine(), expire_on_commit=False, sync_session_class=BodySession)

    def step_session(self) -> Any:
        """A new session for one transactional step."""
        from .body_session import StepSession

        return StepSession(self._sync_engine(), expire_on_commit=False)

    def step_async_session(self) -> Any:
        """``step_session`` for an async body."""
        from .body_session import StepSession

        return self._asyncio.AsyncSession(self._async_engine(), expire_on_commit=False, sync_session_class=StepSession)

    def is_accident(self, error: BaseException) -> bool:
        """Whether a database error may be gone when the body is delivered again."""
        from .body_session import is_accident

        return is_accident(error)

    def _sync_engine(self) -> Any:
        if self._sync is None:
            self._make_file()
            url = self._url.set(drivername="sqlite+pysqlite")
            engine = self._sqlalchemy.create_engine(url, connect_args=_connect_args())
            self._own.append(engine)
            self._sync = _hooked(engine, engine)
        return self._sync

    def _async_engine(self) -> Any:
        if self._async is None:
            self._make_file()
            url = self._url.set(drivername="sqlite+aiosqlite")
            # No pool: its connections would belong to one event loop, and could not be closed from anywhere else.
            engine = self._asyncio.create_async_engine(
                url, connect_args=_connect_args(), poolclass=self._sqlalchemy.NullPool
            )
            self._own.append(engine.sync_engine)
            self._async = _hooked(engine, engine.sync_engine)
        return self._async

    def _make_file(self) -> None:
        """A new database is for its user alone; SQLite itself would make it for all to read."""
        name = self._url.database
        if name and name != ":memory:" and not name.startswith("file:"):
            with suppress(OSError):  # it is there, or SQLite says why it cannot be made
                os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))

    def close(self) -> None:
        for engine in self._own:
            engine.dispose()

    def before_fork(self) -> None:
        """Closes what is idle: SQLite bears no open connection through a fork, not even an idle one."""
        if self._sync is not None and isinstance(self._sync.pool, self._sqlalchemy.QueuePool):
            self._sync.dispose()

    def after_fork_in_child(self) -> None:
        """Connects anew; what was in use is the parent's, and is not closed here."""
        for engine in (self._sync, self._async and self._async.sync_engine):
            if engine is not None:
                _of_the_parent.append(engine.pool)
                engine.dispose(close=False)


_engines: weakref.WeakSet[Engines] = weakref.WeakSet()
_of_the_parent: list[Any] = []  # kept in a forked child, so that nothing closes the connections of the pools


def _before_fork() -> None:
    for engines in list(_engines):
        with suppress(Exception):  # the fork goes on in any case
            engines.before_fork()


def _after_fork_in_child() -> None:
    for engines in list(_engines):
        engines.after_fork_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_after_fork_in_child)


def _connect_args() -> dict[str, Any]:
    return {"timeout": _BUSY, "isolation_level": "IMMEDIATE"}


_met: weakref.WeakSet[Any] = weakref.WeakSet()


def meet(sync_engine: Any) -> None:
    """Sees to it that an engine that a user's own session is on begins its transactions as semel's do."""
    if sync_engine not in _met:
        _hooked(sync_engine, sync_engine)


def _hooked(engine: Any, sync_engine: Any) -> Any:
    from sqlalchemy import event

    _met.add(sync_engine)
    if sync_engine.dialect.name != "sqlite":
        raise ConfigurationError(f"this semel keeps its data in SQLite; {sync_engine.url!r} is not a SQLite database")

    @event.listens_for(sync_engine, "connect")
    def durable(connection: Any, _record: Any) -> None:
        connection.isolation_level = "IMMEDIATE"  # of engines that users hand in, too
        cursor = connection.cursor()
        cursor.execute("PRAGMA synchronous=FULL")
        cursor.close()

    @event.listens_for(sync_engine, "savepoint")
    def begin_before_savepoint(connection: Any, _name: str) -> None:
        begin(connection)

    @event.listens_for(sync_engine, "before_cursor_execute")
    def begin_before_write(connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if _HIDDEN_WRITE.match(statement):
            begin(connection)

    return engine


def begin(connection: Any) -> None:
    """Takes the database's write lock for the transaction of a SQLAlchemy connection, if it has not got it."""
    driver = connection.connection.dbapi_connection
    if driver.isolation_level is None:  # the user asked for autocommit
        return
    if not getattr(driver, "in_transaction", getattr(getattr(driver, "_connection", None), "in_transaction", False)):
        connection.exec_driver_sql("BEGIN IMMEDIATE")
