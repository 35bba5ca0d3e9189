"""How one process knows that another has ended: a lock on a small file that the system lets go of by itself.

An owner holds ``shop.steps.db-owner-ID`` locked for as long as its process lives; a stopped one holds it too. Where
there is no such lock (Windows), or the file is missing, only the lease counts.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from semel.errors import StoreError

from .board import Board, marks_of

try:
    import fcntl
except ImportError:  # not on this platform: only leases count
    fcntl = None  # type: ignore[assignment]


class OwnerLocks:
    """The lock files beside one journal."""

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self._held: dict[str, int] = {}
        self._boards: dict[str, Board] = {}

    def file(self, owner: str) -> Path:
        return self._journal.with_name(f"{self._journal.name}-owner-{quote(owner, safe='')}")

    def hold(self, owner: str) -> None:
        """Locks this owner's file, until ``drop`` or the end of this process."""
        if fcntl is None or owner in self._held:
            return
        file = self.file(owner)
        try:
            descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise _unlockable(file, error) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # somebody of this name lives: the caller's ids are not unique; the lease must do
            os.close(descriptor)
        except OSError as error:
            os.close(descriptor)
            raise _unlockable(file, error) from error
        else:
            self._held[owner] = descriptor
            with suppress(OSError):  # no room for a board: a takeover is blind
                self._boards[owner] = Board(descriptor)

    def board(self, owner: str) -> Board | None:
        """Where an owner of this process marks the steps that it has in flight."""
        return self._boards.get(owner)

    def in_flight(self, owner: str) -> list[tuple[str, str]] | None:
        """The runs and paths of the steps that a dead owner had in flight; None if nobody knows."""
        return marks_of(self.file(owner))

    def drop(self, owner: str) -> None:
        """Lets go, and removes the file."""
        descriptor = self._held.pop(owner, None)
        self._boards.pop(owner, None)
        if descriptor is not None:
            self.remove(owner)
            os.close(descriptor)

    def is_gone(self, owner: str) -> bool:
        """Whether the process of this owner has certainly ended."""
        if fcntl is None or owner in self._held:
            return False
        try:
            descriptor = os.open(self.file(owner), os.O_RDWR)
        except OSError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return False
        else:
            return True
        finally:
            os.close(descriptor)

    def remove(self, owner: str) -> None:
        """Removes the file of an owner that is no more."""
        self.file(owner).unlink(missing_ok=True)

    def close(self) -> None:
        """Lets go of all, and leaves the files: who is still registered is now known to have ended."""
        self._boards.clear()
        while self._held:
            os.close(self._held.popitem()[1])

    def abandon(self) -> None:
        """In a forked child: the locks and the boards are the parent's."""
        for board in self._boards.values():
            board.detach()
        self.close()


def _unlockable(file: Path, error: OSError) -> StoreError:
    return StoreError(f"{file}: this worker's lock file cannot be made or locked ({error.strerror or error})")
