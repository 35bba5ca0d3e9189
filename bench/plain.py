"""What semel costs where it is not at work: a registered function, and ``once``, called outside of a run."""

from __future__ import annotations

from collections.abc import Iterator

from . import child
from .measure import Beside, Measure, Settings


def case(settings: Settings) -> Iterator[Measure]:
    plain: list[float] = []
    registered: list[float] = []
    once: list[float] = []
    for turn in range(settings.repeat * 2 if not settings.quick else 1):
        for role in ("plain", "registered") if turn % 2 else ("registered", "plain"):
            found = child.outside(role)
            (plain if role == "plain" else registered).append(found["call"])
            if role == "registered":
                once.append(found["once"] - found["step"])
    # The least of all rounds: a disturbed round says nothing, and the function does the same work in each.
    least = Beside.of([min(registered)], [min(plain)] * 2)
    yield Measure("outside", "a registered function, outside of a run", "ns", least, 1.02, note="goal: 1.00")
    yield Measure("outside", "once outside of a run, more than its step", "ns", [min(once)])
