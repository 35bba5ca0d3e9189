"""What happens to a run from elsewhere: it wakes, an event comes to it, a child of it ends, it is cancelled.

Each is done inside a transaction that is open, on the store's own connection or on a caller's cursor.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from .queries import MAIN

Target = sqlite3.Connection | sqlite3.Cursor


def rows(target: Target, query: str, values: tuple[Any, ...] = ()) -> list[Any]:
    """What a query returns; asked of the cursor itself, because an async driver's ``execute`` gives one of its own."""
    cursor = target.cursor() if isinstance(target, sqlite3.Connection) else target
    cursor.execute(query, values)
    return cursor.fetchall()


def changed(target: Target, query: str, values: tuple[Any, ...]) -> int:
    """How many rows a statement has changed."""
    cursor = target.cursor() if isinstance(target, sqlite3.Connection) else target
    cursor.execute(query, values)
    return cursor.rowcount


def turns(target: Target, number: int) -> int:
    """The last one of so many new turns."""
    ((last,),) = rows(target, MAIN["last_turn"], (number,))
    return int(last)


def wake(target: Target, runs: Sequence[str]) -> int:
    """Makes parked runs claimable, in this order, behind all that is claimable now."""
    if not runs:
        return 0
    first = turns(target, len(runs)) - len(runs) + 1
    woken = 0
    for place, uid in enumerate(runs):
        woken += changed(target, MAIN["wake"], (first + place, uid))
    return woken


def child_ended(target: Target, parent: str) -> None:
    """A child has ended: its parent wakes if it waits for no more of them."""
    found = rows(target, MAIN["child_ended"], (parent,))
    if found and found[0][0]:
        wake(target, [parent])


def clear(target: Target, run: str, status: str) -> None:
    """An ended run has no clocks and no events; one that has faulted may be delivered again, and keeps its events."""
    target.execute(MAIN["clear_all_due"], (run,))
    if status != "faulted":
        target.execute(MAIN["clear_events"], (run,))


def send(target: Target, run: str, name: str, payload: bytes, now: float) -> bool:
    """The work of ``Store.send``."""
    if changed(target, MAIN["send"], (name, payload, now, run)) != 1:
        return False
    ((status,),) = rows(target, MAIN["poke"], (run,))
    if status == "parked":
        wake(target, [run])
    return True


def cancel(target: Target, run: str, now: float, ending: str) -> list[str] | None:
    """Ends the run and all below it, as far as it can be done here; None if it has ended.

    Gives those that are claimable: a worker may have them.
    """
    tree = rows(target, MAIN["tree"], (run,))
    if not any(uid == run for uid, *_ in tree):
        return None
    claimable = []
    for uid, status, undos, parent, already in tree:
        how = ending if uid == run else "cancelled"
        if status == "parked" and not undos:
            end(target, "end_parked", uid, how, parent, now)
        elif already is None:
            target.execute(MAIN["set_ending"], (how, uid))
            if status == "parked":
                wake(target, [uid])
        if status == "pending":
            claimable.append(uid)
    return claimable


def end(target: Target, query: str, run: str, how: str, parent: str | None, now: float) -> None:
    """Ends a run that nobody drives."""
    ended = "cancelled" if how == "cancelled" else "faulted"
    if changed(target, MAIN[query], (ended, now, how, run)) == 1:
        clear(target, run, ended)
        if parent is not None:
            child_ended(target, parent)
