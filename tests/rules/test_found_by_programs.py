"""Mistakes that generated programs (tests/property) have found, each in its smallest form."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta

import pytest
from time_scene import Scene

from semel import Backoff, once, saga, sleep, wait_for

done: list[str] = []
broken: set[str] = set()

DAY = timedelta(days=1)
QUICK = Backoff.constant(timedelta(seconds=1)).max_attempts(3)


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    done.clear()
    broken.clear()
    return


class NoRoom(Exception):
    """The hotel is full."""


def book(what: str) -> str:
    done.append(f"book {what}")
    if what in broken:
        raise NoRoom(what)
    return f"booking of {what}"


def cancel(booking: str) -> None:
    done.append(f"cancel {booking}")


def trip() -> None:
    with saga("trip") as steps:
        steps.step("flight", lambda: book("flight"), undo=cancel)


def in_a_step() -> str:
    once("trip", lambda: trip())
    sleep(DAY)
    return "away"


@pytest.mark.rule("W7")
def test_a_saga_in_a_step_that_is_found_later_is_not_undone(scene: Scene) -> None:
    run = scene.start(in_a_step)
    scene.again(run, DAY)
    assert run.result() == "away"
    assert done == ["book flight"]


def trip_and_more() -> None:
    trip()
    once("car", lambda: book("car"))


def in_a_retried_step() -> None:
    once("all", lambda: trip_and_more(), retry=QUICK)


@pytest.mark.rule("R4")
def test_a_saga_that_went_well_in_a_failed_attempt_is_not_undone_by_the_next_one(scene: Scene) -> None:
    broken.add("car")
    run = scene.start(in_a_retried_step)
    broken.clear()
    scene.again(run, timedelta(seconds=1))
    assert run.status == "completed"
    assert done == ["book flight", "book car", "book flight", "book car"]


def restless(booking: str) -> None:
    cancel(booking)
    if booking in broken:
        raise NoRoom(booking)


def inner_and_outer() -> str:
    try:
        with saga("outer") as outer:
            try:
                with saga("inner") as inner:
                    inner.step("flight", lambda: book("flight"), undo=restless, undo_retry=QUICK)
                    once("price", lambda: book("price"))
                    raise NoRoom("inner")
            except NoRoom:
                outer.step("hotel", lambda: book("hotel"), undo=restless, undo_retry=QUICK)
            raise NoRoom("outer")
    except NoRoom:
        return "at home"


@pytest.mark.rule("W12")
def test_what_an_inner_block_had_come_to_before_it_was_skipped_is_not_unreached(scene: Scene) -> None:
    broken.update({"booking of flight", "booking of hotel"})
    scene.app.workflow(strict=True)(inner_and_outer)
    run = scene.app.start(inner_and_outer)
    for _ in range(6):
        scene.again(run, timedelta(seconds=1))
    assert run.result() == "at home"
    assert not [note for note in run.notes() if note.kind == "unreached"]


def waits_and_fails() -> None:
    wait_for("paid", timeout=DAY)
    once("ship", lambda: book("ship"))
    sleep(3 * DAY)


@pytest.mark.rule("W6")
def test_a_wait_that_was_over_before_a_fault_wakes_nobody_after_it(scene: Scene) -> None:
    broken.add("ship")
    run = scene.start(waits_and_fails)
    run.send("paid")
    scene.settle()
    assert run.status == "faulted"
    broken.clear()
    run.retry()
    scene.settle()
    scene.time += DAY.total_seconds()
    assert scene.settle() == 0
    scene.again(run, 2 * DAY)
    assert run.status == "completed"


async def book_slowly(what: str) -> str:
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return book(what)


async def fail_once() -> None:
    await once("quick", lambda: book("quick"))


async def trip_of_a_task() -> str:
    async with saga("trip") as steps:
        booked = await steps.step("flight", lambda: book_slowly("flight"), undo=cancel)
        await once("pay", lambda: book_slowly("pay"))
        return booked


async def side_by_side() -> str:
    return str((await asyncio.gather(trip_of_a_task(), fail_once()))[0])


@pytest.mark.rule("W7")
@pytest.mark.rule("O20")
def test_a_saga_in_a_task_that_outlives_the_body_is_come_to_again(scene: Scene) -> None:
    broken.add("quick")
    run = scene.start(side_by_side)
    scene.again(run)
    assert run.status == "faulted"
    broken.clear()
    assert run.retry()
    scene.again(run)
    assert run.result() == "booking of flight"
    assert done.count("book flight") == 1
    assert "cancel booking of flight" not in done
