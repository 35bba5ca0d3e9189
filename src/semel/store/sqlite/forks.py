"""Forks: no connection to a database may be open while this process forks.

SQLite keeps in its memory which locks a process holds. A child inherits that memory and not the locks, and would write
without any. So all stores are frozen before a fork: writers and readers stand still, their connections are closed. The
parent opens new ones at once, the child at first use. A store that could not be frozen (the thread that forks is in the
midst of a transaction of its own) is refused in the child, for its database's sake.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from semel.errors import StoreError

_PATIENCE = 10.0  # seconds that a fork waits for commits and reads to end; longer than a commit waits for a lock


class Forkable(Protocol):
    """An open store, or one that may be opened."""

    path: Path

    def before_fork(self, deadline: float) -> bool:
        """Closes its connections and lets nobody open one; False if it cannot, and then nothing has changed."""
        ...

    def after_fork_in_parent(self) -> None:
        """Goes on; only after ``before_fork`` gave True."""
        ...

    def after_fork_in_child(self, frozen: bool) -> None:
        """Lets go of all that is the parent's; ``frozen`` is what ``before_fork`` gave."""
        ...


class _Forks:
    def __init__(self) -> None:
        self._stores: weakref.WeakSet[Forkable] = weakref.WeakSet()
        self._one_at_a_time = threading.Lock()
        self._locked = False
        self._frozen: list[Forkable] = []
        self._missed: list[Forkable] = []
        self._refused: set[Path] = set()

    def add(self, store: Forkable) -> None:
        with self._one_at_a_time:
            self._stores.add(store)

    def check(self, path: Path) -> None:
        if path in self._refused:
            raise StoreError(
                f"{path}: this process was forked in the midst of work on the database, so SQLite's locks cannot "
                "be relied on here. Start it anew instead (subprocess, multiprocessing's `spawn`), or fork elsewhere."
            )

    def before(self) -> None:
        deadline = time.monotonic() + _PATIENCE
        locked = self._one_at_a_time.acquire(timeout=_PATIENCE)
        self._locked = locked
        for store in list(self._stores):
            frozen = False
            try:
                frozen = locked and store.before_fork(deadline)
            finally:  # Python reports an exception here, and forks all the same
                (self._frozen if frozen else self._missed).append(store)

    def after_in_parent(self) -> None:
        self._missed.clear()
        try:
            while self._frozen:
                self._frozen.pop().after_fork_in_parent()
        finally:
            if self._locked:
                self._locked = False
                self._one_at_a_time.release()

    def after_in_child(self) -> None:
        self._one_at_a_time, self._locked = threading.Lock(), False
        self._refused.update(store.path for store in self._missed)
        for store in self._missed:
            store.after_fork_in_child(False)
        for store in self._frozen:
            store.after_fork_in_child(True)
        self._missed, self._frozen = [], []


_forks = _Forks()

#: Has a store frozen before each fork from now on; it is not kept alive by that.
watch: Callable[[Forkable], None] = _forks.add
#: Raises StoreError if this process may not open the database of this main file.
check: Callable[[Path], None] = _forks.check

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_forks.before, after_in_parent=_forks.after_in_parent, after_in_child=_forks.after_in_child
    )
