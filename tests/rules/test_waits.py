"""Waits: W6, W8, W9, W11, O24 and A5 where they meet them; the end of a visit by app.again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from time_scene import START, Scene

from semel import Event, once, sleep, sleep_async, sleep_until, wait_for, wait_for_async
from semel.errors import NotAllowedHere, RunCancelled, RunEnded, RunTimedOut, WaitTimedOut

done: list[str] = []

DAY = timedelta(days=1)


@dataclass
class Payment:
    amount: int


paid = Event[Payment]("paid", Payment)


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    done.clear()
    return


def do(what: str) -> str:
    done.append(what)
    return what


async def do_async(what: str) -> str:
    await asyncio.sleep(0)
    return do(what)


# ---------------------------------------------------------------------------------------------------------------- sleep


def a_week() -> list[str]:
    first = once("first", lambda: do("first"))
    before = datetime.now(UTC)
    sleep(7 * DAY)
    slept = datetime.now(UTC) - before
    assert slept == 7 * DAY
    return [first, once("last", lambda: do("last"))]


async def a_week_async() -> list[str]:
    first = await once("first", lambda: do_async("first"))
    await sleep_async(7 * DAY)
    return [first, await once("last", lambda: do_async("last"))]


@pytest.mark.rule("W6")
@pytest.mark.rule("W9")
@pytest.mark.rule("A5")
@pytest.mark.parametrize("body", [a_week, a_week_async])
def test_a_run_sleeps_for_a_week_and_its_steps_are_found(scene: Scene, body: object) -> None:
    run = scene.start(body)
    assert run.status == "parked"
    scene.again(run, 7 * DAY - timedelta(seconds=1))
    assert run.status == "parked"
    scene.again(run, timedelta(seconds=1))
    assert run.result() == ["first", "last"]
    assert done == ["first", "last"]


@pytest.mark.rule("W6")
def test_a_worker_that_was_off_wakes_what_it_missed_once(scene: Scene) -> None:
    run = scene.start(a_week)
    scene.time += 30 * 86_400
    assert scene.settle() == 1
    assert run.result() == ["first", "last"]
    assert scene.app.store.next_due() is None


def until_nine() -> str:
    sleep_until(datetime(2025, 10, 26, 9, 0, tzinfo=ZoneInfo("Europe/Berlin")))
    return do("nine")


@pytest.mark.rule("W6")
def test_a_moment_of_a_zone_is_met_beyond_the_change_of_its_clocks(scene: Scene) -> None:
    scene.time = datetime(2025, 10, 25, 9, 0, tzinfo=ZoneInfo("Europe/Berlin")).timestamp()
    run = scene.start(until_nine)
    scene.again(run, timedelta(hours=24, minutes=59))
    assert run.status == "parked"
    scene.again(run, timedelta(minutes=1))
    assert run.status == "completed"


def naive() -> None:
    sleep_until(datetime(2030, 1, 1))


def negative() -> None:
    sleep(-DAY)


def too_long() -> None:
    sleep(timedelta(days=99_999))


@pytest.mark.rule("W6")
@pytest.mark.parametrize(
    ("body", "says"), [(naive, "no time zone"), (negative, "not between"), (too_long, "a hundred years")]
)
def test_what_is_no_time_to_wait_is_refused(scene: Scene, body: object, says: str) -> None:
    run = scene.start(body)
    with pytest.raises(ValueError, match=says):
        run.result()


@pytest.mark.rule("W9")
def test_a_clock_that_is_set_back_does_not_undo_a_wait_that_is_over(scene: Scene) -> None:
    run = scene.start(then_waits)
    scene.again(run, DAY)
    assert done == ["slept"]
    scene.time = START
    run.send("go")
    scene.settle()
    assert run.result() == "slept"
    assert done == ["slept"]


def then_waits() -> str:
    sleep(DAY)
    what = once("slept", lambda: do("slept"))
    wait_for("go")
    return what


def swallows() -> str:
    try:
        sleep(DAY)
    except BaseException:
        pass
    finally:
        once("finally", lambda: do("finally"))
    return "went on"


@pytest.mark.rule("W6")
def test_a_body_that_swallows_the_park_is_parked_all_the_same(scene: Scene) -> None:
    run = scene.start(swallows)
    assert run.status == "parked"
    assert done == []
    scene.again(run, DAY)
    assert run.result() == "went on"
    assert done == ["finally"]


# --------------------------------------------------------------------------------------------------------------- events


def takes_two() -> list[object]:
    return [wait_for("go", label="one"), once("between", lambda: do("between")), wait_for("go", label="two")]


@pytest.mark.rule("W6")
def test_events_are_taken_in_order_once_each_whether_they_come_first_or_later(scene: Scene) -> None:
    scene.app.workflow(takes_two)
    run = scene.app.start(takes_two, id="one")
    run.send("go", 1)
    scene.settle()
    assert run.status == "parked"
    run.send("other", 0)
    run.send("go", 2)
    run.send("go", 3)
    scene.settle()
    assert run.result() == [1, "between", 2]
    assert done == ["between"]
    with pytest.raises(RunEnded, match="'go' was not sent"):
        run.send("go", 4)


def takes_typed() -> int:
    return wait_for(paid).amount


@pytest.mark.rule("W6")
def test_an_event_carries_a_payload_of_its_type(scene: Scene) -> None:
    run = scene.start(takes_typed)
    with pytest.raises(TypeError, match="carries a Payment, not a dict"):
        run.send(paid, {"amount": 3})
    run.send(paid, Payment(3))
    scene.settle()
    assert run.result() == 3


def patient() -> object:
    try:
        return wait_for("go", timeout=DAY)
    except WaitTimedOut:
        return once("late", lambda: do("late"))


@pytest.mark.rule("W6")
def test_what_was_first_stays_so(scene: Scene) -> None:
    run = scene.start(patient)
    scene.time += 2 * 86_400  # the timeout is due, and nobody has looked yet
    run.send("go", "too late")
    scene.settle()
    assert run.result() == "late"
    other = scene.start(patient, id="two")
    scene.time += 3600
    other.send("go", "in time")
    scene.time += 5 * 86_400
    scene.settle()
    assert other.result() == "in time"


async def side_by_side() -> list[object]:
    return await asyncio.gather(steps_on(), wait_for_async("go"), naps())


async def steps_on() -> list[str]:
    return [await once("step", lambda: do_async("step")) for _ in range(3)]


async def naps() -> str:
    await sleep_async(DAY)
    return await once("napped", lambda: do_async("napped"))


@pytest.mark.rule("W6")
@pytest.mark.rule("O20")
def test_the_other_tasks_of_a_body_go_on_while_one_waits(scene: Scene) -> None:
    run = scene.start(side_by_side)
    assert run.status == "parked"
    assert done == ["step"] * 3
    scene.again(run, DAY)
    assert run.status == "parked"
    assert done == [*["step"] * 3, "napped"]
    run.send("go", "went")
    scene.settle()
    assert run.result() == [["step"] * 3, "went", "napped"]
    assert len(done) == 4


async def failing_beside() -> str:
    async with asyncio.TaskGroup() as group:
        group.create_task(naps())
        group.create_task(breaks())
    return "not reached"


async def breaks() -> None:
    await once("break", lambda: do_async("break"))
    raise RuntimeError("broken")


@pytest.mark.rule("O20")
def test_a_failing_sibling_ends_the_body_and_not_the_wait(scene: Scene) -> None:
    run = scene.start(failing_beside)
    assert run.status == "faulted"
    assert scene.app.store.next_due() is None


# ----------------------------------------------------------------------------------------------------- a wait in a once


def holds_a_wait() -> str:
    return once("approve", lambda: approved())


def approved() -> str:
    asked = once("ask", lambda: do("ask"))
    return f"{asked}, {wait_for('answer')}"


@pytest.mark.rule("W11")
def test_a_step_may_hold_a_wait(scene: Scene) -> None:
    run = scene.start(holds_a_wait)
    run.send("answer", "yes")
    scene.settle()
    assert run.result() == "ask, yes"
    assert done == ["ask"]


# -------------------------------------------------------------------------------------------------------- cancel, again


@pytest.mark.rule("W8")
def test_a_parked_run_is_cancelled_at_once_and_an_ended_one_is_too_late(scene: Scene) -> None:
    run = scene.start(a_week)
    assert run.cancel()
    assert run.status == "cancelled"
    with pytest.raises(RunCancelled):
        run.result()
    scene.again(run, 8 * DAY)
    assert done == ["first"]
    assert not run.cancel()


def counts(n: int) -> int:
    sleep(DAY)
    once("work", lambda: do(f"work {n}"))
    if n < 3:
        done_app.app.again(n + 1)
    return n


class done_app:
    app: object


@pytest.mark.rule("V2")
@pytest.mark.rule("V3")
def test_a_loop_that_lives_for_years_stays_short(scene: Scene) -> None:
    done_app.app = scene.app
    run = scene.start(counts, 0)
    for _ in range(4):
        scene.again(run, DAY)
    assert run.result() == 3
    assert done == ["work 0", "work 1", "work 2", "work 3"]
    assert [step.path for step in run.steps()] == ["counts/start@4#sleep", "counts/start@4#work"]


def slow() -> None:
    once("first", lambda: do("first"))
    wait_for("never")


def test_a_run_beyond_the_timeout_of_its_workflow_is_ended(scene: Scene) -> None:
    scene.app.workflow(timeout=3 * DAY)(slow)
    run = scene.app.start(slow, id="one")
    scene.settle()
    scene.again(run, 2 * DAY)
    assert run.status == "parked"
    scene.again(run, DAY)
    assert run.status == "faulted"
    with pytest.raises(RunTimedOut, match="slow"):
        run.result()


@pytest.mark.parametrize("wait", [lambda: wait_for("go"), lambda: asyncio.run(wait_for_async("go"))])
def test_an_event_is_waited_for_in_a_run_only(wait: object) -> None:
    with pytest.raises(NotAllowedHere, match="body of a run"):
        wait()  # type: ignore[operator]


def waits_for_one_event() -> object:
    return wait_for("stated")


@pytest.mark.rule("O25")
def test_an_outcome_that_is_stated_for_a_wait_wakes_the_run(scene: Scene) -> None:
    run = scene.start(waits_for_one_event)
    run.record("waits_for_one_event/start@1#wait_for:stated", None)
    assert run.status == "pending"
