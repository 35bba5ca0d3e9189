"""Kills at random instants while runs retry, sleep, wait for events and for children; judged by the log alone.

``SEMEL_KILLS`` is how many (15 if not given), ``SEMEL_SEED`` repeats a sequence of instants.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable

import pytest
from crash_judge import Undisturbed
from crash_programs import WAITING
from crash_story import Ending, Story, spin

KILLS = int(os.environ.get("SEMEL_KILLS", "15"))
SEED = int(os.environ.get("SEMEL_SEED", "0")) or random.SystemRandom().randrange(1, 2**32)

#: A run that has killed its worker five times is faulted (rule R11), and a kill here is no fault of the run's.
KILLS_PER_STORY = 4


def kill_at_random(story: Story, runs: list[str], chance: random.Random) -> Ending:
    """Kills workers of these runs, one or two that work at once; then lets one finish."""
    while len(story.killed) < KILLS_PER_STORY:
        workers = [story.worker(*runs, threads=chance.choice([2, 4, 32])) for _ in range(chance.choice([1, 1, 2]))]
        workers[0].until(chance.randint(1, 40))
        spin(chance.choice([0, chance.uniform(0, 300), chance.uniform(0, 40_000)]))
        alive = [worker for worker in workers if not story.kill(worker)]
        if alive:  # until all runs had ended
            return story.ending(alive[0])
    return story.finish(*runs)


@pytest.mark.rule("R1")
@pytest.mark.rule("R4")
@pytest.mark.rule("R5")
@pytest.mark.rule("V2")
@pytest.mark.rule("V4")
@pytest.mark.rule("V5")
@pytest.mark.rule("W5")
@pytest.mark.rule("W6")
@pytest.mark.rule("O8")
def test_whenever_a_worker_is_killed_what_waits_goes_on_and_only_cut_calls_are_made_twice(
    new_story: Callable[..., Story], whole: dict[str, Undisturbed], capsys: pytest.CaptureFixture[str]
) -> None:
    print(f"SEMEL_SEED={SEED}")
    chance = random.Random(SEED)
    kills = stories = excused = 0
    wrong: list[str] = []
    while kills < KILLS:
        story = new_story("crash_shop.timed")
        runs = [
            f"{program}-{number}" for program in chance.sample(WAITING, 5) for number in range(chance.choice([1, 2]))
        ]
        try:
            verdict = kill_at_random(story, runs, chance).judged(whole)
        finally:
            story.clean_up()
        stories += 1
        kills += len(story.killed)
        excused += len(verdict.excused)
        wrong += [f"story {stories} in {story.folder}: {each}" for each in verdict.wrong]
    with capsys.disabled():
        print(f"\n{kills} kills in {stories} stories, {excused} doubles excused, {len(wrong)} wrong; SEMEL_SEED={SEED}")
    assert wrong == [], f"SEMEL_SEED={SEED}"
