"""``Kit.crash``: deliveries that die at a chosen point, in the test's own process."""

from __future__ import annotations

import asyncio
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from semel import App, Backoff, once, sleep, transaction
from semel.testing import Kit

DAY = timedelta(days=1)
app = App("crashed")
seen: list[str] = []


@pytest.fixture(autouse=True)
def nothing_seen() -> None:
    seen.clear()


def call(what: str) -> str:
    seen.append(what)
    return f"{what} {seen.count(what)}"


async def call_async(what: str) -> str:
    await asyncio.sleep(0)
    return call(what)


@app.workflow
def order() -> list[str]:
    paid = once("pay", lambda: call("pay"))
    return [paid, once("ship", lambda: call("ship"))]


@app.workflow
async def order_async() -> list[str]:
    paid = await once("pay", lambda: call_async("pay"))
    return [paid, await once("ship", lambda: call_async("ship"))]


@app.workflow
async def together() -> list[str]:
    return await asyncio.gather(once("quick", lambda: call_async("quick")), once("slow", lambda: slow_async()))


async def slow_async() -> str:
    await asyncio.sleep(0.02)
    return call("slow")


@app.workflow
def tries() -> str:
    return once("flaky", lambda: flaky(), retry=Backoff.constant(DAY).max_attempts(3))


def flaky() -> str:
    inner = once("inner", lambda: call("inner"))
    if len(seen) < 3:
        raise OSError(inner)
    return inner


@app.workflow
def waits() -> str:
    once("before", lambda: call("before"))
    sleep(DAY)
    return once("after", lambda: call("after"))


@app.workflow
def swallows() -> str:
    try:
        once("pay", lambda: call("pay"))
    except BaseException:
        seen.append("swallowed")
    once("ship", lambda: call("ship"))
    return "done"


@app.workflow
def writes() -> str:
    app.session().execute(text("INSERT INTO stock VALUES ('body')"))
    once("call", lambda: call("call"))
    return "written"


@app.workflow
async def writes_async() -> str:
    await app.async_session().execute(text("INSERT INTO stock VALUES ('body')"))
    await once("call", lambda: call_async("call"))
    return "written"


@app.workflow
def transacts() -> str:
    return transaction("count", lambda session: count(session))


def count(session: Any) -> str:
    session.execute(text("INSERT INTO stock VALUES ('step')"))
    return call("count")


def paths(run: Any) -> list[str]:
    return [record.path for record in run.steps()]


@pytest.mark.rule("O2")
@pytest.mark.parametrize("workflow", [order, order_async])
@pytest.mark.parametrize(
    ("point", "step", "calls"),
    [
        ("step.before", "pay", ["pay", "ship"]),
        ("step.returned", "pay", ["pay", "pay", "ship"]),
        ("step.recorded", "pay", ["pay", "ship"]),
        ("step.returned", "ship", ["pay", "ship", "ship"]),
        ("body.before_commit", None, ["pay", "ship"]),
        ("body.after_commit", None, ["pay", "ship"]),
    ],
)
def test_a_run_goes_on_after_a_crash_and_repeats_only_what_has_no_record(
    workflow: Any, point: str, step: str | None, calls: list[str]
) -> None:
    with Kit(app) as kit:
        run = app.start(workflow)
        kit.crash(point, step)
        assert kit.settle(run) == "completed"
        assert seen == calls
        assert len(kit.crashes) == 1
        assert len(run.steps()) == 2
        doubled = [note.path for note in run.notes() if note.kind == "possibly doubled"]
        assert [path.rpartition("#")[2] for path in doubled] == ([step] if len(calls) == 3 else [])


def test_a_step_in_flight_beside_the_crash_leaves_no_record_as_in_a_process_that_was_killed() -> None:
    with Kit(app) as kit:
        run = app.start(together)
        kit.crash("step.recorded", "quick")
        kit.settle(run)
        assert seen == ["quick", "slow", "slow"]
        assert run.result() == ["quick 1", "slow 2"]
        assert [note.path for note in run.notes()] == ["together/start@1#slow"]


def test_a_crash_can_be_at_a_whole_path_and_at_a_later_hit() -> None:
    with Kit(app) as kit:
        run = app.start(order)
        kit.crash("step.recorded", hit=2)
        kit.crash("step.recorded", "order/start@1#pay")
        kit.settle(run)
        assert kit.crashes == ["step.recorded order/start@1#pay", "step.recorded order/start@1#ship"]


def test_an_attempt_of_a_retry_is_made_again_and_finds_its_nested_steps() -> None:
    with Kit(app) as kit:
        run = app.start(tries)
        kit.settle()
        kit.crash("step.recorded", "inner")
        kit.finish(run)
        assert kit.crashes == ["step.recorded tries/start@1/flaky~1/flaky#inner"]
        assert seen == ["inner"] * 3
        assert run.result() == "inner 3"


def test_a_crash_before_a_park_and_after_it() -> None:
    for point in ("body.before_commit", "body.after_commit"):
        with Kit(app) as kit:
            run = app.start(waits)
            kit.crash(point)
            assert kit.settle(run) == "parked"
            assert kit.finish(run) == "completed"
    assert seen == ["before", "after"] * 2


def test_a_body_that_swallows_everything_does_nothing_more_once_it_has_died() -> None:
    with Kit(app) as kit:
        run = app.start(swallows)
        kit.crash("step.before", "pay")
        kit.settle()
        assert run.result() == "done"
        assert seen == ["swallowed", "pay", "ship"]


@pytest.mark.rule("W1")
@pytest.mark.parametrize(
    ("workflow", "point", "step"),
    [
        (writes, "step.returned", "call"),
        (writes, "body.before_commit", None),
        (writes, "body.after_commit", None),
        (writes_async, "step.returned", "call"),
        (writes_async, "body.before_commit", None),
        (transacts, "transaction.before_commit", "count"),
        (transacts, "transaction.after_commit", "count"),
        (transacts, "body.before_commit", None),
    ],
)
def test_the_apps_rows_are_written_once_wherever_it_crashes(workflow: Any, point: str, step: str | None) -> None:
    with Kit(app) as kit:
        with app.session() as session:
            session.execute(text("CREATE TABLE stock (name TEXT)"))
            session.commit()
        run = app.start(workflow)
        kit.crash(point, step)
        assert kit.settle(run) == "completed"
        with app.session() as session:
            assert len(session.execute(text("SELECT name FROM stock")).all()) == 1
        assert len(kit.crashes) == 1


async def test_rows_of_an_async_body_in_an_async_test_are_written_once() -> None:
    with Kit(app) as kit:
        async with app.async_session() as session:
            await session.execute(text("CREATE TABLE stock (name TEXT)"))
            await session.commit()
        run = app.start(writes_async)
        kit.crash("body.before_commit")
        assert await kit.settle_async(run) == "completed"
        async with app.async_session() as session:
            assert len((await session.execute(text("SELECT name FROM stock"))).all()) == 1


@pytest.mark.rule("R11")
def test_a_run_that_kills_its_worker_five_times_faults() -> None:
    with Kit(app) as kit:
        run = app.start(order)
        for hit in range(1, 6):
            kit.crash("step.returned", "pay", hit=hit)
        assert kit.settle(run) == "faulted"
        assert len(kit.crashes) == 5


def test_a_crash_that_does_not_come_is_an_error_of_the_test() -> None:
    kit = Kit(app)
    with kit:
        kit.settle(app.start(order))
    with pytest.raises(AssertionError, match=r"no run came to .*: step.recorded of refund"), kit:
        kit.crash("step.recorded", "refund")


def test_many_crashes_leave_no_threads_and_no_lock_files_behind() -> None:
    threads = threading.active_count()
    with Kit(app) as kit:
        for number in range(10):
            kit.crash("step.recorded", "pay")
            kit.settle(app.start(order))
            assert len(kit.crashes) == number + 1
        folder = kit.database.removeprefix("sqlite:///").rpartition("/")[0]
        assert len(list(Path(folder).glob("*owner*"))) == 1
        assert threading.active_count() <= threads + 2, "the writers of the store"
    assert threading.active_count() == threads
