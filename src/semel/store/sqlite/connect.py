"""Where the two files are, and connections to them."""

from __future__ import annotations

import os
import re
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from semel.errors import ConfigurationError

from . import faults

_URL = re.compile(r"sqlite(?:\+\w+)?:(?://(?P<path>.*))?", re.DOTALL)
_LOG_BYTES = 4 << 20  # then it is copied back: a log that is written over commits in half the time of one that grows


def main_path(database: str | os.PathLike[str]) -> Path:
    """The main file of a URL (``sqlite:///shop.db``, ``sqlite:////var/shop.db``) or a path.

    Raises:
        ConfigurationError: no file is named, or something that is not supported.
    """
    text = os.fspath(database)
    match = _URL.fullmatch(text)
    if match is not None:
        rest = match["path"] or ""
        if rest and not rest.startswith("/"):
            raise ConfigurationError(f"{text!r}: three slashes come before a path: sqlite:///{rest}")
        if "?" in rest:
            raise ConfigurationError(f"{text!r}: options after '?' are not supported; give the path alone")
        text = rest[1:]
    elif "://" in text:
        raise ConfigurationError(f"{text!r} is not a SQLite URL; it should read sqlite:///shop.db or be a path")
    if text in ("", ":memory:"):
        raise ConfigurationError(
            "a database in memory would survive no crash, so nothing in it would be durable: name a file, "
            "sqlite:///shop.db (in tests, one in a temporary folder)"
        )
    return Path(os.path.abspath(text))


def journal_path(main: Path) -> Path:
    """``shop.db`` has its journal in ``shop.steps.db``."""
    return main.with_name(f"{main.stem}.steps{main.suffix or '.db'}")


def connect(path: Path, *, timeout: float, create: bool = False, read_only: bool = False) -> sqlite3.Connection:
    """A connection in autocommit mode, on which every commit is on the disk when it returns.

    ``timeout`` is how long it waits here for somebody who is just making or closing the file, and, if it is
    ``read_only``, how long it ever waits. One that writes waits for no lock: its user tries again as suits it.
    """
    mode = "rwc" if create else "rw"
    try:
        connection = sqlite3.connect(
            f"{path.as_uri()}?mode={mode}", uri=True, isolation_level=None, check_same_thread=False, timeout=timeout
        )
        try:
            # FULL: with NORMAL a power cut loses commits that were acknowledged. The fullfsync ones are for macOS.
            for pragma in ("synchronous = FULL", "fullfsync = ON", "checkpoint_fullfsync = ON", "trusted_schema = OFF"):
                connection.execute(f"PRAGMA {pragma}")
            ((page_size,),) = connection.execute("PRAGMA page_size").fetchall()
            connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG_BYTES // page_size}")
            connection.execute("PRAGMA query_only = ON" if read_only else "PRAGMA busy_timeout = 0")
        except BaseException:
            connection.close()
            raise
    except sqlite3.Error as error:
        raise faults.translate(error, path) from error
    return connection


class Readers:
    """Connections for single statements, one per reading thread at a time; none is left in a transaction."""

    def __init__(self, path: Path, timeout: float) -> None:
        self._path = path
        self._timeout = timeout
        self._idle: deque[sqlite3.Connection] = deque()
        self._closed = False
        self._using: list[int] = []  # the threads that have one
        self._frozen = False
        self._thawed = threading.Lock()  # held while frozen
        self._left = threading.Event()  # set when a thread lets go of one while ``freeze`` waits

    @contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        me = threading.get_ident()
        self._enter(me)
        try:
            try:
                connection = self._idle.pop()
            except IndexError:
                connection = connect(self._path, timeout=self._timeout, read_only=True)
            try:
                yield connection
            except sqlite3.Error as error:
                raise faults.translate(error, self._path) from error
            finally:
                self._idle.append(connection)
        finally:
            self._using.remove(me)
            if self._frozen:
                self._left.set()
            if self._closed:
                self.close()

    def _enter(self, me: int) -> None:
        """Announces itself, then looks whether all is frozen; ``freeze`` does it the other way round."""
        self._using.append(me)
        while self._frozen:
            self._using.remove(me)
            self._left.set()
            with self._thawed:
                pass
            self._using.append(me)

    def freeze(self, deadline: float) -> bool:
        """Before a fork: closes all, and lets nobody open one until ``thaw``. False, and nothing done, if it cannot."""
        if not self._thawed.acquire(timeout=max(deadline - time.monotonic(), 0.0)):
            return False
        self._frozen = True
        me = threading.get_ident()
        while self._using:
            self._left.clear()
            if me in self._using or time.monotonic() >= deadline:
                self.thaw()
                return False
            if self._using:
                self._left.wait(max(deadline - time.monotonic(), 0.0))
        while self._idle:
            self._idle.pop().close()
        return True

    def thaw(self) -> None:
        self._frozen = False
        self._thawed.release()

    def all(self, query: str, parameters: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
        """All rows of one query."""
        with self.connection() as connection:
            return connection.execute(query, parameters).fetchall()

    def one(self, query: str, parameters: tuple[object, ...] = ()) -> tuple[object, ...] | None:
        """The first row of one query. The statement is reset, so that no read transaction stays open."""
        rows = self.all(query, parameters)
        return rows[0] if rows else None

    def close(self) -> None:
        self._closed = True
        while self._idle:
            try:
                self._idle.pop().close()
            except IndexError:
                return


class Watch:
    """A connection that tells whether the file has changed."""

    def __init__(self, path: Path, timeout: float) -> None:
        self._path = path
        self._timeout = timeout
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._connections = 0

    def version(self) -> tuple[int, int]:
        """Differs after a commit by any other connection. SQLite's number is that of one connection only."""
        with self._lock:
            if self._connection is None:
                self._connection = connect(self._path, timeout=self._timeout, read_only=True)
                self._connections += 1
            try:
                ((version,),) = self._connection.execute("PRAGMA data_version").fetchall()
            except sqlite3.Error as error:
                raise faults.translate(error, self._path) from error
        return self._connections, version

    def freeze(self, deadline: float) -> bool:
        if not self._lock.acquire(timeout=max(deadline - time.monotonic(), 0.0)):
            return False
        self._disconnect()
        return True

    def thaw(self) -> None:
        self._lock.release()

    def close(self) -> None:
        with self._lock:
            self._disconnect()

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
