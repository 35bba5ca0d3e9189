"""The public signatures, as mypy (strict) and pyright read them: what must type-check, and what must not."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


def mypy(file: Path) -> dict[int, str]:
    """The errors of a file by line."""
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--hide-error-context", str(file)]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert told.returncode in (0, 1), told.stdout + told.stderr
    found = re.findall(rf"{re.escape(file.name)}:(\d+): error: (.*)", told.stdout)
    return {int(line): text for line, text in found}


def pyright(file: Path) -> dict[int, str]:
    """The errors of a file by line."""
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--outputjson", str(file)]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    found = json.loads(told.stdout)["generalDiagnostics"]
    return {entry["range"]["start"]["line"] + 1: entry["message"] for entry in found if entry["severity"] == "error"}


@pytest.mark.rule("O5")
@pytest.mark.rule("W2")
@pytest.mark.parametrize("file", ["good.py", "good_entities.py"])
@pytest.mark.parametrize("checker", [mypy, pyright])
def test_what_users_write_type_checks(checker, file: str) -> None:
    assert checker(HERE / file) == {}


@pytest.mark.rule("O5")
@pytest.mark.rule("O13")
@pytest.mark.rule("W2")
@pytest.mark.parametrize("file", ["bad.py", "bad_entities.py"])
@pytest.mark.parametrize("checker", [mypy, pyright])
def test_what_is_wrong_does_not(checker, file: str) -> None:
    lines = (HERE / file).read_text().splitlines()
    marked = rf"# wrong( for {checker.__name__})?:"
    wrong = {number for number, line in enumerate(lines, 1) if re.search(marked, line)}
    assert set(checker(HERE / file)) == wrong
