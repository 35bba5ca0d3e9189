"""A step that runs now, and the asyncio task that an async one is given."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Coroutine
from typing import Any

from semel.compiler import Path

from .outcomes import Outcome

_EAGER = sys.version_info >= (3, 12)


class Live:
    """A step that runs now."""

    __slots__ = ("label", "mark", "outcome", "path", "scope", "scoped", "started", "step", "text")

    def __init__(self, text: str, path: Path, label: str, scope: object, step: object, scoped: bool) -> None:
        self.text = text
        self.path = path
        self.label = label
        self.scope = scope
        self.scoped = scoped
        self.step = step
        self.started = 0.0
        self.outcome: Outcome | None = None
        self.mark: object = None


def as_task(loop: asyncio.AbstractEventLoop, awaitable: Awaitable[object]) -> asyncio.Future[object]:
    """The step as a task of its own, so that cancelling the body does not reach it."""
    if isinstance(awaitable, asyncio.Future):
        return awaitable
    coroutine: Coroutine[Any, Any, object]
    coroutine = awaitable if isinstance(awaitable, Coroutine) else _await(awaitable)
    if _EAGER:
        # Runs at once up to its first real wait: a step that never waits costs no turn of the loop.
        return asyncio.Task(coroutine, loop=loop, eager_start=True)  # type: ignore[call-arg]
    return loop.create_task(coroutine)


async def _await(awaitable: Awaitable[object]) -> object:
    return await awaitable
