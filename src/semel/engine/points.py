"""Named crash points: where a test lets a real process die.

Off in production: ``armed`` is None, and a caller asks for that before it calls ``hit``. The environment variable
``SEMEL_CRASH_AT="name:n"`` arms one point; its n-th hit (from 1) in this process is SIGKILL, as a power cut would be.
"""

from __future__ import annotations

import os
import signal
import threading
from typing import Protocol

NAMES = frozenset(
    {
        "run.claimed",
        "step.before",
        "step.returned",
        "step.recorded",
        "transaction.before_commit",
        "transaction.after_commit",
        "body.before_commit",
        "body.after_commit",
        "journal.in_batch",
        "journal.after_commit",
        "main.in_batch",
        "main.after_commit",
    }
)


class Armed(Protocol):
    """What hears of each point that an execution comes to."""

    def hit(self, name: str, path: str) -> None: ...


class _Death:
    """Lets the process die at the n-th hit of one point."""

    def __init__(self, name: str, count: int) -> None:
        self._name = name
        self._left = count
        self._lock = threading.Lock()

    def hit(self, name: str, path: str) -> None:
        if name != self._name:
            return
        with self._lock:
            self._left -= 1
            if self._left != 0:
                return
        os.kill(os.getpid(), signal.SIGKILL)


armed: Armed | None = None


def arm(spec: str | None) -> None:
    """Arms ``name:n``, or disarms with None.

    Raises:
        ValueError: no such point, or a count below 1.
    """
    if spec is None:
        watch(None)
        return
    name, _, count = spec.partition(":")
    if name not in NAMES or int(count or "1") < 1:
        raise ValueError(f"no crash point {spec!r}; the points are {', '.join(sorted(NAMES))}")
    watch(_Death(name, int(count or "1")))


def watch(watcher: Armed | None) -> None:
    """Lets ``watcher`` hear of all points, or nobody."""
    global armed
    armed = watcher


def hit(name: str, path: str = "") -> None:
    """The execution has come to this point; ``path`` is that of its step."""
    if armed is not None:
        armed.hit(name, path)


arm(os.environ.get("SEMEL_CRASH_AT"))
