"""Processes that die by SIGKILL at a chosen point of an execution.

Relies on ``semel.engine.points``: a process reads its crash point from its environment when it imports semel.
"""

from __future__ import annotations

from semel.engine import points

#: The points at which a process can be made to die, by name.
CRASH_POINTS: frozenset[str] = points.NAMES


def crash_environment(point: str, hit: int = 1) -> dict[str, str]:
    """The environment variables that let a process die by SIGKILL at a point, the n-th time that it comes there.

    Give them to the process that is to die, next to its own environment::

        subprocess.Popen([sys.executable, "shop.py"], env={**os.environ, **crash_environment("step.returned", 2)})

    Args:
        point: one of ``CRASH_POINTS``.
        hit: how often the process must come to the point, in all its runs and threads; 1 is the first time.

    Raises:
        ValueError: there is no such point, or ``hit`` is below 1.
    """
    if point not in CRASH_POINTS:
        raise ValueError(f"there is no crash point {point!r}; the points are {', '.join(sorted(CRASH_POINTS))}")
    if hit < 1:
        raise ValueError(f"hit={hit}: the first time that the process comes to the point is 1")
    return {"SEMEL_CRASH_AT": f"{point}:{hit}"}
