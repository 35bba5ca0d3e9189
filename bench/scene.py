"""A database of semel and floors beside it, in a folder of their own that is deleted afterwards."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeVar

from semel import App

from . import programs
from .floor import Floor
from .measure import Settings

R = TypeVar("R")

_ROUND_THE_LOG = 1_200  # steps that fill the log once


@contextmanager
def new_folder(settings: Settings) -> Iterator[Path]:
    """An empty folder on the measured disk."""
    folder = Path(tempfile.mkdtemp(prefix="bench-", dir=settings.folder))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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
