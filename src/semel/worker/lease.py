"""The lease: how a worker stays the owner of its runs, and knows when it no longer is.

The database holds the end of the lease by the wall clock, which other workers compare; this process trusts only its
own monotonic time since it asked for the renewal, so that a stopped process knows at once, when it goes on, that it
must look again.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable

from semel.errors import StoreError
from semel.store.interface import Store

log = logging.getLogger("semel")


class Lease:
    """An owner with a heartbeat. ``seconds`` is the length of the lease; ``lost`` is called when it was taken over."""

    def __init__(
        self,
        store: Store,
        seconds: float,
        lost: Callable[[], None],
        *,
        wall: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.owner = secrets.token_hex(8)
        self._store = store
        self._seconds = seconds
        self._lost = lost
        self._wall = wall
        self._monotonic = monotonic
        self._good_until = 0.0
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, *, beats: bool = True) -> None:
        """Registers the owner. Without a heartbeat the lease ends by itself, if nobody calls ``renew``."""
        self._register()
        if not beats:
            return
        self._thread = threading.Thread(target=self._beat, name="semel-lease", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stops the heartbeat and gives all claims back."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        try:
            self._store.retire(self.owner).wait()
        except StoreError as error:
            log.warning("the claims of this worker could not be given back, and are taken over: %s", error)

    def now(self) -> float:
        """The wall clock that leases go by, in seconds since the epoch."""
        return self._wall()

    def may_start(self) -> bool:
        """Whether more than a third of the lease is left: only then is a step started."""
        return self._monotonic() < self._good_until - self._seconds / 3

    def _register(self) -> None:
        asked = self._monotonic()
        self._store.register(self.owner, self._wall() + self._seconds).wait()
        self._good_until = asked + self._seconds

    def _beat(self) -> None:
        while not self._stop.wait(self._seconds / 4):
            try:
                self.renew()
            except StoreError as error:
                log.warning("the lease could not be renewed: %s", error)

    def renew(self) -> None:
        """One heartbeat."""
        asked = self._monotonic()
        if self._store.renew(self.owner, self._wall() + self._seconds).wait():
            self._good_until = asked + self._seconds
            return
        log.warning("this worker lost its lease; what it had is taken over by another one")
        self._good_until = 0.0
        self._lost()
        self.owner = secrets.token_hex(8)
        self._register()
