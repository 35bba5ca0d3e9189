"""Makes, runs and judges the programs of many seeds: a folder, a package and a database for each few of them."""

from __future__ import annotations

import gc
import importlib
import itertools
import logging
import os
import shutil
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from program_driver import QUIET, Driver, Owners, Schedule, Stuck, in_world
from program_judge import Story, differs, ended, wrong_with
from program_source import Source, written
from program_text import Maker, Program
from program_world import World
from sqlalchemy import text

from semel import App
from semel.engine import parks, replaying

BATCH = 25
_numbers = itertools.count()

PACKAGE = """
from semel import App

app = App("programs", database="{database}", now=lambda: clock[0]())
clock = [lambda: 0.0]
"""


class Found(AssertionError):
    """An invariant does not hold; the text has the program and the schedule."""

    def __init__(self, seed: int, problems: list[str], source: Source, told: list[str]) -> None:
        self.seed = seed
        self.problems = problems
        super().__init__("\n".join([f"the program of the seed {seed}:", "", source.text, "", *told, "", *problems]))


@dataclass
class Room:
    """A package of programs with its app, on a database of its own."""

    app: App
    owners: Owners
    package: ModuleType
    folder: Path


@contextmanager
def room() -> Iterator[Room]:
    """A folder in memory, if there is one."""
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="semel-programs-", dir=place))
    name = f"made_{next(_numbers)}"
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text(PACKAGE.format(database=f"sqlite:///{folder}/programs.db"))
    sys.path.insert(0, str(folder))
    with ExitStack() as stack:
        stack.callback(_forget, name, folder)
        package = importlib.import_module(name)
        app: App = package.app
        stack.callback(app.close)
        for writer in (app.store._session.main, app.store._session.journal):  # type: ignore[attr-defined]
            writer.connection.execute("PRAGMA synchronous = OFF")
        with app.session() as session:
            session.execute(text("CREATE TABLE ledger (name TEXT)"))
            session.commit()
        yield Room(app, Owners(app), package, folder)


def _forget(name: str, folder: Path) -> None:
    sys.path.remove(str(folder))
    for module in [module for module in sys.modules if module.partition(".")[0] == name]:
        del sys.modules[module]
    shutil.rmtree(folder, ignore_errors=True)
    gc.collect()


def load(place: Room, program: Program, name: str) -> tuple[Source, Any]:
    """The program as a module of the room's package; gives its workflow."""
    source = written(program, name, place.package.__name__)
    (place.folder / place.package.__name__ / f"{name}.py").write_text(source.text)
    importlib.invalidate_caches()
    module = importlib.import_module(f"{place.package.__name__}.{name}")
    return source, getattr(module, f"flow_{name}")


def story(place: Room, program: Program, source: Source, flow: Any, schedule: Schedule, id: str) -> tuple[Story, int]:
    """One story of the program; and how many points it came to."""
    world = World(source.fails, source.flips)
    place.package.clock[0] = world.clock
    driver = Driver(place.owners, world, schedule, source.events, source.workflows)
    with in_world(world):
        try:
            driver.play(flow, id, program.retries)
        except Stuck as error:
            raise Found(program.seed, [str(error)], source, [repr(schedule), *world.told]) from None
        except AssertionError:
            raise
        except Exception as error:
            raise Found(program.seed, [repr(error)], source, [repr(schedule), *world.told]) from error
    endings = [ended(place.app, row, id, world) for row in driver.rows()]
    with place.app.session() as session:
        rows = session.execute(text("SELECT name FROM ledger")).scalars().all()
    ledger = Counter(row for row in rows if row.startswith((f"{id} ", f"{id}/")))
    return Story(source, world, endings, ledger, driver.cancelled), driver.points


def judge(place: Room, program: Program, source: Source, flow: Any, counts: Counter[str], times: int = 1) -> None:
    """Runs a program undisturbed and disturbed, and raises what does not hold."""
    calm, reached = story(place, program, source, flow, QUIET, f"calm-{source.name}")
    problems = wrong_with(place.app, calm)
    if problems:
        raise Found(program.seed, problems, source, ["undisturbed", *calm.world.told])
    count(calm, counts)
    for time in range(times):
        schedule = Schedule.made(program.seed * 100 + time, reached, len(calm.world.deliveries))
        shown = repr(schedule)
        other, _ = story(place, program, source, flow, schedule, f"storm-{time}-{source.name}")
        problems = wrong_with(place.app, other)
        if not other.cancelled:
            problems += differs(calm, other)
        if problems:
            raise Found(program.seed, problems, source, [shown, *other.world.told])
        count(other, counts)
    counts["programs"] += 1


#: What the programs must come to, so that an invariant that holds says something.
WANTED = (
    "step in a finally",
    "failing sibling in a gather",
    "failing sibling in a task group",
    "handled failure followed by a step",
    "event while parked",
    "a state changed between attempts",
    "saga undone and delivered again",
    "wait inside a once",
    "two runs parked at once",
    "two waits of one body",
    "calls made twice",
    "cancelled runs",
    "undos",
    "transactional steps",
)


def count(story: Story, counts: Counter[str]) -> None:
    """Adds what happened in a story."""
    world = story.world
    counts.update(world.counts)
    counts["deliveries"] += len(world.deliveries)
    counts["stories"] += 1
    counts["calls"] += len(world.effects)
    counts["calls made twice"] += len(world.effects) - len({effect.identity for effect in world.effects})
    counts["cancelled runs"] += story.cancelled
    counts["a state changed between attempts"] += any(len(answers) > 1 for answers in world.answers.values())
    letters = Counter(effect.name[0] for effect in world.effects)
    counts["step in a finally"] += letters["u"] - sum(effect.name.startswith("undo") for effect in world.effects)
    counts["undos"] += sum(effect.name.startswith("undo") for effect in world.effects)
    counts["saga undone and delivered again"] += any("~r1" in effect.path for effect in world.effects)
    counts["transactional steps"] += letters["l"]
    handled = {effect.name[1:] for effect in world.effects if effect.name[0] == "h" and effect.failed}
    counts["handled failure followed by a step"] += len(
        {effect.name for effect in world.effects if effect.name[0] == "t" and effect.name[1:] in handled}
    )
    failed = Counter(effect.name[0] for effect in world.effects if effect.failed)
    counts["failing sibling in a gather"] += sum(failed[letter] for letter in "jkm")
    counts["failing sibling in a task group"] += sum(failed[letter] for letter in "JKM")
    for ending in story.endings:
        counts[ending.row.status] += 1


@contextmanager
def quickly() -> Iterator[None]:
    """Nothing here takes time that is worth waiting for, and what is logged is what was asked for."""
    loggers = [logging.getLogger(name) for name in ("semel", "asyncio")]
    before = (parks._QUIET, replaying._GRACE, [logger.level for logger in loggers])
    parks._QUIET, replaying._GRACE = 0.0005, 0.02
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            # What a body has made and not awaited when it dies is no mistake of the body.
            warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
            yield
    finally:
        parks._QUIET, replaying._GRACE, levels = before
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def run_seeds(first: int, number: int, *, times: int = 1, progress: Any = None) -> Counter[str]:
    """Judges so many programs; raises Found at the first one that breaks an invariant."""
    with quickly():
        return _run_seeds(first, number, times, progress)


def _run_seeds(first: int, number: int, times: int, progress: Any) -> Counter[str]:
    counts: Counter[str] = Counter()
    for start in range(first, first + number, BATCH):
        with room() as place:
            programs = [Maker(seed).program() for seed in range(start, min(start + BATCH, first + number))]
            loaded = [(program, *load(place, program, f"p{program.seed}")) for program in programs]
            place.app.check()
            for program, source, flow in loaded:
                judge(place, program, source, flow, counts, times)
        if progress is not None:
            progress(counts)
    return counts
