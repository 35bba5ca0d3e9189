"""What a ``Kit`` refuses, and how it says so."""

from __future__ import annotations

import sqlite3
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from semel import App, once, sleep
from semel.errors import ConfigurationError, ResultTimeout, StoreError
from semel.testing import Kit

app = App("misused")
kits: list[Kit] = []


@app.workflow
def week() -> str:
    sleep(timedelta(days=7))
    return "over"


@app.workflow
async def soon() -> str:
    return "over"


@app.workflow
def drives_itself() -> None:
    once("settle", lambda: settle_the_kit())


def settle_the_kit() -> None:
    kits[0].settle()


attempts: list[str] = []


@app.workflow
def finds_it_locked() -> None:
    app.session()
    attempts.append("one")
    error = sqlite3.OperationalError("database is locked")
    error.sqlite_errorname = "SQLITE_BUSY"
    raise OperationalError("INSERT", None, error)


def test_a_worker_of_the_app_is_refused(new_app: Any) -> None:
    own = new_app()
    with own.worker(), pytest.raises(ConfigurationError, match=r"a worker of <App 'shop'> runs .* leave"), Kit(own):
        pass
    with Kit(own) as kit, own.worker(), pytest.raises(ConfigurationError, match="a worker of <App 'shop'>"):
        kit.settle()


def test_one_kit_at_a_time_and_the_first_one_goes_on(new_app: Any) -> None:
    with Kit(app) as kit:
        with pytest.raises(ConfigurationError, match="another Kit is in use"), Kit(new_app()):
            pass
        assert kit.finish(app.start(week)) == "completed"


def test_time_does_not_go_backwards() -> None:
    with Kit(app) as kit, pytest.raises(ValueError, match="would set the clock back"):
        kit.advance(timedelta(days=-1))


@pytest.mark.parametrize("point", ["step.after", "journal.in_batch", "run.claimed"])
def test_a_point_that_no_delivery_comes_to_is_refused(point: str) -> None:
    with Kit(app) as kit, pytest.raises(ValueError, match=rf"no crash point '{point}' .* the points are step.before"):
        kit.crash(point)


def test_a_hit_before_the_first_is_refused() -> None:
    with Kit(app) as kit, pytest.raises(ValueError, match="the first time that a run comes to the point is 1"):
        kit.crash("step.before", hit=0)


def test_a_run_of_another_app_is_refused(new_app: Any) -> None:
    other = new_app("other")
    other.workflow(week)
    run = other.start(week, id="theirs")
    with Kit(app) as kit:
        for drive in (kit.settle, kit.finish, lambda run: kit.advance(timedelta(days=1), run)):
            with pytest.raises(ValueError, match=r"<Run 'theirs'> is of <App 'other'>; this kit .* <App 'misused'>"):
                drive(run)


def test_a_kit_outside_of_its_with_is_refused() -> None:
    kit = Kit(app)
    for drive in (kit.settle, lambda: kit.advance(timedelta(days=1))):
        with pytest.raises(ConfigurationError, match="the kit is not in use"):
            drive()


def test_a_result_that_nobody_would_bring_is_not_waited_for() -> None:
    with Kit(app) as kit:
        run = app.start(week)
        with pytest.raises(ResultTimeout, match=r"the run is parked, and in a Kit nobody drives it .* kit.advance"):
            run.result()
        kit.advance(timedelta(days=7))
        assert run.result() == "over"


async def test_an_async_body_in_an_async_test_says_what_to_await() -> None:
    with Kit(app) as kit:
        run = app.start(soon)
        with pytest.raises(ConfigurationError, match=r"soon is async, and an event loop runs here: await kit.settle_"):
            kit.settle()
        with pytest.raises(ResultTimeout, match="await their _async forms"):
            await run.result_async()
        assert await kit.settle_async(run) == "completed"


def test_a_step_cannot_drive_the_kit_that_drives_it() -> None:
    with Kit(app) as kit:
        kits[:] = [kit]
        run = app.start(drives_itself)
        assert kit.settle(run) == "faulted"
        with pytest.raises(ConfigurationError, match="a step or a body cannot drive the kit"):
            run.result()


def test_a_database_that_stays_locked_is_no_endless_loop() -> None:
    attempts.clear()
    with Kit(app) as kit:
        run = app.start(finds_it_locked)
        with pytest.raises(StoreError, match="database is locked"):
            kit.settle()
        assert len(attempts) == 5
        assert run.status == "pending"
