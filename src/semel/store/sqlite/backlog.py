"""The operations that wait for a commit, and which of them the next one takes.

A batch is capped by number and bytes. Large operations (big results) wait at the side and are let in one turn at a
time, when the small ones have had three times as long as the last turn took; alone, they go at once. So a run with
large results takes a quarter of the disk's time from the others at most.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from .ticket import Operation

LARGE = 64 << 10
_OPERATIONS = 2_000
_BYTES = 4 << 20
_TURN_BYTES = 512 << 10


class Backlog:
    """``append`` may be called by any thread, the rest by the one that commits."""

    def __init__(self) -> None:
        self._small: deque[Operation[Any]] = deque()
        self._large: deque[Operation[Any]] = deque()
        self._owed = 0.0  # seconds of commits that small operations have still to get before the next large one
        self.taken: list[Operation[Any]] = []

    def append(self, operation: Operation[Any]) -> None:
        self._small.append(operation)  # sorted out by ``take``

    def __len__(self) -> int:
        return len(self._small) + len(self._large)

    def head(self) -> Operation[Any] | None:
        """The one that waits longest, or nearly."""
        try:
            return self._small[0] if self._small else self._large[0]
        except IndexError:  # taken meanwhile
            return None

    def only(self) -> Operation[Any] | None:
        """The one operation that is queued, if it is one, and not large; it stays queued until ``drop``."""
        small = self._small
        if len(small) == 1 and not self._large and small[0].weight <= LARGE and not small[0].done:
            return small[0]
        return None

    def drop(self) -> None:
        """Takes off the one that ``only`` gave."""
        self._small.popleft()

    def take(self, *, light: bool) -> list[Operation[Any]]:
        """The next batch, which stays in ``taken`` until ``clear`` or ``put_back``; ``light`` leaves out large ones.

        An operation is in ``taken`` before it leaves the queue: an interrupt in between loses nothing.
        """
        taken, small, large = self.taken, self._small, self._large
        size = 0
        while small and len(taken) < _OPERATIONS and size < _BYTES:
            operation = small[0]
            if operation.weight > LARGE:
                large.append(operation)
            elif not operation.done:
                taken.append(operation)
                size += operation.weight
            small.popleft()
        if large and not light and (self._owed <= 0 or not taken):
            limit = size + _TURN_BYTES if taken else _BYTES
            while large and (size < limit):
                if not large[0].done:
                    taken.append(large[0])
                    size += large[0].weight
                large.popleft()
        return taken

    def clear(self) -> None:
        """The batch is done with."""
        self.taken = []

    def put_back(self) -> None:
        """The batch is to be taken again, in its old order."""
        for operation in reversed(self.taken):
            if not operation.done and operation not in self._small and operation not in self._large:
                self._small.appendleft(operation)
        self.taken = []

    def account(self, seconds: float, size: int) -> None:
        """What the last batch took, for whose turn it is next."""
        self._owed = 3 * seconds if size > LARGE and self._large else self._owed - seconds
