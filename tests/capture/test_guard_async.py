"""The guard in coroutines, threads and event loops."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import guard_server
import pytest
from guard_runs import refused, returned
from guard_server import AsyncStore, Lines, Store

from semel import App, once
from semel.errors import CallNotRecordable

TRUE = [sys.executable, "-c", ""]


#: What the bodies use: a workflow has no variables of a function round it.
server: Lines
store: Store
streams: AsyncStore


@pytest.fixture(autouse=True)
def _world() -> Iterator[None]:
    global server, store, streams
    with guard_server.serving() as server:
        store, streams = Store(server.port), AsyncStore(server.port)
        yield
        store.close()


def helper(line: str) -> str:
    return store.ask(line)


async def async_helper(line: str) -> str:
    return await streams.ask(line)


async def ask_and_close() -> str:
    opened = AsyncStore(server.port)
    try:
        return await opened.ask("x" * 100)
    finally:
        await opened.close()


async def asking_in_a_step() -> str:
    return await once("ask", ask_and_close)


async def start_and_wait() -> int:
    process = await asyncio.create_subprocess_exec(*TRUE)
    return await process.wait()


def test_a_stream_opened_in_an_async_body_is_refused_and_works_in_a_step(app: App) -> None:
    async def body() -> str:
        return await AsyncStore(server.port).ask("in the body")

    async def with_step() -> str:
        return await once("ask", ask_and_close)

    text = refused(app, body)
    assert "guard_server.AsyncStore.ask leaves the process" in text
    assert 'return await once("ask", lambda: AsyncStore(server.port).ask("in the body"))' in text
    assert returned(app, with_step) == "+" + "x" * 100
    assert server.lines == ["x" * 100]


@pytest.mark.parametrize("handled", [False, True])
async def test_a_stream_opened_before_an_async_body_is_refused_in_it_and_stays_open(handled: bool, app: App) -> None:
    assert await streams.ask("before") == "+before"

    async def body(handled: bool) -> str:
        try:
            return await streams.ask("in the body")
        except Exception:
            if not handled:
                raise
            return "handled"

    async with app.worker():
        run = await app.start_async(app.workflow(body), handled)
        with pytest.raises(CallNotRecordable, match=r"AsyncStore\.ask leaves the process"):
            await run.result_async(timeout=10)
    assert await streams.ask("after") == "+after"
    assert server.lines == ["before", "after"]
    await streams.close()


async def test_a_stream_opened_before_an_async_body_is_used_in_its_steps(app: App) -> None:
    async def body() -> list[str]:
        first = await once("first", lambda: streams.ask("1"))
        second = await once("second", lambda: async_helper("2"))
        third = await once("third", lambda: asyncio.wait_for(streams.ask("3"), 10))
        fourth = await once("fourth", lambda: streams.asking("4"))
        return [first, second, third, fourth]

    async with app.worker():
        run = await app.start_async(app.workflow(body))
        assert await run.result_async(timeout=10) == ["+1", "+2", "+3", "+4"]
    await streams.close()


def test_a_thread_that_the_body_waits_for_is_refused(app: App) -> None:
    async def in_thread() -> str:
        return await asyncio.to_thread(helper, "in a thread")

    async def foreign_in_thread() -> str:
        return await asyncio.to_thread(store.ask, "in a thread")

    def in_pool() -> str:
        with ThreadPoolExecutor() as pool:
            return pool.submit(helper, "in a thread").result()

    def foreign_in_pool() -> str:
        with ThreadPoolExecutor() as pool:
            return pool.submit(store.ask, "in a thread").result()

    for body in (in_thread, foreign_in_thread, in_pool, foreign_in_pool):
        assert "leaves the process" in refused(app, body)
    assert server.lines == []


def test_a_thread_of_a_step_works(app: App) -> None:
    async def body() -> str:
        return await once("ask", lambda: asyncio.to_thread(store.ask, "in a step"))

    assert returned(app, body) == "+in a step"


def test_a_loop_that_a_sync_body_runs_is_guarded_and_its_steps_work(app: App) -> None:
    def with_step() -> str:
        return asyncio.run(asking_in_a_step())

    def without() -> str:
        return asyncio.run(ask_and_close())

    assert returned(app, with_step) == "+" + "x" * 100
    assert "leaves the process" in refused(app, without)


def test_a_loop_of_uvloop_is_guarded(app: App) -> None:
    uvloop = pytest.importorskip("uvloop")

    @app.workflow
    async def opens() -> str:
        return await AsyncStore(server.port).ask("in the body")

    @app.workflow
    async def sends() -> str:
        return await streams.ask("in the body")

    @app.workflow
    async def starts() -> None:
        await asyncio.create_subprocess_exec(*TRUE)

    @app.workflow
    async def steps() -> list[object]:
        opened = await once("open", ask_and_close)
        return [opened, await once("send", lambda: streams.asking("in a step")), await once("start", start_and_wait)]

    async def main() -> None:
        await streams.ask("before")
        async with app.worker():
            for body in (opens, sends, starts):
                with pytest.raises(CallNotRecordable):
                    await (await app.start_async(body)).result_async(timeout=10)
            run = await app.start_async(steps)
            assert await run.result_async(timeout=10) == ["+" + "x" * 100, "+in a step", 0]
        assert await streams.ask("after") == "+after"
        await streams.close()

    uvloop.run(main())
    assert server.lines == ["before", "x" * 100, "in a step", "after"]
