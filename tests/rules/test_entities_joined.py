"""Rule W4 as a table: what a caller does with its transaction, what the arm does in it, and what is there afterwards.

The callers are processes of their own (``entity_joined``); so is who looks afterwards, and raises the event again.
"""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import pytest

CALLERS = ("commits", "rolls back", "dies", "rolls back a savepoint", "had flushed")
ARMS = ("complete", "move", "fault", "park")
ROWS = ("old", "new")

Stories = dict[str, dict[str, list[list[Any]]]]


@pytest.fixture(scope="module")
def stories(tmp_path_factory: pytest.TempPathFactory) -> Stories:
    """What each caller, and who came after it, has told: by kind of session and case."""
    script = str(Path(__file__).with_name("entity_joined.py"))
    told: Stories = {}
    running = {
        kind: subprocess.Popen(
            [sys.executable, script, str(tmp_path_factory.mktemp(kind)), kind],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for kind in ("sync", "async")
    }
    for kind, process in running.items():
        printed, errors = process.communicate()
        assert process.returncode == 0, errors
        cases: dict[str, list[list[Any]]] = {}
        for line in printed.splitlines():
            case, *what = json.loads(line)
            cases.setdefault(case, []).append(what)
        told[kind] = cases
    return told


def afterwards(caller: str, arm: str, row: str) -> list[list[Any]]:
    """What the caller is told; then the row, the visits, clocks and what is parked, the records, and what the next
    raise does, with the number of steps that it runs.
    """
    told = {
        "complete": ["PLACED", "done", "PLACED"],
        "move": ["CHARGED", "done", "CHARGED"],
        "fault": ["raised", "broken", "PLACED"],
        "park": ["PLACED", "parked", "PLACED"],
    }[arm]
    kept = caller in ("commits", "had flushed")
    mine = None if caller in ("rolls back", "dies") else "the caller's"
    if mine is None and row == "new":
        return [told, [None], [1]]  # neither row nor run
    moved, finished = kept and arm == "move", kept and arm in ("complete", "move")
    visits = {f"PLACED.on_{arm}": 1} if kept and arm != "fault" else {}
    parked = [f"PLACED.on_{arm}@1"] if kept and arm == "park" else []
    again: list[Any] = {
        "complete": ["PLACED", 1 if kept else 0],
        "move": ["EventNotTaken" if kept else "CHARGED", 0],
        "fault": ["ConnectionError", 0],
        "park": ["EventNotTaken" if kept else "PLACED, parked", 0],
    }[arm]
    return [
        told,
        [["CHARGED" if moved else "PLACED", "done" if finished else None, mine]],
        [visits, ["CHARGED.expire" if moved else "PLACED.expire"], parked],
        [[f"Flow/PLACED.on_{arm}@1!begun", f"Flow/PLACED.on_{arm}@1#step"]],
        again,
    ]


@pytest.mark.rule("W4")
@pytest.mark.parametrize("kind", ["sync", "async"])
@pytest.mark.parametrize(("caller", "arm", "row"), [*product(CALLERS, ARMS, ROWS)])
def test_an_arm_in_its_callers_transaction(stories: Stories, kind: str, caller: str, arm: str, row: str) -> None:
    assert stories[kind][f"{caller}, {arm}, {row}"] == afterwards(caller, arm, row)
