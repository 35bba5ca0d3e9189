"""One run of 200 steps: what a step takes, from its start to the next one's, beside a bare commit of its row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from statistics import median
from typing import Any

from semel import App

from . import programs
from .measure import Measure, Settings, rounds
from .scene import new_scene


def case(settings: Settings) -> Iterator[Measure]:
    count = settings.size(200, 20)
    repeat = settings.repeat if settings.quick else settings.repeat * 4  # a round is short
    for name, workflow, limit in (("sync", programs.steps, 1.2), ("async", programs.steps_async, 1.5)):
        with new_scene(settings) as (app, floor), app.worker():
            floors, (values,) = rounds(
                repeat, lambda: median(floor.lone(count)) * 1e6, lambda: _run(app, workflow, count)
            )
        note = f"{1e6 / median(values):,.0f} steps/s"
        yield Measure("lone", f"a step, {name} (p50)", "µs", values, floors, limit, note=note, peers="step")


def _run(app: App, workflow: Callable[..., Any], count: int) -> float:
    """The median microseconds of a step."""
    programs.marks.clear()
    app.start(workflow, count).result()
    return median(later - earlier for earlier, later in pairwise(programs.marks)) * 1e6
