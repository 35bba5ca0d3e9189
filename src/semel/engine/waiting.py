"""What is waited for, on a thread or on a loop, so that one generator serves sync and async code.

The generator yields what it waits for. ``on_thread`` blocks for it, and ``on_loop`` awaits it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Waiting(Protocol):
    """What a generator waits for: a write, a body, the drain, a park."""

    def wait(self) -> Any: ...

    def future(self, loop: asyncio.AbstractEventLoop) -> Any: ...


def on_thread(steps: Generator[Waiting, Any, T]) -> T:
    """Runs the generator on this thread."""
    try:
        waiting = next(steps)
        while True:
            try:
                value = waiting.wait()
            except BaseException as error:
                waiting = steps.throw(error)
            else:
                waiting = steps.send(value)
    except StopIteration as end:
        result: T = end.value
        return result


async def on_loop(steps: Generator[Waiting, Any, T]) -> T:
    """Runs the generator on the running loop."""
    loop = asyncio.get_running_loop()
    try:
        waiting = next(steps)
        while True:
            try:
                value = await waiting.future(loop)
            except BaseException as error:
                waiting = steps.throw(error)
            else:
                waiting = steps.send(value)
    except StopIteration as end:
        result: T = end.value
        return result
