"""What the steps of the crash programs do: one line in a file before the work, one after it.

The file is the other side of the calls. It is opened with O_APPEND and each line is one write, so the order of the
lines is the order in which things happened in all processes. A line also goes to the process that watches, which can
then kill this one at a chosen line.
"""

from __future__ import annotations

import asyncio
import os
import time
from functools import cache


def effect(
    run: str,
    step: str,
    flow: str = "body",
    *,
    result: object = None,
    fail: BaseException | None = None,
    seconds: float = 0.002,
    key: str = "",
) -> object:
    """A call of the other side. ``run`` is the run's id, ``step`` its path from the body on, ``flow`` who makes it."""
    _write("start", run, step, flow, key)
    time.sleep(seconds)
    _write("end", run, step, flow, key)
    if fail is not None:
        raise fail
    return step if result is None else result


async def effect_async(
    run: str,
    step: str,
    flow: str = "body",
    *,
    result: object = None,
    fail: BaseException | None = None,
    seconds: float = 0.002,
    key: str = "",
) -> object:
    """``effect`` for an async step."""
    _write("start", run, step, flow, key)
    await asyncio.sleep(seconds)
    _write("end", run, step, flow, key)
    if fail is not None:
        raise fail
    return step if result is None else result


def joined(run: str, *flows: str, by: str = "body") -> None:
    """Notes for the judge that these flows are over: what ``by`` starts from here on comes after all that they did."""
    for flow in flows:
        _write("joined", run, by, flow, "")


def workflow_of(run: str) -> str:
    """The id of a run is its workflow and a number: ``loops-3``."""
    return run.rpartition("-")[0]


def _write(kind: str, run: str, step: str, flow: str, key: str) -> None:
    where = step if kind == "joined" else f"{workflow_of(run)}/start{'' if step.startswith('@') else '@1'}{step}"
    line = "\t".join((kind, run, where, flow, str(os.getpid()), key, str(time.monotonic_ns()))) + "\n"
    os.write(_log(), line.encode())
    if kind != "joined" and "CRASH_WATCHER" in os.environ:
        os.write(int(os.environ["CRASH_WATCHER"]), b".")


@cache
def _log() -> int:
    return os.open(os.environ["CRASH_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
