"""A clock that stands still until a test moves it."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

_START = datetime(2025, 1, 1, tzinfo=UTC)


class Clock:
    """Begins at ``start``, an aware datetime. Called, it gives seconds since the epoch: ``App(now=clock)`` takes it."""

    def __init__(self, start: datetime = _START) -> None:
        self._lock = threading.Lock()
        self._seconds = _aware(start).timestamp()

    def __call__(self) -> float:
        return self._seconds

    def __repr__(self) -> str:
        return f"<Clock {self.now().isoformat()}>"

    def now(self) -> datetime:
        """The time, in UTC."""
        return datetime.fromtimestamp(self._seconds, UTC)

    def advance(self, delta: timedelta) -> None:
        """Moves it forward.

        Raises:
            ValueError: ``delta`` is negative; to set a clock back is what ``set`` is for.
        """
        self.reach(self.after(delta))

    def set(self, moment: datetime) -> None:
        """Sets it to a moment, an aware datetime, also to one that has passed."""
        with self._lock:
            self._seconds = _aware(moment).timestamp()

    def after(self, delta: timedelta) -> float:
        """What it will show so much later; raises as ``advance`` does."""
        if delta < timedelta(0):
            raise ValueError(f"advance({delta}) would set the clock back; if that is what is tested, use clock.set(…)")
        return self._seconds + delta.total_seconds()

    def reach(self, seconds: float) -> None:
        """Moves it forward to this time, if it has not come to it yet."""
        with self._lock:
            self._seconds = max(self._seconds, seconds)


def _aware(moment: datetime) -> datetime:
    if moment.tzinfo is None or moment.utcoffset() is None:
        raise ValueError(f"{moment} has no time zone: a clock's time is an aware datetime, datetime(…, tzinfo=UTC)")
    return moment
