"""The commits of a body: its end, its park, its next visit; with the children it starts and the events it used up."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from semel.store.interface import ENDED, Claim, NewRun, Note, Outcome

from .queries import MAIN
from .rows import listed, new_row, note_rows, outcome_row, visits_text

Target = sqlite3.Connection | sqlite3.Cursor


def finish(target: Target, claim: Claim, outcome: Outcome, notes: Sequence[Note]) -> bool:
    """Writes the outcome; False, and nothing written, if the run's version is no longer the claim's."""
    run = claim.run
    poked = 0
    if outcome.status == "parked":
        kept = _park(target, claim, outcome)
    elif outcome.status == "pending":
        row = (visits_text(outcome), outcome.started_at, outcome.parked, outcome.args, run.uid, run.version)
        kept = target.execute(MAIN["next_visit"], row).rowcount == 1
        if kept:
            target.execute(MAIN["turn"], (_turns(target, 1), run.uid))
    else:
        rows = _rows(target, MAIN["finish"], outcome_row(claim, outcome))
        kept, poked = bool(rows), rows[0][0] if rows else 0
    if not kept:
        return False
    for child in outcome.children:
        _start_child(target, child)
    target.executemany(MAIN["take_event"], [(seq, run.uid) for seq in outcome.taken])
    if outcome.forget is not None:
        target.execute(MAIN["forget_steps_of_body"], (run.uid, outcome.forget))
    if notes:
        target.executemany(MAIN["note"], note_rows(notes))
    if outcome.status in ENDED:
        if run.deadline is not None or poked or run.parked != "{}":
            clear(target, run.uid, outcome.status)
        if run.parent is not None:
            child_ended(target, run.parent)
    return True


def start(target: Target, run: NewRun) -> bool:
    """Inserts a run; False if there is one of that id, or was."""
    new = target.execute(MAIN["start"], new_row(run)).rowcount == 1
    if new and run.deadline is not None:
        target.execute(MAIN["set_due"], (run.uid, "deadline", run.deadline))
    return new


def _start_child(target: Target, child: NewRun) -> None:
    """Starts a child; where another run has its id, or had it, under an id that nobody else can have."""
    if not start(target, child) and not _rows(target, MAIN["status_of"], (child.uid,)):
        start(target, replace(child, id=f"{child.id}~{child.uid[:8]}"))


def wake(target: Target, runs: Sequence[str]) -> int:
    """Makes parked runs claimable, in this order, behind all that is claimable now."""
    if not runs:
        return 0
    first = _turns(target, len(runs)) - len(runs) + 1
    woken = 0
    for place, uid in enumerate(runs):
        woken += target.execute(MAIN["wake"], (first + place, uid)).rowcount
    return woken


def child_ended(target: Target, parent: str) -> None:
    """A child has ended: its parent wakes if it waits for no more of them."""
    rows = _rows(target, MAIN["child_ended"], (parent,))
    if rows and rows[0][0]:
        wake(target, [parent])


def clear(target: Target, run: str, status: str) -> None:
    """An ended run has no clocks and no events; one that has faulted may be delivered again, and keeps its events."""
    target.execute(MAIN["clear_all_due"], (run,))
    if status != "faulted":
        target.execute(MAIN["clear_events"], (run,))


def _park(target: Target, claim: Claim, outcome: Outcome) -> bool:
    run = claim.run
    ended = 0
    if outcome.need:
        ((ended,),) = _rows(target, MAIN["ended_of"], (listed(outcome.awaited),))
    row = (
        run.poked, visits_text(outcome), outcome.started_at, outcome.parked, max(outcome.need - ended, 0),
        outcome.undos, run.uid, run.version,
    )  # fmt: skip
    if target.execute(MAIN["park"], row).rowcount != 1:
        return False
    if outcome.due is None:
        target.execute(MAIN["clear_due"], (run.uid, "clock"))
    else:
        target.execute(MAIN["set_due"], (run.uid, "clock", outcome.due))
    if outcome.need and ended >= outcome.need:
        wake(target, [run.uid])
    target.execute(MAIN["turn"], (_turns(target, 1), run.uid))
    return True


def _rows(target: Target, query: str, values: tuple[Any, ...]) -> list[Any]:
    """What a query returns; asked of the cursor itself, because an async driver's ``execute`` gives one of its own."""
    cursor = target.cursor() if isinstance(target, sqlite3.Connection) else target
    cursor.execute(query, values)
    return cursor.fetchall()


def _turns(target: Target, number: int) -> int:
    """The last one of so many new turns."""
    ((last,),) = _rows(target, MAIN["last_turn"], (number,))
    return int(last)
