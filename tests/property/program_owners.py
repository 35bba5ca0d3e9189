"""The workers that drive a story, one after the other: they die, stop and go on too late, or end as they should."""

from __future__ import annotations

from semel import App
from semel.worker.lease import Lease

FAR = 10_000.0  # seconds: longer than any lease


class Owners:
    """The workers of an app, one after the other. ``wall`` is the time that leases go by."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.wall = 1_700_000_000.0
        self._lease: Lease | None = None
        self._time = [0.0]  # of the present one

    def lease(self) -> Lease:
        """That of the present owner."""
        if self._lease is None:
            self._time = time = [0.0]
            self._lease = Lease(
                self.app.store, FAR / 2, lambda: None, wall=lambda: self.wall, monotonic=lambda: time[0]
            )
            self._lease.start(beats=False)
        return self._lease

    def dies(self, lease: Lease) -> None:
        """Who has this lease is no more."""
        if lease is self._lease:
            self._lease = None
            self.wall += FAR

    def stops(self, knows: bool) -> None:
        """The present owner is stopped until its lease is over; when it goes on, it ``knows`` that."""
        if knows:
            self._time[0] = FAR
        self._lease = None
        self.wall += FAR

    def retire(self) -> None:
        """The present owner ends as it should."""
        if self._lease is not None:
            self._lease.stop()
            self._lease = None
