"""Runs beside which several workers died, one at a time: so the next death is that of the one that brings it about.

When a process dies, every run that it drove has a death counted against it (rule R11). Driven side by side again and
again, the innocent would be faulted with the guilty. So a run that is close to its last delivery waits for its turn.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Generic, TypeVar

from semel.store.interface import Claim

D = TypeVar("D")

_SUSPECT = 3  # deaths; two more fault the run
_TURN = 60.0  # seconds; what has lived so long does not keep the others waiting, though it goes on


class Suspects(Generic[D]):
    """Whose turn it is. ``D`` is what the worker needs to drive a claimed run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[tuple[Claim, D]] = deque()
        self._turn: int | None = None  # an epoch
        self._since = 0.0

    def must_wait(self, claim: Claim, drive: D) -> bool:
        """Whether the run has to wait; ``next`` gives it when its turn has come."""
        if claim.delivery <= _SUSPECT:
            return False
        with self._lock:
            if self._turn is not None:
                self._waiting.append((claim, drive))
                return True
            self._take_turn(claim)
            return False

    def next(self, ended: Claim | None = None) -> D | None:
        """Who is to be driven now that ``ended`` has ended, or that time has gone by."""
        if self._turn is None or (ended is not None and ended.epoch != self._turn):
            return None
        with self._lock:
            if self._turn is None or (ended is None and time.monotonic() - self._since < _TURN):
                return None
            self._turn = None
            if not self._waiting:
                return None
            claim, drive = self._waiting.popleft()
            self._take_turn(claim)
            return drive

    def rest(self) -> list[D]:
        """All who wait: the worker stops, and gives them back."""
        with self._lock:
            rest = [drive for _, drive in self._waiting]
            self._waiting.clear()
            return rest

    def _take_turn(self, claim: Claim) -> None:
        self._turn = claim.epoch
        self._since = time.monotonic()
