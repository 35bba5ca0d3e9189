"""Many runs at once: 500 of 10 steps, and 100 of 50 that all go on together; beside batches of 100 bare rows.

The time of the 500 is from the first start to the last result, with the starts, as it was taken for other engines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter, process_time, time
from typing import Any

from semel import App

from . import programs
from .floor import Floor
from .measure import Measure, Settings, rounds
from .scene import begun, new_scene

_TOGETHER = 100


def case(settings: Settings) -> Iterator[Measure]:
    runs, each = settings.size(500, 10), settings.size(10, 3)
    for name, workflow, limit in (("sync", programs.steps, None), ("async", programs.steps_async, 0.65)):
        yield from _measured(settings, f"{runs} runs of {each}, {name}", workflow, runs, each, limit)
    runs, each = settings.size(_TOGETHER, 5), settings.size(50, 5)
    yield from _measured(
        settings, f"{runs} runs of {each} together, async", programs.steps_async, runs, each, 0.65, ahead=True
    )


def _measured(
    settings: Settings,
    name: str,
    workflow: Callable[..., Any],
    runs: int,
    each: int,
    limit: float | None,
    *,
    ahead: bool = False,
) -> Iterator[Measure]:
    cpu: list[float] = []
    with new_scene(settings) as (app, floor):
        (taken,) = rounds(
            settings.repeat,
            lambda: _floor(floor, runs * each),
            lambda: _runs(app, workflow, runs, each, cpu, ahead=ahead),
        )
    yield Measure("many", name, "steps/s", taken, limit, "more", peers="rate")
    yield Measure("many", f"{name}: CPU per 1,000 steps", "s", cpu, peers="cpu")


def _floor(floor: Floor, rows: int) -> float:
    """Rows per second."""
    each = max(rows // _TOGETHER, 1)
    return _TOGETHER * each / floor.batched(_TOGETHER, each)


def _runs(app: App, workflow: Callable[..., Any], runs: int, each: int, cpu: list[float], *, ahead: bool) -> float:
    """Steps per second. ``ahead``: the runs are there before the worker is, so only their steps are timed."""
    if ahead:
        started = [app.start(workflow, each) for _ in range(runs)]
        with app.worker(tasks=_TOGETHER):
            used = process_time()
            for run in started:
                run.result()
            ended = time()
            used = process_time() - used
            took = ended - min(begun(app, run)[0] for run in started)
    else:
        with app.worker(tasks=_TOGETHER):
            began, used = perf_counter(), process_time()
            for run in [app.start(workflow, each) for _ in range(runs)]:
                run.result()
            took = perf_counter() - began
            used = process_time() - used
    cpu.append(used / (runs * each) * 1_000)
    return runs * each / took
