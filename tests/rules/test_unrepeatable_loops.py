"""Loops that wait for the time of a body to pass raise (A5), and others that read it do not."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

import pytest

from semel import App, now, once
from semel.engine import moment
from semel.errors import NotAllowedHere

seen: list[None] = []


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    seen.clear()
    return


class Clock:
    """The app's clock, which goes on by a second each time that it is asked."""

    def __init__(self) -> None:
        self.at = 1_900_000_000.0

    def __call__(self) -> float:
        self.at += 1
        return self.at


@pytest.fixture
def app(new_app: Callable[..., App]) -> App:
    return new_app(now=Clock())


def waits_for_noon() -> None:
    deadline = datetime.now() + timedelta(seconds=1)
    while datetime.now() < deadline:
        pass


def waits_in_a_helper() -> None:
    deadline = time.time() + 1
    while True:
        try:
            if is_later(deadline):
                break
        except ValueError:
            pass


def is_later(deadline: float) -> bool:
    return now().timestamp() > deadline


@pytest.mark.rule("A5")
@pytest.mark.parametrize("workflow", [waits_for_noon, waits_in_a_helper])
def test_a_loop_that_waits_for_the_time_to_pass_raises(
    app: App, workflow: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moment, "ELSEWHERE", 150_000)
    app.workflow(workflow)
    run = app.start(workflow)
    with app.worker(), pytest.raises(NotAllowedHere) as caught:
        run.result(timeout=120)
    told = str(caught.value)
    assert f"{__file__}:" in told
    assert "time.monotonic()" in told
    assert "    sleep(timedelta(seconds=60))    # from semel import sleep" in told
    if workflow is waits_for_noon:
        assert "\n    while datetime.now() < deadline:\n" in told


def sleeps_until_it_is_late() -> None:
    deadline = time.time() + 1
    while time.time() < deadline:
        time.sleep(0)


def sleeps_and_writes_the_time() -> int:
    written = {datetime.now()}
    while len(seen) < 100:
        seen.append(None)
        written.add(datetime.now())
        time.sleep(0)
    return len(written)


@pytest.mark.rule("A5")
def test_a_loop_that_sleeps_until_the_time_has_passed_raises_after_minutes_and_not_days(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moment, "ASLEEP", 0.0)
    app.workflow(sleeps_until_it_is_late)
    app.workflow(sleeps_and_writes_the_time)
    with app.worker():
        with pytest.raises(NotAllowedHere, match=r"11 times|10 times"):
            app.start(sleeps_until_it_is_late).result(timeout=20)
        assert app.start(sleeps_and_writes_the_time).result(timeout=20) == 1, "it waits for something else"


def polls_with_a_step() -> int:
    deadline = datetime.now() + timedelta(seconds=40)
    polls = 0
    while datetime.now() < deadline:
        once("poll", lambda: None)
        polls += 1
    return polls


@pytest.mark.rule("A5")
def test_a_loop_with_a_step_in_it_comes_to_its_end(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moment, "IN_WHILE", 2)
    app.workflow(polls_with_a_step)
    with app.worker():
        assert 5 < app.start(polls_with_a_step).result(timeout=20) < 40


def stamps_many_rows() -> int:
    rows = [(number, datetime.now()) for number in range(3000)]
    times = {at for _, at in rows}
    for _ in range(3000):
        times.add(datetime.now())
    return len(times)


@pytest.mark.rule("A5")
def test_a_loop_over_many_rows_may_read_the_time_in_each(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moment, "IN_WHILE", 100)
    app.workflow(stamps_many_rows)
    with app.worker():
        assert app.start(stamps_many_rows).result(timeout=20) == 1
