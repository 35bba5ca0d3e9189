"""One run of 200 steps: what a step takes, from its start to the next one's, beside a bare commit of its row."""

from __future__ import annotations

from collections.abc import Iterator

from . import programs
from .measure import Beside, Measure, Settings
from .scene import in_turn, new_scene


def case(settings: Settings) -> Iterator[Measure]:
    count, each = settings.size(200, 20), settings.size(20, 10)
    of_sync: list[Beside] = []
    of_async: list[Beside] = []
    with new_scene(settings) as (app, floor), app.worker():
        for _ in range(settings.repeat):
            of_sync.append(in_turn(app, floor, programs.steps, count + 1, each))
            of_async.append(in_turn(app, floor, programs.steps_async, count + 1, each))
    for name, parts, limit in (("sync", of_sync, 1.2), ("async", of_async, 1.5)):
        taken = Beside.joined(parts)
        micros = Beside([value * 1e6 for value in taken.semel], [value * 1e6 for value in taken.floor], taken.ratios)
        yield Measure("lone", f"a step of one run, {name} (p50)", "µs", micros, limit, peers="step")
