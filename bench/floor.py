"""The floor: bare commits by plain ``sqlite3`` of the rows that semel wrote, into a table like the one it wrote to.

The table's definition and page size are read from semel's own file, so that the two differ in nothing but semel. Both
files must have gone once round their log before anything is measured: a log that grows commits in twice the time of one
that is written over.
"""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

Row = tuple[Any, ...]

_LOG_BYTES = 4 << 20
_FIRST = 1_000_000  # above the numbers that semel gives


class Floor:
    """An empty copy of one table of ``like``.

    Its rows are those of ``like`` again, with a new value in the columns ``own``: one for all rows of a run, or, with
    ``each_its_own``, one for each row.
    """

    def __init__(self, path: Path, like: Path, table: str, own: Sequence[str], *, each_its_own: bool = False) -> None:
        with sqlite3.connect(like) as source:
            ((page_size,),) = source.execute("PRAGMA page_size").fetchall()
            named = "SELECT sql FROM sqlite_master WHERE tbl_name = ? AND sql IS NOT NULL ORDER BY type = 'index'"
            definitions = [sql for (sql,) in source.execute(named, (table,))]
            columns = [row[1] for row in source.execute(f"PRAGMA table_info({table})") if row[1] != "seq"]
            self._sample: list[Row] = source.execute(
                f"SELECT {', '.join(columns)} FROM {table} ORDER BY seq"
            ).fetchall()
        source.close()
        if each_its_own:
            del self._sample[1:]
        self._own = [columns.index(name) for name in own]
        self._insert = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
        self._series = itertools.count()
        self.connection = connection = sqlite3.connect(path, isolation_level=None)
        connection.execute(f"PRAGMA page_size = {page_size}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG_BYTES // page_size}")
        for definition in definitions:
            connection.execute(definition)

    def close(self) -> None:
        self.connection.close()

    def rows(self, count: int) -> list[Row]:
        """Rows that were not given before."""
        made: list[Row] = []
        while len(made) < count:
            number = next(self._series)
            for row in self._sample[: count - len(made)]:
                fresh = list(row)
                for column in self._own:
                    fresh[column] = _FIRST + number if isinstance(row[column], int) else f"{number:032x}"
                made.append(tuple(fresh))
        return made

    def lone(self, count: int) -> list[float]:
        """Seconds of each of ``count`` commits of one row."""
        rows = self.rows(count)
        execute, insert = self.connection.execute, self._insert
        begun = [perf_counter()]
        for row in rows:
            execute(insert, row)
            begun.append(perf_counter())
        return [later - earlier for earlier, later in itertools.pairwise(begun)]

    def batched(self, runs: int, each: int) -> float:
        """Seconds to write ``each`` rows of ``runs`` runs, the next row of every run in one commit."""
        series = [self.rows(each) for _ in range(runs)]
        batches = [[rows[turn] for rows in series] for turn in range(each)]
        connection = self.connection
        begun = perf_counter()
        for batch in batches:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(self._insert, batch)
            connection.execute("COMMIT")
        return perf_counter() - begun
