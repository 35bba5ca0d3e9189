"""Stories of real processes on one database: workers are started, killed by SIGKILL, and started again."""

from __future__ import annotations

import json
import os
import select
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crash_judge import Call, Judge, Line, Undisturbed, Verdict, calls_of, read_log

from semel.store import open_store
from semel.store.interface import Run, Store
from semel.testing import crash_environment

_HERE = Path(__file__).parent
PATIENCE = 60.0  # seconds; only a failing test waits so long


class Process:
    """A process of a story. ``lines`` counts the lines that it has written to the side-effect log."""

    def __init__(self, arguments: Sequence[str], environment: dict[str, str], errors: Path) -> None:
        watching, watched = os.pipe()
        self._errors = errors
        path = os.pathsep.join(filter(None, [str(_HERE), os.environ.get("PYTHONPATH")]))
        with errors.open("ab") as out:
            self._process = subprocess.Popen(
                [sys.executable, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                pass_fds=[watched],
                env={**os.environ, "PYTHONPATH": path, **environment, "CRASH_WATCHER": str(watched)},
            )
        os.close(watched)
        self._watching: int | None = watching
        self.pid = self._process.pid
        self.lines = 0
        self.ready = False

    def until(self, lines: int) -> bool:
        """Waits until the process has written that many lines; False if it ended before."""
        while self.lines < lines:
            if not self._look():
                return False
        return True

    def until_ready(self) -> None:
        """Waits until the worker has begun to claim, or the script has said so."""
        while not self.ready:
            assert self._look(), f"the process ended before it was ready:\n{self.output}"

    def _look(self) -> bool:
        assert self._watching is not None
        assert select.select([self._watching], [], [], PATIENCE)[0], f"nothing happened for long:\n{self.output}"
        seen = os.read(self._watching, 4096)
        self.lines += seen.count(b".")
        self.ready = self.ready or b"!" in seen
        return bool(seen)

    def kill(self) -> bool:
        """Kills it by SIGKILL; False if it had ended before."""
        self.signal(signal.SIGKILL)
        return self.ended() == -signal.SIGKILL

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def ended(self) -> int:
        """Waits for the end; its exit code."""
        while self._look():
            pass
        return self._process.wait(PATIENCE)

    @property
    def output(self) -> str:
        return self._errors.read_text(errors="replace")[-5000:]

    def clean_up(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        if self._watching is not None:
            os.close(self._watching)
            self._watching = None


@dataclass(frozen=True, slots=True)
class Ending:
    """How a story ended: the report of the last worker, and the log."""

    report: dict[str, dict[str, Any]]
    lines: list[Line]
    killed: frozenset[int]

    def judged(self, undisturbed: dict[str, Undisturbed]) -> Verdict:
        return Judge(self.lines, self.report, self.killed).judge(undisturbed)

    @property
    def calls(self) -> list[Call]:
        return calls_of(self.lines)

    def doubles(self) -> list[str]:
        """The steps that ran more than once, in order; one entry for each time too many."""
        seen: set[tuple[str, str]] = set()
        twice: list[str] = []
        for call in self.calls:
            if (call.start.run, call.step) in seen:
                twice.append(call.step)
            seen.add((call.start.run, call.step))
        return twice

    def notes(self, run: str, kind: str = "possibly doubled") -> list[str]:
        """The paths that the run has such a note for."""
        return [path for noted, path in self.report[run]["notes"] if noted == kind]


class Story:
    """One database, one log, and the processes that work on them one after the other, or at once."""

    def __init__(self, folder: Path, program: str = "crash_shop.all") -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.program = program
        self.killed: set[int] = set()
        self.log = folder / "effects.log"
        self._url = f"sqlite:///{folder / 'shop.db'}"
        self._report = folder / "report.json"
        self._processes: list[Process] = []

    def worker(
        self,
        *runs: str,
        crash_at: tuple[str, int] | None = None,
        lease: float = 15.0,
        threads: int = 32,
        start: bool = True,
    ) -> Process:
        """Starts a worker process that starts and drives these runs; ``start=False``: they are there already."""
        spec = {
            "program": self.program,
            "runs": runs,
            "lease": lease,
            "threads": threads,
            "start": start,
            "report": str(self._report),
        }
        return self.process("-m", "crash_worker", json.dumps(spec), crash_at=crash_at)

    def script(self, source: str, crash_at: tuple[str, int] | None = None) -> Process:
        """Starts a process that runs this source."""
        return self.process("-c", source, crash_at=crash_at)

    def process(self, *arguments: str, crash_at: tuple[str, int] | None = None) -> Process:
        environment = {"CRASH_DATABASE": self._url, "CRASH_LOG": str(self.log)}
        if crash_at is not None:
            environment |= crash_environment(*crash_at)
        process = Process(arguments, environment, self.folder / f"output-{len(self._processes)}.txt")
        self._processes.append(process)
        return process

    def kill(self, process: Process) -> bool:
        """Kills it; False if it had ended by itself before."""
        if process.kill():
            self.killed.add(process.pid)
            return True
        return False

    def crashed(self, process: Process) -> None:
        """Waits until the process has died at its crash point."""
        code = process.ended()
        assert code == -signal.SIGKILL, f"the crash point was not reached (exit code {code}):\n{process.output}"
        self.killed.add(process.pid)

    def finish(self, *runs: str, **options: Any) -> Ending:
        """Lets a last worker bring all runs to their end, undisturbed."""
        return self.ending(self.worker(*runs, **options))

    def ending(self, process: Process) -> Ending:
        """Waits until this worker has reported the end of all its runs."""
        code = process.ended()
        assert code == 0, f"the worker ended with {code}:\n{process.output}"
        return Ending(json.loads(self._report.read_text()), read_log(self.log), frozenset(self.killed))

    @contextmanager
    def store(self) -> Iterator[Store]:
        """The database, opened in this process."""
        store = open_store(self._url)
        store.open()
        try:
            yield store
        finally:
            store.close()

    def row(self, run: str) -> Run | None:
        """The run as the database has it now."""
        with self.store() as store:
            return store.get(run)

    def notes(self, run: str, kind: str) -> list[str]:
        """The paths that the run has such a note for now."""
        with self.store() as store:
            row = store.get(run)
            assert row is not None
            return [note.path for note in store.notes(row.uid) if note.kind == kind]

    def rows(self, query: str) -> list[Any]:
        """Rows of the app's own tables."""
        with closing(sqlite3.connect(self.folder / "shop.db")) as connection:
            return connection.execute(query).fetchall()

    def lines(self) -> list[Line]:
        return read_log(self.log)

    def clean_up(self) -> None:
        for process in self._processes:
            process.clean_up()


def spin(microseconds: float) -> None:
    """Passes a little time, more exactly than a wait would."""
    end = time.perf_counter_ns() + int(microseconds * 1000)
    while time.perf_counter_ns() < end:
        pass
