"""The store in two SQLite files: the ``Store`` protocol, put together from its parts.

``shop.db`` holds what bodies commit and may hold the application's own tables; ``shop.steps.db`` beside it holds the
steps' records and the claims. Both are in WAL mode, and every commit is on the disk before its ticket is done.
"""

from __future__ import annotations

import builtins
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

from semel.errors import RunPurged, StoreError
from semel.store.interface import ENDED, Claim, Event, NewRun, Note, Outcome, Record, Run, RunFilter

from . import effects, finishing, forks, schema, waking
from .append import Append
from .claims import Claims
from .connect import journal_path, main_path
from .following import Following
from .listing import list_runs
from .purge import purge
from .queries import JOURNAL, MAIN
from .rows import listed, note_row, note_rows, outcome_weight, record_of, record_row, run_of, running
from .session import Session
from .ticket import Operation, Refusal, Steps

T = TypeVar("T")

_of_the_parent: list[Session] = []  # kept in a forked child, so that nothing closes the parent's connections


class Sqlite(Following):
    """A database of semel in two SQLite files; an implementation of ``Store``.

    ``database`` is a URL (``sqlite:///shop.db``) or a path. ``lease_clock`` gives seconds since the epoch, for reads
    that must know which leases are over. ``timeout`` is how long, in seconds, a write or ``open`` waits for another
    process's lock.

    After a fork the child leaves the parent's connections alone (they may be used by one process only) and opens its
    own at first use. Writes that the parent had queued are the parent's; owners that it registered are not the child's.

    Raises:
        ConfigurationError: the URL names no file, or a database in memory.
    """

    def __init__(
        self,
        database: str | os.PathLike[str],
        *,
        lease_clock: Callable[[], float] = time.time,
        timeout: float = 5.0,
    ) -> None:
        self.path: Path = main_path(database)
        self.journal_path: Path = journal_path(self.path)
        self._lease_clock = lease_clock
        self._timeout = timeout
        self._session: Session | None = None
        self._claims: Claims | None = None
        self._forked = False
        self._opening = threading.Lock()
        forks.watch(self)

    # ---------------------------------------------------------------------------------------------------- life cycle

    def open(self, *, migrate: bool = False) -> None:
        with self._opening:
            if self._session is not None:
                return
            forks.check(self.path)
            schema.prepare(self.path, self.journal_path, migrate=migrate, timeout=self._timeout)
            self._connect()

    def migrate(self) -> tuple[str, ...]:
        """Brings an existing database to the current schema (or makes one); the migrations that this applied."""
        with self._opening:
            forks.check(self.path)
            return schema.prepare(self.path, self.journal_path, migrate=True, timeout=self._timeout)

    def close(self) -> None:
        with self._opening:
            session, self._session, self._claims, self._forked = self._session, None, None, False
            if session is not None:
                session.close()

    def namespace(self) -> bytes:
        return self._open().namespace

    def changed(self) -> object:
        return self._open().data_version()

    def _connect(self) -> None:
        session = Session(self.path, self.journal_path, self._timeout)
        self._claims = Claims(session)
        self._session = session

    def _open(self) -> Session:
        session = self._session
        if session is not None:
            return session
        if self._forked:
            with self._opening:
                if self._session is None:
                    forks.check(self.path)
                    self._connect()
                self._forked = False
            return self._open()
        raise StoreError(f"{self.path}: the store is not open; call open() first")

    # Called by ``forks`` only.

    def before_fork(self, deadline: float) -> bool:
        if not self._opening.acquire(timeout=max(deadline - time.monotonic(), 0.0)):
            return False
        frozen = False
        try:
            frozen = self._session is None or self._session.freeze(deadline)
        finally:
            if not frozen:
                self._opening.release()
        return frozen

    def after_fork_in_parent(self) -> None:
        try:
            if self._session is not None:
                self._session.thaw()
        finally:
            self._opening.release()

    def after_fork_in_child(self, frozen: bool) -> None:
        session = self._session
        if session is not None:
            session.abandon()
            if not frozen:
                _of_the_parent.append(session)
            self._session = self._claims = None
            self._forked = True
        self._opening = threading.Lock()

    # ------------------------------------------------------------------------------------------- runs, from outside

    def start(self, run: NewRun, records: Sequence[Record] = ()) -> Operation[tuple[Run, bool]] | Steps[Any]:
        session = self._open()
        if records:
            return Steps(self._start_with(session, run, records))
        return self._submit(self._start(session, run))

    def _start_with(
        self, session: Session, run: NewRun, records: Sequence[Record]
    ) -> Generator[Operation[Any], Any, tuple[Run, bool]]:
        rows = [record_row(record) for record in records]

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(JOURNAL["know"], (run.uid,))
            connection.executemany(JOURNAL["state"], rows)

        yield session.in_journal(work, sum(len(record.data) for record in records))
        started: tuple[Run, bool] = yield self._start(session, run)
        return started

    def _start(self, session: Session, run: NewRun) -> Operation[tuple[Run, bool]]:
        def work(connection: sqlite3.Connection) -> tuple[Run, bool] | Refusal:
            new = finishing.start(connection, run)
            rows = connection.execute(MAIN["by_id"], (run.id,)).fetchall()
            if not rows:
                return Refusal(RunPurged(f"the run {run.id!r} has ended and was purged; start another under a new id"))
            found = run_of(rows[0])
            return (found if new else self._as_read(session, found)), new

        return session.in_main(work, len(run.args))

    def get(self, id: str) -> Run | None:
        session = self._open()
        row = session.main_readers.one(MAIN["by_id"], (id,))
        return None if row is None else self._as_read(session, run_of(row))

    def list(self, which: RunFilter) -> builtins.list[Run]:
        return list_runs(self._open(), which, self._lease_clock())

    def counts(self) -> dict[str, int]:
        session = self._open()
        counts: dict[str, int] = dict(cast(Any, session.main_readers.all(MAIN["counts"])))
        held = session.living(session.journal_readers.all(JOURNAL["live_claims"], (self._lease_clock(),)))
        running_now = len(session.main_readers.all(MAIN["still_pending"], (listed(held),))) if held else 0
        if running_now:
            counts["running"] = running_now
            counts["pending"] = max(counts.get("pending", 0) - running_now, 0)
        return {status: number for status, number in counts.items() if number}

    def records(self, run: str, body: str | None = None, *, transactional: bool = True) -> builtins.list[Record]:
        session = self._open()
        readers = session.journal_readers
        if body is None:
            rows = readers.all(JOURNAL["records"], (run,))
        else:
            rows = readers.all(JOURNAL["records_of_body"], (run, body))
        found = [record_of(row) for row in rows]
        if transactional:
            steps = session.main_readers.all(MAIN["steps"], (run, body, body))
            if steps:
                found = sorted([*found, *map(record_of, steps)], key=lambda record: record.finished_at)
        return found

    def children(self, run: str) -> builtins.list[Run]:
        return [run_of(row) for row in self._open().main_readers.all(MAIN["children"], (run,))]

    def events(self, run: str) -> builtins.list[Event]:
        return [Event(*cast(Any, row)) for row in self._open().main_readers.all(MAIN["events"], (run,))]

    def send(self, run: str, name: str, payload: bytes, now: float) -> Operation[bool]:
        session = self._open()
        work = partial(effects.send, run=run, name=name, payload=payload, now=now)
        return self._submit(session.in_main(work, len(payload)))

    def cancel(self, run: str, now: float, ending: str = "cancelled") -> Steps[bool]:
        return Steps(waking.cancelled(self._open(), run, now, ending))

    def ending(self, runs: Sequence[str]) -> builtins.list[str]:
        held = set(runs)
        ending: Any = self._open().main_readers.all(MAIN["ending"])
        return [uid for (uid,) in ending if uid in held]

    def next_due(self) -> float | None:
        row = self._open().main_readers.one(MAIN["next_due"])
        return None if row is None else cast("float | None", row[0])

    def wake_due(self, now: float, limit: int) -> Operation[int]:
        return self._submit(self._open().in_main(partial(waking.wake_due, now=now, limit=limit)))

    def notes(self, run: str) -> builtins.list[Note]:
        session = self._open()
        rows = session.journal_readers.all(JOURNAL["notes"], (run,)) + session.main_readers.all(MAIN["notes"], (run,))
        return sorted((Note(*cast(Any, row)) for row in rows), key=lambda note: note.at)

    def redeliver(self, run: str, now: float) -> Steps[bool]:
        session = self._open()
        return Steps(waking.redeliver(session, run, now))

    def forget(self, run: str, path: str, note: Note) -> Steps[bool]:
        return Steps(self._forget(self._open(), run, path, note))

    def _forget(self, session: Session, run: str, path: str, note: Note) -> Generator[Operation[Any], Any, bool]:
        def in_journal(connection: sqlite3.Connection) -> bool:
            if self._is_held(session, connection.execute, run):
                return False
            if connection.execute(JOURNAL["forget"], (run, path)).rowcount == 0:
                return False
            connection.execute(JOURNAL["note"], note_row(note))
            return True

        def in_main(connection: sqlite3.Connection) -> bool:  # the record of a transactional step
            held = self._is_held(session, session.journal_readers.all, run)
            if held or connection.execute(MAIN["forget_step"], (run, path)).rowcount == 0:
                return False
            connection.execute(MAIN["note"], note_row(note))
            return True

        gone: bool = (yield session.in_journal(in_journal)) or (yield session.in_main(in_main))
        return gone

    def record(self, record: Record, note: Note) -> Steps[bool]:
        session = self._open()
        return Steps(waking.state(session, record, note, lambda read: self._is_held(session, read, record.run)))

    def purge(self, *, ended_before: float, limit: int) -> Steps[int]:
        return Steps(purge(self._open(), ended_before, limit))

    # --------------------------------------------------------------------------------------------- owners and claims

    def register(self, owner: str, lease_until: float) -> Operation[None]:
        session = self._open()
        session.locks.hold(owner)

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(JOURNAL["register"], (owner, lease_until))

        return self._submit(session.in_journal(work))

    def renew(self, owner: str, lease_until: float) -> Operation[bool]:
        def work(connection: sqlite3.Connection) -> bool:
            return connection.execute(JOURNAL["renew"], (lease_until, owner)).rowcount == 1

        return self._submit(self._open().in_journal(work))

    def retire(self, owner: str) -> Operation[None]:
        session, claims = self._both()

        def gone(operation: Operation[None]) -> None:
            if operation.error is None:
                session.locks.drop(owner)

        operation = session.in_journal(lambda connection: claims.give_back(connection, owner))
        operation.after = gone
        return self._submit(operation)

    def claim(
        self, owner: str, workflows: Sequence[str], limit: int, now: float, begins: float | None = None
    ) -> Steps[builtins.list[Claim]]:
        _, claims = self._both()
        return Steps(claims.claim(owner, workflows, limit, now, now if begins is None else begins))

    def release(self, claim: Claim, forget: str | None = None) -> Operation[None]:
        session, claims = self._both()
        return self._submit(session.in_journal(lambda connection: claims.end(connection, claim, forget)))

    # ------------------------------------------------------------------------------------------------- one execution

    def mark(self, claim: Claim, path: str) -> object:
        board = self._open().locks.board(claim.owner)
        return (board, board.mark(claim.run.uid, path)) if board is not None else None

    def unmark(self, mark: object) -> None:
        if isinstance(mark, tuple):
            board, slot = mark
            board.unmark(slot)

    def append(
        self,
        claim: Claim,
        records: Sequence[Record],
        notes: Sequence[Note] = (),
        retracted: Sequence[str] = (),
    ) -> Append:
        session = self._session or self._open()
        operation = Append(session.journal, claim, records, notes, retracted)
        session.journal.submit(operation)
        return operation

    def note(self, notes: Sequence[Note]) -> Operation[None]:
        rows = note_rows(notes)

        def work(connection: sqlite3.Connection) -> None:
            connection.executemany(JOURNAL["note"], rows)

        return self._submit(self._open().in_journal(work))

    def finish(self, claim: Claim, outcome: Outcome, notes: Sequence[Note] = ()) -> Operation[bool]:
        session, claims = self._both()

        def work(connection: sqlite3.Connection) -> bool:
            return claims.holds(claim) and finishing.finish(connection, claim, outcome, notes)

        def end(connection: sqlite3.Connection) -> None:
            if outcome.status in ENDED:
                connection.execute(JOURNAL["end_claim"], (claim.epoch,))
            else:
                claims.end(connection, claim, outcome.forget)

        def finished(operation: Operation[bool]) -> None:
            if operation.value:  # nobody waits for this: a claim that stays on an ended run is swept up later
                session.journal.submit(session.in_journal(end))

        operation = session.in_main(work, outcome_weight(outcome))
        operation.after = finished
        return self._submit(operation)

    def finish_in(self, connection: Any, claim: Claim, outcome: Outcome, notes: Sequence[Note] = ()) -> bool:
        return self._in_caller(connection, claim, lambda cursor: finishing.finish(cursor, claim, outcome, notes))

    def step_in(self, connection: Any, claim: Claim, record: Record) -> bool:
        def work(cursor: sqlite3.Cursor) -> bool:
            if effects.changed(cursor, MAIN["count_step"], (claim.run.uid, claim.run.version)) != 1:
                return False
            cursor.execute(MAIN["step"], record_row(record))
            return True

        return self._in_caller(connection, claim, work)

    # ------------------------------------------------------------------------------------------------------- helpers

    def _both(self) -> tuple[Session, Claims]:
        session = self._open()
        claims = self._claims
        assert claims is not None
        return session, claims

    def _submit(self, operation: Operation[T]) -> Operation[T]:
        operation.writer.submit(operation)
        return operation

    def _as_read(self, session: Session, run: Run) -> Run:
        if run.status != "pending":
            return run
        claims = session.journal_readers.all(JOURNAL["live_claim_on"], (run.uid, self._lease_clock()))
        return running(run) if session.living(claims) else run

    def _is_held(self, session: Session, read: Callable[..., Iterable[Any]], run: str) -> bool:
        """Whether a live owner holds the run; a claim that its finish left behind does not count."""
        if not session.living(read(JOURNAL["live_claim_on"], (run, self._lease_clock()))):
            return False
        return session.main_readers.one(MAIN["status_of"], (run,)) == ("pending",)
