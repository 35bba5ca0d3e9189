"""The process as an owner of runs that it drives for those who raise events, without being a worker.

It is made when the first event is raised, and again in a forked child.
"""

from __future__ import annotations

import os
import threading
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from semel.engine.execution import Execution
from semel.engine.halt import Halt
from semel.worker.lease import Lease
from semel.worker.tracked import tracked

if TYPE_CHECKING:
    from semel.app import App

_LEASE = 15.0  # seconds that a process which is stopped, but not dead, keeps what it drives


def driver_of(app: App) -> Driver:
    """This process as an owner of the app's runs, made at first use."""
    with app._lock:
        if app._driver is None:
            app._driver = Driver(app)
        return app._driver


class Driver:
    """One app's owner in this process."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._lock = threading.Lock()
        self._lease: Lease | None = None
        self._pid = 0
        self._executions: set[Execution] = set()

    def lease(self) -> Lease:
        """The lease, begun at first use."""
        if self._pid != os.getpid():
            self._lock = threading.Lock()  # another thread of the parent may have held it
            with self._lock:
                self._executions = set()
                self._lease = Lease(self._app.store, _LEASE, self._lost)
                self._lease.start()
                self._pid = os.getpid()
        assert self._lease is not None
        return self._lease

    def drives(self, execution: Execution) -> AbstractContextManager[None]:
        """In it the execution runs, and is halted if the lease is lost."""
        return tracked(execution, self._executions)

    def close(self) -> None:
        """Gives up what it has."""
        with self._lock:
            lease, self._lease = self._lease, None
            forked, self._pid = self._pid != os.getpid(), 0
        if lease is not None and not forked:
            lease.stop()

    def _lost(self) -> None:
        for execution in tuple(self._executions):
            execution.halt(Halt("lease lost"))
