"""Sagas: W7, W8 and W12."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from time_scene import Scene

from semel import UNKNOWN, Backoff, Decision, Event, Saga, once, saga, sleep, sleep_async, wait_for
from semel.errors import NotAllowedHere, RunCancelled, RunTimedOut

done: list[Any] = []
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


class SoldOut(Decision):
    """An answer."""


def book(what: str) -> str:
    done.append(f"book {what}")
    if what in broken:
        raise NoRoom(what)
    return f"booking of {what}"


def cancel(booking: str) -> None:
    done.append(f"cancel {booking}")
    if booking in broken:
        raise NoRoom(f"no answer for {booking}")


def refuse(booking: str) -> None:
    done.append(f"refuse {booking}")
    raise SoldOut(booking)


def cancel_in_steps(booking: str) -> object:
    once("first", lambda: done.append(f"first half of {booking}"))
    once("second", lambda: cancel(booking))
    return object()  # nobody asks for what an undo returns


async def cancel_async(booking: str) -> None:
    await asyncio.sleep(0)
    done.append(f"cancel {booking}")


def trip() -> str:
    with saga("trip") as steps:
        flight = steps.step("flight", lambda: book("flight"), undo=cancel)
        hotel = steps.step("hotel", lambda: book("hotel"), undo=cancel)
        steps.step("car", lambda: book("car"), undo=cancel)
    return f"{flight}, {hotel}"


UNDONE = ["cancel booking of hotel", "cancel booking of flight"]


@pytest.mark.rule("W7")
def test_a_saga_that_goes_well_undoes_nothing(scene: Scene) -> None:
    run = scene.start(trip)
    assert run.result() == "booking of flight, booking of hotel"
    assert done == ["book flight", "book hotel", "book car"]
    shown = [record.path for record in scene.app.store.records(run.uid) if "!" not in record.path]
    assert [path.partition("@1")[2] for path in shown] == ["/trip#flight", "/trip#hotel", "/trip#car", "#trip"]


@pytest.mark.rule("W7")
def test_the_undos_of_completed_steps_run_in_reverse_and_the_failure_goes_on(scene: Scene) -> None:
    broken.add("car")
    run = scene.start(trip)
    with pytest.raises(NoRoom, match="car"):
        run.result()
    assert done == ["book flight", "book hotel", "book car", *UNDONE]


@pytest.mark.rule("W7")
def test_finished_undos_close_the_round_and_a_retry_does_the_work_anew(scene: Scene) -> None:
    broken.add("car")
    run = scene.start(trip)
    done.clear()
    run.retry()
    scene.settle()
    assert done == ["book flight", "book hotel", "book car", *UNDONE]
    done.clear()
    broken.clear()
    run.retry()
    scene.settle()
    assert run.result() == "booking of flight, booking of hotel"
    assert done == ["book flight", "book hotel", "book car"]
    assert not [note for note in scene.app.store.notes(run.uid) if note.kind == "unreached"]


keys: list[str] = []


def keyed() -> None:
    with saga("trip") as steps:
        steps.step("flight", lambda key: keys.append(key), undo=cancel)
        steps.step("car", lambda: book("car"), undo=cancel)


@pytest.mark.rule("W7")
def test_work_that_is_done_anew_has_new_keys(scene: Scene) -> None:
    keys.clear()
    broken.add("car")
    run = scene.start(keyed)
    run.retry()
    scene.settle()
    assert len(keys) == len(set(keys)) == 2  # the other side would give back the booking that was cancelled


def handled() -> str:
    try:
        trip()
    except NoRoom as error:
        what = str(error)
        once("told", lambda: done.append(f"no {what}"))
        sleep(DAY)
        return "at home"
    return "away"


@pytest.mark.rule("W7")
def test_a_failure_that_the_body_handles_is_a_fact_and_is_undone_once(scene: Scene) -> None:
    broken.add("car")
    run = scene.start(handled)
    broken.clear()
    scene.again(run, DAY)
    assert run.result() == "at home"
    assert done == ["book flight", "book hotel", "book car", *UNDONE, "no car"]


def other_steps_inside() -> str:
    try:
        with saga("trip") as steps:
            once("price", lambda: do("price"))
            with saga("stay") as stay:
                stay.step("hotel", lambda: book("hotel"), undo=cancel)
            steps.step("car", lambda: book("car"), undo=cancel)
    except NoRoom:
        sleep(DAY)
    return "at home"


def do(what: str) -> str:
    done.append(what)
    return what


@pytest.mark.rule("W12")
def test_what_was_done_in_a_block_that_failed_does_not_count_as_unreached(scene: Scene) -> None:
    broken.add("car")
    scene.app.workflow(strict=True)(other_steps_inside)
    run = scene.app.start(other_steps_inside)
    scene.settle()
    broken.clear()
    scene.again(run, DAY)
    assert run.result() == "at home"
    assert done == ["price", "book hotel", "book car", "cancel booking of hotel"]
    assert run.notes() == []


def slow_undo() -> None:
    with saga("trip") as steps:
        steps.step("flight", lambda: book("flight"), undo=cancel, undo_retry=QUICK)
        steps.step("hotel", lambda: book("hotel"), undo=cancel, undo_retry=QUICK)
        raise NoRoom("at last")


@pytest.mark.rule("W7")
def test_an_undo_is_retried_durably_and_nothing_else_runs_again(scene: Scene) -> None:
    broken.add("booking of hotel")
    run = scene.start(slow_undo)
    assert run.status == "parked"
    scene.again(run, timedelta(seconds=1))
    broken.clear()
    scene.again(run, timedelta(seconds=1))
    with pytest.raises(NoRoom, match="at last"):
        run.result()
    assert done == ["book flight", "book hotel", *["cancel booking of hotel"] * 3, "cancel booking of flight"]


@pytest.mark.rule("W7")
def test_an_undo_that_fails_for_good_is_noted_and_the_others_run(scene: Scene) -> None:
    broken.add("booking of hotel")
    run = scene.start(slow_undo)
    for _ in range(3):
        scene.again(run, timedelta(seconds=1))
    assert run.status == "faulted"
    assert done[-1] == "cancel booking of flight"
    (note,) = [note for note in scene.app.store.notes(run.uid) if note.kind == "undo failed"]
    assert note.path.endswith("/trip#hotel")
    assert "no answer for booking of hotel" in note.text


def decided_undo() -> None:
    with saga("trip") as steps:
        steps.step("flight", lambda: book("flight"), undo=cancel)
        steps.step("hotel", lambda: book("hotel"), undo=refuse)
        raise NoRoom("at last")


@pytest.mark.rule("W7")
def test_a_decision_of_an_undo_is_not_retried(scene: Scene) -> None:
    run = scene.start(decided_undo)
    assert run.status == "faulted"
    assert done[2:] == ["refuse booking of hotel", "cancel booking of flight"]
    assert [note.kind for note in scene.app.store.notes(run.uid)].count("undo failed") == 1


def undone_in_steps() -> None:
    with saga("trip") as steps:
        steps.step("flight", lambda: book("flight"), undo=cancel_in_steps, undo_retry=QUICK)
        raise NoRoom("at last")


@pytest.mark.rule("W7")
def test_the_steps_of_an_undo_are_steps(scene: Scene) -> None:
    broken.add("booking of flight")
    run = scene.start(undone_in_steps)
    broken.clear()
    scene.again(run, timedelta(seconds=1))
    assert run.status == "faulted"
    halves = ["first half of booking of flight", "cancel booking of flight"]
    assert done == ["book flight", *halves, *halves]  # each attempt is new work


def waiting() -> str:
    with saga("trip") as steps:
        steps.step("flight", lambda: book("flight"), undo=cancel)
        steps.step("hotel", lambda: book("hotel"), undo=cancel)
        sleep(DAY)
        steps.step("car", lambda: book("car"), undo=cancel)
    sleep(DAY, label="after")
    return "away"


@pytest.mark.rule("W8")
def test_a_cancel_undoes_what_the_open_saga_has_done(scene: Scene) -> None:
    run = scene.start(waiting)
    assert run.cancel()
    scene.settle()
    assert run.status == "cancelled"
    assert done == ["book flight", "book hotel", *UNDONE]
    with pytest.raises(RunCancelled):
        run.result()


@pytest.mark.rule("W8")
def test_a_cancel_after_the_block_undoes_nothing(scene: Scene) -> None:
    run = scene.start(waiting)
    scene.again(run, DAY)
    assert run.cancel()
    scene.settle()
    assert run.status == "cancelled"
    assert done == ["book flight", "book hotel", "book car"]


@pytest.mark.rule("W8")
def test_a_run_that_is_out_of_time_is_undone_too(scene: Scene) -> None:
    scene.app.workflow(timeout=timedelta(hours=3))(waiting)
    run = scene.app.start(waiting)
    scene.settle()
    scene.again(run, timedelta(hours=4))
    assert done == ["book flight", "book hotel", *UNDONE]
    with pytest.raises(RunTimedOut):
        run.result()


@pytest.mark.rule("W8")
def test_a_cancel_during_an_undo_finishes_the_undos(scene: Scene) -> None:
    broken.add("booking of hotel")
    run = scene.start(slow_undo)
    assert run.status == "parked"
    assert run.cancel()
    scene.settle()
    assert run.status == "parked"  # the undo waits for its next attempt
    broken.clear()
    scene.again(run, timedelta(seconds=1))
    assert run.status == "cancelled"
    assert done == ["book flight", "book hotel", *["cancel booking of hotel"] * 2, "cancel booking of flight"]


def kept() -> None:
    with saga("trip") as steps:
        steps.step("flight", lambda: book("flight"), undo=cancel)
        steps.keep()
        steps.step("hotel", lambda: book("hotel"), undo=cancel)
        if "wait" in broken:
            sleep(DAY)
        raise NoRoom("too late to undo")


@pytest.mark.rule("W7")
@pytest.mark.parametrize("how", ["raises", "is cancelled"])
def test_what_is_kept_is_not_undone(scene: Scene, how: str) -> None:
    if how == "is cancelled":
        broken.add("wait")
    run = scene.start(kept)
    if how == "is cancelled":
        assert run.cancel()
        scene.settle()
    assert run.status == ("cancelled" if how == "is cancelled" else "faulted")
    assert done == ["book flight", "book hotel"]


def nested() -> None:
    with saga("outer") as outer:
        outer.step("visa", lambda: book("visa"), undo=cancel)
        with saga("inner") as inner:
            inner.step("flight", lambda: book("flight"), undo=cancel)
        outer.step("hotel", lambda: book("hotel"), undo=cancel)
        if "wait" in broken:
            sleep(DAY)
        outer.step("car", lambda: book("car"), undo=cancel)


NESTED = ["cancel booking of hotel", "cancel booking of flight", "cancel booking of visa"]


@pytest.mark.rule("W7")
def test_an_inner_saga_hands_its_undos_to_the_outer_one(scene: Scene) -> None:
    broken.add("car")
    run = scene.start(nested)
    assert run.status == "faulted"
    assert done == ["book visa", "book flight", "book hotel", "book car", *NESTED]
    done.clear()
    broken.clear()
    run.retry()
    scene.settle()
    assert run.status == "completed"
    assert done == ["book visa", "book flight", "book hotel", "book car"]


@pytest.mark.rule("W8")
def test_a_cancel_undoes_an_inner_saga_while_the_outer_one_is_open(scene: Scene) -> None:
    broken.add("wait")
    run = scene.start(nested)
    assert run.cancel()
    scene.settle()
    assert done == ["book visa", "book flight", "book hotel", *NESTED]


def inner_fails() -> str:
    with saga("outer") as outer:
        outer.step("visa", lambda: book("visa"), undo=cancel)
        try:
            with saga("inner") as inner:
                inner.step("flight", lambda: book("flight"), undo=cancel)
                inner.step("hotel", lambda: book("hotel"), undo=cancel)
        except NoRoom:
            outer.step("tent", lambda: book("tent"), undo=cancel)
        if "all" in broken:
            raise NoRoom("all")
    return "fine"


@pytest.mark.rule("W7")
def test_an_inner_saga_that_fails_undoes_itself_alone(scene: Scene) -> None:
    broken.add("hotel")
    run = scene.start(inner_fails)
    assert run.result() == "fine"
    assert done == ["book visa", "book flight", "book hotel", "cancel booking of flight", "book tent"]


@pytest.mark.rule("W7")
def test_a_retry_of_both_does_both_anew(scene: Scene) -> None:
    broken.update({"hotel", "all"})
    run = scene.start(inner_fails)
    assert done[5:] == ["cancel booking of tent", "cancel booking of visa"]
    done.clear()
    broken.clear()
    run.retry()
    scene.settle()
    assert run.result() == "fine"
    assert done == ["book visa", "book flight", "book hotel"]


def each_leg() -> None:
    for leg in ("out", "back"):
        with saga("leg") as steps:
            for seat in range(2):
                steps.step("seat", lambda: book(f"{leg} {seat}"), undo=cancel)


def test_sagas_and_steps_in_loops_have_paths_of_their_own(scene: Scene) -> None:
    broken.add("back 1")
    run = scene.start(each_leg)
    assert run.status == "faulted"
    assert done == ["book out 0", "book out 1", "book back 0", "book back 1", "cancel booking of back 0"]
    paths = [record.path.partition("@1")[2] for record in scene.app.store.records(run.uid)]
    assert "[1]/leg[0]#seat" in paths


def a_helper(steps: Saga) -> None:
    steps.step("flight", lambda: book("flight"), undo=cancel)


def through_a_helper() -> None:
    with saga("trip") as steps:
        a_helper(steps)
        raise NoRoom("at last")


def test_a_function_may_be_given_the_saga(scene: Scene) -> None:
    scene.start(through_a_helper)
    assert done == ["book flight", "cancel booking of flight"]


def another_way() -> str:
    with saga("trip") as steps:
        if "flight" not in broken:
            steps.step("flight", lambda: book("flight"), undo=cancel)
        sleep(DAY)
        steps.step("hotel", lambda: book("hotel"), undo=cancel)
    return "away"


@pytest.mark.rule("W12")
def test_a_step_that_the_committed_attempt_does_not_reach_is_undone(scene: Scene) -> None:
    run = scene.start(another_way)
    broken.add("flight")  # as an edit would
    scene.again(run, DAY)
    assert run.result() == "away"
    assert done == ["book flight", "book hotel", "cancel booking of flight"]
    assert [note.kind for note in scene.app.store.notes(run.uid)] == ["unreached"]


async def trip_async() -> str:
    async with saga("trip") as steps:
        flight, hotel = await asyncio.gather(
            steps.step("flight", lambda: book_async("flight"), undo=cancel_async),
            steps.step("hotel", lambda: book_async("hotel"), undo=cancel),
        )
        if "wait" in broken:
            await sleep_async(DAY)
        await steps.step("car", lambda: book("car"), undo=cancel)
    return f"{flight}, {hotel}"


async def book_async(what: str) -> str:
    await asyncio.sleep(0)
    return book(what)


@pytest.mark.rule("W7")
def test_an_async_saga(scene: Scene) -> None:
    broken.add("car")
    run = scene.start(trip_async)
    assert run.status == "faulted"
    assert done == ["book flight", "book hotel", "book car", *UNDONE]
    broken.clear()
    run.retry()
    scene.settle()
    assert run.result() == "booking of flight, booking of hotel"


@pytest.mark.rule("W8")
def test_an_async_saga_is_cancelled(scene: Scene) -> None:
    broken.add("wait")
    run = scene.start(trip_async)
    assert run.cancel()
    scene.settle()
    assert run.status == "cancelled"
    assert done == ["book flight", "book hotel", *UNDONE]


async def timed() -> str:
    try:
        async with asyncio.timeout(None) as limit:
            if done and not broken:  # the time is over again in the next delivery
                limit.reschedule(0)
            async with saga("trip") as steps:
                await steps.step("flight", lambda: book_async("flight"), undo=cancel_async)
                limit.reschedule(0)
                await asyncio.Event().wait()
    except TimeoutError:
        await sleep_async(DAY)
        return "out of time"
    return "away"


@pytest.mark.rule("W7")
def test_a_block_that_is_cancelled_is_undone_once(scene: Scene) -> None:
    run = scene.start(timed)
    scene.again(run, DAY)
    assert run.result() == "out of time"
    assert done == ["book flight", "cancel booking of flight"]


@pytest.mark.rule("W7")
def test_what_nothing_cancels_in_the_next_delivery_is_done_anew(scene: Scene) -> None:
    broken.add("no second time")
    run = scene.start(timed)
    scene.again(run, DAY)
    assert run.result() == "out of time"
    assert done == ["book flight", "cancel booking of flight"] * 2


def in_a_retried_step() -> str:
    return once("trip", lambda: trip(), retry=QUICK)


@pytest.mark.rule("R4")
def test_each_attempt_of_a_retried_step_has_a_saga_of_its_own(scene: Scene) -> None:
    broken.add("car")
    run = scene.start(in_a_retried_step)
    assert run.status == "parked"
    broken.clear()
    scene.again(run, timedelta(seconds=1))
    assert run.status == "completed"
    assert done == ["book flight", "book hotel", "book car", *UNDONE, "book flight", "book hotel", "book car"]


LEFT = Event[str]("left")


def waits_for_an_event() -> None:
    with saga("trip") as steps:
        steps.step("flight", lambda: book("flight"), undo=cancel)
        wait_for(LEFT, timeout=DAY)


@pytest.mark.rule("W7")
def test_a_wait_that_is_over_leaves_the_block_like_any_failure(scene: Scene) -> None:
    run = scene.start(waits_for_an_event)
    scene.again(run, DAY)
    assert run.status == "faulted"
    assert done == ["book flight", "cancel booking of flight"]


# --------------------------------------------------------------------------------------------------------- bad input


hidden: dict[str, Any] = {"undo": lambda booking: done.append(booking)}


def bad_undo() -> None:
    with saga("trip") as steps:
        steps.step("flight", lambda: book("flight"), undo=hidden["undo"])


@pytest.mark.rule("W7")
def test_an_undo_that_cannot_be_found_again_is_refused_before_its_step_runs(scene: Scene) -> None:
    run = scene.start(bad_undo)
    with pytest.raises(TypeError, match="top level of a module"):
        run.result()
    assert done == []


def step_outside() -> None:
    with saga("trip") as steps:
        steps.step("flight", lambda: book("flight"), undo=cancel)
    steps.step("hotel", lambda: book("hotel"), undo=cancel)


def test_a_step_after_the_block_is_refused(scene: Scene) -> None:
    run = scene.start(step_outside)
    with pytest.raises(NotAllowedHere, match="outside of the saga's block"):
        run.result()
    assert done == ["book flight"]


def test_outside_of_a_run_a_saga_works_in_memory() -> None:
    broken.add("car")
    with pytest.raises(NoRoom):
        trip()
    assert done == ["book flight", "book hotel", "book car", *UNDONE]


async def test_outside_of_a_run_an_async_saga_works_in_memory() -> None:
    broken.add("car")
    with pytest.raises(NoRoom):
        await trip_async()
    assert done == ["book flight", "book hotel", "book car", *UNDONE]


def unrecordable() -> None:
    with saga("trip") as steps:
        steps.step("flight", lambda: [done.append("book flight"), object()], undo=cancel)


def test_an_undo_is_given_unknown_where_nobody_knows_what_its_step_returned(scene: Scene) -> None:
    run = scene.start(unrecordable)
    assert run.status == "faulted"
    assert done == ["book flight", f"cancel {UNKNOWN}"]


def undo_that_waits(booking: str) -> None:
    sleep(DAY)
    cancel(booking)


def exits(booking: str) -> None:
    raise SystemExit(3)


def waits_in_an_undo() -> None:
    with saga("trip") as steps:
        steps.step("flight", lambda: book("flight"), undo=cancel)
        steps.step("hotel", lambda: book("hotel"), undo=undo_that_waits)
        raise NoRoom("at last")


@pytest.mark.rule("W7")
def test_an_undo_may_wait(scene: Scene) -> None:
    run = scene.start(waits_in_an_undo)
    assert run.status == "parked"
    scene.again(run, DAY)
    with pytest.raises(NoRoom):
        run.result()
    assert done == ["book flight", "book hotel", *UNDONE]


def exits_in_an_undo() -> None:
    with saga("trip") as steps:
        steps.step("flight", lambda: book("flight"), undo=cancel)
        steps.step("hotel", lambda: book("hotel"), undo=exits)
        raise NoRoom("at last")


@pytest.mark.rule("W7")
def test_an_undo_that_exits_has_failed_for_good(scene: Scene) -> None:
    run = scene.start(exits_in_an_undo)
    with pytest.raises(NoRoom):
        run.result()
    assert done == ["book flight", "book hotel", "cancel booking of flight"]
    assert [note.kind for note in run.notes()] == ["undo failed"]


def async_undo_in_a_sync_saga() -> None:
    with saga("trip") as steps:
        steps.step("flight", lambda: book("flight"), undo=cancel_async)


def test_an_async_undo_of_a_sync_saga_is_refused_before_its_step_runs(scene: Scene) -> None:
    with pytest.raises(TypeError, match="async with"):
        scene.start(async_undo_in_a_sync_saga).result()
    assert done == []
