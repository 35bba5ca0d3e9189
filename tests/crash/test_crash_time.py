"""Processes that die while runs wait: for another attempt, a time, an event, children, their next visit."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from crash_judge import Undisturbed
from crash_story import Ending, Process, Story

from semel.store.interface import Run

START = 1_750_000_000.0
HOUR, DAY = 3600.0, 86_400.0
NEVER = 600.0  # seconds: a lease that is not over before the test is


@pytest.fixture
def story(new_story: Callable[..., Story]) -> Story:
    """A story with the programs that wait."""
    return new_story("crash_shop.timed")


def row(story: Story, run: str) -> Run:
    found = story.row(run)
    assert found is not None
    return found


def set_clock(story: Story, now: float) -> None:
    """Moves the clock of all processes of the story."""
    new = story.folder / "clock.new"
    new.write_text(repr(now))
    new.rename(story.folder / "clock")


def calls(ending: Ending, run: str) -> list[str]:
    """The steps that ran, in order, without what leads to them."""
    return [call.step.partition("/")[2] for call in ending.calls if call.start.run == run]


def tell(story: Story, run: str, *what: object, crash_at: tuple[str, int] | None = None) -> Process:
    """Lets another process send the run these events."""
    sends = "".join(f"app.run({run!r}).send('go', {payload!r})\n" for payload in what)
    return story.script(f"from crash_shop.timed import app\n{sends}app.close()", crash_at=crash_at)


def told(story: Story, run: str, *what: object) -> None:
    process = tell(story, run, *what)
    assert process.ended() == 0, process.output


# ------------------------------------------------------------------------------------------------------- at each point


@pytest.mark.rule("R1")
@pytest.mark.rule("W5")
@pytest.mark.rule("W6")
@pytest.mark.rule("V4")
@pytest.mark.rule("V5")
@pytest.mark.parametrize(
    ("workflow", "point", "hit"),
    [
        ("retries", "body.before_commit", 1),
        ("retries", "body.before_commit", 3),
        ("retries", "body.after_commit", 2),
        ("retries", "step.returned", 6),
        ("retries", "step.recorded", 3),
        ("async_retries", "body.before_commit", 2),
        ("async_retries", "step.recorded", 3),
        ("exhausts", "body.before_commit", 2),
        ("naps", "body.before_commit", 1),
        ("naps", "body.after_commit", 3),
        ("naps", "main.in_batch", 3),
        ("naps", "journal.in_batch", 5),
        ("async_naps", "body.after_commit", 2),
        ("async_naps", "run.claimed", 2),
        ("family", "body.before_commit", 4),
        ("family", "body.before_commit", 8),
        ("family", "body.after_commit", 4),
        ("family", "main.in_batch", 2),
        ("family", "main.in_batch", 9),
        ("family", "step.returned", 4),
        ("async_family", "body.before_commit", 1),
        ("async_family", "main.after_commit", 4),
        ("races", "body.before_commit", 5),
        ("agains", "body.before_commit", 2),
        ("agains", "body.after_commit", 4),
        ("everything", "body.before_commit", 3),
        ("everything", "main.after_commit", 6),
    ],
)
def test_whatever_a_run_waits_for_it_goes_on_after_a_crash_and_nothing_is_done_twice(
    story: Story, whole: dict[str, Undisturbed], workflow: str, point: str, hit: int
) -> None:
    run = f"{workflow}-1"
    story.crashed(story.worker(run, crash_at=(point, hit)))
    ending = story.finish(run)
    assert ending.judged(whole).wrong == []
    if point in ("body.after_commit", "step.recorded", "run.claimed"):
        assert ending.doubles() == [], "no call was cut"


# -------------------------------------------------------------------------------------------------------------- retries


@pytest.mark.rule("R1")
@pytest.mark.rule("R4")
@pytest.mark.rule("R5")
@pytest.mark.parametrize(("workflow", "helper"), [("retries", "charge"), ("async_retries", "charge_async")])
def test_attempts_are_counted_through_the_death_of_every_process(story: Story, workflow: str, helper: str) -> None:
    run = f"{workflow}-1"
    for made in (1, 2):
        story.crashed(story.worker(run, crash_at=("body.after_commit", 1)))
        assert row(story, run).status == "parked"
        assert f'"attempt":{made}' in row(story, run).parked
    ending = story.finish(run)
    asks = [f"start@1/charge{k}/{helper}#ask" for k in ("", "~1", "~2")]
    attempts = [f"start@1{step}" for k in ("", "~1", "~2") for step in (f"/charge{k}/{helper}#ask", f"#charge{k}")]
    assert calls(ending, run) == ["start@1#before", *attempts, "start@1#after"]
    assert [step.partition("/")[2] for step in ending.report[run]["steps"]] == [
        "start@1#before",
        *asks,
        "start@1#charge",
        "start@1#after",
    ]
    assert len({call.pid for call in ending.calls}) == 3
    assert len({call.start.key for call in ending.calls if "#charge" in call.step}) == 1, "one idempotency key"


@pytest.mark.rule("R4")
@pytest.mark.rule("O8")
def test_an_attempt_that_was_cut_is_made_again_under_its_own_number_and_finds_what_it_had_done(story: Story) -> None:
    story.crashed(story.worker("retries-1", crash_at=("body.after_commit", 1)))
    worker = story.worker("retries-1")
    assert worker.until(3), "the second attempt has asked, and begun to charge"
    assert story.kill(worker)
    ending = story.finish("retries-1")
    assert calls(ending, "retries-1") == [
        "start@1#before",
        "start@1/charge/charge#ask",
        "start@1#charge",
        "start@1/charge~1/charge#ask",
        "start@1#charge~1",
        "start@1#charge~1",
        "start@1/charge~2/charge#ask",
        "start@1#charge~2",
        "start@1#after",
    ]


@pytest.mark.rule("R9")
@pytest.mark.rule("O24")
def test_the_failure_of_the_last_attempt_is_a_fact_before_the_body_goes_on(
    story: Story, whole: dict[str, Undisturbed]
) -> None:
    for _ in range(2):
        story.crashed(story.worker("exhausts-1", crash_at=("body.after_commit", 1)))
    story.crashed(story.worker("exhausts-1", crash_at=("step.before", 2)))  # the apology
    assert row(story, "exhausts-1").status != "faulted"
    ending = story.finish("exhausts-1")
    assert ending.judged(whole).wrong == []
    assert ending.doubles() == []


@pytest.mark.rule("R1")
@pytest.mark.rule("O24")
@pytest.mark.parametrize(
    ("hours", "attempts", "error"),
    [
        pytest.param([0, 6, 12], ["", "~1", "~2"], "Down", id="a fourth attempt would come too late"),
        pytest.param([0, 6, 16], ["", "~1"], "StepTimedOut", id="the worker was off until it was too late"),
    ],
)
def test_the_time_of_a_step_counts_from_its_first_attempt_through_restarts(
    story: Story, hours: list[int], attempts: list[str], error: str
) -> None:
    for hour in hours[:-1]:
        set_clock(story, START + hour * HOUR)
        story.crashed(story.worker("hurries-1", crash_at=("body.after_commit", 1)))
        assert row(story, "hurries-1").status == "parked"
    set_clock(story, START + hours[-1] * HOUR)
    story.crashed(story.worker("hurries-1", crash_at=("body.before_commit", 1)))
    ending = story.finish("hurries-1")
    assert ending.report["hurries-1"]["result"] == [error, "#gave up"]
    assert calls(ending, "hurries-1") == [
        "start@1#before",
        *(f"start@1#slow{k}" for k in attempts),
        "start@1#gave up",
    ]


# --------------------------------------------------------------------------------------------------------------- visits


@pytest.mark.rule("V2")
@pytest.mark.rule("V5")
@pytest.mark.parametrize(
    ("point", "hit", "again"), [("body.before_commit", 2, 2), ("body.after_commit", 2, 3), ("main.in_batch", 3, 2)]
)
def test_a_visit_that_app_again_has_ended_is_over_and_the_next_one_has_its_arguments(
    story: Story, point: str, hit: int, again: int
) -> None:
    story.crashed(story.worker("counts_up-1", crash_at=(point, hit)))
    assert row(story, "counts_up-1").visits == {"start": again - 1}
    ending = story.finish("counts_up-1", start=False)
    assert calls(ending, "counts_up-1") == ["start@1#work", "start@2#work", "start@3#work"]
    assert ending.report["counts_up-1"]["result"] == 3
    assert ending.report["counts_up-1"]["visits"] == {"start": 3}


@pytest.mark.rule("V2")
def test_a_process_that_starts_its_run_again_finds_it_though_it_is_at_a_later_visit(story: Story) -> None:
    story.crashed(story.worker("counts_up-1", crash_at=("body.after_commit", 2)))
    assert story.finish("counts_up-1").report["counts_up-1"]["result"] == 3


# --------------------------------------------------------------------------------------------------------------- sleeps


@pytest.mark.rule("W6")
@pytest.mark.rule("W9")
def test_a_clock_that_came_due_while_no_worker_was_there_fires_once(story: Story) -> None:
    set_clock(story, START)
    story.crashed(story.worker("rings-1", crash_at=("body.after_commit", 1)))
    set_clock(story, START + DAY - 1)
    early = story.worker("rings-1", "naps-1")
    assert early.until(2), "it drives what is due"
    assert story.kill(early)
    assert row(story, "rings-1").status == "parked"
    set_clock(story, START + 30 * DAY)
    both = [story.worker("rings-1"), story.worker("rings-1")]
    story.ending(both[0])
    ending = story.ending(both[1])
    assert calls(ending, "rings-1") == ["start@1#before", "start@1#ring"]


@pytest.mark.rule("W6")
@pytest.mark.parametrize("point", ["main.in_batch", "main.after_commit"])
def test_a_worker_that_dies_as_it_wakes_a_run(story: Story, point: str) -> None:
    set_clock(story, START)
    story.crashed(story.worker("rings-1", crash_at=("body.after_commit", 1)))
    set_clock(story, START + DAY)
    story.crashed(story.worker("rings-1", start=False, crash_at=(point, 1)))
    assert row(story, "rings-1").status == ("parked" if point == "main.in_batch" else "pending")
    ending = story.finish("rings-1")
    assert calls(ending, "rings-1") == ["start@1#before", "start@1#ring"]
    assert ending.notes("rings-1") == []


@pytest.mark.rule("W9")
def test_a_clock_that_is_set_back_between_two_workers_undoes_nothing(story: Story) -> None:
    set_clock(story, START)
    story.crashed(story.worker("rings-1", crash_at=("body.after_commit", 1)))
    set_clock(story, START + DAY)
    story.crashed(story.worker("rings-1", crash_at=("body.before_commit", 1)))
    set_clock(story, START)
    ending = story.finish("rings-1")
    assert calls(ending, "rings-1") == ["start@1#before", "start@1#ring"]
