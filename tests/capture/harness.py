"""Runs a workflow in a process of its own, kills it before its commit, and runs it again from the database alone.

A program is a module of this folder that makes ``app = App("capture", database=os.environ["DATABASE"])`` and whose
workflows show what they have seen with ``deep.show(…)``. What the first process showed and what the second one did must
be equal; the test stops its server in between.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent

#: Everything is recorded, also what the body went past last, and nothing is committed.
AT_THE_END = "body.before_commit:1"


@dataclass(frozen=True)
class Attempt:
    """What one process did: ``shown`` by the body, ``result`` or ``fault`` of the run, None if it was killed."""

    shown: list[Any]
    killed: bool
    result: Any
    fault: str | None
    log: str


@dataclass(frozen=True)
class Case:
    """One run of one workflow. ``folder`` holds its database."""

    program: str
    workflow: str
    args: tuple[Any, ...]
    folder: Path
    env: dict[str, str]

    def attempt(self, crash: str | None = None, **env: str) -> Attempt:
        """Runs it, or goes on with it, in a new process; ``crash`` names a crash point (``step.recorded:2``)."""
        shown, ended = self.folder / "shown.json", self.folder / "ended.json"
        shown.unlink(missing_ok=True)
        ended.unlink(missing_ok=True)
        environment = {
            **os.environ,
            **self.env,
            **env,
            "PYTHONPATH": os.pathsep.join([str(HERE), str(HERE.parent.parent / "src")]),
            "DATABASE": f"sqlite:///{self.folder / 'capture.db'}",
            "SHOWN": str(shown),
            "ENDED": str(ended),
            "NO_PROXY": "*",
        }
        if crash is not None:
            environment["SEMEL_CRASH_AT"] = crash
        done = subprocess.run(
            [
                sys.executable,
                "-W",
                "error::RuntimeWarning",
                str(HERE / "replay_process.py"),
                self.program,
                self.workflow,
                json.dumps(self.args),
            ],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        log = done.stdout + done.stderr
        killed = done.returncode == -signal.SIGKILL
        assert killed or done.returncode == 0, log
        told = json.loads(ended.read_text()) if ended.exists() else {}
        seen = json.loads(shown.read_text()) if shown.exists() else []
        return Attempt(seen, killed, told.get("result"), told.get("fault"), log)

    def live(self) -> Attempt:
        """Runs it up to its commit, and is killed there."""
        done = self.attempt(AT_THE_END)
        assert done.killed, f"it did not come to its commit: {done.fault}\n{done.log}"
        assert done.shown, "the body must show what it has seen"
        return done

    def replayed(self) -> Attempt:
        """Runs it again, to its end; nothing may go out now."""
        done = self.attempt()
        assert done.fault is None, f"{done.fault}\n{done.log}"
        return done

    def steps(self) -> list[str]:
        """The paths of the run's records, in the order in which they were made."""
        import sqlite3

        connection = sqlite3.connect(self.folder / "capture.steps.db")
        try:
            return [path for (path,) in connection.execute("SELECT path FROM semel_records ORDER BY seq")]
        finally:
            connection.close()


def case(program: str, workflow: str, *args: Any, folder: Path, **env: str) -> Case:
    """A run of ``workflow`` of the module ``program`` with these arguments (of JSON), in a new database."""
    return Case(program, workflow, args, folder, env)
