"""The standard library as user code: real functions of every style, built and run as twins."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path as FilePath
from typing import Any

import pytest

import semel

HERE = FilePath(__file__).parent


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    paths = [str(HERE), str(FilePath(semel.__file__).parents[1])]
    done = subprocess.run(
        [sys.executable, str(HERE / "stdlib_as_user_code.py")],
        env={"PYTHONPATH": ":".join(paths), "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_every_function_has_a_twin(report: dict[str, Any]) -> None:
    assert report["failed"] == []
    assert report["built"] > 1_000


def test_no_twin_has_another_line_than_its_function(report: dict[str, Any]) -> None:
    assert report["moved"] == []


def test_real_work_gives_equal_results(report: dict[str, Any]) -> None:
    assert set(report["work"].values()) == {"equal"}, report["work"]
    assert len(report["work"]) > 10
