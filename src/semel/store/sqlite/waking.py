"""What wakes a run, or ends one, from outside: clocks, events, cancels, and an operator who has it delivered again."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator
from typing import Any

from semel.store.interface import Note, Record

from .effects import cancel, end, wake
from .queries import JOURNAL, MAIN
from .rows import listed, note_row, record_row
from .session import Session
from .ticket import Operation


def wake_due(connection: sqlite3.Connection, now: float, limit: int) -> int:
    """The work of ``Store.wake_due``."""
    rows = connection.execute(MAIN["due"], (now, limit)).fetchall()
    wake(connection, [run for run, kind in rows if kind == "clock"])
    for run, kind in rows:
        connection.execute(MAIN["clear_due"], (run, kind))
        if kind == "deadline":
            cancel(connection, run, now, "timed out")
    return len(rows)


def cancelled(session: Session, run: str, now: float, ending: str) -> Generator[Operation[Any], Any, bool]:
    """The steps of ``Store.cancel``.

    A run that no worker has ever claimed has done nothing, so there is nothing to undo, and it ends at once: there may
    be no worker that knows its workflow. One that is claimed meanwhile is claimed to be ended.
    """
    claimable: list[str] | None = yield session.in_main(lambda connection: cancel(connection, run, now, ending))
    if claimable is None:
        return False
    known: set[Any] = set()
    if claimable:
        known = {uid for uid, *_ in session.journal_readers.all(JOURNAL["known"], (listed(claimable),))}
    untouched = [uid for uid in claimable if uid not in known]

    def end_untouched(connection: sqlite3.Connection) -> None:
        for uid, _, _, parent, how in connection.execute(MAIN["tree"], (run,)).fetchall():
            if uid in untouched:
                end(connection, "end_pending", uid, how, parent, now)

    if untouched:
        yield session.in_main(end_untouched)
    return True


def redeliver(session: Session, run: str, now: float) -> Generator[Operation[Any], Any, bool]:
    """The steps of ``Store.redeliver``."""

    def again(connection: sqlite3.Connection) -> bool:
        if connection.execute(MAIN["deliver_again"], (run,)).rowcount != 1:
            return False
        wake(connection, [run])
        connection.execute(MAIN["note"], (run, "", "redelivered", "to be delivered again", now))
        return True

    def clear(connection: sqlite3.Connection) -> bool:
        status = session.main_readers.one(MAIN["status_of"], (run,))
        if status is None or status[0] != "faulted":
            return False
        connection.execute(JOURNAL["end_claims_on"], (run,))  # one that its finish left behind
        return True

    def revive(connection: sqlite3.Connection) -> bool:
        if connection.execute(MAIN["redeliver"], (run,)).rowcount != 1:
            return False
        connection.execute(MAIN["restore_deadline"], (run, now))
        connection.execute(MAIN["rewind"])
        connection.execute(MAIN["note"], (run, "", "redelivered", "to be delivered again", now))
        return True

    faulted: bool = yield session.in_journal(clear)
    if not faulted:
        parked: bool = yield session.in_main(again)
        return parked
    revived: bool = yield session.in_main(revive)
    return revived


def state(
    session: Session, record: Record, note: Note, is_held: Callable[[Callable[..., Any]], bool]
) -> Generator[Operation[Any], Any, bool]:
    """The steps of ``Store.record``; what the run waits for may be over by it."""

    def work(connection: sqlite3.Connection) -> bool:
        if is_held(connection.execute):
            return False
        connection.execute(JOURNAL["know"], (record.run,))
        connection.execute(JOURNAL["state"], record_row(record))
        connection.execute(JOURNAL["note"], note_row(note))
        return True

    stated: bool = yield session.in_journal(work, len(record.data))
    if stated:
        yield session.in_main(lambda connection: wake(connection, [record.run]))
    return stated
