"""Runs that wait: parks and wake-ups, 100,000 clocks due at once, the memory of 10,000 parked runs, and a fan-out.

Parked runs in such numbers are copies, made by SQL, of one that really parked.
"""

from __future__ import annotations

import secrets
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from statistics import median
from time import perf_counter

from semel import App

from . import programs
from .floor import Floor
from .measure import Measure, Settings, rounds
from .scene import new_folder, new_scene

_TOGETHER = 100
_LOOK = 0.1  # seconds between two counts, which walk over all runs


def parks(settings: Settings) -> Iterator[Measure]:
    runs, naps = settings.size(200, 5), settings.size(10, 2)

    def semel() -> float:
        with app.worker():
            began = perf_counter()
            for run in [app.start(programs.naps, naps) for _ in range(runs)]:
                run.result()
            return runs * naps / (perf_counter() - began)

    with new_scene(settings) as (app, floor):
        (taken,) = rounds(settings.repeat, lambda: _floor(floor, runs * naps), semel)
    yield Measure("parks", f"{runs} runs that park {naps} times: parks and wake-ups", "1/s", taken, better="more")


def fan_out(settings: Settings) -> Iterator[Measure]:
    children = settings.size(10_000, 20)

    def semel() -> float:
        with app.worker():
            began = perf_counter()
            assert app.start(programs.parent, children).result() == children
            return children / (perf_counter() - began)

    with new_scene(settings) as (app, floor):
        (taken,) = rounds(settings.repeat if settings.quick else 1, lambda: _floor(floor, children), semel)
    what = f"{children:,} children of one parent, started and waited for"
    yield Measure("fanout", what, "1/s", taken, better="more", note=f"{children / median(taken.semel):.1f} s in all")


def _floor(floor: Floor, rows: int) -> float:
    """Rows per second."""
    each = max(rows // _TOGETHER, 1)
    return _TOGETHER * each / floor.batched(_TOGETHER, each)


def clocks(settings: Settings) -> Iterator[Measure]:
    """All are due when the worker starts; each time that a tenth of them is through, a fresh run is started."""
    count = settings.size(100_000, 200)
    fresh: list[float] = []
    with new_folder(settings) as folder:
        app, clock = _parked(folder, count)
        clock.append(2e9 + 86_400)
        with closing(app), app.worker():
            began = perf_counter()
            for tenth in range(1, 10):
                _until_completed(app, count * tenth // 10)
                started = perf_counter()
                app.start(programs.steps, 1).result()
                fresh.append(perf_counter() - started)
            _until_completed(app, count + len(fresh))
            drained = count / (perf_counter() - began)
    what = f"{count:,} clocks due at once, through to the end of their runs"
    yield Measure("clocks", what, "1/s", [drained], note=f"{count / drained:.0f} s in all")
    what = "a fresh run of one step, started among them"
    yield Measure("clocks", what, "s", fresh, note=f"the slowest {max(fresh):.2f} s")


def _until_completed(app: App, count: int) -> None:
    tick = threading.Event()
    while app.store.counts().get("completed", 0) < count:
        tick.wait(_LOOK)


def memory(settings: Settings) -> Iterator[Measure]:
    """What a worker's process grows by when 10,000 runs wait in its database; each in a process of its own."""
    count = settings.size(10_000, 100)
    grown = []
    for _ in range(settings.repeat):
        alone, among = (_in_a_process(settings, number) for number in (1, count))
        grown.append(max(among - alone, 0.0))
    what = f"resident memory of a worker beside {count:,} parked runs, beyond that of one beside a single one"
    yield Measure("parked", what, "MB", grown, 1.0)


def _in_a_process(settings: Settings, count: int) -> float:
    with new_folder(settings) as folder:
        program = f"from bench.waiting import resident_beside; print(resident_beside({str(folder)!r}, {count}))"
        command = [sys.executable, "-c", program]
        return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def resident_beside(folder: str, count: int) -> float:
    """Megabytes of this process, whose worker has run 100 runs beside so many that are parked."""
    app, _ = _parked(Path(folder), count)
    with closing(app), app.worker():
        for _ in range(100):
            app.start(programs.steps, 1).result()
        return _resident()


def _resident() -> float:
    """Megabytes."""
    for line in Path("/proc/self/status").read_text("utf-8").splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


def _parked(folder: Path, count: int) -> tuple[App, list[float]]:
    """An app with so many runs that sleep for half a day, and the times of its clock; the last one is the present."""
    clock = [2e9]
    app = programs.new_app(folder, now=lambda: clock[-1])
    first = app.start(programs.naps, 1, 43_200.0)
    done = threading.Event()
    app.signals.when_ended(first.uid, done.set)
    with app.worker():
        done.wait()
    app.close()
    with closing(sqlite3.connect(folder / "semel.db", isolation_level=None)) as database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(semel_runs)")]
        row = dict(zip(columns, database.execute("SELECT * FROM semel_runs").fetchone(), strict=True))
        database.execute("BEGIN")
        insert = f"INSERT INTO semel_runs VALUES ({', '.join('?' * len(columns))})"
        for number in range(2, count + 1):
            uid = secrets.token_hex(16)
            copy = {**row, "seq": number, "turn": number << 32, "uid": uid, "id": f"run-{number}"}
            database.execute(insert, list(copy.values()))
            database.execute("INSERT INTO semel_due VALUES (?, 'clock', ?)", (uid, 2e9 + 43_200))
        database.execute("COMMIT")
    return app, clock
