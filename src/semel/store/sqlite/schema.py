"""The two files of a database: made, checked to belong together, and brought to the current schema.

The journal is committed before the main file, so a main file with a pair id always has had its journal: a crash in
between leaves a journal in which nothing was ever written, and the next one to come adopts it.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TypeVar

from semel.errors import DatabaseReadOnly, JournalMismatch, NotADatabase, SchemaOutdated, SchemaTooNew, StoreError

from . import faults
from .connect import connect
from .queries import JOURNAL

T = TypeVar("T")

# A step dirties one page of records and one of their index. Measured, 2 KB pages against 4 KB ones: a lone step takes
# 0.9 to 1.0 of the time, a batch scattered over 100 runs 0.85, a result of 1 MB 1.3.
_JOURNAL_PAGE = 2048

_making = threading.Lock()


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered file; ``name`` is like ``main/0001_runs``."""

    number: int
    name: str
    script: str


def migrations(kind: str) -> tuple[Migration, ...]:
    """The migrations of the ``main`` file or the ``journal``, in order."""
    folder = resources.files("semel.store.sqlite").joinpath("migrations", kind)
    files = sorted(file.name for file in folder.iterdir() if file.name.endswith(".sql"))
    return tuple(
        Migration(int(name[:4]), f"{kind}/{name[:-4]}", folder.joinpath(name).read_text("utf-8")) for name in files
    )


@dataclass(frozen=True, slots=True)
class State:
    """What is in a file. ``version`` 0: nothing of semel's. ``used``: something was written since it was made."""

    version: int = 0
    pair: str | None = None
    used: bool = False


def prepare(main: Path, journal: Path, *, migrate: bool, timeout: float) -> tuple[str, ...]:
    """Makes, checks and migrates the pair; the names of the migrations applied to a database that existed.

    Raises:
        NotADatabase, DatabaseReadOnly, JournalMismatch, SchemaTooNew, SchemaOutdated, DatabaseLocked, StoreError
    """
    _check_place(main)
    _check_place(journal)
    deadline = time.perf_counter() + timeout
    ours = _look(main, deadline)
    while True:
        theirs = _look(journal, deadline)
        again = _look(main, deadline)
        if again == ours:  # else somebody is just making the pair
            break
        ours = again
    _check_pair(main, ours, journal, theirs)
    outdated = ours.version < migrations("main")[-1].number or theirs.version < migrations("journal")[-1].number
    if not outdated:
        return ()
    if ours.version and not migrate:
        raise SchemaOutdated(f"{main}: written by an older semel. Run `semel migrate` (back up both files first).")
    applied = _build(main, journal, deadline)
    return applied if ours.version else ()


def _check_place(path: Path) -> None:
    """Finds out, before anything is made, what would go wrong.

    Without opening the file: closing it again would drop the locks that SQLite holds on it in this process.
    """
    folder = path.parent
    if not folder.is_dir():
        raise StoreError(f"{path}: there is no folder {folder}. Make it, or point `database` elsewhere.")
    if path.is_dir():
        raise NotADatabase(f"{path}: a folder, not a database file. Point `database` at a file in it.")
    if path.exists() and not os.access(path, os.R_OK | os.W_OK):
        raise DatabaseReadOnly(f"{path}: cannot be written by this user. Change its owner or its mode.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise DatabaseReadOnly(
            f"{path}: its folder {folder} cannot be written by this user, and SQLite keeps its log beside the file."
        )


def _check_pair(main: Path, ours: State, journal: Path, theirs: State) -> None:
    for path, state, kind in ((main, ours, "main"), (journal, theirs, "journal")):
        newest = migrations(kind)[-1].number
        if state.version > newest:
            raise SchemaTooNew(
                f"{path}: written by a newer semel (schema {state.version}; this one knows {newest}). "
                "Upgrade semel here."
            )
    if ours.version == 0 and not theirs.used:
        return
    if ours.version == 0:
        raise JournalMismatch(
            f"{journal}: holds steps, but {main}, which it belongs to, is new or gone. Put {main.name} back beside it, "
            f"or, if its runs are given up, delete {journal.name}."
        )
    if theirs.version == 0:
        raise JournalMismatch(
            f"{main}: its journal {journal.name} is not beside it. Without it, steps that have run would run again. "
            f"Move and restore the two files together."
        )
    if ours.pair != theirs.pair:
        raise JournalMismatch(
            f"{main}: {journal.name} is the journal of another database. Put its own journal beside it: the two files "
            f"are moved and restored together."
        )


def _look(path: Path, deadline: float) -> State:
    """What is in the file; makes none."""
    if not path.exists() or path.stat().st_size == 0:
        return State()
    with _connection(path, deadline) as connection:
        return _patiently(lambda: _state(connection), path, deadline)


def _state(connection: sqlite3.Connection) -> State:
    known = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
    if not connection.execute(known, ("semel_meta",)).fetchall():
        return State()
    meta = dict(connection.execute("SELECT name, value FROM semel_meta").fetchall())
    used = False
    if connection.execute(known, ("semel_records",)).fetchall():
        used = bool(connection.execute(JOURNAL["used"]).fetchall()[0][0])
    return State(int(meta.get("schema", 0)), meta.get("pair"), used)


def _build(main: Path, journal: Path, deadline: float) -> tuple[str, ...]:
    """Brings both files to the current schema, with the main file's write lock held from the first to the last."""
    _make_private(main)
    with _connection(main, deadline, create=True) as first:
        _patiently(lambda: first.execute("PRAGMA journal_mode = WAL").fetchall(), main, deadline)
        _make_private(journal)
        with _transaction(first, main, deadline), _connection(journal, deadline, create=True) as second:
            second.execute(f"PRAGMA page_size = {_JOURNAL_PAGE}")  # takes effect in a file that is new
            _patiently(lambda: second.execute("PRAGMA journal_mode = WAL").fetchall(), journal, deadline)
            with _transaction(second, journal, deadline):
                ours, theirs = _state(first), _state(second)
                _check_pair(main, ours, journal, theirs)
                pair = theirs.pair or secrets.token_hex(16)
                applied = _apply(second, "journal", theirs.version, {"pair": pair, "rewinds": 0})
            facts = {"pair": pair, "rewinds": 0, "woken": 0, "namespace": secrets.token_bytes(32)}
            return _apply(first, "main", ours.version, facts) + applied


def _make_private(path: Path) -> None:
    """Makes an empty file that is nobody else's to read: seeds, the key namespace and results are in it.

    A file that exists is left as it is, and not opened. One that is new has no connection yet whose locks the closing
    could drop: stores that make it at the same time in other threads wait here.
    """
    with _making:
        try:
            descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        except FileExistsError:
            return
        except OSError as error:
            raise DatabaseReadOnly(f"{path}: cannot be made ({error.strerror or error}).") from error
        os.close(descriptor)


def _apply(connection: sqlite3.Connection, kind: str, version: int, facts: dict[str, object]) -> tuple[str, ...]:
    """Applies what is missing in the open transaction. ``facts`` go into a file that is new."""
    missing = [migration for migration in migrations(kind) if migration.number > version]
    for migration in missing:
        for statement in _statements(migration.script):
            connection.execute(statement)
    if version == 0:
        connection.executemany("INSERT INTO semel_meta (name, value) VALUES (?, ?)", facts.items())
    if missing:
        connection.execute(
            "INSERT OR REPLACE INTO semel_meta (name, value) VALUES ('schema', ?)", (missing[-1].number,)
        )
    return tuple(migration.name for migration in missing)


def _statements(script: str) -> Iterator[str]:
    """One by one: ``executescript`` would end the transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


@contextmanager
def _connection(path: Path, deadline: float, *, create: bool = False) -> Iterator[sqlite3.Connection]:
    try:
        with closing(connect(path, timeout=max(deadline - time.perf_counter(), 0.0), create=create)) as connection:
            yield connection
    except sqlite3.Error as error:
        raise faults.translate(error, path) from error


@contextmanager
def _transaction(connection: sqlite3.Connection, path: Path, deadline: float) -> Iterator[None]:
    _patiently(lambda: connection.execute("BEGIN IMMEDIATE"), path, deadline)
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _patiently(action: Callable[[], T], path: Path, deadline: float) -> T:
    """Tries again while another process holds a lock: SQLite's own waiting leaves out the change to WAL."""
    while True:
        try:
            return action()
        except sqlite3.Error as error:
            if not faults.is_busy(error) or time.perf_counter() >= deadline:
                raise faults.translate(error, path) from error
        time.sleep(2e-3)
