"""``python -m bench``: what it prints and saves. Never how long anything took."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, object]]:
    """The table and the JSON of a run of all cases with small numbers."""
    folder = tmp_path_factory.mktemp("bench")
    file = folder / "results.json"
    command = [sys.executable, "-m", "bench", "--quick", "--folder", str(folder / "disk"), "--json", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout, json.loads(file.read_text("utf-8"))


CASES = [
    *("durability", "lone", "many", "long", "start", "outside", "twin", "calls", "model"),
    *("parks", "fanout", "clocks", "parked"),
]


def test_every_case_is_in_the_table_and_in_the_json(quick):
    table, saved = quick
    assert [one["case"] for one in saved["measures"]] == sorted(
        [one["case"] for one in saved["measures"]], key=CASES.index
    )
    assert {one["case"] for one in saved["measures"]} == set(CASES)
    for case in CASES:
        assert case in table


def test_the_floor_and_the_ratio_stand_beside_semel_where_there_is_a_floor(quick):
    _, saved = quick
    for case in ("lone", "start"):
        for one in (one for one in saved["measures"] if one["case"] == case):
            assert one["ratio"] is not None
            assert len(one["rounds"]["floor"]) > len(one["rounds"]["semel"]) > 0


def test_semels_own_connections_were_asked_for_synchronous(quick):
    _, saved = quick
    (asked,) = [one for one in saved["measures"] if one["what"].startswith("synchronous")]
    assert asked["semel"] == 2


def test_syncs_are_counted_or_it_is_said_why_not(quick):
    _, saved = quick
    (counted,) = [one for one in saved["measures"] if one["what"] == "syncs per commit"]
    assert counted["semel"] is not None or counted["note"].startswith("not counted: ")


def test_a_resumed_run_reads_its_records_by_one_query(quick):
    _, saved = quick
    (queries,) = [one for one in saved["measures"] if one["what"] == "resume: queries that read records"]
    assert queries["semel"] == 1


def test_other_engines_figures_are_marked_as_measured_elsewhere(quick):
    table, saved = quick
    assert "measured elsewhere" in table
    assert "not in this run" in saved["peers"]["source"]


def test_a_case_that_does_not_exist_is_refused():
    command = [sys.executable, "-m", "bench", "nonesuch"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "nonesuch" in done.stderr
