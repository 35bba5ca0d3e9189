"""Time in a body (A5): the end of the latest step that the flow has passed, the same at each attempt; ``semel.now``."""

from __future__ import annotations

import asyncio
import datetime as dt
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

from semel import App, now, once

BEGAN = 1_900_000_000.0
FAR = timezone(timedelta(hours=14))

broken = {"yes": True}
seen: list[Any] = []


class Clock:
    """The app's clock, which goes on by a second each time that it is asked, and by what a step takes."""

    def __init__(self) -> None:
        self.at = BEGAN

    def __call__(self) -> float:
        self.at += 1
        return self.at


clock = Clock()


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    broken["yes"] = True
    seen.clear()
    clock.at = BEGAN
    return


@pytest.fixture
def app(new_app: Callable[..., App]) -> App:
    return new_app(now=clock)


def take(seconds: float) -> None:
    clock.at += seconds


def break_once() -> None:
    if broken["yes"]:
        raise RuntimeError("broken")


def deliver_twice(app: App, workflow: Callable[..., Any]) -> tuple[Any, Any]:
    """What the workflow keeps of two deliveries, an hour apart, and that it is the same."""
    app.workflow(workflow)
    run = app.start(workflow)
    with app.worker():
        with pytest.raises(RuntimeError, match="broken"):
            run.result(timeout=20)
        broken["yes"] = False
        clock.at += 3600
        run.retry()
        run.result(timeout=20)
    first, second = seen
    assert first == second
    return run, first


def every_reader() -> list[Any]:
    return [
        datetime.now(),
        datetime.now(UTC),
        datetime.now(tz=FAR),
        datetime.utcnow(),
        datetime.today(),
        dt.datetime.now(),
        date.today(),
        time.time(),
        time.time_ns(),
        time.localtime(),
        time.gmtime(),
        time.ctime(),
        time.asctime(),
        time.strftime("%H:%M:%S"),
        time.clock_gettime(time.CLOCK_REALTIME),
        now(),
    ]


def reads_all() -> None:
    before = every_reader()
    once("pay", lambda: take(50))
    seen.append([before, every_reader()])
    break_once()


@pytest.mark.rule("A5")
@pytest.mark.filterwarnings("ignore:datetime.datetime.utcnow:DeprecationWarning")
def test_each_reader_gives_the_start_of_the_attempt_and_then_the_end_of_the_latest_step(app: App) -> None:
    run, (before, after) = deliver_twice(app, reads_all)
    (step,) = run.steps()
    began = before[7]
    assert BEGAN < began < step.started_at
    for at, told in ((began, before), (step.finished_at, after)):
        aware = datetime.fromtimestamp(at, UTC)
        local = datetime.fromtimestamp(at)
        assert told[:3] == [local, aware, aware]
        assert told[2].utcoffset() == timedelta(hours=14)
        assert told[3:7] == [aware.replace(tzinfo=None), local, local, date.fromtimestamp(at)]
        assert told[7:9] == [at, round(at * 1e9)]
        assert told[9:11] == [time.localtime(at), time.gmtime(at)]
        assert told[11:14] == [time.ctime(at), time.ctime(at), local.strftime("%H:%M:%S")]
        assert told[14:] == [at, aware]
    assert after[7] - began > 50


def reads_given_times() -> None:
    seen.append([time.gmtime(0), time.strftime("%Y", time.gmtime(0)), time.ctime(0), datetime.fromtimestamp(0, UTC)])
    break_once()


@pytest.mark.rule("A5")
def test_a_time_that_is_given_is_only_converted(app: App) -> None:
    _, told = deliver_twice(app, reads_given_times)
    assert told == [time.gmtime(0), "1970", time.ctime(0), datetime.fromtimestamp(0, UTC)]


def reads_in_a_step() -> None:
    before = datetime.now(UTC)
    once("look", lambda: seen.append([before, datetime.now(UTC), time.time(), now()]))


@pytest.mark.rule("A5")
def test_in_a_step_the_time_is_that_of_the_clock(app: App) -> None:
    app.workflow(reads_in_a_step)
    lower = time.time()
    with app.worker():
        app.start(reads_in_a_step).result(timeout=20)
    ((before, inside, seconds, told),) = seen
    assert lower <= inside.timestamp() <= seconds <= time.time()
    assert before.timestamp() < told.timestamp() <= clock.at, "the app's own clock"


def monotonic_stays_real() -> None:
    before = time.monotonic(), time.perf_counter(), time.process_time()
    while time.monotonic() == before[0] or time.perf_counter() == before[1]:
        pass
    seen.append(datetime.now())
    break_once()


@pytest.mark.rule("A5")
def test_monotonic_and_perf_counter_stay_real(app: App) -> None:
    deliver_twice(app, monotonic_stays_real)


def fails() -> None:
    take(10)
    raise ValueError("declined")


def goes_past_a_failure() -> None:
    try:
        once("pay", lambda: fails())
    except ValueError:
        failed = time.time()
    once("note", lambda: take(5))
    seen.append([failed, time.time()])
    break_once()


@pytest.mark.rule("A5")
@pytest.mark.rule("O24")
def test_a_failure_that_the_body_goes_past_is_passed_too(app: App) -> None:
    run, (failed, noted) = deliver_twice(app, goes_past_a_failure)
    assert [failed, noted] == [record.finished_at for record in run.steps()]


async def sleep_then(seconds: float, turns: int) -> None:
    for _ in range(turns):
        await asyncio.sleep(0)
    take(seconds)


async def one_side(name: str, turns: int) -> list[float]:
    first = time.time()
    await once("pay", lambda: sleep_then(10, turns))
    return [first, time.time()]


async def other_side(turns: int) -> list[float]:
    times = []
    for _ in range(turns):
        await asyncio.sleep(0)
        times.append(time.time())
    return times


async def reads_side_by_side() -> None:
    began = time.time()
    paid, idle = await asyncio.gather(one_side("a", 3), other_side(8 if broken["yes"] else 2))
    await once("end", lambda: sleep_then(1, 0))
    seen.append([began, paid, {*idle}, time.time()])
    break_once()


@pytest.mark.rule("A5")
@pytest.mark.rule("O20")
def test_a_step_of_a_concurrent_sibling_does_not_move_the_time(app: App) -> None:
    _, (began, paid, idle, end) = deliver_twice(app, reads_side_by_side)
    assert idle == {began}
    assert paid[0] == began < paid[1] < end


async def cancelled_in_a_step() -> None:
    began = time.time()
    try:
        async with asyncio.timeout(0.01):
            await once("slow", lambda: asyncio.sleep(0.1))
    except TimeoutError:
        cancelled = time.time()
    await once("goes on", lambda: sleep_then(1, 0))
    seen.append([began, cancelled])
    break_once()


@pytest.mark.rule("A5")
def test_a_cancellation_that_the_body_goes_past_is_passed_too(app: App) -> None:
    _, (began, cancelled) = deliver_twice(app, cancelled_in_a_step)
    assert began < cancelled


def in_threads() -> None:
    once("first", lambda: take(10))
    began = time.time()

    def work(number: int) -> list[float]:
        before = time.time()
        once("work", lambda: take(number))
        return [before, time.time()]

    with ThreadPoolExecutor(2) as pool:
        times = [*pool.map(work, range(3))]
    assert [before for before, _ in times] == [began] * 3
    seen.append([began, times])
    break_once()


@pytest.mark.rule("A5")
def test_a_thread_begins_with_the_time_of_the_flow_that_started_it(app: App) -> None:
    deliver_twice(app, in_threads)


# --------------------------------------------------------------------------------------------------- it never goes back


def reads_twice() -> None:
    first = now()
    clock.at -= 10_000
    once("pay", lambda: None)
    seen.append([first, now()])


@pytest.mark.rule("A5")
def test_the_time_never_goes_back_when_the_clock_does(app: App) -> None:
    app.workflow(reads_twice)
    run = app.start(reads_twice)
    with app.worker():
        run.result(timeout=20)
    ((first, second),) = seen
    assert run.steps()[0].finished_at < first.timestamp()
    assert second == first


# ------------------------------------------------------------------------------------------------------------ semel.now


def read_now(_: object) -> datetime:
    return now()


class Order:
    @property
    def age_asked_at(self) -> datetime:
        return now()


def reads_through_foreign_code() -> None:
    once("pay", lambda: take(5))
    seen.append([now(), [*map(read_now, "ab")], Order().age_asked_at, sorted([2, 1], key=lambda _: now())])
    break_once()


@pytest.mark.rule("A5")
def test_now_is_right_wherever_it_is_called_from(app: App) -> None:
    run, (told, mapped, asked, _) = deliver_twice(app, reads_through_foreign_code)
    assert {told, *mapped, asked} == {datetime.fromtimestamp(run.steps()[0].finished_at, UTC)}


@pytest.mark.rule("A5")
@pytest.mark.rule("A6")
def test_outside_of_a_run_now_is_the_clock_s_and_aware() -> None:
    lower = datetime.now(UTC)
    told = now()
    assert lower <= told <= datetime.now(UTC)
    assert told.tzinfo is UTC
