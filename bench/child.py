"""Processes of their own: one that is killed in a step, one that resumes its run, and one whose syncs are counted."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any


@dataclass(frozen=True, slots=True)
class Resumed:
    """``seconds`` are from the worker's start to its first new step, whose number counts from 0."""

    seconds: float
    first_step: int
    queries: int


@dataclass(frozen=True, slots=True)
class Written:
    """What a process saw of its own connections, while it made one run of so many steps."""

    synchronous: list[int]
    commits: int


def killed(folder: Path, steps: int, dies_at: int) -> None:
    """A process that starts a run and dies by SIGKILL in its step ``dies_at``."""
    done = _python(["die", str(folder), str(steps), str(dies_at)])
    assert done.returncode == -signal.SIGKILL, f"the process was to die by SIGKILL: {done.returncode} {done.stderr}"


def resumed(folder: Path) -> Resumed:
    """A process that takes the run up again and ends it."""
    return Resumed(**_answer(_python(["resume", str(folder)])))


def written(folder: Path, steps: int, *, under: Sequence[str] = ()) -> Written:
    """A process that makes one run of ``steps`` steps; ``under`` is a command that watches it."""
    return Written(**_answer(_python(["write", str(folder), str(steps)], under)))


def outside(role: str) -> dict[str, float]:
    """A process that times a plain function: ``plain`` or ``registered``."""
    return _answer(_python([role], module="bench.outside"))


def _python(
    arguments: Sequence[str], under: Sequence[str] = (), module: str = "bench.child"
) -> subprocess.CompletedProcess[str]:
    command = [*under, sys.executable, "-m", module, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _answer(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(done.args)} failed:\n{done.stderr}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def main(role: str, folder: Path, *numbers: int) -> None:
    """The child's side."""
    from . import programs
    from .watch import Watch

    watch = Watch()
    watch.install()
    app = programs.new_app(folder)
    if role == "die":
        steps, dies_at = numbers
        programs.deadly.append(dies_at)
        with app.worker():
            app.start(programs.steps, steps, id="long").result()
    elif role == "resume":
        app.migrate()
        queries = watch.record_queries
        began = perf_counter()
        with app.worker():
            total = app.run("long").result()
        first = total - len(programs.marks)
        print(json.dumps({"seconds": programs.marks[0] - began, "first_step": first, "queries": watch.record_queries - queries}))
    else:
        with app.worker():
            app.start(programs.steps, *numbers).result()
            print(json.dumps({"synchronous": sorted(watch.synchronous()), "commits": watch.commits}))
    app.close()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *map(int, sys.argv[3:]))
