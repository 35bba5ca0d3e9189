"""Retention: ended runs are deleted with all that hangs on them, in an order that a crash cannot spoil.

First a tombstone (from then on the run is not made pending again, nor its id started anew), then what the journal
holds, then the run. A crash in between leaves an ended run with a tombstone, which the next purge takes again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from typing import Any

from .queries import JOURNAL, MAIN
from .rows import listed
from .session import Session
from .ticket import Operation

_PORTION = 100  # runs per transaction, so that no lock is held for long


def purge(session: Session, ended_before: float, limit: int) -> Generator[Operation[Any], Any, int]:
    """The steps of ``Store.purge``."""
    done = 0
    while done < limit:
        portion = min(_PORTION, limit - done)

        def bury(connection: sqlite3.Connection, portion: int = portion) -> list[str]:
            rows = connection.execute(MAIN["ended"], (ended_before, portion)).fetchall()
            ended = [uid for (uid,) in rows]
            connection.execute(MAIN["bury"], (listed(ended),))
            return ended

        runs: list[str] = yield session.in_main(bury)
        if not runs:
            break
        which = (listed(runs),)

        def in_journal(connection: sqlite3.Connection, which: tuple[str] = which) -> None:
            for query in ("purge_records", "purge_notes", "purge_claims", "purge_runs"):
                connection.execute(JOURNAL[query], which)

        def in_main(connection: sqlite3.Connection, which: tuple[str] = which) -> None:
            for query in ("purge_runs", "purge_notes", "purge_due", "purge_events", "purge_steps"):
                connection.execute(MAIN[query], which)
            connection.execute(MAIN["rewind"])

        yield session.in_journal(in_journal)
        yield session.in_main(in_main)
        done += len(runs)
        if len(runs) < portion:
            break
    return done
