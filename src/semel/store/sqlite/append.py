"""The hot path: records of steps, each written only while its claim is held."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from itertools import groupby
from typing import Self

from semel.store.interface import Claim, Note, Record

from .queries import JOURNAL
from .rows import Row
from .ticket import Together
from .writer import Writer

_APPEND, _APPEND_NOTE = JOURNAL["append"], JOURNAL["append_note"]
_RETRACT, _HOLDS = JOURNAL["retract"], JOURNAL["holds"]


class Append(Together[bool]):
    """Records and notes under one claim, all or none.

    Every row carries the claim and is written only if it stands, so that any number of appends is one
    ``executemany``. Only when rows are missing afterwards is each claim looked up, in the same transaction: it was
    lost, or the record was there already, which is as good (the first one stays).
    """

    __slots__ = ("fence", "notes", "records", "retracted")

    def __init__(
        self, writer: Writer, claim: Claim, records: Sequence[Record], notes: Sequence[Note], retracted: Sequence[str]
    ) -> None:
        # What the base classes set, written out: this is made for every step.
        self.done = False
        self.value = None
        self.error = None
        self.latch = None
        self.future_ = None
        self.loop = None
        self.after = None
        self.writer = writer
        run = claim.run.uid
        self.fence = fence = (claim.epoch, run, claim.owner)
        weight = 0
        rows: list[Row] = []
        for r in records:
            data = r.data
            weight += len(data)
            rows.append(
                (r.run, r.body, r.path, r.kind, data, r.awaited, r.started_at, r.finished_at, r.delivery, *fence)
            )
        self.records = rows
        self.weight = weight
        self.notes: list[Row] = [(n.run, n.path, n.kind, n.text, n.at, *fence) for n in notes] if notes else []
        self.retracted: list[Row] = [(run, path, *fence) for path in retracted] if retracted else []

    def run(self, connection: sqlite3.Connection) -> None:
        self.run_all(connection, [self])

    def run_alone(self, connection: sqlite3.Connection) -> bool:
        if self.notes or self.retracted or len(self.records) != 1:
            return False
        written = connection.execute(_APPEND, self.records[0]).rowcount
        self.value = written == 1 or self._holds(connection)
        self.error = None
        return True

    @classmethod
    def run_all(cls, connection: sqlite3.Connection, operations: list[Self]) -> None:
        for retracting, group in groupby(operations, lambda operation: bool(operation.retracted)):
            if retracting:
                for operation in group:
                    connection.executemany(_RETRACT, operation.retracted)
                    cls._insert(connection, [operation])
            else:
                cls._insert(connection, list(group))

    @classmethod
    def _insert(cls, connection: sqlite3.Connection, operations: list[Self]) -> None:
        rows = [row for operation in operations for row in operation.records]
        complete = not rows or connection.executemany(_APPEND, rows).rowcount == len(rows)
        notes = [row for operation in operations for row in operation.notes]
        if notes:
            connection.executemany(_APPEND_NOTE, notes)
        for operation in operations:
            operation.error = None
            operation.value = (complete and bool(operation.records)) or operation._holds(connection)

    def _holds(self, connection: sqlite3.Connection) -> bool:
        return bool(connection.execute(_HOLDS, self.fence).fetchall())
