"""``semel.testing.Kit``: runs in a time that the test moves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from semel import App, Backoff, Event, once, run_child, sleep, sleep_async, wait_all, wait_for, wait_for_async
from semel import now as semel_now
from semel.errors import WaitTimedOut
from semel.testing import Clock, Kit

DAY = timedelta(days=1)
app = App("kitted")
seen: list[Any] = []
paid = Event[int]("paid", int)


@pytest.fixture(autouse=True)
def nothing_seen() -> None:
    seen.clear()


class Down(Exception):
    """The other side is not there."""


def call(what: str, failures: int = 0) -> str:
    seen.append(what)
    if seen.count(what) <= failures:
        raise Down(what)
    return f"{what} {seen.count(what)}"


async def call_async(what: str, failures: int = 0) -> str:
    return call(what, failures)


@app.workflow
def week() -> str:
    first = once("first", lambda: call("first"))
    sleep(7 * DAY)
    return first + ", " + once("second", lambda: call("second"))


@app.workflow
async def week_async() -> str:
    first = await once("first", lambda: call_async("first"))
    await sleep_async(7 * DAY)
    return first + ", " + await once("second", lambda: call_async("second"))


@app.workflow
def retried() -> str:
    return once("charge", lambda: call("charge", 3), retry=Backoff.exponential(timedelta(hours=1)).max_attempts(4))


@app.workflow
def hopeless() -> str:
    return once("charge", lambda: call("charge", 9), retry=Backoff.constant(DAY).max_attempts(3))


@app.workflow
def reminded() -> str:
    for _ in range(3):
        try:
            return f"paid {wait_for(paid, timeout=10 * DAY)}"
        except WaitTimedOut:
            once("remind", lambda: call("remind"))
    return "never paid"


@app.workflow
async def paid_async() -> int:
    return await wait_for_async(paid)


@app.workflow
def parent(names: list[str]) -> list[str]:
    children = [run_child("child", child, name) for name in names]
    return wait_all(children)


@app.workflow
def child(name: str) -> str:
    sleep(DAY)
    return once("work", lambda: call(name))


@app.workflow
def monthly(month: int) -> int:
    sleep(30 * DAY)
    once("bill", lambda: call(f"bill {month}"))
    if month == 12:
        return month
    return app.again(month + 1)


@app.workflow
def moments() -> list[str]:
    first = semel_now().isoformat()
    sleep(DAY)
    return [first, once("later", lambda: semel_now().isoformat())]


@pytest.mark.rule("W9")
@pytest.mark.parametrize("workflow", [week, week_async])
def test_a_week_of_waiting_takes_no_time(workflow: Any) -> None:
    with Kit(app) as kit:
        run = app.start(workflow)
        assert kit.settle(run) == "parked"
        assert kit.advance(6 * DAY, run) == "parked"
        assert seen == ["first"]
        assert kit.advance(DAY, run) == "completed"
        assert run.result() == "first 1, second 1"


@pytest.mark.rule("W9")
def test_the_clock_can_be_moved_by_itself_and_settle_runs_what_is_due() -> None:
    with Kit(app) as kit:
        run = app.start(week)
        kit.settle()
        kit.clock.advance(7 * DAY)
        assert run.status == "parked"
        assert kit.settle(run) == "completed"


async def test_async_tests_drive_async_bodies_on_their_own_loop_and_sync_ones_beside_it() -> None:
    with Kit(app) as kit:
        runs = [app.start(week_async), app.start(week)]
        assert [await kit.settle_async(run) for run in runs] == ["parked", "parked"]
        assert await kit.advance_async(7 * DAY, runs[0]) == "completed"
        assert [run.status for run in runs] == ["completed", "completed"]
        assert "second" in await runs[0].result_async()


async def test_async_tests_can_finish_a_run() -> None:
    with Kit(app) as kit:
        assert await kit.finish_async(app.start(week_async)) == "completed"


def test_retries_are_made_when_they_are_due() -> None:
    with Kit(app) as kit:
        run = app.start(retried)
        made = []
        for hours in range(8):
            kit.advance(timedelta(hours=hours and 1))
            made.append(len(seen))
        assert made == [1, 2, 2, 3, 3, 3, 3, 4]  # after 1, 2 and 4 hours
        assert run.result() == "charge 4"


def test_a_run_that_faults_is_no_error_of_the_kit_and_says_why_when_it_is_asked() -> None:
    with Kit(app) as kit:
        run = app.start(hopeless)
        assert kit.finish(run) == "faulted"
        assert kit.clock.now() == datetime(2025, 1, 3, tzinfo=UTC)
        with pytest.raises(Down):
            run.result()


def test_an_event_is_taken_when_it_is_sent_and_its_timeouts_come_in_order() -> None:
    with Kit(app) as kit:
        run = app.start(reminded)
        assert kit.advance(25 * DAY, run) == "parked"
        assert seen == ["remind", "remind"]
        run.send(paid, 7)
        assert kit.settle(run) == "completed"
        assert run.result() == "paid 7"


def test_a_run_that_waits_for_an_event_that_never_comes_is_left_parked() -> None:
    with Kit(app) as kit:
        run = app.start(paid_async)
        assert kit.finish(run) == "parked"
        run.send(paid, 3)
        assert run.result() == 3, "asking for the result drives what can go on"


def test_children_are_driven_too() -> None:
    with Kit(app) as kit:
        run = app.start(parent, ["a", "b"])
        assert kit.settle(run) == "parked"
        assert kit.advance(DAY, run) == "completed"
        assert run.result() == ["a 1", "b 1"]


def test_advance_goes_from_one_wait_to_the_next() -> None:
    with Kit(app) as kit:
        run = app.start(monthly, 1)
        assert kit.advance(100 * DAY, run) == "parked"
        assert seen == ["bill 1", "bill 2", "bill 3"]
        assert kit.finish(run) == "completed"
        assert kit.clock.now() == datetime(2025, 1, 1, tzinfo=UTC) + 360 * DAY


def test_a_run_reads_the_time_of_the_kit() -> None:
    start = datetime(2030, 5, 1, 12, tzinfo=UTC)
    with Kit(app, start=start) as kit:
        run = app.start(moments)
        kit.finish(run)
        assert run.result() == [start.isoformat(), (start + DAY).isoformat()]


def test_each_kit_is_empty_and_leaves_the_apps_own_database_alone(new_app: Any, tmp_path: Path) -> None:
    own = new_app("own")
    own.workflow(week)
    before = own.start(week, id="mine")
    for _ in range(2):
        with Kit(own) as kit:
            assert own.runs() == []
            kit.finish(own.start(week, id="mine"))
            folder = Path(kit.database.removeprefix("sqlite:///")).parent
            assert folder.exists()
        assert not folder.exists()
    assert [run.id for run in own.runs()] == ["mine"]
    assert before.status == "pending"


def test_keys_are_the_same_in_each_kit() -> None:
    keys = []
    for id in (None, None, "0", "0"):
        with Kit(app):
            keys.append(app.start(keyed, "A-1", id=id).result())
    assert keys[0] == keys[1]
    assert keys[2] == keys[3]
    assert keys[0][0] != keys[2][0], "another run"
    assert keys[0][1] == keys[2][1], "the same scope"


@app.workflow
def keyed(order: str) -> list[str]:
    return [once("own", lambda key: key), once("scoped", order, lambda key: key)]


def test_a_clock_goes_forward_and_is_set() -> None:
    clock = Clock(datetime(2025, 3, 1, tzinfo=UTC))
    clock.advance(DAY)
    assert clock.now() == datetime(2025, 3, 2, tzinfo=UTC)
    assert clock() == clock.now().timestamp()
    clock.set(datetime(2024, 1, 1, tzinfo=UTC))
    assert repr(clock) == "<Clock 2024-01-01T00:00:00+00:00>"
    with pytest.raises(ValueError, match="would set the clock back"):
        clock.advance(-DAY)
    with pytest.raises(ValueError, match="no time zone"):
        clock.set(datetime(2024, 1, 1))
    with pytest.raises(ValueError, match="no time zone"):
        Clock(datetime(2024, 1, 1))
