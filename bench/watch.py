"""Looks over the shoulder of ``sqlite3`` in this process: its connections, their commits, and what reads records."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from functools import partial
from typing import Any

_WRITES = ("INSERT", "UPDATE", "DELETE", "REPLACE")


@dataclass(slots=True)
class Watch:
    """What was seen. ``synchronous`` is the setting of every connection that was made, as SQLite itself answers."""

    connections: list[sqlite3.Connection] = field(default_factory=list)
    commits: int = 0  # that wrote something
    record_queries: int = 0

    def install(self) -> None:
        """Sees every connection that is made from now on."""
        original = sqlite3.connect

        def connect(*args: Any, **kwargs: Any) -> sqlite3.Connection:
            made: sqlite3.Connection = original(*args, **kwargs)
            made.set_trace_callback(partial(self._seen, _Transaction()))
            self.connections.append(made)
            return made

        sqlite3.connect = connect  # type: ignore[assignment]

    def synchronous(self) -> set[int]:
        """The settings in force on the connections that are still open."""
        found: set[int] = set()
        for connection in self.connections:
            try:
                found.update(value for (value,) in connection.execute("PRAGMA synchronous").fetchall())
            except sqlite3.ProgrammingError:  # closed
                continue
        return found

    def _seen(self, transaction: _Transaction, statement: str) -> None:
        word = statement.lstrip().split(None, 1)[0].upper().rstrip(";")
        if word == "BEGIN":
            transaction.open, transaction.wrote = True, False
        elif word == "COMMIT":
            transaction.open = False
            self.commits += transaction.wrote
        elif word == "ROLLBACK" and " TO " not in statement.upper():
            transaction.open = False
        elif word in _WRITES:
            transaction.wrote = True
            self.commits += not transaction.open
        elif word == "SELECT" and "semel_records" in statement and ".data" in statement:
            self.record_queries += 1


@dataclass(slots=True)
class _Transaction:
    """Where one connection is."""

    open: bool = False
    wrote: bool = False
