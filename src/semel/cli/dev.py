"""``semel dev``: the database up to date, and a worker that is started again when the program changes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import click

from .application import app_option, app_target, source_of
from .stopping import StopSignals

_LOOK = 0.4  # seconds between two looks at the files
_STOP = 15.0  # seconds that a worker gets to stop, more than it takes by itself


@click.command("dev", short_help="A worker that reloads when the program changes.")
@app_option
def command(target: str | None) -> None:
    """Bring the database up to date, and run a worker that is started again when a .py file of the program changes.

    The runs under way when it restarts go on in the new worker, where they were.
    """
    name = app_target(target)
    folders = _folders(name)
    with StopSignals() as stop:
        worker = _Worker(name)
        try:
            _say(f"watching {', '.join(str(folder) for folder in folders)}")
            seen = _snapshot(folders)
            worker.start()
            while stop.wait(_LOOK) is None:
                now = _snapshot(folders)
                if now == seen:
                    worker.look()
                    continue
                changed = sorted(file for file, _ in now.items() ^ seen.items())
                _say(f"{changed[0]} changed; the worker starts again")
                seen = now
                if not worker.stop(stop):
                    return
                worker.start()
            worker.stop(stop)
        finally:
            worker.kill()


class _Worker:
    """The worker process; it is in a process group of its own, so that the terminal's Ctrl-C reaches only ``dev``."""

    def __init__(self, app: str) -> None:
        self._app = app
        self._migrated = False
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it; if the program does not load, the next change is waited for."""
        if not self._migrated:
            self._migrated = self._run("migrate").wait() == 0
        if self._migrated:
            self._process = self._run("worker")
        else:
            _say("waiting for a change")

    def look(self) -> None:
        """Sees whether it has ended by itself: killed, it starts again; else a change is waited for."""
        if self._process is None or self._process.poll() is None:
            return
        code = self._process.returncode
        self._process = None
        if code < 0:
            _say(f"the worker was killed by signal {-code}; it starts again")
            self.start()
        else:
            _say(f"the worker ended with exit code {code}; waiting for a change")

    def stop(self, signals: StopSignals) -> bool:
        """Lets it drain; too much time, or a stop signal meanwhile, kills it. False if there was such a signal."""
        if self._process is None:
            return True
        self._process.terminate()
        stopped = None
        for _ in range(int(_STOP / 0.1)):
            if self._process.poll() is not None or stopped is not None:
                break
            stopped = signals.wait(0.1)
        self.kill()
        return stopped is None

    def kill(self) -> None:
        """Ends it at once, if it has not ended yet."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _run(self, name: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - this program itself
            [sys.executable, "-m", "semel", name, "--app", self._app], stdin=subprocess.DEVNULL, process_group=0
        )


def _folders(target: str) -> list[Path]:
    from semel.config import load

    sources = [source_of(name) for name in (target.partition(":")[0], *load().packages)]
    folders = [source if source.is_dir() else source.parent for source in sources if source is not None]
    return list(dict.fromkeys(folders)) or [Path.cwd()]


def _snapshot(folders: list[Path]) -> dict[str, int]:
    """The time of change of each file."""
    seen = {}
    for folder in folders:
        for entry in _python_files(os.fspath(folder)):
            with suppress(OSError):  # removed meanwhile
                seen[entry.path] = entry.stat().st_mtime_ns
    return seen


def _python_files(folder: str) -> Iterator[os.DirEntry[str]]:
    """The .py files below a folder, but not those of environments, caches and hidden folders."""
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    if any(entry.name == "pyvenv.cfg" for entry in entries):
        return
    for entry in entries:
        if entry.name.startswith((".", "__pycache__", "node_modules")):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _python_files(entry.path)
        elif entry.name.endswith(".py") and entry.is_file():
            yield entry


def _say(text: str) -> None:
    click.echo(click.style(f"dev: {text}", dim=True), err=True)
