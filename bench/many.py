"""Many runs at once: 500 of 10 steps, and 100 of 50 that all go on together; beside batches of 100 bare rows.

The time of the 500 is from the first start to the last result, with the starts, as it was taken for other engines.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from time import perf_counter, process_time, time
from typing import NamedTuple

from semel import App

from . import programs
from .floor import Floor
from .measure import Measure, Settings, rounds
from .scene import begun, new_scene

_TOGETHER = 100


def case(settings: Settings) -> Iterator[Measure]:
    runs, each = settings.size(500, 10), settings.size(10, 3)
    yield from _measured(settings, f"{runs} runs of {each}, sync", runs, each, _sync, None)
    yield from _measured(settings, f"{runs} runs of {each}, async", runs, each, _async, 0.65)
    runs, each = settings.size(_TOGETHER, 5), settings.size(50, 5)
    yield from _measured(settings, f"{runs} runs of {each} together, async", runs, each, _async_ahead, 0.65)


def _measured(
    settings: Settings, name: str, runs: int, each: int, drive: Callable[[App, int, int], Spent], limit: float | None
) -> Iterator[Measure]:
    spent: list[Spent] = []

    def semel() -> float:
        spent.append(drive(app, runs, each))
        return runs * each / spent[-1].seconds

    with new_scene(settings) as (app, floor):
        (taken,) = rounds(settings.repeat, lambda: _floor(floor, runs * each), semel)
    yield Measure("many", name, "steps/s", taken, limit, "more", peers="rate")
    cpu = [one.cpu / (runs * each) * 1_000 for one in spent]
    yield Measure("many", f"{name}: CPU per 1,000 steps", "s", cpu, peers="cpu")


def _floor(floor: Floor, rows: int) -> float:
    """Rows per second."""
    each = max(rows // _TOGETHER, 1)
    return _TOGETHER * each / floor.batched(_TOGETHER, each)


class Spent(NamedTuple):
    """Seconds by the clock and of CPU."""

    seconds: float
    cpu: float


def _sync(app: App, runs: int, each: int) -> Spent:
    with app.worker():
        began, used = perf_counter(), process_time()
        for run in [app.start(programs.steps, each) for _ in range(runs)]:
            run.result()
        return Spent(perf_counter() - began, process_time() - used)


def _async(app: App, runs: int, each: int) -> Spent:
    async def start_and_wait() -> Spent:
        async with app.worker(tasks=_TOGETHER):
            began, used = perf_counter(), process_time()
            started = await asyncio.gather(*[app.start_async(programs.steps_async, each) for _ in range(runs)])
            for run in started:
                await run.result_async()
            return Spent(perf_counter() - began, process_time() - used)

    return asyncio.run(start_and_wait())


def _async_ahead(app: App, runs: int, each: int) -> Spent:
    """The runs are there before the worker is, and the time is from the first step's start: nothing but steps."""
    started = [app.start(programs.steps_async, each) for _ in range(runs)]

    async def wait() -> tuple[float, float]:
        async with app.worker(tasks=_TOGETHER):
            used = process_time()
            for run in started:
                await run.result_async()
            return time(), process_time() - used

    ended, used = asyncio.run(wait())
    return Spent(ended - min(begun(app, run)[0] for run in started), used)
