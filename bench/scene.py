"""A database of semel and floors beside it, in a folder of their own that is deleted afterwards."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from semel import App
from semel.run import Run

from . import programs
from .floor import Floor
from .measure import Beside, Settings

_PATIENCE = 60.0  # seconds after which a run that does not come to its next stop has failed
_ROUND_THE_LOG = 1_200  # steps that fill the log once


@contextmanager
def new_folder(settings: Settings) -> Iterator[Path]:
    """An empty folder on the measured disk."""
    folder = Path(tempfile.mkdtemp(prefix="bench-", dir=settings.folder))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def begun(app: App, run: Run[Any]) -> list[float]:
    """When each step of a run began, in seconds."""
    return [record.started_at for record in app.store.records(run.uid)]


def in_turn(app: App, floor: Floor, workflow: Callable[[int], Any], count: int, each: int) -> Beside:
    """One run of ``count`` steps that lets the floor make some commits after every ``each`` of them.

    So a disk whose commits take ten times as long from one second to the next takes as long for both. The values are
    medians, in seconds: of a commit, and of a step from its start to the next one's. The step that waits is left out.
    """
    barrier = threading.Barrier(2)

    def give_way() -> None:
        barrier.wait()
        barrier.wait()

    programs.stops.update(dict.fromkeys(range(0, count, each), give_way))
    floors: list[float] = []
    run = app.start(workflow, count)
    for _ in range(len(programs.stops)):
        barrier.wait(_PATIENCE)
        floors.append(median(floor.lone(each)))
        barrier.wait(_PATIENCE)
    run.result()
    programs.stops.clear()
    took = [later - earlier for earlier, later in pairwise(begun(app, run))]
    chunks = [took[stop + 1 : stop + each] for stop in range(0, count - 1, each)]
    return Beside.of([median(chunk) for chunk in chunks], floors)


@contextmanager
def new_scene(settings: Settings) -> Iterator[tuple[App, Floor]]:
    """An app whose journal, like the floor's, has gone once round its log."""
    with ExitStack() as stack:
        folder = stack.enter_context(new_folder(settings))
        app = programs.new_app(folder)
        stack.callback(app.close)
        warm_up = settings.size(_ROUND_THE_LOG, 20)
        with app.worker():
            app.start(programs.steps, warm_up).result()
        floor = Floor(folder / "floor.db", folder / "semel.steps.db", "semel_records", ["run"])
        stack.callback(floor.close)
        floor.lone(warm_up)
        yield app, floor
