"""From what SQLite says to what a person can act on: errors that name the file and the remedy."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from semel.errors import DatabaseFull, DatabaseLocked, DatabaseReadOnly, NotADatabase, StoreError

_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
# The file or the disk is at fault, not the statement: nothing in the same transaction can succeed.
_GENERAL = frozenset(
    {
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_NOMEM,
    }
)


def code(error: BaseException) -> int:
    """SQLite's primary result code, 0 for anything else."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def is_busy(error: BaseException) -> bool:
    return code(error) in _BUSY


def is_general(error: BaseException) -> bool:
    return code(error) in _GENERAL


def needs_new_connection(error: BaseException) -> bool:
    """After an I/O error a connection's view of the file is not to be trusted."""
    return code(error) in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_PROTOCOL)


def translate(error: Exception, path: Path) -> StoreError:
    """The error for all who wait for a transaction that failed as a whole."""
    if isinstance(error, StoreError):
        return error
    result = _translated(error, path)
    result.__cause__ = error
    return result


def _translated(error: Exception, path: Path) -> StoreError:
    number = code(error)
    if number in _BUSY:
        return DatabaseLocked(
            f"{path}: another connection holds the write lock and did not let go in time. Look for a transaction left "
            f"open (a shell, a migration, a body that writes before a slow step) and end it, then try again."
        )
    if number == sqlite3.SQLITE_FULL:
        return DatabaseFull(
            f"{path}: no space left. Free some on its disk (`semel purge` makes room inside the file). What was "
            f"recorded before is safe, and writing goes on by itself when there is space."
        )
    if number in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
        return DatabaseReadOnly(
            f"{path}: cannot be written ({error}). The file, its -wal and -shm, and the folder {path.parent} must be "
            f"writable by this user."
        )
    if number in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return NotADatabase(
            f"{path}: not a SQLite database, or a damaged one ({error}). Point `database` at another file, or restore "
            f"both files of the pair from one backup."
        )
    return StoreError(f"{path}: {error or type(error).__name__}")


def of_operation(error: Exception, path: Path) -> Exception:
    """The error for the one whose operation failed while the others of its transaction did not."""
    if isinstance(error, sqlite3.Error):
        failure = StoreError(f"{path}: this write was refused: {error}. Nothing of it was written.")
        failure.__cause__ = error
        return failure
    return error
