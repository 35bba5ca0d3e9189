"""What the demo does: starts the shop, lets its workers be killed, and judges by the outside server's own log.

Nothing here is staged by words: what ran live is what the server was asked for, what was found again is what the
database held before the worker started, and who died is what the operating system says.
"""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from semel.codec import Codec, Exchange, TypeRegistry
from semel.store import open_store
from semel.store.interface import Record, Run, Store

from .outside import CALLS, Entry, Outside
from .processes import Processes, wait_for_any

#: Where each worker dies, if it does: when the second step is about to start, and when its record is on the disk.
CRASHES: tuple[str | None, ...] = ("step.before:2", "step.recorded:1", None)

_RUN = "order-A-1"
_PATIENCE = 30.0  # seconds for one worker, on a machine that is very busy


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the run: the function that makes the call, and the id that came back."""

    label: str
    result: str


@dataclass(frozen=True, slots=True)
class Act:
    """What one worker did. ``killed`` says that it died by SIGKILL; ``requests`` are what the server got meanwhile."""

    number: int
    pid: int
    found: tuple[Step, ...]
    live: tuple[Step, ...]
    requests: tuple[Entry, ...]
    killed: bool


@dataclass(frozen=True, slots=True)
class Ending:
    """How it came out. ``failures`` is empty if every call was made exactly once and the run completed."""

    answer: str
    log: tuple[Entry, ...]
    kills: int
    seconds: float
    failures: tuple[str, ...]


class Audience(Protocol):
    """Who is told, as it happens."""

    def worker_starts(self, number: int, pid: int) -> None: ...

    def worker_ended(self, act: Act) -> None: ...

    def ends(self, ending: Ending) -> None: ...


def play(folder: Path, crashes: Sequence[str | None], audience: Audience) -> bool:
    """Runs the shop in ``folder`` with one worker after the other; True if all went as promised."""
    store = open_store(f"sqlite:///{folder / 'shop.db'}")
    store.open()
    try:
        with (
            Outside(folder / "server.log", time.time) as outside,
            Processes(folder, {"SHOP_API": f"http://{outside.address}"}) as processes,
        ):
            return _Story(store, outside, processes, audience).play(crashes)
    finally:
        store.close()


class _Story:
    def __init__(self, store: Store, outside: Outside, processes: Processes, audience: Audience) -> None:
        self._store = store
        self._outside = outside
        self._processes = processes
        self._audience = audience
        self._codec = Codec(TypeRegistry(frozenset))
        self._failures: list[str] = []

    def play(self, crashes: Sequence[str | None]) -> bool:
        began = time.monotonic()
        caller = self._processes.python("caller.log", ["shop.py"])
        kills = 0
        for number, crash in enumerate(crashes, 1):
            act = self._act(number, crash, caller)
            kills += act.killed
            self._audience.worker_ended(act)
            if self._failures:
                break
        answer = self._answer(caller)
        log = self._outside.entries()
        self._judge(log)
        self._audience.ends(Ending(answer, tuple(log), kills, time.monotonic() - began, tuple(self._failures)))
        return not self._failures

    def _act(self, number: int, crash: str | None, caller: subprocess.Popen[bytes]) -> Act:
        before = self._steps()
        asked = len(self._outside.entries())
        log = f"worker-{number}.log"
        worker = self._processes.python(log, ["-m", "semel", "worker", "--app", "shop:app"], crash)
        self._audience.worker_starts(number, worker.pid)
        wait_for_any([worker, caller], _PATIENCE)
        if worker.poll() is None:
            worker.terminate()
            wait_for_any([worker], _PATIENCE)
        code = worker.poll()
        if code != (-signal.SIGKILL if crash else 0):
            self._failures.append(f"worker {number} ended with {code}; it printed:\n{self._processes.output(log)}")
        steps = self._steps()
        return Act(
            number=number,
            pid=worker.pid,
            found=tuple(before),
            live=tuple(steps[len(before) :]),
            requests=tuple(self._outside.entries()[asked:]),
            killed=code == -signal.SIGKILL,
        )

    def _answer(self, caller: subprocess.Popen[bytes]) -> str:
        """What the caller got, who has waited from the beginning to the end."""
        wait_for_any([caller], 0.0 if self._failures else _PATIENCE)
        answer = self._processes.output("caller.log")
        run = self._run()
        if caller.poll() != 0 or run is None or run.status != "completed":
            self._failures.append(f"the caller ended with {caller.poll()}; it printed:\n{answer}")
        return answer

    def _judge(self, log: Sequence[Entry]) -> None:
        times = Counter(entry.path for entry in log)
        for path in CALLS:
            if times[path] != 1:
                self._failures.append(f"POST {path} arrived {times[path]} times, and not once")
        if any(entry.path not in CALLS for entry in log):
            self._failures.append("the server's log holds a request that should not be there")

    def _run(self) -> Run | None:
        return self._store.get(_RUN)

    def _steps(self) -> list[Step]:
        run = self._run()
        return [self._step(record) for record in self._store.records(run.uid)] if run is not None else []

    def _step(self, record: Record) -> Step:
        """``fulfil/start@1/charge/post#auto:urllib.urlopen``: the helper says what it is for, the answer what came."""
        return Step(record.path.split("/")[2], _answer(self._codec.decode(record.data)))


def _answer(recorded: object) -> str:
    """The id that the server gave."""
    answer = recorded.answer if isinstance(recorded, Exchange) else None
    return str(json.loads(answer.body)["id"]) if answer is not None else repr(recorded)
