"""A process that dies at each named point of one run, and what the next one then does: the exact outcome per point."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from crash_judge import Undisturbed, calls_of
from crash_story import Ending, Story

STEPS = ["#reserve", "#charge", "#pack", "#mail"]
WORKFLOWS = ["sequence", "async_sequence"]


@dataclass
class Crashed:
    """A run of four steps whose first process died at a point, and which a second one brought to its end."""

    workflow: str
    before: list[str]
    visits_between: dict[str, int] | None
    status_between: str | None
    ending: Ending

    @property
    def run(self) -> str:
        return f"{self.workflow}-1"

    def path(self, step: int) -> str:
        """The path of the step of this number, from 1."""
        return f"{self.workflow}/start@1{STEPS[step - 1]}"

    def paths(self, *steps: int) -> list[str]:
        return [self.path(step) for step in steps]

    @property
    def after(self) -> list[str]:
        """The steps that the second process started."""
        return [call.step for call in self.ending.calls if call.pid not in self.ending.killed]


def crash(story: Story, undisturbed: dict[str, Undisturbed], workflow: str, point: str, hit: int) -> Crashed:
    run = f"{workflow}-1"
    story.crashed(story.worker(run, crash_at=(point, hit)))
    between = story.row(run)
    before = [call.step for call in calls_of(story.lines())]
    ending = story.finish(run)
    assert ending.judged(undisturbed).wrong == []
    return Crashed(
        workflow,
        before,
        between.visits if between is not None else None,
        between.status if between is not None else None,
        ending,
    )


@pytest.mark.rule("O2")
@pytest.mark.rule("O8")
@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_killed_when_it_had_claimed_the_run_nothing_had_run(
    story: Story, undisturbed: dict[str, Undisturbed], workflow: str
) -> None:
    crashed = crash(story, undisturbed, workflow, "run.claimed", 1)
    assert crashed.before == []
    assert crashed.after == crashed.paths(1, 2, 3, 4)
    assert crashed.ending.notes(crashed.run) == [], "no step was in flight"


@pytest.mark.rule("O2")
@pytest.mark.rule("O8")
@pytest.mark.parametrize("workflow", WORKFLOWS)
@pytest.mark.parametrize("step", [3])
def test_killed_before_a_step_the_step_runs_once(
    story: Story, undisturbed: dict[str, Undisturbed], workflow: str, step: int
) -> None:
    crashed = crash(story, undisturbed, workflow, "step.before", step)
    assert crashed.before == crashed.paths(*range(1, step))
    assert crashed.after == crashed.paths(*range(step, 5))
    assert crashed.ending.doubles() == []
    assert crashed.ending.notes(crashed.run) == [], "the call had not begun"


@pytest.mark.rule("O8")
@pytest.mark.rule("O9")
@pytest.mark.parametrize("workflow", WORKFLOWS)
@pytest.mark.parametrize("step", [1, 4])
def test_killed_between_a_steps_return_and_its_record_that_step_alone_runs_twice_and_is_noted(
    story: Story, undisturbed: dict[str, Undisturbed], workflow: str, step: int
) -> None:
    crashed = crash(story, undisturbed, workflow, "step.returned", step)
    assert crashed.before == crashed.paths(*range(1, step + 1))
    assert crashed.after == crashed.paths(*range(step, 5))
    assert crashed.ending.doubles() == crashed.paths(step)
    assert crashed.ending.notes(crashed.run) == crashed.paths(step)
    first, second = (call for call in crashed.ending.calls if call.step == crashed.path(step))
    assert first.start.key == second.start.key, "both presented the same idempotency key"
    assert len(first.start.key) == 40


@pytest.mark.rule("O1")
@pytest.mark.rule("O2")
@pytest.mark.rule("O7")
@pytest.mark.rule("O8")
@pytest.mark.parametrize("workflow", WORKFLOWS)
@pytest.mark.parametrize("step", [1, 4])
def test_killed_after_a_steps_record_nothing_runs_twice(
    story: Story, undisturbed: dict[str, Undisturbed], workflow: str, step: int
) -> None:
    crashed = crash(story, undisturbed, workflow, "step.recorded", step)
    assert crashed.before == crashed.paths(*range(1, step + 1))
    assert crashed.after == crashed.paths(*range(step + 1, 5))
    assert crashed.ending.doubles() == []
    assert crashed.ending.notes(crashed.run) == [], "its record is there"


@pytest.mark.rule("V4")
@pytest.mark.rule("V5")
@pytest.mark.rule("O7")
@pytest.mark.parametrize("workflow", WORKFLOWS)
@pytest.mark.parametrize(("point", "hit"), [("body.before_commit", 1), ("main.in_batch", 2)])
def test_killed_before_the_bodys_commit_the_visit_is_not_counted_and_all_steps_are_found(
    story: Story, undisturbed: dict[str, Undisturbed], workflow: str, point: str, hit: int
) -> None:
    crashed = crash(story, undisturbed, workflow, point, hit)
    assert crashed.before == crashed.paths(1, 2, 3, 4)
    assert crashed.visits_between == {}
    assert crashed.status_between in ("pending", "running"), "the dead process has the run until its lease is over"
    assert crashed.after == []
    assert crashed.ending.report[crashed.run]["visits"] == {"start": 1}
    assert crashed.ending.notes(crashed.run) == []


@pytest.mark.rule("V5")
@pytest.mark.parametrize("workflow", WORKFLOWS)
@pytest.mark.parametrize(("point", "hit"), [("body.after_commit", 1), ("main.after_commit", 2)])
def test_killed_after_the_bodys_commit_the_run_has_ended(
    story: Story, undisturbed: dict[str, Undisturbed], workflow: str, point: str, hit: int
) -> None:
    crashed = crash(story, undisturbed, workflow, point, hit)
    assert crashed.status_between == "completed"
    assert crashed.visits_between == {"start": 1}
    assert crashed.before == crashed.paths(1, 2, 3, 4)
    assert crashed.after == []


@pytest.mark.rule("O1")
@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_killed_in_the_commit_of_a_start_there_is_no_run(
    story: Story, undisturbed: dict[str, Undisturbed], workflow: str
) -> None:
    crashed = crash(story, undisturbed, workflow, "main.in_batch", 1)
    assert crashed.status_between is None
    assert crashed.after == crashed.paths(1, 2, 3, 4)


@pytest.mark.rule("O1")
@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_killed_after_the_commit_of_a_start_there_is_the_run(
    story: Story, undisturbed: dict[str, Undisturbed], workflow: str
) -> None:
    crashed = crash(story, undisturbed, workflow, "main.after_commit", 1)
    assert crashed.status_between == "pending"
    assert crashed.before == []
    assert crashed.ending.notes(crashed.run) == [], "nobody had claimed it"


@pytest.mark.rule("O1")
@pytest.mark.rule("O8")
@pytest.mark.parametrize("workflow", WORKFLOWS)
@pytest.mark.parametrize("hit", [1, 4, 6])
def test_killed_in_a_commit_of_the_journal_what_was_in_it_is_not_there(
    story: Story, undisturbed: dict[str, Undisturbed], workflow: str, hit: int
) -> None:
    crashed = crash(story, undisturbed, workflow, "journal.in_batch", hit)
    cut = crashed.before[-1:]
    assert crashed.ending.doubles() == cut, "the step whose record was in that commit, if one was"
    assert crashed.after[: len(cut)] == cut


@pytest.mark.rule("O1")
@pytest.mark.rule("O2")
@pytest.mark.parametrize("workflow", WORKFLOWS)
@pytest.mark.parametrize("hit", [1, 4, 6])
def test_killed_after_a_commit_of_the_journal_what_was_in_it_is_there(
    story: Story, undisturbed: dict[str, Undisturbed], workflow: str, hit: int
) -> None:
    crashed = crash(story, undisturbed, workflow, "journal.after_commit", hit)
    assert crashed.ending.doubles() == []


@pytest.mark.rule("O1")
@pytest.mark.rule("O8")
@pytest.mark.parametrize(
    ("point", "workflow"),
    [("journal.in_batch", "gathers_all"), ("journal.after_commit", "gathers_all"), ("journal.in_batch", "pool")],
)
@pytest.mark.parametrize("hit", [4, 8])
def test_killed_in_the_middle_of_a_group_commit_of_many_runs(
    story: Story, undisturbed: dict[str, Undisturbed], workflow: str, point: str, hit: int
) -> None:
    runs = [f"{workflow}-{number}" for number in range(20)]
    story.crashed(story.worker(*runs, crash_at=(point, hit)))
    ending = story.finish(*runs)
    assert ending.judged(undisturbed).wrong == []


@pytest.mark.rule("O24")
@pytest.mark.rule("O8")
@pytest.mark.parametrize("workflow", ["handles_failures", "async_cleans_up"])
@pytest.mark.parametrize("step", [1, 2, 3])
def test_a_failure_that_the_body_handles_is_the_same_after_a_crash(
    story: Story, undisturbed: dict[str, Undisturbed], workflow: str, step: int
) -> None:
    story.crashed(story.worker(f"{workflow}-1", crash_at=("step.before", step)))
    ending = story.finish(f"{workflow}-1")
    assert ending.judged(undisturbed).wrong == []
    assert ending.doubles() == []


@pytest.mark.rule("O8")
@pytest.mark.rule("O24")
@pytest.mark.parametrize("workflow", ["ends_in_a_failure", "async_ends_in_a_failure"])
@pytest.mark.parametrize("point", ["main.in_batch", "main.after_commit"])
def test_a_failure_that_ends_the_body_runs_again_only_if_its_fault_was_not_committed(
    story: Story, undisturbed: dict[str, Undisturbed], workflow: str, point: str
) -> None:
    story.crashed(story.worker(f"{workflow}-1", crash_at=(point, 2)))
    ending = story.finish(f"{workflow}-1")
    assert ending.judged(undisturbed).wrong == []
    assert ending.doubles() == ([f"{workflow}/start@1#fail"] if point == "main.in_batch" else [])
