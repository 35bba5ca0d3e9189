"""Calls that leave the process: what the recorder costs outside of a run, live in one, and replayed."""

from __future__ import annotations

from collections.abc import Iterator

from . import child
from .measure import Beside, Measure, Settings


def case(settings: Settings) -> Iterator[Measure]:
    found: dict[str, list[dict[str, float]]] = {"plain": [], "registered": [], "run": []}
    for turn in range(settings.repeat if not settings.quick else 1):
        for role in found if turn % 2 else reversed(found):
            found[role].append(child.asking(role))
    for library in ("httpx", "requests"):
        plain = min(one[library] for one in found["plain"])
        registered = min(one[library] for one in found["registered"])
        # The least of all rounds: a disturbed round says nothing, and the calls do the same work in each.
        least = Beside.of([registered], [plain] * 2)
        yield Measure(
            "calls", f"{library}, outside of a run", "µs", least, 1.03, note="goal: 1.00; floor: without semel"
        )
        replayed = [one[f"{library} replayed"] for one in found["run"]]
        yield Measure("calls", f"{library}, replayed", "µs", Beside.of(replayed, [plain] * (len(replayed) + 1)))
        live = [one[f"{library} live"] for one in found["run"]]
        yield Measure("calls", f"{library}, live and recorded", "µs", live, note="with its own commit")
