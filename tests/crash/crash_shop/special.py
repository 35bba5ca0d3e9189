"""Programs for one kill each: crowds, long steps, bodies that kill their own process or swallow everything."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from crash_effects import effect, effect_async

from semel import once

from . import app


@app.workflow
def crowd(run: str) -> list[object]:
    return [once("work", lambda: effect(run, f"[{i}]#work", seconds=0.005)) for i in range(4)]


@app.workflow
async def async_crowd(run: str) -> list[object]:
    return [await once("work", lambda: effect_async(run, f"[{i}]#work", seconds=0.02)) for i in range(4)]


@app.workflow
def long_step(run: str) -> int:
    once("first", lambda: effect(run, "#first"))
    connection = app.session().connection
    once("long", lambda: effect(run, "#long", seconds=0.2))
    connection().exec_driver_sql("CREATE TABLE IF NOT EXISTS orders (name TEXT)")
    connection().exec_driver_sql("INSERT INTO orders VALUES (?)", (run,))
    once("last", lambda: effect(run, "#last"))
    return os.getpid()


@app.workflow
async def async_long_step(run: str) -> int:
    await once("first", lambda: effect_async(run, "#first"))
    await once("long", lambda: effect_async(run, "#long", seconds=0.2))
    await once("last", lambda: effect_async(run, "#last"))
    return os.getpid()


@app.workflow
def swallows(run: str) -> int:
    seen: list[int] = []
    for i in range(20):
        try:
            once("step", lambda: effect(run, f"[{i}]#step", seconds=0.05))
        except:  # noqa: E722
            seen.append(i)
    return os.getpid()


@app.workflow
async def async_swallows(run: str) -> int:
    seen: list[int] = []
    for i in range(20):
        try:
            await once("step", lambda: effect_async(run, f"[{i}]#step", seconds=0.05))
        except:  # noqa: E722
            seen.append(i)
    return os.getpid()


@app.workflow
def kills_in_the_body(run: str) -> str:
    once("first", lambda: effect(run, "#first"))
    kill_this_process()
    return "mended"


@app.workflow
async def kills_in_a_step(run: str) -> str:
    await once("first", lambda: effect_async(run, "#first"))
    await once("deadly", lambda: deadly(run))
    return "mended"


async def deadly(run: str) -> None:
    await effect_async(run, "#deadly")
    kill_this_process()


@app.workflow
def kills_late(run: str) -> str:
    once("late", lambda: effect(run, "#late", seconds=0.1))
    once("deadly", lambda: late_death(run))
    return "mended"


def late_death(run: str) -> None:
    effect(run, "#deadly", seconds=0.1)
    kill_this_process()


def kill_this_process() -> None:
    if not Path(os.environ["CRASH_LOG"]).with_name("mended").exists():
        os.kill(os.getpid(), signal.SIGKILL)
