"""A database of semel and floors beside it, in a folder of their own that is deleted afterwards."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from semel import App
from semel.run import Run

from . import programs
from .floor import Floor
from .measure import Settings

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


def intervals(app: App, run: Run[Any]) -> list[float]:
    """Seconds from each step's start to the next one's."""
    return [later - earlier for earlier, later in pairwise(begun(app, run))]


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
