"""``app.start``: runs made durable per second, one by one and many at once, beside bare commits of their rows."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from time import perf_counter

from semel import App

from . import programs
from .floor import Floor
from .measure import Measure, Settings, rounds
from .scene import new_folder


def case(settings: Settings) -> Iterator[Measure]:
    count = settings.size(500, 10)
    with new_folder(settings) as folder:
        app = programs.new_app(folder)
        _in_turn(app, settings.size(1_500, 10))  # once round the log
        floor = Floor(folder / "floor.db", folder / "semel.db", "semel_runs", ["uid", "id"], each_its_own=True)
        floor.lone(settings.size(1_500, 10))
        in_turn, at_once = rounds(
            settings.repeat,
            lambda: count / sum(floor.lone(count)),
            lambda: _in_turn(app, count),
            lambda: _at_once(app, count),
        )
        floor.close()
        app.close()
    yield Measure("start", "start, one after the other", "runs/s", in_turn, better="more", peers="start")
    yield Measure("start", "start_async, all at once", "runs/s", at_once, better="more", note="they share commits")


def _in_turn(app: App, count: int) -> float:
    began = perf_counter()
    for _ in range(count):
        app.start(programs.steps, 1)
    return count / (perf_counter() - began)


def _at_once(app: App, count: int) -> float:
    async def start_all() -> float:
        began = perf_counter()
        await asyncio.gather(*[app.start_async(programs.steps_async, 1) for _ in range(count)])
        return perf_counter() - began

    return count / asyncio.run(start_all())
