"""Workers with much in flight, two workers on one database, and workers that are stopped and come back."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest
from crash_expected import undisturbed_runs
from crash_judge import Undisturbed
from crash_story import Process, Story

NEVER = 600.0  # seconds: a lease that is not over before the test is


@pytest.fixture(scope="session")
def crowds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Undisturbed]:
    """The crowd programs, run once with nothing in their way."""
    folder = tmp_path_factory.mktemp("crowds")
    return undisturbed_runs(folder, ["crowd", "async_crowd"], "crash_shop.special")


@pytest.fixture
def story(new_story: Callable[..., Story]) -> Story:
    """A story with the special programs."""
    return new_story("crash_shop.special")


@pytest.mark.rule("O2")
@pytest.mark.rule("O8")
@pytest.mark.parametrize(("workflow", "number", "lines"), [("async_crowd", 200, 700), ("crowd", 40, 130)])
def test_a_worker_killed_with_many_runs_in_flight(
    story: Story, crowds: dict[str, Undisturbed], workflow: str, number: int, lines: int
) -> None:
    runs = [f"{workflow}-{one}" for one in range(number)]
    worker = story.worker(*runs, threads=40)
    assert worker.until(lines)
    assert story.kill(worker)
    in_flight = {line.run for line in story.lines()}
    ending = story.finish(*runs, threads=40)
    verdict = ending.judged(crowds)
    assert verdict.wrong == []
    assert len(in_flight) > number / 2
    assert verdict.excused, "a kill in the midst of so many steps cuts some"


@pytest.mark.rule("O2")
@pytest.mark.rule("O8")
@pytest.mark.parametrize("workflow", ["long_step", "async_long_step"])
def test_killed_during_a_step_that_step_alone_runs_again(story: Story, workflow: str) -> None:
    run = f"{workflow}-1"
    worker = story.worker(run)
    assert worker.until(3)
    assert story.kill(worker)
    ending = story.finish(run)
    long = f"{workflow}/start@1#long"
    first, second = (call for call in ending.calls if call.step == long)
    assert (first.end, second.end is not None) == (None, True)
    assert ending.doubles() == ending.notes(run) == [long]


@pytest.mark.rule("O8")
@pytest.mark.rule("W1")
def test_of_two_workers_the_dead_ones_runs_are_taken_up_before_its_lease_is_over_and_the_live_ones_are_not(
    story: Story, crowds: dict[str, Undisturbed]
) -> None:
    runs = [f"crowd-{one}" for one in range(30)]
    dies = story.worker(*runs, threads=3, lease=NEVER)
    lives = story.worker(*runs, threads=3, lease=NEVER)
    assert dies.until(6)
    assert lives.until(6)
    assert story.kill(dies)
    of_the_live_one = {line.run for line in story.lines() if line.pid == lives.pid}
    comes = story.worker(*runs, threads=3, lease=NEVER)
    story.ending(lives)
    ending = story.ending(comes)
    assert ending.judged(crowds).wrong == []
    drivers = {run: {line.pid for line in ending.lines if line.run == run} for run in runs}
    assert all(drivers[run] == {lives.pid} for run in of_the_live_one)
    assert any(dies.pid in pids and len(pids) == 2 for pids in drivers.values()), "some were taken over"
    assert all(len(pids - {dies.pid}) <= 1 for pids in drivers.values())


def stop_in_a_step_and_take_over(story: Story, run: str, lines: int, seen: int) -> tuple[Process, Process]:
    """A worker is stopped when it has written ``lines``, until another one, which takes over, has written ``seen``."""
    stopped = story.worker(run, lease=1.0)
    assert stopped.until(lines)
    stopped.signal(signal.SIGSTOP)
    other = story.worker(run, lease=NEVER)
    assert other.until(seen)
    return stopped, other


def starts_after_the_takeover(story: Story, stopped: Process) -> list[str]:
    lines = story.lines()
    taken = next(number for number, line in enumerate(lines) if line.pid != stopped.pid)
    return [line.step for line in lines[taken:] if line.pid == stopped.pid and line.kind == "start"]


@pytest.mark.rule("O8")
@pytest.mark.rule("W1")
@pytest.mark.parametrize("workflow", ["long_step", "async_long_step"])
def test_a_stopped_worker_that_comes_back_records_and_commits_nothing_more(story: Story, workflow: str) -> None:
    run = f"{workflow}-1"
    stopped, other = stop_in_a_step_and_take_over(story, run, lines=3, seen=4)
    ending = story.ending(other)
    stopped.signal(signal.SIGCONT)
    assert stopped.ended() == 0, stopped.output
    long = f"{workflow}/start@1#long"
    assert ending.report[run]["result"] == other.pid
    assert starts_after_the_takeover(story, stopped) == []
    assert [call.pid for call in ending.calls if call.step == long] == [stopped.pid, other.pid]
    assert ending.doubles() == [long]
    assert story.notes(run, "possibly doubled") == [long]
    assert story.notes(run, "late result") == [long]
    row = story.row(run)
    assert row is not None
    assert (row.status, row.visits) == ("completed", {"start": 1})
    if workflow == "long_step":
        assert story.rows("SELECT name FROM orders") == [(run,)]


@pytest.mark.rule("O8")
@pytest.mark.rule("O20")
@pytest.mark.parametrize("workflow", ["swallows", "async_swallows"])
def test_a_body_that_swallows_everything_starts_no_step_once_it_was_taken_over(story: Story, workflow: str) -> None:
    run = f"{workflow}-1"
    stopped, other = stop_in_a_step_and_take_over(story, run, lines=5, seen=2)
    stopped.signal(signal.SIGCONT)
    ending = story.ending(other)
    assert stopped.ended() == 0, stopped.output
    cut = f"{workflow}/start@1[2]#step"
    assert ending.report[run]["result"] == other.pid
    assert starts_after_the_takeover(story, stopped) == []
    assert ending.doubles() == [cut]
    assert story.notes(run, "late result") == [cut]


def deliver_until_it_ends(story: Story, run: str) -> int:
    """Starts workers until one outlives the run; how many have died."""
    for died in range(10):
        if story.worker(run).ended() == 0:
            return died
    raise AssertionError(f"{run} kills every worker")


@pytest.mark.rule("R11")
@pytest.mark.rule("O8")
@pytest.mark.parametrize(
    ("workflow", "last"), [("kills_in_the_body", "#first"), ("kills_in_a_step", "#first")], ids=["body", "step"]
)
def test_a_run_that_has_killed_five_workers_is_faulted_and_names_the_path(
    story: Story, workflow: str, last: str
) -> None:
    run = f"{workflow}-1"
    assert deliver_until_it_ends(story, run) == 5
    row = story.row(run)
    assert row is not None
    assert row.status == "faulted"
    assert row.visits == {}
    assert "WorkerKilled" in (row.fault or "")
    assert f"{workflow}/start@1{last}" in (row.fault or "")

    (story.folder / "mended").touch()
    with story.store() as store:
        assert store.redeliver(row.uid, 1.0).wait()
    ending = story.finish(run)
    assert ending.report[run]["result"] == "mended"
    deadly = f"{workflow}/start@1#deadly"
    assert ending.doubles() == ([deadly] * 5 if workflow == "kills_in_a_step" else [])
    assert set(ending.notes(run)) == ({deadly} if workflow == "kills_in_a_step" else set())


@pytest.mark.rule("R11")
@pytest.mark.parametrize(("guilty", "crowd"), [("kills_in_the_body", "crowd"), ("kills_late", "long_step")])
def test_runs_beside_one_that_kills_its_worker_are_not_blamed(story: Story, guilty: str, crowd: str) -> None:
    innocent = [f"{crowd}-{number}" for number in range(20 if crowd == "crowd" else 2)]
    for _ in range(10):
        if story.worker(f"{guilty}-1", *innocent, threads=3).ended() == 0:
            break
    assert {story.row(run).status for run in innocent} == {"completed"}  # type: ignore[union-attr]
    row = story.row(f"{guilty}-1")
    assert row is not None
    assert row.status == "faulted"
