"""Async programs. The second argument of ``effect_async`` is the path that the step must have, from its body on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from crash_effects import effect, effect_async, joined

from semel import once

from . import app
from .synchronous import Declined


@app.workflow
async def async_sequence(run: str) -> list[object]:
    return [
        await once("reserve", lambda key: effect_async(run, "#reserve", key=key)),
        await once("charge", lambda key: effect_async(run, "#charge", key=key, result={"receipt": 7})),
        once("pack", lambda: effect(run, "#pack")),
        await once("mail", lambda key: effect_async(run, "#mail", key=key)),
    ]


@app.workflow
async def gathers(run: str) -> list[object]:
    try:
        seen: object = await asyncio.gather(in_order(run), breaks(run), in_order_too(run))
    except Declined as declined:
        seen = str(declined)
    joined(run, "breaks")
    return [seen, await once("after", lambda: effect_async(run, "#after"))]


async def in_order(run: str) -> None:
    for i in range(3):
        await once("a", lambda: effect_async(run, f"/in_order[{i}]#a", "in order"))


async def in_order_too(run: str) -> None:
    await once("b", lambda: effect_async(run, "/in_order_too#b", "in order too", seconds=0.008))


async def breaks(run: str) -> None:
    await once("ready", lambda: effect_async(run, "/breaks#ready", "breaks"))
    await once("break", lambda: effect_async(run, "/breaks#break", "breaks", fail=Declined("broken")))


@app.workflow
async def gathers_all(run: str) -> list[str]:
    found = await asyncio.gather(*(one_of_many(run, i) for i in range(5)), return_exceptions=True)
    joined(run, *(f"one {i}" for i in range(5)))
    await once("after", lambda: effect_async(run, "#after"))
    return [str(one) for one in found]


async def one_of_many(run: str, i: int) -> object:
    await once("first", lambda: effect_async(run, f"[{i}]/one_of_many#first", f"one {i}", seconds=0.001 * (5 - i)))
    fail = Declined(f"no {i}") if i % 2 else None
    return await once("second", lambda: effect_async(run, f"[{i}]/one_of_many#second", f"one {i}", fail=fail))


@app.workflow
async def task_group(run: str) -> list[object]:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(in_group(run, i)) for i in range(3)]
        await once("meanwhile", lambda: effect_async(run, "#meanwhile"))
    joined(run, *(f"task {i}" for i in range(3)))
    last = await once("after", lambda: effect_async(run, "#after"))
    return [*(task.result() for task in tasks), last]


async def in_group(run: str, i: int) -> object:
    await once("x", lambda: effect_async(run, f"[{i}]/in_group#x", f"task {i}", seconds=0.001 * (i + 1)))
    return await once("y", lambda: effect_async(run, f"[{i}]/in_group#y", f"task {i}"))


@app.workflow
async def task_group_fails(run: str) -> list[str]:
    seen: list[str] = []
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(steady(run))
            group.create_task(fails(run))
    except* Declined as group_of_them:
        seen += [str(error) for error in group_of_them.exceptions]
    joined(run, "fails")
    await once("after", lambda: effect_async(run, "#after"))
    return seen


async def steady(run: str) -> None:
    await once("one", lambda: effect_async(run, "/steady#one", "steady", seconds=0.012))
    await once("two", lambda: effect_async(run, "/steady#two", "steady"))


async def fails(run: str) -> None:
    await once("fail", lambda: effect_async(run, "/fails#fail", "fails", fail=Declined("failed")))


@app.workflow
async def times_out(run: str) -> list[object]:
    seen: list[object] = [await once("before", lambda: effect_async(run, "#before"))]
    try:
        async with asyncio.timeout(0.02):
            await once("slow", lambda: effect_async(run, "#slow", "slow", seconds=0.1))
    except TimeoutError:
        seen.append("timed out")
    joined(run, "slow")
    seen.append(await once("after", lambda: effect_async(run, "#after")))
    try:
        await asyncio.wait_for(slow_helper(run), 0.02)
    except TimeoutError:
        seen.append("timed out again")
    joined(run, "slow helper")
    seen.append(await once("last", lambda: effect_async(run, "#last")))
    return seen


async def slow_helper(run: str) -> None:
    await once("slow", lambda: effect_async(run, "/slow_helper#slow", "slow helper", seconds=0.1))


@app.workflow
async def async_loops(run: str) -> list[object]:
    seen: list[object] = []
    async for i in numbers(run):
        taken = await once("take", lambda: effect_async(run, f"[{i}]#take"))
        seen += [taken]
    seen += [await three(run, i) for i in range(2)]
    async with held(run) as name:
        seen.append(await once("hold", lambda: effect_async(run, "#hold")))
    return [*seen, name]


async def numbers(run: str) -> AsyncIterator[int]:
    for i in range(2):
        await once("make", lambda: effect_async(run, f"/numbers[{i}]#make"))
        yield i


async def three(run: str, i: int) -> object:
    return await two(run, i)


async def two(run: str, i: int) -> object:
    value = await one(run, i)
    await once("two", lambda: effect_async(run, f"[{i}]/three/two#two"))
    return value


async def one(run: str, i: int) -> object:
    return await once("one", lambda key: effect_async(run, f"[{i}]/three/two/one#one", key=key))


@asynccontextmanager
async def held(run: str) -> AsyncIterator[str]:
    await once("grip", lambda: effect_async(run, "/held#grip"))
    try:
        yield "held"
    finally:
        await once("let go", lambda: effect_async(run, "/held#let go"))


@app.workflow
async def async_cleans_up(run: str) -> list[str]:
    seen: list[str] = []
    try:
        try:
            await once("take", lambda: effect_async(run, "#take"))
            await once("fail", lambda: effect_async(run, "#fail", fail=Declined("no")))
        finally:
            await once("give back", lambda: effect_async(run, "#give back"))
            seen.append("gave back")
    except Declined as declined:
        seen.append(str(declined))
    return seen


@app.workflow
async def threads(run: str) -> list[object]:
    first = await once("far", lambda: asyncio.to_thread(effect, run, "#far"))
    found = await asyncio.gather(*(asyncio.to_thread(on_a_thread, run, i) for i in range(2)))
    joined(run, "on 0", "on 1")
    loop = asyncio.get_running_loop()
    last = await loop.run_in_executor(None, in_executor, run)
    joined(run, "executor")
    await once("after", lambda: effect_async(run, "#after"))
    return [first, *found, last]


def on_a_thread(run: str, i: int) -> object:
    once("pull", lambda: effect(run, f"[{i}]/on_a_thread#pull", f"on {i}"))
    return once("push", lambda: effect(run, f"[{i}]/on_a_thread#push", f"on {i}", seconds=0.001 * (i + 1)))


def in_executor(run: str) -> object:
    return once("turn", lambda: effect(run, "/in_executor#turn", "executor"))


@app.workflow
async def tasks(run: str) -> list[object]:
    made = [asyncio.create_task(in_task(run, i), name=f"task {i}") for i in range(3)]
    seen: list[object] = []
    for task in asyncio.as_completed(made):
        try:
            await task
        except Declined as declined:
            seen.append(str(declined))
    joined(run, "in 0", "in 1", "in 2")
    await once("after", lambda: effect_async(run, "#after"))
    return sorted(map(str, seen))


async def in_task(run: str, i: int) -> None:
    try:
        await once("try", lambda: effect_async(run, f"[{i}]/in_task#try", f"in {i}", fail=Declined(f"first {i}")))
    except Declined:
        await once("instead", lambda: effect_async(run, f"[{i}]/in_task#instead", f"in {i}"))
    if i:
        await once("more", lambda: effect_async(run, f"[{i}]/in_task#more", f"in {i}", fail=Declined(f"last {i}")))


@app.workflow
async def async_ends_in_a_failure(run: str) -> None:
    await once("before", lambda: effect_async(run, "#before"))
    await asyncio.gather(
        once("fine", lambda: effect_async(run, "#fine", "fine", seconds=0.001)),
        once("fail", lambda: effect_async(run, "#fail", "fail", seconds=0.004, fail=Declined("for good"))),
    )


@app.workflow
async def async_writes_rows(run: str) -> object:
    await once("before", lambda: effect_async(run, "#before"))
    connection = await app.async_session().connection()
    await connection.exec_driver_sql("CREATE TABLE IF NOT EXISTS orders (name TEXT)")
    await connection.exec_driver_sql("INSERT INTO orders VALUES (?)", (run,))
    await once("after", lambda: effect_async(run, "#after"))
    rows = await connection.exec_driver_sql("SELECT count(*) FROM orders WHERE name = ?", (run,))
    return rows.scalar_one()
