"""One run of 200 steps: what a step takes, from its start to the next one's, beside a bare commit of its row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

from semel import App

from . import programs
from .measure import Measure, Settings, rounds
from .scene import intervals, new_scene


def case(settings: Settings) -> Iterator[Measure]:
    count = settings.size(200, 20)
    repeat = settings.repeat if settings.quick else settings.repeat * 4  # a round is short
    with new_scene(settings) as (app, floor), app.worker():
        floors, (of_sync, of_async) = rounds(
            repeat,
            lambda: median(floor.lone(count)) * 1e6,
            lambda: _run(app, programs.steps, count),
            lambda: _run(app, programs.steps_async, count),
        )
    for name, values, limit in (("sync", of_sync, 1.2), ("async", of_async, 1.5)):
        note = f"{1e6 / median(values):,.0f} steps/s"
        yield Measure("lone", f"a step, {name} (p50)", "µs", values, floors, limit, note=note, peers="step")


def _run(app: App, workflow: Callable[..., Any], count: int) -> float:
    """The median microseconds of a step."""
    run = app.start(workflow, count)
    run.result()
    return median(intervals(app, run)) * 1e6
