"""The demo's processes: the shop's caller and its workers, as a user would start them, each with a log file."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

import semel

_LOOK = 0.02  # seconds between two looks at whether a process has ended


class Processes:
    """Python processes in one folder. Whatever still lives at the end of ``with`` is killed."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._folder = folder
        self._environment = _environment() | environment
        self._all: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        for process in self._all:
            if process.poll() is None:
                process.kill()
                process.wait()

    def python(self, log: str, arguments: Sequence[str], crash_at: str | None = None) -> subprocess.Popen[bytes]:
        """Starts ``python`` with these arguments; what it prints goes into the file ``log``."""
        environment = self._environment | ({"SEMEL_CRASH_AT": crash_at} if crash_at else {})
        with (self._folder / log).open("wb") as output:
            process = subprocess.Popen(  # noqa: S603 - this Python, with arguments of ours
                [sys.executable, *arguments],
                cwd=self._folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        self._all.append(process)
        return process

    def output(self, log: str) -> str:
        """What the process of that log has printed so far."""
        return (self._folder / log).read_text("utf-8", errors="replace").strip()


def wait_for_any(processes: Sequence[subprocess.Popen[bytes]], seconds: float) -> None:
    """Waits until one of them has ended, or the time is over."""
    deadline = time.monotonic() + seconds
    while all(process.poll() is None for process in processes) and time.monotonic() < deadline:
        with suppress(subprocess.TimeoutExpired):
            processes[0].wait(_LOOK)


def _environment() -> dict[str, str]:
    """This process's own, but so that semel is found from another folder too, and that nothing crashes unasked."""
    environment = {name: value for name, value in os.environ.items() if name != "SEMEL_CRASH_AT"}
    path = [os.path.abspath(entry) for entry in environment.get("PYTHONPATH", "").split(os.pathsep) if entry]
    home = os.path.dirname(os.path.dirname(os.path.abspath(semel.__file__)))
    if os.path.basename(home) not in ("site-packages", "dist-packages") and home not in path:
        path.append(home)
    return environment | {"PYTHONPATH": os.pathsep.join(path), "PYTHONUNBUFFERED": "1"}
