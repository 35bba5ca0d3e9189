"""The commits of a body: its end, its park, its next visit; with the children it starts and the events it used up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from semel.store.interface import ENDED, Claim, NewRun, Note, Outcome

from .effects import Target, cancel, changed, child_ended, clear, rows, send, turns, wake
from .queries import MAIN
from .rows import listed, new_row, note_rows, outcome_row, visits_text


def finish(target: Target, claim: Claim, outcome: Outcome, notes: Sequence[Note]) -> bool:
    """Writes the outcome; False, and nothing written, if the run's version is no longer the claim's."""
    run = claim.run
    poked = 0
    if outcome.status == "parked":
        kept = _park(target, claim, outcome)
    elif outcome.status == "pending":
        row = (
            visits_text(outcome), outcome.started_at, outcome.parked, outcome.args, outcome.undos, outcome.flow,
            outcome.fault, run.uid, run.version,
        )  # fmt: skip
        kept = changed(target, MAIN["next_visit"], row) == 1
        if kept:
            target.execute(MAIN["turn"], (turns(target, 1), run.uid))
    else:
        found = rows(target, MAIN["finish"], outcome_row(claim, outcome))
        kept, poked = bool(found), found[0][0] if found else 0
    if not kept:
        return False
    for child in outcome.children:
        _start_child(target, child)
    target.executemany(MAIN["take_event"], [(seq, run.uid) for seq in outcome.taken])
    if outcome.forget is not None:
        target.execute(MAIN["forget_steps_of_body"], (run.uid, outcome.forget))
    for sending in outcome.sends:
        send(target, sending.run, sending.name, sending.payload, sending.at)
    for uid in outcome.cancels:
        cancel(target, uid, outcome.finished_at, "cancelled")
    if notes:
        target.executemany(MAIN["note"], note_rows(notes))
    if outcome.status in ENDED:
        if run.deadline is not None or poked or run.parked != "{}" or run.flow is not None:
            clear(target, run.uid, outcome.status)
        if run.parent is not None:
            child_ended(target, run.parent)
    return True


def start(target: Target, run: NewRun) -> bool:
    """Inserts a run; False if there is one of that id, or was."""
    new = changed(target, MAIN["start"], new_row(run)) == 1
    if new and run.deadline is not None:
        target.execute(MAIN["set_due"], (run.uid, "deadline", run.deadline))
    return new


def _start_child(target: Target, child: NewRun) -> None:
    """Starts a child; where another run has its id, or had it, under an id that nobody else can have."""
    if not start(target, child) and not rows(target, MAIN["status_of"], (child.uid,)):
        start(target, replace(child, id=f"{child.id}~{child.uid[:8]}"))


def _park(target: Target, claim: Claim, outcome: Outcome) -> bool:
    run = claim.run
    ended = 0
    if outcome.need:
        ((ended,),) = rows(target, MAIN["ended_of"], (listed(outcome.awaited),))
    row = (
        run.poked, visits_text(outcome), outcome.started_at, outcome.parked, max(outcome.need - ended, 0),
        outcome.undos, outcome.flow, outcome.fault, run.uid, run.version,
    )  # fmt: skip
    if changed(target, MAIN["park"], row) != 1:
        return False
    if outcome.due is None:
        target.execute(MAIN["clear_due"], (run.uid, "clock"))
    else:
        target.execute(MAIN["set_due"], (run.uid, "clock", outcome.due))
    if outcome.need and ended >= outcome.need:
        wake(target, [run.uid])
    target.execute(MAIN["turn"], (turns(target, 1), run.uid))
    return True
