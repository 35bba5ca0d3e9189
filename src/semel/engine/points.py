"""Named crash points: where a test lets a real process die.

Off in production: ``armed`` is None, and a caller asks for that before it calls ``hit``. The environment variable
``SEMEL_CRASH_AT="name:n"`` arms one point; its n-th hit (from 1) in this process is SIGKILL, as a power cut would be.
"""

from __future__ import annotations

import os
import signal
import threading

NAMES = frozenset(
    {
        "run.claimed",
        "step.before",
        "step.returned",
        "step.recorded",
        "body.before_commit",
        "body.after_commit",
        "journal.in_batch",
        "journal.after_commit",
        "main.in_batch",
        "main.after_commit",
    }
)


class _Armed:
    def __init__(self, name: str, count: int) -> None:
        self.name = name
        self.left = count
        self.lock = threading.Lock()


armed: _Armed | None = None


def arm(spec: str | None) -> None:
    """Arms ``name:n``, or disarms with None.

    Raises:
        ValueError: no such point, or a count below 1.
    """
    global armed
    if spec is None:
        armed = None
        return
    name, _, count = spec.partition(":")
    if name not in NAMES or int(count or "1") < 1:
        raise ValueError(f"no crash point {spec!r}; the points are {', '.join(sorted(NAMES))}")
    armed = _Armed(name, int(count or "1"))


def hit(name: str) -> None:
    """Dies here if this point is armed and its count is reached."""
    point = armed
    if point is None or point.name != name:
        return
    with point.lock:
        point.left -= 1
        if point.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


arm(os.environ.get("SEMEL_CRASH_AT"))
