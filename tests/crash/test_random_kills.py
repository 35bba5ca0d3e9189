"""Kills at random instants, on all programs at once, judged by the side-effect log alone.

``SEMEL_KILLS`` is how many (25 if not given), ``SEMEL_SEED`` repeats a sequence of instants. A kill is aimed at a line
of the log and then delayed by some microseconds, so that the instants fall where the programs are, however fast the
machine is.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from crash_judge import Line, Undisturbed
from crash_programs import ASYNC, SYNC
from crash_story import Ending, Story, spin

KILLS = int(os.environ.get("SEMEL_KILLS", "25"))
SEED = int(os.environ.get("SEMEL_SEED", "0")) or random.SystemRandom().randrange(1, 2**32)

#: A run that has killed its worker five times is faulted (rule R11), and a kill here is no fault of the run's.
KILLS_PER_STORY = 4


@dataclass
class Counts:
    """What happened, to be printed."""

    kills: int = 0
    inside_a_step: int = 0
    excused: int = 0
    noted_in_vain: int = 0
    runs: int = 0
    calls: int = 0
    stories: int = 0
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.kills} kills in {self.stories} stories, {self.inside_a_step} of them inside a step; {self.runs} "
            f"runs of {len(SYNC + ASYNC)} programs, {self.calls} calls of steps, {self.excused} doubles excused, "
            f"{self.noted_in_vain} notes of no double, {len(self.wrong)} wrong; SEMEL_SEED={SEED}"
        )


def kill_at_random(story: Story, runs: list[str], chance: random.Random, kills: int) -> Ending:
    """Kills up to that many workers of these runs, each at an instant of its own; then lets one finish."""
    for _ in range(kills):
        worker = story.worker(*runs, threads=chance.choice([2, 4, 32]))
        if not worker.until(chance.randint(1, 60)):
            return story.ending(worker)
        spin(chance.choice([0, chance.uniform(0, 300), chance.uniform(0, 6000)]))
        if not story.kill(worker):
            return story.ending(worker)
    return story.finish(*runs)


def killed_inside_a_step(lines: list[Line], pid: int) -> bool:
    """Whether the process died with a call open."""
    started = {(line.run, line.step) for line in lines if line.pid == pid and line.kind == "start"}
    ended = {(line.run, line.step) for line in lines if line.pid == pid and line.kind == "end"}
    return started != ended


@pytest.mark.rule("O1")
@pytest.mark.rule("O2")
@pytest.mark.rule("O7")
@pytest.mark.rule("O8")
@pytest.mark.rule("O9")
@pytest.mark.rule("O16")
@pytest.mark.rule("O20")
@pytest.mark.rule("O24")
@pytest.mark.rule("V4")
@pytest.mark.rule("V5")
@pytest.mark.rule("W1")
def test_whenever_a_worker_is_killed_every_run_ends_and_only_cut_calls_run_twice(
    new_story: Callable[..., Story], undisturbed: dict[str, Undisturbed], capsys: pytest.CaptureFixture[str]
) -> None:
    print(f"SEMEL_SEED={SEED}")
    chance = random.Random(SEED)
    counts = Counts()
    while counts.kills < KILLS:
        story = new_story()
        programs = chance.sample(SYNC, 4) + chance.sample(ASYNC, 5)
        runs = [f"{program}-{number}" for program in programs for number in range(chance.choice([1, 1, 2]))]
        chance.shuffle(runs)
        try:
            ending = kill_at_random(story, runs, chance, min(KILLS_PER_STORY, KILLS - counts.kills))
        finally:
            story.clean_up()
        verdict = ending.judged(undisturbed)
        counts.kills += len(story.killed)
        counts.inside_a_step += sum(killed_inside_a_step(ending.lines, pid) for pid in story.killed)
        counts.excused += len(verdict.excused)
        counts.noted_in_vain += len(verdict.noted_in_vain)
        counts.runs += len(runs)
        counts.calls += len(ending.calls)
        counts.stories += 1
        counts.wrong += [f"story {counts.stories} in {story.folder}: {wrong}" for wrong in verdict.wrong]
    with capsys.disabled():
        print(f"\n{counts}")
    assert counts.wrong == [], str(counts)
    assert counts.inside_a_step > counts.kills / 4, "the kills land where something happens"
