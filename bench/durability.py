"""Whether semel is as durable as the floor: ``synchronous`` as its own connections answer, and real syncs per commit.

Syncs are counted by ``strace``, in two runs of a process that differ only in the number of steps: their difference is
what the steps cost, without what opening and closing cost.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from . import child
from .measure import Measure, Settings
from .scene import new_folder

_SYNC = re.compile(rb"\b(?:fsync|fdatasync)\(\d+<([^>]*)>")


def case(settings: Settings) -> Iterator[Measure]:
    few, many = settings.size(100, 5), settings.size(300, 15)
    with new_folder(settings) as folder:
        seen = child.written(folder, few)
        assert seen.synchronous == [2], f"semel's connections have synchronous={seen.synchronous}, not 2 (FULL)"
        yield Measure("durability", "synchronous, on semel's own connections", "", [2.0], note="2 is FULL")
        counted = _count(folder, few, many)
    if isinstance(counted, str):
        yield Measure("durability", "syncs per commit", "", [], note=f"not counted: {counted}")
        return
    syncs, commits = counted
    note = f"{syncs} syncs of logs for {commits} commits, {many - few} steps"
    yield Measure("durability", "syncs per commit", "", [syncs / commits], 1.0, "more", note=note)


def _count(folder: Path, few: int, many: int) -> tuple[int, int] | str:
    """Syncs of logs and commits that ``many`` steps took more than ``few``, or why that is not known."""
    strace = shutil.which("strace")
    if strace is None:
        return "there is no strace here"
    syncs: list[int] = []
    commits: list[int] = []
    for steps in (few, many):
        log = folder / f"strace.{steps}"
        watching = [strace, "-f", "-qq", "-y", "-e", "trace=fsync,fdatasync", "-e", "signal=none", "-o", str(log)]
        try:
            commits.append(child.written(folder, steps, under=watching).commits)
            trace = log.read_bytes()
        except (RuntimeError, OSError) as error:
            return f"strace cannot trace here ({str(error).splitlines()[-1]})"
        syncs.append(sum(path.endswith(b"-wal") for path in _SYNC.findall(trace)))
    return syncs[1] - syncs[0], commits[1] - commits[0]
