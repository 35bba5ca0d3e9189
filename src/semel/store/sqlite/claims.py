"""Owners and claims: which process drives which run, and how a run is taken from a dead one.

The journal holds them, in short transactions, so that a long writer of the main file never costs a lease. A first
claim writes to the journal alone. A takeover first raises the run's version in the main file, in a commit of its own,
so that the dead owner, should it only have been asleep, can no longer commit the body; then it replaces the claim, and
with it the epoch that fences records. Neither file's lock is held while the other's is waited for.

Finding pending runs never scans what others hold: each workflow has a mark, below which every pending run was claimed
when last looked at. A run that wakes takes a turn above all marks. A claim given back, a dead owner, a run delivered
again by an operator or a purge (whose ``seq`` may be used again) count up ``rewinds`` in its file, and the marks start
anew.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from semel.store.interface import Claim, Run

from .queries import JOURNAL, MAIN
from .rows import listed, run_of
from .session import Session
from .ticket import Operation

Marks = dict[str, int]


@dataclass(slots=True)
class _Found:
    """What a look for pending runs has found. ``orphans`` maps runs to the epochs of their dead claims, ``deaths`` to
    whether the owner died while it drove them, and to their latest record."""

    uids: list[str]
    orphans: dict[str, int]
    marks: Marks
    rewinds: tuple[int, int]
    claims: list[Claim] = field(default_factory=list)
    deaths: dict[str, tuple[int, int]] = field(default_factory=dict)


class Claims:
    """Claims runs for the owners of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._marks: Marks = {}
        self._rewinds: tuple[int, int] | None = None

    def claim(
        self, owner: str, workflows: Sequence[str], limit: int, now: float, begins: float
    ) -> Generator[Operation[Any], Any, list[Claim]]:
        """The steps of ``Store.claim``."""
        session = self._session

        def look(connection: sqlite3.Connection) -> _Found:
            self._bury(connection, owner, now)
            found = self._find(connection, workflows, limit)
            if found.orphans:
                rows = connection.execute(JOURNAL["deaths"], (listed(list(found.orphans)),)).fetchall()
                found.deaths = {uid: (begun, reached) for uid, begun, reached in rows}
            else:
                found.claims = self._take(connection, owner, found, begins)
            return found

        found: _Found = yield session.in_journal(look)
        if found.orphans:
            taken = [
                (reached, begun, reached, epoch, uid, epoch)
                for uid, epoch in found.orphans.items()
                for begun, reached in (found.deaths.get(uid, (0, 0)),)
            ]

            def fence(connection: sqlite3.Connection) -> None:
                connection.executemany(MAIN["take"], taken)

            yield session.in_main(fence)
            found.claims = yield session.in_journal(lambda connection: self._take(connection, owner, found, begins))
        if len(found.claims) < len(found.uids):  # some were not to be had after all: look at all again
            self._marks, self._rewinds = {}, None
            return found.claims
        kept = self._marks if found.rewinds == self._rewinds else {}
        self._marks, self._rewinds = {**kept, **found.marks}, found.rewinds
        return found.claims

    def claim_run(
        self, owner: str, run: Run, now: float, begins: float
    ) -> Generator[Operation[Any], Any, Claim | None]:
        """The steps of ``Store.claim_run``.

        The claim of a dead owner is replaced. Should that owner only be asleep, its epoch is no longer there, and
        whoever commits first raises the version of the run, so that the other one cannot.
        """

        def take(connection: sqlite3.Connection) -> Claim | None:
            self._bury(connection, owner, now)
            if not connection.execute(JOURNAL["is_owner"], (owner,)).fetchall():
                return None
            epoch, live = self._claims_on(connection, [run.uid]).get(run.uid, (0, False))
            if live:
                return None
            if epoch:
                connection.execute(JOURNAL["end_claim"], (epoch,))
                connection.execute(JOURNAL["not_begun"], (run.uid,))
            known = self._known(connection, [run.uid])
            return self._claimed(connection, owner, run, bool(epoch), 0, begins, known)

        claim: Claim | None = yield self._session.in_journal(take)
        return claim

    def give_back(self, connection: sqlite3.Connection, owner: str) -> None:
        """Removes a live owner, and its claims."""
        connection.execute(JOURNAL["remove_owner"], (owner,))
        connection.execute(JOURNAL["remove_claims_of"], (owner,))
        connection.execute(JOURNAL["rewind"])

    def end(self, connection: sqlite3.Connection, claim: Claim, forget: str | None = None) -> None:
        """Removes one claim, and the records of an execution that is over; others may look for its run again."""
        if forget is not None:
            connection.execute(JOURNAL["forget_body"], (claim.run.uid, forget))
        ended = connection.execute(JOURNAL["end_claim"], (claim.epoch,)).rowcount
        if ended and self._still_pending((claim.run.uid,)):
            connection.execute(JOURNAL["rewind"])

    def holds(self, claim: Claim) -> bool:
        """Whether the claim's row is there. Only a takeover, which also raises the version, or its owner removes it."""
        return bool(self._session.journal_readers.all(JOURNAL["holds"], (claim.epoch,)))

    def _bury(self, connection: sqlite3.Connection, owner: str, now: float) -> None:
        """Removes dead owners, with those of their claims that a finished run left behind; the others are orphans."""
        locks = self._session.locks
        for name, lease_until in connection.execute(JOURNAL["owners"]).fetchall():
            if name == owner or (lease_until > now and not locks.is_gone(name)):
                continue  # who asks lives: a clock that jumped does not make it dead
            claims = connection.execute(JOURNAL["claims_of"], (name,)).fetchall()
            in_hand = self._in_hand([run for _, run in claims])
            ended = [(epoch,) for epoch, run in claims if run not in in_hand]
            connection.executemany(JOURNAL["end_claim"], ended)
            self._note_in_flight(connection, name, in_hand, now)
            connection.execute(JOURNAL["remove_owner"], (name,))
            connection.execute(JOURNAL["rewind"])
            locks.remove(name)

    def _note_in_flight(self, connection: sqlite3.Connection, owner: str, pending: set[str], now: float) -> None:
        """Rule O8: notes the steps that a dead owner had in flight and left no record of."""
        marks = self._session.locks.in_flight(owner)
        if marks is None:
            connection.execute(JOURNAL["blind"], (owner,))
            return
        text = "its worker was cut off while the call was in flight; it may have been made without a record of it"
        notes = [(run, path, text, now) for run, path in marks if path and run in pending]
        connection.executemany(JOURNAL["note_in_flight"], notes)
        connection.execute(JOURNAL["begun"], (listed(sorted({run for run, _ in marks})),))

    def _still_pending(self, runs: Sequence[str]) -> set[str]:
        rows = self._session.main_readers.all(MAIN["still_pending"], (listed(runs),)) if runs else []
        return {cast(str, uid) for (uid,) in rows}

    def _in_hand(self, runs: Sequence[str]) -> set[str]:
        """Those that a claim is not a left-over of. A caller that raises an event holds a run that is parked."""
        rows = self._session.main_readers.all(MAIN["in_hand"], (listed(runs),)) if runs else []
        return {cast(str, uid) for (uid,) in rows}

    def _find(self, connection: sqlite3.Connection, workflows: Iterable[str], limit: int) -> _Found:
        """The oldest pending runs without a live claim. Every owner in the table is a live one."""
        ((journal_rewinds,),) = connection.execute(JOURNAL["rewinds"]).fetchall()
        ((main_rewinds,),) = self._session.main_readers.all(MAIN["rewinds"])
        rewinds = (cast(int, main_rewinds), cast(int, journal_rewinds))
        marks = self._marks if rewinds == self._rewinds else {}
        seen: Marks = {}
        free: list[tuple[int, str, str]] = []
        orphans: dict[str, int] = {}
        for workflow in workflows:
            seen[workflow] = marks.get(workflow, -1)
            missing = limit
            while missing > 0:
                page = max(missing, 64)
                rows = self._session.main_readers.all(MAIN["candidates"], (workflow, seen[workflow], page))
                candidates = [(cast(int, turn), cast(str, uid)) for turn, uid in rows]
                claimed = self._claims_on(connection, [uid for _, uid in candidates])
                for turn, uid in candidates:
                    seen[workflow] = turn
                    epoch, live = claimed.get(uid, (0, False))
                    if live:
                        continue
                    free.append((turn, workflow, uid))
                    if epoch:
                        orphans[uid] = epoch
                    missing -= 1
                    if missing == 0:
                        break
                if len(rows) < page:
                    break
        free.sort()
        for turn, workflow, _ in reversed(free[limit:]):  # found, but left for the next time
            seen[workflow] = turn - 1
        uids = [uid for _, _, uid in free[:limit]]
        return _Found(uids, {uid: orphans[uid] for uid in uids if uid in orphans}, seen, rewinds)

    def _claims_on(self, connection: sqlite3.Connection, runs: Sequence[str]) -> dict[str, tuple[int, bool]]:
        rows = connection.execute(JOURNAL["claims_on"], (listed(runs),)).fetchall() if runs else []
        return {run: (epoch, bool(live)) for run, epoch, live in rows}

    def _take(self, connection: sqlite3.Connection, owner: str, found: _Found, begins: float) -> list[Claim]:
        """Claims what was found and is still to be had.

        A run is read after its claim is known to be free, under the journal's lock: a finished run's claim is removed
        after its status was committed, so a run read as pending has not been finished by anybody.
        """
        if not found.uids or not connection.execute(JOURNAL["is_owner"], (owner,)).fetchall():
            return []
        now_claimed = self._claims_on(connection, found.uids)
        known = self._known(connection, found.uids)
        claims: list[Claim] = []
        for row in self._session.main_readers.all(MAIN["pending_of"], (listed(found.uids),)):
            run: Run = run_of(row)
            epoch, live = now_claimed.get(run.uid, (0, False))
            if live or epoch != found.orphans.get(run.uid, 0):
                continue
            if epoch:
                connection.execute(JOURNAL["end_claim"], (epoch,))
                connection.execute(JOURNAL["not_begun"], (run.uid,))
            claims.append(self._claimed(connection, owner, run, bool(epoch), cast(int, row[-1]), begins, known))
        return claims

    def _known(self, connection: sqlite3.Connection, runs: Sequence[str]) -> dict[str, tuple[Any, ...]]:
        """What the journal knows of these runs."""
        return {row[0]: row[1:] for row in connection.execute(JOURNAL["known"], (listed(runs),)).fetchall()}

    def _claimed(
        self,
        connection: sqlite3.Connection,
        owner: str,
        run: Run,
        takeover: bool,
        kills: int,
        begins: float,
        known: dict[str, tuple[Any, ...]],
    ) -> Claim:
        blind, began_at = known.get(run.uid, (0, None))
        if began_at is None:
            began_at = begins
            connection.execute(JOURNAL["begin"], (run.uid, begins))
        fresh = connection.execute(JOURNAL["claim"], (owner, run.uid)).lastrowid
        assert fresh is not None
        return Claim(run, owner, fresh, kills + 1, takeover, bool(blind), began_at)
