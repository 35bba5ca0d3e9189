"""What an open store consists of: two writers, two pools of readers, and the locks of the owners of this process."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar, cast

from .connect import Readers, Watch, connect
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
        namespace = self.main_readers.one(MAIN["namespace"])
        assert namespace is not None
        assert isinstance(namespace[0], bytes)
        self.namespace = namespace[0]
        self._watch = Watch(main, timeout)
        # A commit may read through the readers, so they stand still only when nobody commits.
        self._parts = (self.main, self.journal, self.main_readers, self.journal_readers, self._watch)

    def data_version(self) -> object:
        """Differs after a commit to the main file by any other connection, this process's writer included."""
        return self._watch.version()

    def living(self, claims: Iterable[tuple[object, ...]]) -> list[str]:
        """The runs of these claims (run, owner), whose leases are good, that no process has taken to its grave."""
        gone: dict[str, bool] = {}
        runs: list[str] = []
        for run, owner in cast("Iterable[tuple[str, str]]", claims):
            if owner not in gone:
                gone[owner] = self.locks.is_gone(owner)
            if not gone[owner]:
                runs.append(run)
        return runs

    def in_main(self, work: Callable[[sqlite3.Connection], T | Refusal], weight: int = 0) -> Operation[T]:
        return Operation(self.main, work, weight)

    def in_journal(self, work: Callable[[sqlite3.Connection], T | Refusal], weight: int = 0) -> Operation[T]:
        return Operation(self.journal, work, weight)

    def freeze(self, deadline: float) -> bool:
        """Before a fork: stands still, with every connection closed. False, and nothing is changed, if it cannot."""
        with ExitStack() as undo:
            for part in self._parts:
                if not part.freeze(deadline):
                    return False
                undo.callback(part.thaw)
            undo.pop_all()
        return True

    def thaw(self) -> None:
        with ExitStack() as each:
            for part in self._parts:
                each.callback(part.thaw)

    def abandon(self) -> None:
        """In a forked child: whatever still uses this gets an error, and nothing of the parent's is touched."""
        self.main.abandon()
        self.journal.abandon()
        self.locks.abandon()

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
