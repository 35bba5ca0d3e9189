"""Processes of their own: one that is killed in a step, one that resumes its run, and one whose syncs are counted."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from semel import App

    from .watch import Watch


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


def asking(role: str) -> dict[str, float]:
    """A process that times HTTP calls: ``plain``, ``registered`` or ``run``."""
    return _answer(_python([role], module="bench.asking"))


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
        programs.stops[dies_at] = programs.die
        with app.worker():
            app.start(programs.steps, steps, id="long").result()
    elif role == "resume":
        print(json.dumps(_resume(app, watch)))
    else:
        with app.worker():
            app.start(programs.steps, *numbers).result()
            print(json.dumps({"synchronous": sorted(watch.synchronous()), "commits": watch.commits}))
    app.close()


def _resume(app: App, watch: Watch) -> dict[str, float]:
    run = app.run("long")
    queries = watch.record_queries
    began = time()
    with app.worker():
        run.result()
        queries = watch.record_queries - queries
    new = [record.started_at for record in app.store.records(run.uid) if record.started_at > began]
    old = len(app.store.records(run.uid)) - len(new)
    return {"seconds": new[0] - began, "first_step": old, "queries": queries}


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *map(int, sys.argv[3:]))
