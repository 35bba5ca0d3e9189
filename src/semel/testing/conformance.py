"""What the conformance suite of stores is made with: sample data, and an owner in a process of its own.

The suite itself is ``tests/conformance``; it knows nothing of a store but the ``Store`` protocol. A new store adds a
``StoreKit``.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
from dataclasses import dataclass
from typing import Protocol

from semel.store import open_store
from semel.store.interface import Claim, NewRun, Note, NoteKind, Outcome, Record, RecordKind, Status, Store

HOUR = 3600.0
LONG = 100 * 365 * 24 * HOUR  # a lease that is not over by any clock


class StoreKit(Protocol):
    """One database that a test may open several times, as several processes would."""

    url: str

    def store(self) -> Store:
        """Another store on the database, not open, whose reads take ``now`` as the time."""
        ...

    now: float


def new_run(
    id: str = "order-1", *, workflow: str = "fulfil", created_at: float = 1000.0, args: bytes = b"args"
) -> NewRun:
    """A run to start."""
    return NewRun(uuid.uuid4().hex, id, workflow, args, b"s" * 32, 1, created_at)


def record(run: str, path: str, data: bytes = b"1", *, body: str = "start@1", kind: RecordKind = "result") -> Record:
    """A step's outcome."""
    return Record(run, body, path, kind, data, False, 1001.0, 1002.5, 1)


def note(run: str, text: str = "", *, path: str = "", kind: NoteKind = "late result", at: float = 1003.0) -> Note:
    """A note on a run."""
    return Note(run, path, kind, text, at)


def outcome(status: Status = "completed", *, result: bytes | None = b"done", finished_at: float = 1010.0) -> Outcome:
    """The end of a run."""
    error = b"error" if status == "faulted" else None
    fault = "Traceback" if status == "faulted" else None
    return Outcome(status, {"start": 1}, result if error is None else None, error, fault, 1000.5, finished_at)


def claim_one(store: Store, owner: str = "owner", *, now: float = 1000.0, workflow: str = "fulfil") -> Claim:
    """The oldest claimable run, which must be there. The owner is registered if need be, for long."""
    store.register(owner, LONG).wait()
    claims = store.claim(owner, [workflow], 1, now).wait()
    assert len(claims) == 1, "there is no run to claim"
    store.mark(claims[0], "")
    return claims[0]


@dataclass(frozen=True, slots=True)
class Answer:
    """What the owner in another process said: the run's id, or the value of a write."""

    text: str

    @property
    def yes(self) -> bool:
        return self.text == "True"


class OwnerProcess:
    """A process that registers ``owner``, claims the oldest run and then does as it is told, until it is killed."""

    def __init__(self, url: str, owner: str, lease_until: float, *, environment: dict[str, str] | None = None) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter, on a program of this module
            [sys.executable, "-c", f"from {__name__} import _serve; _serve()", url, owner, str(lease_until)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **(environment or {})},
        )
        self.claimed = self._read().text

    def tell(self, command: str) -> Answer:
        """``append PATH``, ``mark PATH``, ``finish`` or ``renew LEASE_UNTIL``; what it gave. "" if it died of it."""
        assert self._process.stdin is not None
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        return self._read()

    def kill(self) -> None:
        """SIGKILL, and waits for the end."""
        self._process.kill()
        self.close()

    def stop(self) -> None:
        """SIGSTOP: it lives, holds what it held, and does nothing."""
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.communicate()

    def _read(self) -> Answer:
        assert self._process.stdout is not None
        return Answer(self._process.stdout.readline().strip())


def _serve() -> None:
    """The other side of ``OwnerProcess``."""
    url, owner, lease_until = sys.argv[1:]
    store = open_store(url)
    store.open()
    store.register(owner, float(lease_until)).wait()
    (claim,) = store.claim(owner, ["fulfil"], 1, 0.0).wait()
    if os.environ.get("SEMEL_ONLY_CLAIMS") != "yes":
        store.mark(claim, "")  # as a worker does when it delivers
    print(claim.run.id, flush=True)
    for line in sys.stdin:
        command, _, argument = line.strip().partition(" ")
        if command == "append":
            print(store.append(claim, [record(claim.run.uid, argument)]).wait(), flush=True)
        elif command == "mark":
            print(store.mark(claim, argument) is not None, flush=True)
        elif command == "renew":
            print(store.renew(owner, float(argument)).wait(), flush=True)
        else:
            print(store.finish(claim, outcome()).wait(), flush=True)
