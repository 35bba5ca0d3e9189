"""Retry: R1–R9, O24 and A5 where they meet a retry, and time limits of steps."""

from __future__ import annotations

import asyncio
import traceback
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from time_scene import START, Scene

from semel import Backoff, Decision, once, run_child, sleep
from semel.errors import InvalidRetry, NotAllowedHere, RegistrationError, StepTimedOut

done: list[str] = []
keys: list[str] = []
fails: dict[str, int] = {}
seen: list[object] = []

TWO = Backoff.exponential(timedelta(seconds=2))
SECOND = timedelta(seconds=1)

#: What the checks before a run cannot see through.
hidden: dict[str, Any] = {"sleep": sleep, "run_child": run_child, "endless": TWO}


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    for kept in (done, keys, fails, seen):
        kept.clear()
    return


class Refusal(Exception):
    """A failure with arguments."""


class SoldOut(Decision):
    """A decision of the program's own."""


def do(what: str) -> str:
    """Fails as often as ``fails`` says."""
    done.append(what)
    if fails.get(what, 0) > 0:
        fails[what] -= 1
        raise Refusal(what, len(done))
    return f"did {what}"


async def do_async(what: str) -> str:
    await asyncio.sleep(0)
    return do(what)


# ----------------------------------------------------------------------------------------------------------- R1, R2, R5


def charge() -> str:
    before = once("before", lambda: do("before"))
    paid = once("charge", lambda: do("charge"), retry=TWO.max_attempts(4))
    return f"{before}, {paid}"


async def charge_async() -> str:
    before = await once("before", lambda: do_async("before"))
    paid = await once("charge", lambda: do_async("charge"), retry=TWO.max_attempts(4))
    return f"{before}, {paid}"


@pytest.mark.rule("R1")
@pytest.mark.rule("R2")
@pytest.mark.rule("R5")
@pytest.mark.rule("V4")
@pytest.mark.parametrize("body", [charge, charge_async])
def test_a_failed_step_parks_the_run_and_is_tried_again_when_its_clock_is_due(scene: Scene, body: object) -> None:
    fails["charge"] = 3
    run = scene.start(body)
    assert run.status == "parked"
    assert done == ["before", "charge"]
    for wait in (2, 4, 8):
        scene.again(run, timedelta(seconds=wait) - timedelta(milliseconds=1))
        assert run.status == "parked"
        scene.again(run, timedelta(milliseconds=1))
    assert run.result() == "did before, did charge"
    assert done == ["before", *["charge"] * 4]
    assert scene.app.store.get("one").visits == {"start": 1}  # type: ignore[union-attr]


@pytest.mark.rule("R2")
@pytest.mark.rule("R9")
@pytest.mark.rule("O24")
@pytest.mark.parametrize("body", [charge, charge_async])
def test_the_last_attempts_failure_is_raised_and_stays(scene: Scene, body: object) -> None:
    fails["charge"] = 99
    run = scene.start(body)
    for wait in (2, 4, 8):
        scene.again(run, timedelta(seconds=wait))
    assert run.status == "faulted"
    with pytest.raises(Refusal) as caught:
        run.result()
    assert caught.value.args == ("charge", 5)
    assert done.count("charge") == 4
    assert run.retry()  # an exhausted retry is a fact: the step is not tried again
    scene.settle()
    assert run.status == "faulted"
    assert done.count("charge") == 4
    run.forget("charge/start@1#charge".replace("charge/", f"{body.__name__}/", 1))  # type: ignore[attr-defined]
    fails.clear()
    run.retry()
    scene.settle()
    assert run.result() == "did before, did charge"


def handled() -> object:
    try:
        once("charge", lambda: do("charge"), retry=Backoff.constant(SECOND).max_attempts(3))
    except Refusal as error:
        told = [type(error).__name__, list(error.args), "charge" in "".join(traceback.format_exception(error))]
        return once("apology", lambda: told)
    return "not reached"


@pytest.mark.rule("R9")
@pytest.mark.rule("O24")
def test_a_handler_sees_the_last_failure_only_as_the_exception_that_it_was(scene: Scene) -> None:
    fails["charge"] = 99
    run = scene.start(handled)
    scene.again(run, SECOND)
    assert run.status == "parked"
    scene.again(run, SECOND)
    assert run.result() == ["Refusal", ["charge", 3], True]


def never_ends() -> None:
    once("charge", lambda: do("charge"), retry=hidden["endless"])


@pytest.mark.rule("R2")
def test_a_policy_without_an_end_is_refused_before_the_step_runs(scene: Scene) -> None:
    with pytest.raises(InvalidRetry, match=r"max_attempts\(4\)"):
        never_ends()
    assert done == []


# ------------------------------------------------------------------------------------------------------------------- R4


def nested() -> str:
    return once("charge", lambda: ask_and_pay(), retry=Backoff.constant(SECOND).max_attempts(3))


def ask_and_pay() -> str:
    asked = once("ask", lambda key: keys.append(key) or do("ask"))
    return f"{asked}, {once('pay', lambda: do('pay'))}"


@pytest.mark.rule("R4")
@pytest.mark.rule("O9")
def test_nested_steps_run_anew_in_each_attempt_under_its_number_and_with_the_same_key(scene: Scene) -> None:
    fails["pay"] = 2
    run = scene.start(nested)
    scene.again(run, SECOND)
    scene.again(run, SECOND)
    assert run.result() == "did ask, did pay"
    assert done == ["ask", "pay"] * 3
    assert len(set(keys)) == 1
    assert [step.path for step in run.steps()] == [
        "nested/start@1/charge/ask_and_pay#ask",
        "nested/start@1/charge~1/ask_and_pay#ask",
        "nested/start@1/charge~2/ask_and_pay#ask",
        "nested/start@1/charge~2/ask_and_pay#pay",
        "nested/start@1#charge",
    ]
    assert run.notes() == []


# ------------------------------------------------------------------------------------------------------------------- R3


def writes() -> None:
    from sqlalchemy import text

    from semel.compiler import current

    path = current.get()
    assert path is not None
    session = path.execution.transaction.session()  # type: ignore[attr-defined]
    session.execute(text("CREATE TABLE IF NOT EXISTS seen (what TEXT)"))
    session.execute(text("INSERT INTO seen VALUES ('row')"))
    once("charge", lambda: do("charge"), retry=Backoff.constant(SECOND).max_attempts(3))


@pytest.mark.rule("R3")
@pytest.mark.rule("W1")
def test_the_failed_attempts_writes_are_discarded(scene: Scene) -> None:
    from sqlalchemy import text

    fails["charge"] = 1
    run = scene.start(writes)
    with scene.app.session() as session:
        assert session.execute(text("SELECT count(*) FROM sqlite_master WHERE name = 'seen'")).scalar() == 0
    scene.again(run, SECOND)
    assert run.result() is None
    with scene.app.session() as session:
        assert session.execute(text("SELECT count(*) FROM seen")).scalar() == 1


# ------------------------------------------------------------------------------------------------------------------- R6


def sold_out() -> None:
    done.append("ask")
    raise SoldOut("no seats")


def decided() -> str:
    try:
        once("seat", lambda: sold_out(), retry=TWO.max_attempts(9))
    except SoldOut as error:
        return str(error)
    return ""


@pytest.mark.rule("R6")
def test_a_decision_is_not_tried_again(scene: Scene) -> None:
    assert scene.start(decided).result() == "no seats"
    assert done == ["ask"]


# ------------------------------------------------------------------------------------------------------------------- R8


def sleepy() -> None:
    done.append("slept")
    hidden["sleep"](SECOND)


def waits_in_a_retry() -> None:
    once("charge", lambda: sleepy(), retry=TWO.max_attempts(2))


def starts_in_a_retry() -> None:
    once("charge", lambda: hidden["run_child"]("kid", charge).result(), retry=TWO.max_attempts(2))


@pytest.mark.rule("R8")
@pytest.mark.parametrize("body", [waits_in_a_retry, starts_in_a_retry])
def test_a_wait_in_a_retried_step_faults_the_run_and_says_the_two_ways_out(scene: Scene, body: object) -> None:
    scene.app.workflow(charge)
    run = scene.start(body)
    assert run.status == "faulted"
    with pytest.raises(NotAllowedHere, match=r"(?s)carry the\s+retry.*move the wait out"):
        run.result()


# ------------------------------------------------------------------------------------------------------------------- A5


def reads_anew() -> list[object]:
    number, at = uuid.uuid4(), datetime.now(UTC)
    seen.append((number, at))
    once("charge", lambda: do("charge"), retry=Backoff.constant(SECOND).max_attempts(3))
    once("break", lambda: do("break"))
    return [number, at]


@pytest.mark.rule("A5")
def test_a_retry_attempt_reads_the_values_above_the_step_anew_and_a_redelivery_does_not(scene: Scene) -> None:
    fails.update({"charge": 1, "break": 1})
    run = scene.start(reads_anew)
    scene.again(run, SECOND)
    assert run.status == "faulted"
    run.retry()
    scene.again(run, timedelta(hours=1))
    assert run.status == "completed"
    first, second, third = seen
    assert first != second
    assert second == third
    assert [at.timestamp() - START for _, at in seen] == [0, 1, 1]  # type: ignore[misc]


# ---------------------------------------------------------------------------------------------------- side by side


async def two_at_once() -> list[str]:
    return await asyncio.gather(
        once("a", lambda: do_async("a"), retry=Backoff.constant(SECOND).max_attempts(3)),
        once("b", lambda: do_async("b"), retry=Backoff.constant(3 * SECOND).max_attempts(3)),
    )


@pytest.mark.rule("R1")
@pytest.mark.rule("O20")
def test_two_retried_steps_side_by_side_keep_their_own_attempts(scene: Scene) -> None:
    fails.update({"a": 2, "b": 1})
    run = scene.start(two_at_once)
    assert run.status == "parked"
    assert sorted(done) == ["a", "b"]
    scene.again(run, SECOND)
    assert done.count("a") == 2
    assert done.count("b") == 1
    scene.again(run, SECOND)
    assert done.count("a") == 3
    scene.again(run, SECOND)
    assert run.result() == ["did a", "did b"]
    assert done.count("b") == 2


# ---------------------------------------------------------------------------------------------------------- time limits


def limited() -> str:
    try:
        return once("charge", lambda: do("charge"), retry=TWO.max_attempts(9), timeout=timedelta(seconds=10))
    except Refusal as error:
        return f"gave up: {error.args[0]}"


def test_no_attempt_starts_after_the_time_of_a_step(scene: Scene) -> None:
    fails["charge"] = 99
    run = scene.start(limited)
    scene.again(run, timedelta(seconds=2))
    scene.again(run, timedelta(seconds=4))
    assert run.result() == "gave up: charge"  # the next one would have been 14 seconds after the first
    assert done.count("charge") == 3


def test_a_process_that_was_off_beyond_the_time_of_a_step_does_not_start_another_attempt(scene: Scene) -> None:
    fails["charge"] = 99
    run = scene.start(limited)
    scene.again(run, timedelta(days=1))
    assert run.status == "faulted"
    with pytest.raises(StepTimedOut, match="charge"):
        run.result()
    assert done.count("charge") == 1


async def hangs() -> str:
    try:
        await once("ask", lambda: asyncio.sleep(3600), timeout=timedelta(milliseconds=20))
    except TimeoutError as error:
        told = type(error).__name__
        return await once("note", lambda: do_async(told))
    return "not reached"


def test_an_async_step_is_cancelled_when_its_time_is_over(scene: Scene) -> None:
    assert scene.start(hangs).result() == "did StepTimedOut"


# ------------------------------------------------------------------------------------------------------------------ R11


def faults() -> str:
    once("before", lambda: do("before"))
    return do("charge")


@pytest.mark.rule("R11")
def test_a_faulted_run_is_delivered_again_by_a_policy_with_waits(scene: Scene) -> None:
    fails["charge"] = 2
    scene.app.workflow(redeliver=TWO.max_attempts(3))(faults)
    run = scene.app.start(faults)
    scene.settle()
    assert (run.status, done) == ("parked", ["before", "charge"])
    scene.again(run, timedelta(seconds=1.9))
    assert run.status == "parked"
    scene.again(run, timedelta(seconds=0.1))
    assert done == ["before", "charge", "charge"]
    scene.again(run, timedelta(seconds=4))
    assert run.result() == "did charge"
    assert [note.kind for note in run.notes()] == ["redelivered", "redelivered"]


@pytest.mark.rule("R11")
def test_its_last_fault_is_that_of_the_run(scene: Scene) -> None:
    fails["charge"] = 9
    scene.app.workflow(redeliver=TWO.max_attempts(2))(faults)
    run = scene.app.start(faults)
    scene.settle()
    scene.again(run, timedelta(seconds=2))
    with pytest.raises(Refusal):
        run.result()
    assert done == ["before", "charge", "charge"]


def test_a_policy_without_an_end_is_refused(scene: Scene) -> None:
    with pytest.raises(RegistrationError, match="max_attempts"):
        scene.app.workflow(redeliver=TWO)(faults)


# ------------------------------------------------------------------------------------------------------------------- R7


@pytest.mark.rule("R7")
def test_there_is_no_predicate_for_what_is_retried() -> None:
    with pytest.raises(TypeError, match="retry_if"):
        once("charge", lambda: do("charge"), retry=TWO.max_attempts(2), retry_if=bool)  # type: ignore[call-overload]
    assert done == []
