"""Sagas and transactional steps in processes that die by SIGKILL, at each point in turn (W7, W8, W13)."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from semel.testing import crash_environment

PROGRAM = """
import sys
import threading
from contextlib import suppress
from datetime import timedelta

from sqlalchemy import text

from semel import UNKNOWN, App, Backoff, saga, sleep, transaction
from semel.errors import RunCancelled

app = App("trips")
SOON = Backoff.constant(timedelta(milliseconds=1)).max_attempts(3)


def say(what):
    with open("effects.txt", "a") as effects:
        effects.write(what + "\\n")


def book(what):
    say(f"book {what}")
    return what


def cancel(booking):
    say(f"cancel {booking if booking is not UNKNOWN else 'unknown'}")


def cancel_at_last(booking):
    cancel(booking)
    with open("effects.txt") as effects:
        if effects.read().count(f"cancel {booking}") < 2:
            raise OSError("not yet")


def reserve(session):
    session.execute(text("UPDATE stock SET left = left - 1"))
    return session.scalar(text("SELECT left FROM stock"))


@app.workflow
def travel():
    left = transaction("reserve", lambda session: reserve(session))
    try:
        with saga("by-air") as trip:
            trip.step("flight", lambda: book("flight"), undo=cancel)
            with saga("stay") as stay:
                stay.step("hotel", lambda: book("hotel"), undo=cancel_at_last, undo_retry=SOON)
            raise ValueError("no car")
    except ValueError:
        pass
    with saga("by-rail") as trip:
        trip.step("train", lambda: book("train"), undo=cancel)
    return left


@app.workflow
def cancelled():
    with saga("by-air") as trip:
        trip.step("flight", lambda: book("flight"), undo=cancel)
        trip.step("hotel", lambda: book("hotel"), undo=cancel)
        sleep(timedelta(days=1))


if __name__ == "__main__":
    with app.session() as session:
        session.execute(text("CREATE TABLE IF NOT EXISTS stock (name PRIMARY KEY, left)"))
        session.execute(text("INSERT OR IGNORE INTO stock VALUES ('tea', 10)"))
        session.commit()
    if sys.argv[1] == "travel":
        run = app.start(travel, id="one")
        with app.worker():
            run.result(timeout=60)
    elif sys.argv[1] == "park":
        run = app.start(cancelled, id="one")
        parked = threading.Event()
        app.signals.when_ended(run.uid, parked.set)
        with app.worker():
            parked.wait(60)
    else:
        run = app.run("one")
        run.cancel()
        with app.worker(), suppress(RunCancelled):
            run.result(timeout=60)
"""

UNDISTURBED = Counter(
    {"book flight": 1, "book hotel": 1, "cancel hotel": 2, "cancel flight": 1, "book train": 1},
)

#: At which hit of each point the process dies: in the work, in the undos, and in what comes after.
HITS = [
    *[("step.before", hit) for hit in (2, 4, 5, 6)],
    *[("step.returned", hit) for hit in (1, 3, 5)],
    *[("step.recorded", hit) for hit in (2, 4, 5)],
    ("transaction.before_commit", 1),
    ("transaction.after_commit", 1),
    *[("body.before_commit", hit) for hit in (1, 2)],
    ("body.after_commit", 1),
]


class Trips:
    """The program in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "trips.py").write_text(PROGRAM)

    def run(self, *arguments: str, **crash: str) -> bool:
        """Whether the process ended by itself."""
        environment = {**os.environ, **crash}
        done = subprocess.run(
            [sys.executable, *arguments], cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode in (0, -signal.SIGKILL), done.stdout + done.stderr
        return done.returncode == 0

    @property
    def effects(self) -> Counter[str]:
        return Counter((self.folder / "effects.txt").read_text().splitlines())

    @property
    def left(self) -> int:
        with closing(sqlite3.connect(self.folder / "trips.db")) as connection:
            return int(connection.execute("SELECT left FROM stock").fetchone()[0])


@pytest.mark.rule("W7")
@pytest.mark.rule("W13")
@pytest.mark.parametrize(("point", "hit"), HITS)
def test_a_saga_and_a_transaction_that_die_anywhere_are_as_undisturbed(tmp_path: Path, point: str, hit: int) -> None:
    trips = Trips(tmp_path)
    assert not trips.run("trips.py", "travel", **crash_environment(point, hit)), "it did not come there"
    assert trips.run("trips.py", "travel")
    # Between a call and its record there is the one window.
    assert (trips.effects - UNDISTURBED).total() <= (point == "step.returned")
    assert not UNDISTURBED - trips.effects
    assert trips.left == 9


@pytest.mark.rule("W8")
@pytest.mark.parametrize(("point", "hit"), [("step.before", 2), ("step.returned", 1), ("body.before_commit", 1)])
def test_a_cancelled_saga_is_undone_through_the_death_of_its_worker(tmp_path: Path, point: str, hit: int) -> None:
    trips = Trips(tmp_path)
    assert trips.run("trips.py", "park")
    assert not trips.run("trips.py", "cancel", **crash_environment(point, hit)), "it did not come there"
    assert trips.run("trips.py", "cancel")
    expected = Counter({"book flight": 1, "book hotel": 1, "cancel flight": 1, "cancel hotel": 1})
    assert (trips.effects - expected).total() <= (point == "step.returned")
    assert not expected - trips.effects
