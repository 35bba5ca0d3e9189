"""In-process wake-ups: a run of this process has ended, a run was started. Other processes are found by polling."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable


class Signals:
    """Who waits for which run, and who waits for new runs. A missed wake-up only costs the poll interval."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, list[Callable[[], object]]] = {}
        self._workers: list[Callable[[], object]] = []

    def ended(self, uid: str) -> None:
        """A run of this process has ended, or parked."""
        with self._lock:
            wakes = tuple(self._waiting.get(uid, ()))
        for wake in wakes:
            wake()

    def when_ended(self, uid: str, wake: Callable[[], object]) -> None:
        """Calls ``wake``, from any thread, each time that this process ends the run or parks it, until ``forget``."""
        with self._lock:
            self._waiting.setdefault(uid, []).append(wake)

    def forget(self, uid: str, wake: Callable[[], object]) -> None:
        """The waiter gave up."""
        with self._lock:
            wakes = self._waiting.get(uid)
            if wakes is not None and wake in wakes:
                wakes.remove(wake)
                if not wakes:
                    del self._waiting[uid]

    def started(self) -> None:
        """There may be a new run to claim."""
        for wake in tuple(self._workers):
            wake()

    def join(self, wake: Callable[[], object]) -> None:
        """A worker wants to hear of new runs."""
        self._workers.append(wake)

    def part(self, wake: Callable[[], object]) -> None:
        """The worker has stopped."""
        self._workers.remove(wake)


def loop_wake(loop: asyncio.AbstractEventLoop, event: asyncio.Event) -> Callable[[], object]:
    """A wake-up for a coroutine, to be called from any thread."""

    def wake() -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(event.set)

    return wake
