"""The hot path: records of steps, each written only while its claim is held."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from semel.store.interface import Claim, Note, Record

from .queries import JOURNAL
from .rows import Row
from .ticket import Together
from .writer import Writer

_APPEND, _APPEND_NOTE = JOURNAL["append"], JOURNAL["append_note"]
_RETRACT, _HOLDS = JOURNAL["retract"], JOURNAL["holds"]


class Append(Together[bool]):
    """Records and notes under one claim, all or none.

    Every row carries the claim's epoch, by which the statement finds the run's number, and is not written if the claim
    is not there. So any number of appends is one ``executemany``. Only when rows are missing afterwards is each claim
    looked up, in the same transaction: it was lost, or the record was there already, which is as good (the first one
    stays).
    """

    __slots__ = ("epoch", "notes", "records", "retracted")

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
        self.epoch = epoch = claim.epoch
        weight = 0
        rows: list[Row] = []
        for r in records:
            data = r.data
            weight += len(data)
            rows.append((r.body, r.path, r.kind, data, r.awaited, r.started_at, r.finished_at, r.delivery, epoch))
        self.records = rows
        self.weight = weight
        self.notes: list[Row] = [(n.run, n.path, n.kind, n.text, n.at, epoch) for n in notes] if notes else []
        self.retracted: list[Row] = [(epoch, path) for path in retracted] if retracted else []

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
    def run_all(cls, connection: sqlite3.Connection, operations: list[Any]) -> None:
        group: list[Append] = []
        for operation in operations:
            if operation.retracted:  # in its turn: what it deletes may have been queued just before it
                cls._insert(connection, group)
                connection.executemany(_RETRACT, operation.retracted)
                group = []
            group.append(operation)
        cls._insert(connection, group)

    @classmethod
    def _insert(cls, connection: sqlite3.Connection, group: list[Append]) -> None:
        rows: list[Row] = []
        notes: list[Row] = []
        for operation in group:
            rows += operation.records
            notes += operation.notes
        complete = not rows or connection.executemany(_APPEND, rows).rowcount == len(rows)
        if notes:
            connection.executemany(_APPEND_NOTE, notes)
        for operation in group:
            operation.error = None
            operation.value = (complete and bool(operation.records)) or operation._holds(connection)

    def _holds(self, connection: sqlite3.Connection) -> bool:
        return bool(connection.execute(_HOLDS, (self.epoch,)).fetchall())
