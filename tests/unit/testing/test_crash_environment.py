"""``semel.testing``: processes that die at a chosen point."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from semel.testing import CRASH_POINTS, crash_environment

COMES_THERE_THREE_TIMES = """
from semel.engine import points

for number in range(1, 4):
    print(number, flush=True)
    if points.armed:
        points.hit("step.before")
        points.hit("step.returned")
"""


def run(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", COMES_THERE_THREE_TIMES],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("hit", [1, 3])
def test_a_process_dies_by_sigkill_the_nth_time_that_it_comes_to_the_point(hit: int) -> None:
    ended = run(crash_environment("step.returned", hit))
    assert ended.returncode == -signal.SIGKILL
    assert ended.stdout.split() == ["1", "2", "3"][:hit]


def test_a_process_that_comes_there_too_seldom_or_never_lives() -> None:
    assert run(crash_environment("step.returned", 4)).returncode == 0
    assert run(crash_environment("body.before_commit")).returncode == 0


def test_without_the_environment_nothing_dies() -> None:
    assert run({}).returncode == 0


def test_each_point_has_an_environment() -> None:
    assert {point: crash_environment(point) for point in CRASH_POINTS} == {
        point: {"SEMEL_CRASH_AT": f"{point}:1"} for point in CRASH_POINTS
    }


def test_an_unknown_point_is_refused_and_the_points_are_named() -> None:
    with pytest.raises(ValueError, match=r"no crash point 'step\.after'; the points are body\.after_commit, "):
        crash_environment("step.after")


@pytest.mark.parametrize("hit", [0, -1])
def test_a_hit_before_the_first_is_refused(hit: int) -> None:
    with pytest.raises(ValueError, match="the first time"):
        crash_environment("step.before", hit)
