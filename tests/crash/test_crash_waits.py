"""Runs that wait, and processes that die: events, children, cancels, and limits of time."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from crash_judge import Undisturbed
from crash_story import PATIENCE, Process, Story, spin
from test_crash_time import DAY, START, calls, row, set_clock

NEVER = 600.0  # seconds: a lease that is not over before the test is
BEFORE, BETWEEN, AFTER = "start@1#before", "start@1#between", "start@1#after"
LISTENERS = ["listens", "async_listens"]


@pytest.fixture
def story(new_story: Callable[..., Story]) -> Story:
    """A story with the programs that wait."""
    return new_story("crash_shop.timed")


def caller(story: Story, source: str, crash_at: tuple[str, int] | None = None) -> Process:
    """Another process, that does this with the app."""
    return story.script(f"from crash_shop.timed import *\n{source}\napp.close()", crash_at=crash_at)


def do(story: Story, source: str) -> None:
    """Lets another process do this, and waits for its end."""
    process = caller(story, source)
    assert process.ended() == 0, process.output


def send(run: str, *payloads: object) -> str:
    return "\n".join(f"app.run({run!r}).send('go', {payload!r})" for payload in payloads)


def parked_in_a_dead_worker(story: Story, run: str) -> None:
    """Lets a worker drive the run until it has parked, and die."""
    story.crashed(story.worker(run, crash_at=("body.after_commit", 1)))
    assert row(story, run).status == "parked"


def until(story: Story, run: str, status: str) -> None:
    """Waits until the run has this status, which a live worker sees to."""
    for _ in range(int(PATIENCE * 1000)):
        if row(story, run).status == status:
            return
        spin(1000)
    raise AssertionError(f"{run} is {row(story, run).status}, not {status}")


# --------------------------------------------------------------------------------------------------------------- events


@pytest.mark.rule("W6")
@pytest.mark.parametrize("workflow", LISTENERS)
def test_events_sent_before_the_run_was_driven_are_there_when_it_comes_to_them(story: Story, workflow: str) -> None:
    run = f"{workflow}-1"
    do(story, f"app.start({workflow}, {run!r}, id={run!r})\n{send(run, 1, 2)}")
    ending = story.finish(run, start=False)
    assert ending.report[run]["result"] == [1, 2, "#after"]
    assert calls(ending, run) == [BEFORE, BETWEEN, AFTER]


@pytest.mark.rule("W6")
@pytest.mark.parametrize("workflow", LISTENERS)
def test_an_event_of_another_process_wakes_a_run_that_a_living_worker_has_parked(story: Story, workflow: str) -> None:
    run = f"{workflow}-1"
    worker = story.worker(run, lease=NEVER)
    assert worker.until(2)
    until(story, run, "parked")
    do(story, send(run, "first"))
    assert worker.until(4)
    until(story, run, "parked")
    do(story, send(run, "second"))
    ending = story.ending(worker)
    assert ending.report[run]["result"] == ["first", "second", "#after"]
    assert calls(ending, run) == [BEFORE, BETWEEN, AFTER]


@pytest.mark.rule("W6")
@pytest.mark.parametrize("workflow", LISTENERS)
def test_an_event_that_comes_while_no_worker_lives_is_taken_by_the_next_one(story: Story, workflow: str) -> None:
    run = f"{workflow}-1"
    parked_in_a_dead_worker(story, run)
    do(story, send(run, "first"))
    assert row(story, run).status == "pending"
    parked_in_a_dead_worker(story, run)
    do(story, send(run, "second"))
    ending = story.finish(run)
    assert ending.report[run]["result"] == ["first", "second", "#after"]
    assert calls(ending, run) == [BEFORE, BETWEEN, AFTER]


@pytest.mark.rule("W6")
@pytest.mark.parametrize(
    ("workflow", "point"),
    [
        ("listens", "run.claimed"),
        ("listens", "step.before"),
        ("listens", "main.in_batch"),
        ("listens", "body.after_commit"),
        ("async_listens", "body.before_commit"),
    ],
)
def test_an_event_that_was_taken_is_taken_once_whenever_the_worker_dies(
    story: Story, workflow: str, point: str
) -> None:
    run = f"{workflow}-1"
    parked_in_a_dead_worker(story, run)
    do(story, send(run, "first", "first", "third"))  # the same one twice is two
    story.crashed(story.worker(run, start=False, crash_at=(point, 1)))
    ending = story.finish(run, start=False)
    assert ending.report[run]["result"] == ["first", "first", "#after"]
    assert calls(ending, run) == [BEFORE, BETWEEN, AFTER]


@pytest.mark.rule("W6")
@pytest.mark.parametrize(("point", "there"), [("main.in_batch", 0), ("main.after_commit", 1)])
def test_a_sender_that_dies_has_sent_the_event_or_not(story: Story, point: str, there: int) -> None:
    parked_in_a_dead_worker(story, "listens-1")
    story.crashed(caller(story, send("listens-1", "news"), crash_at=(point, 1)))
    with story.store() as store:
        assert len(store.events(row(story, "listens-1").uid)) == there
    assert row(story, "listens-1").status == ("pending" if there else "parked")
    do(story, send("listens-1", "news", "last"))  # it does not know, so it sends again
    ending = story.finish("listens-1")
    assert ending.report["listens-1"]["result"] == ["news", "news" if there else "last", "#after"]


@pytest.mark.rule("W6")
@pytest.mark.parametrize("in_time", [True, False])
def test_an_event_or_its_timeout_whichever_was_first_stays_so_after_a_crash(story: Story, in_time: bool) -> None:
    set_clock(story, START)
    parked_in_a_dead_worker(story, "patient-1")
    set_clock(story, START + (DAY - 1 if in_time else DAY + 1))
    do(story, send("patient-1", "news"))
    set_clock(story, START + 2 * DAY)
    story.crashed(story.worker("patient-1", crash_at=("body.before_commit", 1)))
    set_clock(story, START)  # even by a clock that is set back
    ending = story.finish("patient-1")
    assert ending.report["patient-1"]["result"] == (["news", "#in time"] if in_time else "#late")
    assert calls(ending, "patient-1") == ["start@1#in time" if in_time else "start@1#late"]


@pytest.mark.rule("W6")
@pytest.mark.rule("R11")
@pytest.mark.rule("V4")
def test_an_event_that_waits_behind_a_fault_is_there_when_the_run_is_delivered_again(story: Story) -> None:
    do(story, f"app.start(listens_late, 'listens_late-1', id='listens_late-1')\n{send('listens_late-1', 'news')}")
    assert story.finish("listens_late-1", start=False).report["listens_late-1"]["status"] == "faulted"
    (story.folder / "mended").touch()
    do(story, "assert app.run('listens_late-1').retry()")
    ending = story.finish("listens_late-1", start=False)
    assert ending.report["listens_late-1"]["result"] == "news"
    assert calls(ending, "listens_late-1") == [BEFORE]


# ------------------------------------------------------------------------------------------------------------- children


def children(story: Story, run: str) -> list[tuple[str, str]]:
    with story.store() as store:
        return [(child.id, child.status) for child in store.children(row(story, run).uid)]


@pytest.mark.rule("W5")
@pytest.mark.parametrize("workflow", ["family", "async_family"])
def test_children_are_there_if_the_commit_of_their_parent_is(story: Story, workflow: str) -> None:
    run = f"{workflow}-1"
    story.crashed(story.worker(run, crash_at=("body.before_commit", 1)))
    assert children(story, run) == []
    story.crashed(story.worker(run, crash_at=("body.after_commit", 1)))
    assert children(story, run) == [(f"{run}/start@1{p}#works", "pending") for p in ("[0]", "[1]", "[2]")]
    ending = story.finish(run)
    assert calls(ending, run)[:1] == ["start@1#meanwhile"]
    assert len([call for call in ending.calls if call.step == "works/start@1#work"]) == 3
    assert ending.doubles() == []


@pytest.mark.rule("W5")
def test_a_parent_that_dies_while_its_children_end_gets_all_their_results(
    story: Story, whole: dict[str, Undisturbed]
) -> None:
    """Each worker dies after one commit of a body: a park, a child's end, a wake-up of the parent."""
    run = "family-1"
    story.crashed(story.worker(run, crash_at=("body.after_commit", 1)))
    deaths = 1
    while (process := story.worker(run, start=False, crash_at=("body.after_commit", 2))).ended():
        story.crashed(process)
        deaths += 1
    ending = story.finish(run)
    assert deaths > 3
    assert ending.judged(whole).wrong == []


@pytest.mark.rule("W5")
def test_which_child_was_the_first_stays_so_after_a_crash(story: Story, whole: dict[str, Undisturbed]) -> None:
    for hit in (6, 1):
        story.crashed(story.worker("races-1", crash_at=("body.before_commit", hit)))
    ending = story.finish("races-1")
    assert ending.report["races-1"]["result"] == [True, ["#work", "#rest"], [["#work", "#rest"]] * 3]
    assert set(calls(ending, "races-1")) == {"start@1#seen"}  # twice only if it was cut off, which the judge looks at
    assert ending.judged(whole).wrong == []


@pytest.mark.rule("W5")
@pytest.mark.rule("W6")
def test_of_two_workers_that_share_families_one_dies(story: Story, whole: dict[str, Undisturbed]) -> None:
    runs = [f"{workflow}-{n}" for workflow in ("family", "retries", "everything", "naps") for n in range(3)]
    dies = story.worker(*runs, lease=NEVER, threads=4)
    lives = story.worker(*runs, lease=NEVER, threads=4)
    assert dies.until(20)
    assert story.kill(dies)
    ending = story.ending(lives)
    assert ending.judged(whole).wrong == []


# --------------------------------------------------------------------------------------------------- cancels and limits


@pytest.mark.rule("W8")
def test_a_parked_run_is_cancelled_at_once_by_another_process_with_its_children(story: Story) -> None:
    set_clock(story, START)
    worker = story.worker("limited-1", lease=NEVER)
    assert worker.until(4), "it has started its child, which listens"
    until(story, "limited-1", "parked")
    do(story, "assert app.run('limited-1').cancel()\nassert app.run('limited-1').status == 'cancelled'")
    ending = story.ending(worker)
    assert ending.report["limited-1"]["status"] == "cancelled"
    assert str(ending.report["limited-1"]["error"]).startswith("RunCancelled")
    assert [how for _, how in children(story, "limited-1")] == ["cancelled"]


@pytest.mark.rule("W8")
@pytest.mark.parametrize(("point", "status"), [("main.in_batch", "parked"), ("main.after_commit", "cancelled")])
def test_a_cancel_whose_process_dies_is_made_or_not(story: Story, point: str, status: str) -> None:
    set_clock(story, START)
    parked_in_a_dead_worker(story, "rings-1")
    story.crashed(caller(story, "app.run('rings-1').cancel()", crash_at=(point, 1)))
    assert row(story, "rings-1").status == status
    set_clock(story, START + DAY)
    ending = story.finish("rings-1", start=False)
    assert calls(ending, "rings-1") == [BEFORE, *(["start@1#ring"] if status == "parked" else [])]


@pytest.mark.rule("W8")
def test_a_run_that_was_driven_when_it_was_cancelled_is_ended_though_its_worker_died(story: Story) -> None:
    worker = story.worker("family-1", crash_at=("body.before_commit", 1))
    story.crashed(worker)
    do(story, "assert app.run('family-1').cancel()")
    ending = story.finish("family-1", start=False)
    assert ending.report["family-1"]["status"] == "cancelled"
    assert calls(ending, "family-1") == ["start@1#meanwhile"]
    assert children(story, "family-1") == []


@pytest.mark.rule("W8")
@pytest.mark.parametrize("point", ["main.in_batch", "main.after_commit"])
def test_a_run_that_is_out_of_time_ends_with_its_children_though_no_worker_was_there(story: Story, point: str) -> None:
    set_clock(story, START)
    parked_in_a_dead_worker(story, "limited-1")
    set_clock(story, START + 10 * DAY)
    story.crashed(story.worker("limited-1", start=False, crash_at=(point, 1)))
    ending = story.finish("limited-1", start=False)
    assert ending.report["limited-1"]["status"] == "faulted"
    assert str(ending.report["limited-1"]["error"]).startswith("RunTimedOut")
    assert calls(ending, "limited-1") == [BEFORE]
    assert [how for _, how in children(story, "limited-1")] == ["cancelled"]


@pytest.mark.rule("R11")
@pytest.mark.rule("V4")
def test_a_run_that_was_out_of_time_finds_its_steps_when_it_is_delivered_again(story: Story) -> None:
    set_clock(story, START)
    parked_in_a_dead_worker(story, "hasty-1")
    set_clock(story, START + 10 * DAY)
    assert str(story.finish("hasty-1", start=False).report["hasty-1"]["error"]).startswith("RunTimedOut")
    do(story, "assert app.run('hasty-1').retry()")
    ending = story.finish("hasty-1", start=False)
    assert ending.report["hasty-1"]["status"] == "completed"
    assert calls(ending, "hasty-1") == [BEFORE, AFTER]


@pytest.mark.rule("R11")
@pytest.mark.rule("W7")
def test_what_the_end_of_its_time_has_undone_is_done_anew_when_the_run_is_delivered_again(story: Story) -> None:
    set_clock(story, START)
    parked_in_a_dead_worker(story, "hasty_trip-1")
    set_clock(story, START + 10 * DAY)
    story.crashed(story.worker("hasty_trip-1", start=False, crash_at=("body.before_commit", 1)))
    assert str(story.finish("hasty_trip-1", start=False).report["hasty_trip-1"]["error"]).startswith("RunTimedOut")
    do(story, "assert app.run('hasty_trip-1').retry()")
    ending = story.finish("hasty_trip-1", start=False)
    assert ending.report["hasty_trip-1"]["status"] == "completed"
    done = [step.removeprefix("start@1") for step in calls(ending, "hasty_trip-1")]
    assert done == ["/trip#book", "#call off /trip#book", "/trip#book", "#after"]


@pytest.mark.rule("R11")
@pytest.mark.rule("V4")
def test_a_run_that_had_parked_and_then_killed_five_workers_finds_its_steps_when_it_is_delivered_again(
    story: Story,
) -> None:
    for died in range(10):
        if (worker := story.worker("deadly-1")).ended() == 0:
            assert died == 5
            break
        story.killed.add(worker.pid)
    assert "WorkerKilled" in (row(story, "deadly-1").fault or "")
    (story.folder / "mended").touch()
    do(story, "assert app.run('deadly-1').retry()")
    ending = story.finish("deadly-1")
    assert ending.report["deadly-1"]["result"] == "mended"
    assert calls(ending, "deadly-1") == [BEFORE, BETWEEN]
