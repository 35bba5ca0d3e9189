"""Flows of one body: steps never awaited, cancellations and failures between tasks, and what no body can handle.

A run of these never hangs, and a later attempt takes the way that the first one took.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import pytest

from semel import App, once
from semel.engine import replaying, writes
from semel.engine.frames import told_briefly, user_traceback
from semel.engine.stated import is_awaited
from semel.errors import RecordUnreadable, ResultNotRecordable, RunFaulted, StoreError

done: list[str] = []
broken = {"yes": True}

#: Some bodies here make steps that they never await, and Python warns of it when it finds out.
pytestmark = pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    done.clear()
    broken["yes"] = True
    monkeypatch.setattr(replaying, "_GRACE", 0.05)
    monkeypatch.setattr(writes, "_PAUSES", (0.0, 0.0))
    yield
    gc.collect()


def do(what: str, result: object = None) -> object:
    done.append(what)
    return result


def break_once() -> None:
    if broken["yes"]:
        raise RuntimeError("broken")


async def turns(number: int, what: str, result: object = None) -> object:
    """Takes so many turns of the loop."""
    for _ in range(number):
        await asyncio.sleep(0)
    return do(what, result)


def kinds(run) -> dict[str, str]:
    return {record.path.partition("#")[2]: record.kind for record in run.steps()}


def result_of(app: App, workflow) -> object:
    app.workflow(workflow)
    with app.worker():
        return app.start(workflow).result(timeout=10)


def run_twice(app: App, workflow, failure: type[BaseException]):
    """Starts a run that faults while ``broken``; then mends it and delivers the same execution again."""
    app.workflow(workflow)
    run = app.start(workflow)
    with app.worker():
        with pytest.raises(failure):
            run.result(timeout=10)
        broken["yes"] = False
        assert run.retry()
        return run, run.result(timeout=10)


# -------------------------------------------------------------------------------------------------- steps never awaited


def fails_at_once() -> object:
    raise ValueError("the second argument")


async def second_argument_fails() -> str:
    try:
        await asyncio.gather(once("first", lambda: turns(1, "first")), once("second", lambda: fails_at_once()))
    except ValueError:
        return "went on"
    return "gathered"


async def cancelled_before_it_began() -> str:
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(once("first", lambda: turns(1, "first")))
            raise ValueError("in the body of the group")
    except* ValueError:
        pass
    return "went on"


async def task_cancelled_at_once() -> str:
    task = asyncio.create_task(once("first", lambda: turns(1, "first")))
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        return "went on"
    return "not cancelled"


@pytest.mark.rule("O20")
@pytest.mark.parametrize("workflow", [second_argument_fails, cancelled_before_it_began, task_cancelled_at_once])
def test_a_step_that_was_made_and_never_awaited_holds_nothing_up(app: App, workflow) -> None:
    assert result_of(app, workflow) == "went on"
    assert done == []


async def fails_before_the_await() -> object:
    waiting = once("first", lambda: turns(1, "first"))
    break_once()
    return await waiting


@pytest.mark.rule("O20")
def test_a_body_that_fails_before_it_awaits_a_step_faults(app: App) -> None:
    run_twice(app, fails_before_the_await, RuntimeError)
    assert done == ["first"]


async def exits_now() -> None:
    sys.exit(3)


async def exits_later() -> None:
    await asyncio.sleep(0)
    sys.exit(3)


async def with_an_exit_now() -> None:
    await once("exits", lambda: exits_now())


async def with_an_exit_later() -> None:
    await once("exits", lambda: exits_later())


async def plain() -> object:
    return await once("plain", lambda: turns(2, "plain", "plain"))


@pytest.mark.parametrize("workflow", [with_an_exit_now, with_an_exit_later])
def test_an_exit_in_an_async_step_faults_its_run_and_no_other(app: App, workflow) -> None:
    app.workflow(workflow)
    app.workflow(plain)
    with app.worker():
        run = app.start(workflow)
        with pytest.raises(RunFaulted, match="SystemExit"):
            run.result(timeout=10)
        assert app.start(plain).result(timeout=10) == "plain"


# -------------------------------------------------------------------------------------------------------- cancellations


async def flaky() -> object:
    await turns(3, "flaky")
    break_once()
    return "flaky"


async def slow() -> object:
    await turns(40, "slow")
    return "slow"


async def slow_and_failing() -> object:
    await turns(40, "slow")
    break_once()
    return "slow"


async def ask_flaky() -> object:
    return await once("flaky", lambda: flaky())


async def ask_slow() -> object:
    try:
        return await once("slow", lambda: slow())
    finally:
        once("unlock", lambda: do("unlock"))


async def ask_slow_and_failing() -> object:
    try:
        return await once("slow", lambda: slow_and_failing())
    finally:
        once("unlock", lambda: do("unlock"))


async def cancels_a_sibling() -> object:
    async with asyncio.TaskGroup() as group:
        one, two = group.create_task(ask_flaky()), group.create_task(ask_slow())
    return one.result(), two.result()


async def cancels_a_failing_sibling() -> object:
    async with asyncio.TaskGroup() as group:
        one, two = group.create_task(ask_flaky()), group.create_task(ask_slow_and_failing())
    return one.result(), two.result()


@pytest.mark.rule("O24")
def test_a_cancelled_step_that_nothing_cancels_again_has_its_own_record(
    app: App, caplog: pytest.LogCaptureFixture
) -> None:
    run, result = run_twice(app, cancels_a_sibling, ExceptionGroup)
    assert result == ("flaky", "slow")
    assert sorted(done) == ["flaky", "flaky", "slow", "unlock"]
    assert "nothing has cancelled it" in caplog.text
    assert kinds(run) == {"flaky": "result", "slow": "result", "unlock": "result"}, "what was retracted stays so"


@pytest.mark.rule("O24")
def test_a_cancelled_step_that_nothing_cancels_again_and_without_a_record_runs(app: App) -> None:
    run, result = run_twice(app, cancels_a_failing_sibling, ExceptionGroup)
    assert result == ("flaky", "slow")
    assert sorted(done) == ["flaky", "flaky", "slow", "slow", "unlock"]
    assert kinds(run) == {"flaky": "result", "slow": "result", "unlock": "result"}


async def times_out_after_a_step() -> str:
    try:
        async with asyncio.timeout(0.5) as limit:
            await once("first", lambda: turns(1, "first"))
            await once("slow", lambda: outlives(limit))
    except TimeoutError:
        once("fallback", lambda: do("fallback"))
    break_once()
    return "late"


async def outlives(limit: asyncio.Timeout) -> None:
    while not limit.expired():
        await asyncio.sleep(0)
    await turns(10, "slow")


@pytest.mark.rule("O24")
def test_a_cancellation_is_waited_for_as_long_as_the_attempt_had_taken_until_it(app: App) -> None:
    run, result = run_twice(app, times_out_after_a_step, RuntimeError)
    assert result == "late"
    assert sorted(done) == ["fallback", "first", "slow"]
    steps = {record.path.partition("#")[2]: record for record in run.steps()}
    assert steps["slow!"].started_at <= steps["first"].started_at, "the timeout began before the first step did"


class OrderFailed(Exception):
    pass


async def idle_with_a_cleanup() -> None:
    try:
        await asyncio.Event().wait() if broken["yes"] else None
    finally:
        once("unlock", lambda: do("unlock"))


async def wraps_a_failure() -> object:
    try:
        async with asyncio.TaskGroup() as group:
            one = group.create_task(ask_flaky())
            group.create_task(idle_with_a_cleanup())
    except* RuntimeError as failures:
        raise OrderFailed("wrapped") from failures
    return one.result()


@pytest.mark.rule("O24")
@pytest.mark.rule("R11")
def test_a_failed_step_is_asked_again_though_its_failure_ended_the_body_in_another_exception(app: App) -> None:
    _, result = run_twice(app, wraps_a_failure, OrderFailed)
    assert result == "flaky"
    assert done == ["flaky", "unlock", "flaky"]


def fails_in_a_circle() -> str:
    if broken["yes"]:
        one, two = ValueError("one"), ValueError("two")
        one.__cause__, two.__cause__ = two, one
        raise one
    return "mended"


def test_a_failure_whose_causes_go_round_in_a_circle_ends_the_body(app: App) -> None:
    assert run_twice(app, fails_in_a_circle, ValueError)[1] == "mended"


# ---------------------------------------------------------------------------------------------- what no body can handle


@dataclass
class Receipt:
    number: int


def pay() -> Receipt:
    return Receipt(int(done.append("pay") is None))


def refunds_on_any_failure() -> str:
    try:
        once("pay", lambda: pay())
    except Exception:
        once("refund", lambda: do("refund"))
        return "refunded"
    break_once()
    return "paid"


def swallows_everything() -> str:
    with contextlib.suppress(BaseException):
        once("pay", lambda: pay())
    with contextlib.suppress(BaseException):
        once("refund", lambda: do("refund"))
    break_once()
    return "done"


async def swallows_in_gather() -> str:
    await asyncio.gather(once("pay", lambda: asyncio.to_thread(pay)), return_exceptions=True)
    break_once()
    return "done"


@pytest.mark.rule("D4")
@pytest.mark.parametrize("workflow", [refunds_on_any_failure, swallows_everything, swallows_in_gather])
def test_a_record_that_cannot_be_read_faults_the_run_whatever_the_body_does(
    app: App, monkeypatch: pytest.MonkeyPatch, workflow
) -> None:
    app.workflow(workflow)
    run = app.start(workflow)
    with app.worker():
        with pytest.raises(RuntimeError, match="broken"):
            run.result(timeout=10)
        before = [*done]
        broken["yes"] = False
        with monkeypatch.context() as deploy:
            deploy.delattr(sys.modules[__name__], "Receipt")
            run.retry()
            with pytest.raises(RecordUnreadable, match=r"#pay cannot be read"):
                run.result(timeout=10)
        assert done == before
        run.retry()
        assert run.result(timeout=10) in ("paid", "done")


class Unrecordable(Exception):
    pass


def decline() -> None:
    do("charge")
    raise Unrecordable(object())


def goes_past_an_unrecordable_failure() -> str:
    try:
        once("charge", lambda: decline())
    except Exception as error:
        told = type(error).__name__
    else:
        told = "charged"
    try:
        once("notify", lambda: do(told))
    except Exception:
        return "handled"
    return told


def ends_past_an_unrecordable_failure() -> str:
    try:
        once("charge", lambda: decline())
    except Exception:
        return "handled"
    return "charged"


@pytest.mark.rule("O23")
@pytest.mark.rule("O25")
@pytest.mark.parametrize("workflow", [goes_past_an_unrecordable_failure, ends_past_an_unrecordable_failure])
def test_a_failure_that_cannot_be_recorded_faults_the_run_on_every_attempt(app: App, workflow) -> None:
    app.workflow(workflow)
    run = app.start(workflow)
    with app.worker():
        for _ in range(2):
            with pytest.raises(ResultNotRecordable, match=r"#charge raised a.*object") as raised:
                run.result(timeout=10)
            assert "run.record(" in str(raised.value)
            assert done == ["charge"]
            assert run.retry()
        with pytest.raises(ResultNotRecordable):
            run.result(timeout=10)
        run.record(f"{workflow.__name__}/start@1#charge", "by hand")
        run.retry()
        assert run.result(timeout=10) == "charged"


def handles_an_unrecordable_result() -> str:
    try:
        once("connect", lambda: do("connect", object()))
    except ResultNotRecordable:
        once("after", lambda: do("after"))
    break_once()
    return "handled"


@pytest.mark.rule("O23")
def test_a_result_that_cannot_be_recorded_is_an_error_that_the_body_may_handle_on_each_attempt(app: App) -> None:
    _, result = run_twice(app, handles_an_unrecordable_result, RuntimeError)
    assert result == "handled"
    assert done == ["connect", "after"]


# ------------------------------------------------------------------------------------------------------- stated by hand


class Client:
    async def ask(self, number: int) -> object:
        break_once()
        return number

    def tell(self, number: int) -> object:
        return number


client = Client()


async def gathers() -> object:
    one, two = await asyncio.gather(once("one", lambda: client.ask(1)), once("two", lambda: turns(1, "two", 2)))
    three = once("three", lambda: client.tell(3))
    return [one, two, three]


async def creates_tasks() -> object:
    task = asyncio.create_task(once("one", lambda: client.ask(1)))
    return [await task, await once("two", lambda: turns(1, "two", 2)), once("three", lambda: do("three", 3))]


@pytest.mark.rule("O25")
@pytest.mark.parametrize("workflow", [gathers, creates_tasks])
def test_an_outcome_stated_by_hand_is_awaited_where_the_step_would_be(app: App, workflow) -> None:
    app.workflow(workflow)
    run = app.start(workflow)
    with app.worker():
        with pytest.raises(RuntimeError):
            run.result(timeout=10)
        for label, value in (("one", 10), ("three", 30)):
            run.record(f"{workflow.__name__}/start@1#{label}", value)
        run.retry()
        assert run.result(timeout=10) == [10, 2, 30]


async def gathers_what_cannot_be_told() -> object:
    chosen = {"ask": lambda: turns(1, "asked", 1)}
    (one,) = await asyncio.gather(once("one", lambda: chosen["ask"]()))
    break_once()
    return one


@pytest.mark.rule("O25")
def test_an_outcome_stated_in_place_of_a_record_is_awaited_as_the_step_was(app: App) -> None:
    app.workflow(gathers_what_cannot_be_told)
    run = app.start(gathers_what_cannot_be_told)
    with app.worker():
        with pytest.raises(RuntimeError):
            run.result(timeout=10)
        run.record("gathers_what_cannot_be_told/start@1#one", 10)
        assert [record.awaited for record in run.steps()] == [True]
        broken["yes"] = False
        run.retry()
        assert run.result(timeout=10) == 10


def test_a_step_tells_whether_it_is_awaited_and_where_it_does_not_the_call_decides() -> None:
    def told(step: object) -> tuple[bool, bool]:
        return is_awaited(step, gathers.__code__), is_awaited(step, pay.__code__)

    for step in (slow, partial(turns, 1), lambda: slow(), lambda: client.ask(len("x")), lambda: asyncio.to_thread(pay)):
        assert told(step) == (True, True)
    for step in (pay, client.tell, lambda: pay(), lambda: client.tell(1), lambda: do(chr(65), [1])):
        assert told(step) == (False, False)
    for step in (
        lambda: globals()["no such"](),
        lambda: client.tell(1).there(),
        lambda: 1,
        lambda: [slow][0](),
        lambda: do("x") or 1,
    ):
        assert told(step) == (True, False)


# ----------------------------------------------------------------------------------------- failures that cannot be told


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def raises_mute() -> None:
    do("tried")
    raise Mute


@pytest.mark.rule("R11")
def test_a_fault_whose_text_cannot_be_made_is_a_fault_all_the_same(app: App) -> None:
    app.workflow(redeliver=1)(raises_mute)
    run = app.start(raises_mute)
    with app.worker(), pytest.raises(Exception, match="Mute"):
        run.result(timeout=10)
    assert run.status == "faulted"
    assert done == ["tried", "tried"]


def test_telling_an_exception_never_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(error: BaseException) -> None:
        raise RecursionError

    monkeypatch.setattr("semel.engine.frames.discreet", fails)
    assert "test_flows.Mute" in told_briefly(Mute())
    assert "test_flows.Mute" in user_traceback(Mute())


# ------------------------------------------------------------------------------------------ unreached; a store's hiccup


def helper() -> object:
    return once("mail", lambda: do("mail"))


def a_label_in_place_of_a_helper() -> None:
    if broken["yes"]:
        helper()
    else:
        once("helper", lambda: do("helper"))
    break_once()


@pytest.mark.rule("W12")
def test_a_label_hides_no_step_of_a_helper_of_its_name(app: App) -> None:
    run, _ = run_twice(app, a_label_in_place_of_a_helper, RuntimeError)
    unreached = [note.path for note in run.notes() if note.kind == "unreached"]
    assert unreached == ["a_label_in_place_of_a_helper/start@1/helper#mail"]


class _Refused:
    def wait(self) -> bool:
        raise StoreError("the disk is full")

    def future(self, loop: asyncio.AbstractEventLoop) -> asyncio.Future[bool]:
        future: asyncio.Future[bool] = loop.create_future()
        future.set_exception(StoreError("the disk is full"))
        return future


def one_step() -> object:
    return once("one", lambda: do("one", 1))


async def one_async_step() -> object:
    return await once("one", lambda: turns(1, "one", 1))


@pytest.mark.rule("O7")
@pytest.mark.parametrize("workflow", [one_step, one_async_step])
def test_a_result_in_hand_is_offered_to_the_store_again(app: App, monkeypatch: pytest.MonkeyPatch, workflow) -> None:
    app.workflow(workflow)
    append, refusals = app.store.append, [1, 2]
    monkeypatch.setattr(app.store, "append", lambda *args: _Refused() if refusals and refusals.pop() else append(*args))
    with app.worker():
        assert app.start(workflow).result(timeout=10) == 1
    assert done == ["one"]
    assert refusals == []
