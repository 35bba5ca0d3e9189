"""One run of 5,000 steps: the first 500 against the last 500, and how it is taken up after a SIGKILL at step 4,900."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import median

from . import child, programs
from .measure import Measure, Settings
from .scene import in_turn, new_folder, new_scene


def case(settings: Settings) -> Iterator[Measure]:
    yield from _first_and_last(settings)
    yield from _resume(settings)


def _first_and_last(settings: Settings) -> Iterator[Measure]:
    """Each step is taken in bare commits of that moment, so that only what comes of the length is left."""
    count, each = settings.size(5_000, 100), settings.size(50, 5)
    part = count // 10 // each
    grown: list[float] = []
    with new_scene(settings) as (app, floor), app.worker():
        for _ in range(max(settings.repeat // 2, 1)):
            ratios = in_turn(app, floor, programs.steps, count + 1, each).ratios
            grown.append(median(ratios[-part:]) / median(ratios[:part]))
    what = f"a step of the last {part * each} of {count:,} / of the first {part * each}"
    yield Measure("long", what, "times", grown, 1.1, note="in bare commits at that moment", peers="growth")


def _resume(settings: Settings) -> Iterator[Measure]:
    per_thousand: dict[int, list[float]] = {}
    queries: list[float] = []
    full = settings.size(5_000, 100)
    sizes = [full // 4, full // 2, full]
    for size in sizes:
        dies_at = size - full // 50  # 4,900 of 5,000
        seconds: list[float] = []
        for _ in range(settings.repeat):
            with new_folder(settings) as folder:
                resumed = _killed_and_resumed(folder, size, dies_at)
            assert resumed.first_step == dies_at, f"it went on at step {resumed.first_step}, not at {dies_at}"
            seconds.append(resumed.seconds)
            queries.append(resumed.queries)
        per_thousand[size] = [value / dies_at * 1_000 for value in seconds]
        yield Measure(
            "long",
            f"killed at step {dies_at:,}: from the worker's start to the first new step",
            "s",
            seconds,
            note=f"{median(per_thousand[size]) * 1e3:.1f} ms per 1,000 records",
            peers="resume" if size == full else None,
        )
    linear = [large / small for small, large in zip(per_thousand[sizes[0]], per_thousand[full], strict=True)]
    yield Measure("long", "resume: a record's share at 5,000 / at 1,250", "times", linear, 1.2, note="1 is linear")
    yield Measure("long", "resume: queries that read records", "", queries, 1.0)


def _killed_and_resumed(folder: Path, size: int, dies_at: int) -> child.Resumed:
    child.killed(folder, size, dies_at)
    return child.resumed(folder)
