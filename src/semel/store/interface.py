"""What the engine and the workers need of a store, as plain data and one protocol.

Two promises, two places: what a body commits (the run's state and visits) and what survives the body (records, leases).
Every write gives a ``Ticket``: it is queued at once, and durable when the ticket is done. Writes of many callers share
one commit. Reads are direct and quick; they may be called on an event loop.

Times are seconds since the epoch, as float, given by the caller's clock; run uids are 32 hex digits.
"""

from __future__ import annotations

import asyncio
import builtins
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar

import msgspec

from .followed import Followed

T = TypeVar("T")

Status = Literal["pending", "running", "parked", "completed", "faulted", "cancelled"]
ENDED: frozenset[str] = frozenset({"completed", "faulted", "cancelled"})

RecordKind = Literal["result", "failure", "unrecordable", "event", "timeout"]
NoteKind = Literal[
    "possibly doubled",
    "unreached",
    "late result",
    "forgotten",
    "recorded by hand",
    "redelivered",
    "request differs",
    "undo failed",
    "cancelled",
    "event dropped",
]


class Ticket(Protocol[T]):
    """A write on its way to the disk."""

    def wait(self) -> T:
        """Blocks until the write is durable; its value, or raises what it failed with."""
        ...

    def future(self, loop: asyncio.AbstractEventLoop) -> asyncio.Future[T]:
        """The same for a coroutine of ``loop``; call it from the loop's own thread."""
        ...


@dataclass(frozen=True, slots=True)
class NewRun:
    """A run to be started. ``format`` is the version of path format and key derivation that it keeps (rule V6)."""

    uid: str
    id: str
    workflow: str
    args: bytes
    seed: bytes = field(repr=False)
    format: int
    created_at: float
    parent: str | None = None
    depth: int = 0
    deadline: float | None = None
    entity: str | None = None
    flow: str | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """A run as the main database holds it. ``version`` rises by one with each commit to it.

    ``status`` is "pending" in the row while it is unfinished; reads answer "running" while a live owner has claimed it.
    ``visits`` counts the finished executions by body name. ``args`` are those that it was started with, ``visit_args``
    those of a later visit. ``error`` is the encoded exception of a fault, ``fault`` its traceback as text.
    ``entity`` is the key of the row that an entity workflow's run follows, ``flow`` what it knows of it.
    """

    uid: str
    id: str
    workflow: str
    status: Status
    args: bytes
    seed: bytes = field(repr=False)
    format: int
    version: int
    visits: dict[str, int]
    created_at: float
    started_at: float | None
    finished_at: float | None
    result: bytes | None
    error: bytes | None
    fault: str | None
    parked: str = "{}"
    poked: int = 0
    parent: str | None = None
    depth: int = 0
    ending: Literal["cancelled", "timed out"] | None = None
    deadline: float | None = None
    transactional: int = 0
    visit_args: bytes | None = None
    entity: str | None = None
    flow: str | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """An event sent to a run, not yet used up by a commit of it. ``seq`` orders the events of a run."""

    seq: int
    run: str
    name: str
    payload: bytes
    at: float


class Record(msgspec.Struct, frozen=True, gc=False):
    """The durable outcome of a step. ``data`` is encoded by the codec: a value, a failure, or why it was not recorded.

    ``body`` names the execution (``start@1``), ``path`` is the whole path. ``awaited`` says that the step was async.
    A struct, because one is made for every step: a frozen dataclass takes ten times as long.
    """

    run: str
    body: str
    path: str
    kind: RecordKind
    data: bytes
    awaited: bool
    started_at: float
    finished_at: float
    delivery: int


@dataclass(frozen=True, slots=True)
class Note:
    """Something an operator should know about a run. ``path`` is "" where it is about the whole run."""

    run: str
    path: str
    kind: NoteKind
    text: str
    at: float


@dataclass(frozen=True, slots=True)
class Claim:
    """A run that an owner holds. ``epoch`` fences: a write with an older epoch than the row's is refused.

    ``delivery`` is 1 plus the number of owners that died while they drove the run, one after the other, without a step
    of it being recorded in between (rule R11); ``takeover`` says that the claim before was never let go: its owner died
    or lost its lease. ``blind`` says that nobody knows which steps that
    owner had in flight; else those without a record have been noted on the run as possibly doubled (rule O8).
    ``began_at`` is when the run was claimed for the first time: each later delivery reads the same start (rule A5).
    """

    run: Run
    owner: str
    epoch: int
    delivery: int
    takeover: bool
    blind: bool
    began_at: float


@dataclass(frozen=True, slots=True)
class Sending:
    """An event that a body has raised on another run, and that its commit sends."""

    run: str
    name: str
    payload: bytes
    at: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an execution ended: what the body's commit writes.

    ``flow`` None leaves it as it is; ``sends`` are events for other runs, ``cancels`` the uids of runs to be cancelled.
    """

    status: Status
    visits: dict[str, int]
    result: bytes | None
    error: bytes | None
    fault: str | None
    started_at: float
    finished_at: float
    args: bytes | None = None
    parked: str = "{}"
    due: float | None = None
    children: tuple[NewRun, ...] = ()
    awaited: tuple[str, ...] = ()
    need: int = 0
    taken: tuple[int, ...] = ()
    undos: int = 0
    forget: str | None = None
    flow: str | None = None
    sends: tuple[Sending, ...] = ()
    cancels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs to list; None means any. Times are of creation. Newest first."""

    workflow: str | None = None
    status: Status | None = None
    since: float | None = None
    until: float | None = None
    limit: int = 100


class Store(Followed, Protocol):
    """One database. ``open`` before use, ``close`` after; both may be called again."""

    def open(self, *, migrate: bool = False) -> None:
        """Connects, and checks schema and pair.

        A database that does not exist is made. ``migrate`` applies migrations that are missing.

        Raises:
            SchemaOutdated, SchemaTooNew, NotADatabase, JournalMismatch, DatabaseReadOnly, DatabaseLocked
        """
        ...

    def migrate(self) -> tuple[str, ...]:
        """Makes the database, or brings an existing one up to date; the names of the migrations that this applied.

        Needs no ``open``.

        Raises:
            as ``open``, but SchemaOutdated
        """
        ...

    def close(self) -> None:
        """Waits for queued writes, then disconnects."""
        ...

    def namespace(self) -> bytes:
        """The random key namespace of this database (rule O10), 32 bytes."""
        ...

    def changed(self) -> object:
        """A cheap value that differs after another process (or this one) changed the main database."""
        ...

    # runs, from outside

    def start(self, run: NewRun, records: Sequence[Record] = ()) -> Ticket[tuple[Run, bool]]:
        """Inserts the run, or finds the one of that id; the flag says whether it is new. Raises RunPurged.

        ``records`` are those of the run's that it begins with.
        """
        ...

    def get(self, id: str) -> Run | None:
        """The run of this id."""
        ...

    def list(self, which: RunFilter) -> list[Run]:
        """Runs, newest first."""
        ...

    def counts(self) -> dict[str, int]:
        """The number of runs by status."""
        ...

    def records(self, run: str, body: str | None = None, *, transactional: bool = True) -> builtins.list[Record]:
        """The records of a run, in the order they were made; of one execution if ``body`` is given.

        ``transactional`` False leaves those of transactional steps out, where it is known that there are none.
        """
        ...

    def notes(self, run: str) -> builtins.list[Note]:
        """The notes of a run, in order."""
        ...

    def redeliver(self, run: str, now: float) -> Ticket[bool]:
        """Makes a faulted run pending again, its deliveries counted from 1; False if it is not faulted."""
        ...

    def forget(self, run: str, path: str, note: Note) -> Ticket[bool]:
        """Deletes a record and notes it; False if there is none, or a live owner holds the run."""
        ...

    def record(self, record: Record, note: Note) -> Ticket[bool]:
        """States a step's outcome (replacing one) and notes it; False if a live owner holds the run."""
        ...

    def children(self, run: str) -> builtins.list[Run]:
        """The runs that this one has started, in order."""
        ...

    def events(self, run: str) -> builtins.list[Event]:
        """The events that no commit of the run has used up, in order."""
        ...

    def send(self, run: str, name: str, payload: bytes, now: float) -> Ticket[bool]:
        """Appends an event, and wakes the run if it is parked; False if it has ended, or is to end."""
        ...

    def cancel(self, run: str, now: float, ending: str = "cancelled") -> Ticket[bool]:
        """Ends a run and all below it: parked ones without open undos at once, those that were never claimed, too;
        others when a worker sees ``ending``.

        False if the run has ended. A body that runs commits no more.
        """
        ...

    def ending(self, runs: Sequence[str]) -> builtins.list[str]:
        """Those of these runs that are to be ended."""
        ...

    def next_due(self) -> float | None:
        """When the first clock is due."""
        ...

    def wake_due(self, now: float, limit: int) -> Ticket[int]:
        """Makes parked runs claimable whose clock is due, the earliest first, and ends those out of time.

        The number of clocks that it saw to; call again while it is ``limit``.
        """
        ...

    def purge(self, *, ended_before: float, limit: int) -> Ticket[int]:
        """Deletes at most ``limit`` ended runs with all that hangs on them, journal first, and leaves tombstones.

        Call again while it returns ``limit``.
        """
        ...

    # owners and claims

    def register(self, owner: str, lease_until: float) -> Ticket[None]:
        """Makes this process an owner."""
        ...

    def renew(self, owner: str, lease_until: float) -> Ticket[bool]:
        """Extends the lease; False if the owner was removed by a takeover."""
        ...

    def retire(self, owner: str) -> Ticket[None]:
        """A clean stop: removes the owner and gives its claims back."""
        ...

    def claim(
        self, owner: str, workflows: Sequence[str], limit: int, now: float, begins: float | None = None
    ) -> Ticket[builtins.list[Claim]]:
        """Claims pending runs of these workflows that no live owner holds, oldest first.

        An owner is dead when its lease is over at ``now`` or, where the store can know it, its process has ended.
        ``begins`` is the time by the clock of records, where leases go by another one: ``began_at`` of a first claim.
        """
        ...

    def release(self, claim: Claim, forget: str | None = None) -> Ticket[None]:
        """Gives a claim back unfinished; or ends it after ``finish_in``, with the outcome's ``forget``."""
        ...

    # one execution

    def append(
        self,
        claim: Claim,
        records: Sequence[Record],
        notes: Sequence[Note] = (),
        retracted: Sequence[str] = (),
    ) -> Ticket[bool]:
        """Records outcomes; all durable together. False (and nothing written) if the claim was lost.

        ``retracted`` are paths of this execution whose records are deleted: failures that ended the body after all.

        A late writer may still leave notes with ``note``.
        """
        ...

    def mark(self, claim: Claim, path: str) -> object:
        """Says that a step starts, at once and without a commit; path "" says that the body does.

        What ``delivery``, ``blind`` and the notes of a takeover go by.
        """
        ...

    def unmark(self, mark: object) -> None:
        """The step's record is durable, or its execution has ended."""
        ...

    def note(self, notes: Sequence[Note]) -> Ticket[None]:
        """Writes notes, claim or not."""
        ...

    def finish(self, claim: Claim, outcome: Outcome, notes: Sequence[Note] = ()) -> Ticket[bool]:
        """The body's commit: writes the outcome if ``claim.run.version`` is still the row's, then ends the claim.

        False (and nothing written) if the claim was lost.
        """
        ...

    def finish_in(self, connection: Any, claim: Claim, outcome: Outcome, notes: Sequence[Note] = ()) -> bool:
        """Writes the same on a DB-API connection to the main database, inside the transaction open there.

        The caller commits it, so that the app's rows and the run's state are one commit, and then calls ``release``.
        False (and nothing written) if the claim was lost: the caller rolls back.
        """
        ...

    def step_in(self, connection: Any, claim: Claim, record: Record) -> bool:
        """Writes the record of a transactional step in the same way. False if the claim was lost."""
        ...
