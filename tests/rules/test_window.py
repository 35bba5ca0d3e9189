"""The window that nobody can close (O8), shown from both sides by a real SIGKILL, and keys that stay (O9, V6)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import semel
from semel.engine.keys import FORMAT, run_key, scoped_key
from semel.testing import crash_environment

PROGRAM = """
from semel import App, once

app = App("shop")

def charge(key):
    with open("charges.txt", "a") as charges:
        charges.write(key + "\\n")
    return "receipt"

@app.workflow
def fulfil():
    return once("charge", lambda key: charge(key))

if __name__ == "__main__":
    run = app.start(fulfil, id="A-1")
    with app.worker():
        print(run.result(timeout=60), *[f"{note.kind}: {note.path}" for note in run.notes()])
"""


def run(folder: Path, **crash: str) -> subprocess.CompletedProcess[str]:
    (folder / "shop.py").write_text(PROGRAM)
    environment = {**os.environ, **crash, "PYTHONPATH": str(Path(semel.__file__).parents[1])}
    command = [sys.executable, "shop.py"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.rule("O8")
@pytest.mark.rule("O9")
def test_killed_before_the_record_the_call_is_made_again_with_the_same_key_and_noted(tmp_path: Path) -> None:
    assert run(tmp_path, **crash_environment("step.returned", 1)).returncode == -signal.SIGKILL
    assert run(tmp_path).stdout == "receipt possibly doubled: fulfil/start@1#charge\n"
    first, second = (tmp_path / "charges.txt").read_text().split()
    assert first == second


@pytest.mark.rule("O8")
def test_killed_after_the_record_the_call_is_not_made_again(tmp_path: Path) -> None:
    assert run(tmp_path, **crash_environment("step.recorded", 1)).returncode == -signal.SIGKILL
    assert run(tmp_path).stdout == "receipt\n"
    assert len((tmp_path / "charges.txt").read_text().split()) == 1


@pytest.mark.rule("V6")
@pytest.mark.rule("O9")
def test_the_key_derivation_of_format_1_does_not_change() -> None:
    seed = bytes(range(32))
    assert FORMAT == 1, "a new format keeps this derivation for the runs that started with it"
    assert run_key(seed, "fulfil/start@1#charge") == "f672d6a722d7fed135139a7ce9cdf1e51baf2eb4"
    assert run_key(seed, "fulfil/start@1/charge~2/ask[0]#x") == run_key(seed, "fulfil/start@1/charge/ask[0]#x")
    assert scoped_key(seed, "charge", ("A", 1)) == "98b79e6b5db10be2927e4b3e1046e9079b095140"
