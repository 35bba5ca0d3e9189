"""Coroutines: they bind their path when they are called, so that tasks and timeouts keep it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from recorder import execute, mark, steps


async def ask(value: Any = None) -> Any:
    mark("ask")
    await asyncio.sleep(0)
    mark("told")
    return value


def compute(value: Any = None) -> Any:
    mark("compute")
    return value


def test_an_awaited_helper_is_a_segment() -> None:
    async def body() -> Any:
        return await ask(3)

    run = execute(body)
    assert run.result == 3
    assert run.steps == ["w/start@1/ask#ask", "w/start@1/ask#told"]


def test_an_awaited_step_is_told_that_it_is_awaited() -> None:
    async def body() -> Any:
        return await mark("a", lambda: ask(3)), await mark("b", lambda: 4)

    run = execute(body)
    assert run.result == (3, 4)
    assert run.steps == [f"w/start@1{end}" for end in ("#a", "/a/ask#ask", "/a/ask#told", "#b")]


def test_gather_keeps_the_passes_of_its_coroutines() -> None:
    async def body() -> Any:
        return await asyncio.gather(*(ask(number) for number in range(3)))

    run = execute(body)
    assert run.result == [0, 1, 2]
    assert sorted(run.steps) == sorted(f"w/start@1[{n}]/ask#{label}" for n in range(3) for label in ("ask", "told"))


def test_task_groups_and_tasks_keep_the_path() -> None:
    async def body() -> Any:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(ask(number)) for number in range(2)]
        for number in range(1):
            for _ in range(1):
                task = asyncio.create_task(ask(number))
                await task
        return [task.result() for task in tasks]

    run = execute(body)
    assert run.result == [0, 1]
    assert "w/start@1[1]/ask#told" in run.steps
    assert "w/start@1[0][0]/ask#told" in run.steps


def test_timeouts_keep_the_path() -> None:
    async def body() -> Any:
        async with asyncio.timeout(5):
            return await asyncio.wait_for(ask(1), 5)

    run = execute(body)
    assert run.result == 1
    assert run.steps == ["w/start@1/ask#ask", "w/start@1/ask#told"]


def test_to_thread_and_run_in_executor_are_no_segments() -> None:
    async def body() -> Any:
        first = await asyncio.to_thread(compute, 1)
        second = await asyncio.get_running_loop().run_in_executor(None, lambda: compute(2))
        third = await mark("pay", lambda: asyncio.to_thread(compute, 3))
        return first, second, third

    run = execute(body)
    name = "test_to_thread_and_run_in_executor_are_no_segments.body.<lambda>"
    assert run.result == (1, 2, 3)
    assert [step.removeprefix("w/start@1") for step in run.steps] == [
        *("/compute#compute", f"/{name}/compute#compute", "#pay", "/pay/compute#compute")
    ]
    assert run.callbacks == 3


async def numbers(count: int) -> AsyncIterator[int]:
    for number in range(count):
        mark("number")
        yield number


class Feed:
    def __init__(self, end: int) -> None:
        self.left = end

    def __aiter__(self) -> Feed:
        return self

    async def __anext__(self) -> int:
        if not self.left:
            raise StopAsyncIteration
        mark("next")
        self.left -= 1
        return self.left


def test_async_for_counts_its_passes() -> None:
    async def body() -> Any:
        seen = []
        async for number in numbers(2):
            mark("x")
            seen.append(number)
        async for number in Feed(2):
            mark("y")
            seen.append(number)
        else:
            mark("else")
        return seen

    run = execute(body)
    assert run.result == [0, 1, 1, 0]
    assert [step.removeprefix("w/start@1") for step in run.steps] == [
        *("/numbers[0]#number", "[0]#x", "/numbers[1]#number", "[1]#x"),
        *("[0]/Feed.__anext__#next", "[0]#y", "[1]/Feed.__anext__#next", "[1]#y", "#else"),
    ]


def test_async_comprehensions_count_their_passes() -> None:
    async def body() -> Any:
        listed = [(mark("l"), number)[1] async for number in numbers(2)]
        late = ((mark("g"), number)[1] async for number in Feed(2))
        return listed, [number async for number in late], [await ask(number) for number in range(1)]

    run = execute(body)
    assert run.result == ([0, 1], [1, 0], [0])
    assert "w/start@1[1]#l" in run.steps
    assert "w/start@1[1]#g" in run.steps
    assert "w/start@1[0]/ask#told" in run.steps


class Gate:
    async def __aenter__(self) -> Gate:
        mark("open")
        return self

    async def __aexit__(self, *error: object) -> None:
        await asyncio.sleep(0)
        mark("close")


@contextlib.asynccontextmanager
async def lease() -> AsyncIterator[int]:
    mark("take")
    yield 7
    mark("give")


def test_async_context_managers_run_as_twins() -> None:
    async def body() -> Any:
        async with Gate() as gate, lease() as number:
            mark("in")
        return type(gate) is Gate, number

    run = execute(body)
    assert run.result == (True, 7)
    assert [step.removeprefix("w/start@1") for step in run.steps] == [
        *("/Gate.__aenter__#open", "/lease#take", "#in", "/lease#give", "/Gate.__aexit__#close")
    ]


def test_a_failing_sibling_is_seen_as_ever() -> None:
    async def fail() -> None:
        mark("fail")
        raise ValueError("no")

    async def body() -> Any:
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(fail())
                group.create_task(asyncio.sleep(60))
        except* ValueError as group_of_errors:
            mark("handled")
            seen = [str(error) for error in group_of_errors.exceptions]
        return seen

    assert execute(body).result == ["no"]


def test_callbacks_of_the_loop_are_passes_of_their_site() -> None:
    async def body() -> Any:
        done = asyncio.Event()

        def ring(_: object) -> None:
            mark("ring")
            done.set()

        asyncio.ensure_future(ask(1)).add_done_callback(ring)
        await done.wait()

    assert steps(body)[-1].endswith(".body.ring#ring")
