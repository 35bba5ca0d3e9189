"""Rule W4 under SIGKILL: two processes raise one event on one row, and one of them dies at each point of the way."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

Stories = dict[str, dict[str, list[Any]]]


@pytest.fixture(scope="module")
def stories(tmp_path_factory: pytest.TempPathFactory) -> Stories:
    """What is told of each case: of the two callers, and of what they have left."""
    script = Path(__file__).with_name("entity_kills.py")
    folder = tmp_path_factory.mktemp("kills")
    done = subprocess.run([sys.executable, str(script), str(folder)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told: Stories = {}
    for line in done.stdout.splitlines():
        case, what, *rest = json.loads(line)
        told.setdefault(case, {})[what] = rest
    return told


@pytest.mark.rule("W4")
@pytest.mark.rule("O8")
def test_wherever_a_caller_dies_the_event_is_taken_once_and_only_what_was_cut_off_runs_again(stories: Stories) -> None:
    deaths = Counter(case.partition(":")[0] for case, told in stories.items() if told["raised"][0])
    assert len(deaths) == 7, deaths
    for case, told in stories.items():
        died, first, second = told["raised"]
        state, note, visits, done, doubled = told["left"]
        assert (state, note) == ("CHARGED", "reserve"), case
        assert visits == {"PLACED.on_pay": 1, "CHARGED.enter": 1}, case
        for step, count in Counter(done).items():
            noted = any(path.endswith(f"#{step}") for path in doubled)
            assert count == 1 or (count == 2 and died and noted), (case, done, doubled)
        if died:
            assert second in ("CHARGED", "EventNotTaken"), case
        else:
            assert sorted([first, second]) == ["CHARGED", "EventNotTaken"], case
