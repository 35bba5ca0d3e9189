"""``crash_everywhere``: a crash at every step in turn, and what it finds."""

from __future__ import annotations

import asyncio
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text

from semel import App, Backoff, Event, now, once, run_child, saga, sleep, sleep_async, transaction, wait_all, wait_for
from semel.errors import ConfigurationError, WaitTimedOut
from semel.testing import CrashReport, crash_everywhere

DAY = timedelta(days=1)
app = App("everywhere")
answered = Event[str]("answered", str)


class Down(Exception):
    """The other side is not there."""


class Bank:
    """The other side: recognises an idempotency key, and keeps a log of all calls."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.charges: dict[str, int] = {}
        self.calls: list[str] = []
        self.refused: Counter[str] = Counter()

    def charge(self, amount: int, key: str) -> int:
        self.calls.append(f"charge {amount}")
        self.charges[key] = amount
        return amount

    def refuse(self, what: str, times: int) -> str:
        self.calls.append(what)
        self.refused[what] += 1
        if self.refused[what] <= times:
            raise Down(what)
        return what


bank = Bank()


@app.workflow
def order(amount: int) -> str:
    paid = once("charge", lambda key: bank.charge(amount, key))
    for number in range(2):
        once("mail", lambda: bank.refuse(f"mail {number}", 0))
    return f"paid {paid}"


@app.workflow
async def order_async(amount: int) -> int:
    first, second = await asyncio.gather(
        once("first", lambda key: charge_async(amount, key)), once("second", lambda key: charge_async(amount, key))
    )
    await sleep_async(DAY)
    return first + second + await once("third", lambda key: charge_async(amount, key))


async def charge_async(amount: int, key: str) -> int:
    await asyncio.sleep(0)
    return bank.charge(amount, key)


@app.workflow
def retried() -> str:
    once("charge", lambda: careful(), retry=Backoff.exponential(DAY).max_attempts(4))
    try:
        once("hopeless", lambda: bank.refuse("hopeless", 99), retry=Backoff.constant(DAY).max_attempts(2))
    except Down as error:
        return f"gave up: {error}"
    return "?"


def careful() -> str:
    once("note", lambda: bank.refuse("note", 0))
    bank.calls.append("charge")
    if now() < datetime(2025, 1, 3, tzinfo=UTC):
        raise Down("until the 3rd")
    return "charged"


@app.workflow
def pooled() -> list[str]:
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(work, range(3)))


def work(number: int) -> str:
    return once("work", lambda: bank.refuse(f"work {number}", 0))


@app.workflow
async def grouped() -> list[str]:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(in_a_thread(number)) for number in range(3)]
    return [task.result() for task in tasks]


async def in_a_thread(number: int) -> str:
    return await once("work", lambda: asyncio.to_thread(lambda: bank.refuse(f"work {number}", 0)))


@app.workflow(timeout=3 * DAY)
def late() -> None:
    once("first", lambda: bank.refuse("first", 0))
    sleep(9 * DAY)


@app.workflow
def asks() -> str:
    for _ in range(3):
        try:
            return wait_for(answered, timeout=5 * DAY)
        except WaitTimedOut:
            once("remind", lambda: bank.refuse("remind", 0))
    return "silence"


@app.workflow
def family() -> list[str]:
    return wait_all([run_child("child", child, name) for name in ("a", "b")])


@app.workflow
def child(name: str) -> str:
    sleep(DAY)
    return once("work", lambda: bank.refuse(name, 0))


@app.workflow
def monthly(month: int) -> str:
    sleep(30 * DAY)
    once("bill", lambda key: bank.charge(month, key))
    if month == 3:
        return "over"
    return app.again(month + 1)


def cancel_hotel(hotel: str) -> None:
    bank.refuse(f"cancel {hotel}", 0)


@app.workflow
def undone() -> None:
    with saga("trip") as trip:
        trip.step("hotel", lambda: bank.refuse("hotel", 0), undo=cancel_hotel)
        once("flight", lambda: bank.refuse("flight", 99))


@app.workflow
def counted() -> str:
    transaction("count", lambda session: session.execute(text("INSERT INTO stock VALUES ('step')")) and "step")
    app.session().execute(text("INSERT INTO stock VALUES ('body')"))
    return "counted"


def make_tables() -> None:
    with app.session() as session:
        session.execute(text("CREATE TABLE stock (name TEXT)"))
        session.commit()


def stock(run: Any) -> list[str]:
    with app.session() as session:
        return sorted(session.execute(text("SELECT name FROM stock")).scalars())


def run_everywhere(start: Any, **options: Any) -> CrashReport:
    given = {"observe": lambda run: bank.charges, "calls": lambda run: bank.calls, "reset": bank.clear}
    return crash_everywhere(app, start, **given | options)


@pytest.mark.rule("O8")
def test_an_order_ends_the_same_wherever_it_crashes() -> None:
    report = run_everywhere(lambda: app.start(order, 5))
    assert [str(crash) for crash in report.crashes[:4]] == [
        "step.before of order/start@1#charge",
        "step.returned of order/start@1#charge",
        "step.recorded of order/start@1#charge",
        "step.before of order/start@1[0]#mail",
    ]
    assert len(report.crashes) == 3 * 3 + 2
    assert str(report) == "11 crashes, and the outcome is the same after each"


@pytest.mark.parametrize(
    ("workflow", "args", "crashes"),
    [
        (order_async, (5,), 13),
        (retried, (), 24),
        (asks, (), 17),
        (family, (), 18),
        (monthly, (1,), 21),
        (undone, (), 7),
        (pooled, (), 11),
        (grouped, (), 11),
        (late, (), 5),
    ],
)
def test_waits_retries_children_undos_threads_and_tasks_end_the_same(workflow: Any, args: Any, crashes: int) -> None:
    report = run_everywhere(lambda: app.start(workflow, *args))
    assert len(report.crashes) == crashes


def test_a_scenario_may_send_events() -> None:
    def answer_on_the_seventh_day(kit: Any, run: Any) -> None:
        assert kit.advance(7 * DAY, run) == "parked"
        run.send(answered, "yes")
        assert kit.settle(run) == "completed"

    report = run_everywhere(lambda: app.start(asks, id="A-1"), drive=answer_on_the_seventh_day)
    assert len(report.crashes) == 9


def test_rows_of_the_app_are_observed_in_each_new_database() -> None:
    report = crash_everywhere(app, lambda: app.start(counted), observe=stock, reset=make_tables)
    assert {crash.point for crash in report.crashes} >= {"transaction.before_commit", "transaction.after_commit"}


# ---------------------------------------------------------------------------------------------- what it finds


careless: list[str] = []


@app.workflow
def forgets() -> str:
    careless.append("outside of a step")
    once("charge", lambda key: bank.charge(1, key))
    return "done"


@app.workflow
def without_key() -> str:
    once("charge", lambda: bank.charge(1, f"key {len(bank.calls)}"))
    return "done"


@app.workflow
def another_way() -> str:
    careless.append("another way")
    return once("one", lambda: "one") if len(careless) == 1 else once("two", lambda: "two")


def test_an_effect_outside_of_a_step_is_found() -> None:
    with pytest.raises(AssertionError) as found:
        run_everywhere(lambda: app.start(forgets), calls=lambda run: careless, reset=careless.clear)
    assert str(found.value).splitlines()[:3] == [
        "3 of 5 crashes change the outcome:",
        "a crash at step.before of forgets/start@1#charge:",
        "    calls made again, and no run says `possibly doubled`: 'outside of a step'",
    ]


def test_an_effect_that_no_key_protects_is_found_in_the_window_alone() -> None:
    with pytest.raises(AssertionError) as found:
        run_everywhere(lambda: app.start(without_key))
    assert str(found.value).splitlines() == [
        "1 of 5 crashes change the outcome:",
        "a crash at step.returned of without_key/start@1#charge:",
        "    observed: {'key 0': 1, 'key 1': 1}, undisturbed {'key 0': 1}",
    ]


def test_a_body_that_goes_another_way_is_found() -> None:
    with pytest.raises(AssertionError, match="result of 'another_way 1': 'two', undisturbed 'one'") as found:
        run_everywhere(lambda: app.start(another_way), reset=careless.clear)
    assert "steps of 'another_way 1': more, another_way/start@1#two" in str(found.value)


def test_what_the_scenario_raises_after_a_crash_is_told_with_the_crash() -> None:
    def drive(kit: Any, run: Any) -> None:
        kit.finish(run)
        assert len(bank.calls) == 3, "three calls"

    with pytest.raises(AssertionError, match="AssertionError in the scenario: three calls"):
        run_everywhere(lambda: app.start(order, 5), drive=drive)


def test_a_scenario_that_fails_undisturbed_fails_as_it_is() -> None:
    def drive(kit: Any, run: Any) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        run_everywhere(lambda: app.start(order, 5), drive=drive)


def test_a_scenario_in_which_nothing_runs_is_refused() -> None:
    with pytest.raises(AssertionError, match="nothing to crash; does drive drive the run"):
        run_everywhere(lambda: app.start(order, 5), drive=lambda kit, run: None)
    with pytest.raises(TypeError, match=r"start gave None; it must give the run: lambda: app.start"):
        run_everywhere(lambda: None)


async def test_in_a_coroutine_it_says_where_to_call_it() -> None:
    with pytest.raises(ConfigurationError, match="call it in a `def`"):
        run_everywhere(lambda: app.start(order, 5))
