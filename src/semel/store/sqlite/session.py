"""What an open store consists of: two writers, two pools of readers, and the locks of the owners of this process."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from .connect import Readers, connect
from .owners import OwnerLocks
from .queries import MAIN
from .ticket import Operation, Refusal
from .writer import Writer

T = TypeVar("T")


class Session:
    """Between ``open`` and ``close``."""

    def __init__(self, main: Path, journal: Path, timeout: float) -> None:
        self.main = Writer("main", main, lambda: _writing(main, timeout), timeout)
        self.journal = Writer("journal", journal, lambda: _writing(journal, timeout), timeout)
        self.main_readers = Readers(main, timeout)
        self.journal_readers = Readers(journal, timeout)
        self.locks = OwnerLocks(journal)
        self._path, self._timeout = main, timeout
        namespace = self.main_readers.one(MAIN["namespace"])
        assert namespace is not None
        assert isinstance(namespace[0], bytes)
        self.namespace = namespace[0]
        self._watch = connect(main, timeout=timeout, read_only=True)
        self._watching = threading.Lock()

    def data_version(self) -> int:
        """Differs after a commit to the main file by any other connection, this process's writer included."""
        with self._watching:
            version: int = self._watch.execute("PRAGMA data_version").fetchall()[0][0]
        return version

    def in_main(self, work: Callable[[sqlite3.Connection], T | Refusal], weight: int = 0) -> Operation[T]:
        return Operation(self.main, work, weight)

    def in_journal(self, work: Callable[[sqlite3.Connection], T | Refusal], weight: int = 0) -> Operation[T]:
        return Operation(self.journal, work, weight)

    def freeze(self) -> None:
        """Before a fork: SQLite keeps the locks of a process in its memory, which a child must not inherit."""
        self.main._committing.acquire()
        self.journal._committing.acquire()
        self.main_readers.freeze()
        self.journal_readers.freeze()
        self._watching.acquire()
        self._watch.close()
        self.journal.connection.close()
        self.main.connection.close()

    def thaw(self) -> None:
        self.main.connection = self.main._connect()
        self.journal.connection = self.journal._connect()
        self._watch = connect(self._path, timeout=self._timeout, read_only=True)
        self._watching.release()
        self.journal_readers.thaw()
        self.main_readers.thaw()
        for writer in (self.journal, self.main):
            writer._committing.release()
            writer.kick()

    def close(self) -> None:
        while self.main.drain() | self.journal.drain():  # a write to one file may queue one to the other
            continue
        self.main.close()
        self.journal.close()
        self.main_readers.close()
        self.journal_readers.close()
        self._watch.close()
        self.locks.close()


def _writing(path: Path, timeout: float) -> sqlite3.Connection:
    connection = connect(path, timeout=timeout)
    connection.execute("PRAGMA journal_mode = WAL")  # should somebody have changed it
    return connection
