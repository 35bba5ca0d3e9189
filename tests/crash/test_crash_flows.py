"""Kills in the middle of what a body does with time, with failures and with rows of its own; and kills of callers."""

from __future__ import annotations

import pytest
from crash_judge import Undisturbed
from crash_story import Story

from semel.store.interface import RunFilter


def starts(story: Story, step: str) -> int:
    return sum(line.kind == "start" and line.step == step for line in story.lines())


@pytest.mark.rule("O20")
@pytest.mark.rule("O24")
@pytest.mark.parametrize(
    ("lines", "again"),
    [
        pytest.param(3, 2, id="before the timeout"),
        pytest.param(4, 1, id="after it, when the body went on"),
        pytest.param(6, 1, id="when it had ended alone"),
    ],
)
def test_a_step_that_outlives_the_timeout_of_its_body(
    story: Story, undisturbed: dict[str, Undisturbed], lines: int, again: int
) -> None:
    worker = story.worker("times_out-1")
    assert worker.until(lines)
    assert story.kill(worker)
    ending = story.finish("times_out-1")
    assert ending.judged(undisturbed).wrong == []
    assert starts(story, "times_out/start@1#slow") == again


@pytest.mark.rule("O20")
def test_a_step_that_its_body_has_given_up_is_waited_for_before_the_run_is_let_go(story: Story) -> None:
    ending = story.finish("times_out-1")
    slow = [call for call in ending.calls if call.step.endswith("#slow")]
    assert len(slow) == 2
    assert all(call.end is not None for call in slow)
    assert {call.step for call in slow} <= set(ending.report["times_out-1"]["steps"])


@pytest.mark.rule("O8")
@pytest.mark.rule("O20")
def test_each_flow_that_a_kill_cut_has_its_own_note(story: Story, undisturbed: dict[str, Undisturbed]) -> None:
    worker = story.worker("gathers_all-1")
    assert worker.until(5)
    assert story.kill(worker)
    ending = story.finish("gathers_all-1")
    verdict = ending.judged(undisturbed)
    assert verdict.wrong == []
    assert len(verdict.excused) >= 4, "all five tasks were in their first step, or hardly beyond it"


@pytest.mark.rule("O8")
def test_a_doubt_outlives_a_worker_that_took_the_run_over_and_gave_it_back(
    story: Story, undisturbed: dict[str, Undisturbed]
) -> None:
    story.crashed(story.worker("sequence-1", crash_at=("step.returned", 1)))
    with story.store() as store:
        store.register("one that stops at once", 1e12).wait()
        (claim,) = store.claim("one that stops at once", ["sequence"], 10, 1.0).wait()
        assert claim.takeover
        store.release(claim).wait()
        store.retire("one that stops at once").wait()
    ending = story.finish("sequence-1")
    assert ending.judged(undisturbed).wrong == []
    assert ending.doubles() == ["sequence/start@1#reserve"]


@pytest.mark.rule("W1")
@pytest.mark.rule("V5")
@pytest.mark.parametrize("workflow", ["writes_rows", "async_writes_rows"])
@pytest.mark.parametrize(
    ("point", "hit", "committed"),
    [("step.recorded", 2, False), ("body.before_commit", 1, False), ("body.after_commit", 1, True)],
)
def test_the_rows_of_a_body_are_committed_once_with_the_run(
    story: Story, undisturbed: dict[str, Undisturbed], workflow: str, point: str, hit: int, committed: bool
) -> None:
    run = f"{workflow}-1"
    story.crashed(story.worker(run, crash_at=(point, hit)))
    row = story.row(run)
    assert row is not None
    assert row.visits == ({"start": 1} if committed else {})
    assert bool(story.rows("SELECT name FROM sqlite_master WHERE name = 'orders'")) is committed
    ending = story.finish(run)
    assert ending.judged(undisturbed).wrong == []
    assert story.rows("SELECT name FROM orders") == [(run,)]


STARTS = """
import os, signal
from crash_shop.all import app
from crash_shop.synchronous import sequence

app.start(sequence, "sequence-1", id="sequence-1")
os.write(int(os.environ["CRASH_WATCHER"]), b"!")
signal.pause()
"""

STARTS_ASYNC = """
import asyncio, os, signal
from crash_shop.all import app
from crash_shop.asynchronous import async_sequence

asyncio.run(app.start_async(async_sequence, "async_sequence-1", id="async_sequence-1"))
os.write(int(os.environ["CRASH_WATCHER"]), b"!")
signal.pause()
"""


@pytest.mark.rule("O1")
@pytest.mark.parametrize(("source", "run"), [(STARTS, "sequence-1"), (STARTS_ASYNC, "async_sequence-1")])
def test_a_start_that_was_acknowledged_outlives_its_caller(
    story: Story, undisturbed: dict[str, Undisturbed], source: str, run: str
) -> None:
    caller = story.script(source)
    caller.until_ready()
    assert story.kill(caller)
    ending = story.finish(run, start=False)
    assert ending.judged(undisturbed).wrong == []
    assert ending.doubles() == []
    assert ending.notes(run) == []


@pytest.mark.rule("O1")
@pytest.mark.parametrize(("point", "there"), [("main.in_batch", 0), ("main.after_commit", 1)])
def test_a_caller_that_was_killed_during_its_start_starts_the_same_run_again(
    story: Story, undisturbed: dict[str, Undisturbed], point: str, there: int
) -> None:
    story.crashed(story.script(STARTS, crash_at=(point, 1)))
    with story.store() as store:
        assert len(store.list(RunFilter())) == there
    again = story.script(STARTS)
    again.until_ready()
    assert story.kill(again)
    ending = story.finish("sequence-1")
    assert ending.judged(undisturbed).wrong == []
    assert ending.doubles() == []
    with story.store() as store:
        assert [run.id for run in store.list(RunFilter())] == ["sequence-1"]
