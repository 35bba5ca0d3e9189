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
    commits: int = 0
    record_queries: int = 0

    def install(self) -> None:
        """Sees every connection that is made from now on."""
        original = sqlite3.connect

        def connect(*args: Any, **kwargs: Any) -> sqlite3.Connection:
            made: sqlite3.Connection = original(*args, **kwargs)
            made.set_trace_callback(partial(self._seen, [False]))
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

    def _seen(self, within: list[bool], statement: str) -> None:
        word = statement.lstrip().split(None, 1)[0].upper().rstrip(";")
        if word == "BEGIN":
            within[0] = True
        elif word == "COMMIT":
            within[0] = False
            self.commits += 1
        elif word == "ROLLBACK" and " TO " not in statement.upper():
            within[0] = False
        elif word in _WRITES and not within[0]:
            self.commits += 1
        elif word == "SELECT" and "FROM semel_records" in statement and " WHERE " in statement:
            self.record_queries += 1
