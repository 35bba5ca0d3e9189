"""A fake execution that keeps the paths of its steps, and ``mark``, which stands for ``once``."""

from __future__ import annotations

import asyncio
import contextvars
from collections import Counter
from collections.abc import Callable
from inspect import iscoroutine
from typing import Any

from semel.compiler import Path, add_package, current, enter, explain_uncompiled, intrinsic, step_call
from semel.errors import NotCompiled, PathClaimedTwice


class Numbers:
    """Tells calls of one name apart, and derives nothing."""

    def __init__(self) -> None:
        self._asked: Counter[str] = Counter()

    def number(self, name: str) -> int:
        self._asked[name] += 1
        return self._asked[name] - 1


class Recorder:
    """An execution whose steps are only written down."""

    def __init__(self) -> None:
        self.over = False
        self.steps: list[str] = []
        self.values = Numbers()
        self.callbacks = 0
        self.result: Any = None

    def run_callback(self, call: Any, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        self.callbacks += 1
        return call(*args, **kwargs)

    def claim(self, path: Path) -> None:
        text = path.step()
        if text in self.steps:
            raise PathClaimedTwice(text)
        self.steps.append(text)


def mark(label: str, step: Callable[[], Any] | None = None) -> Any:
    """In a run: a step. Elsewhere: the call of its callable."""
    if current.get() is not None:
        raise NotCompiled(explain_uncompiled())
    return step() if step is not None else None


def _at(path: Path, passes: tuple[object, ...], awaited: bool) -> Callable[..., Any]:
    def claim(label: str, step: Callable[[], Any] | None = None) -> Any:
        child = Path(path, passes, label, path.execution)
        path.execution.claim(child)  # type: ignore[attr-defined]
        value = step_call(child, step)() if step is not None else None
        return _awaitable(value) if awaited else value

    return claim


async def _awaitable(value: Any) -> Any:
    return await value if iscoroutine(value) else value


intrinsic(mark, _at)


def execute(body: Callable[..., Any], *args: Any, **kwargs: Any) -> Recorder:
    """Runs a body as a twin, to its end."""
    add_package(body.__globals__["__name__"].partition(".")[0])  # type: ignore[attr-defined]
    recorder = Recorder()

    def run() -> None:
        root = Path(None, (), "w/start@1", recorder)
        current.set(root)
        try:
            value = enter(root, body)(*args, **kwargs)
            recorder.result = asyncio.run(value) if iscoroutine(value) else value
        finally:
            recorder.over = True

    contextvars.copy_context().run(run)
    return recorder


def steps(body: Callable[..., Any], *args: Any, **kwargs: Any) -> list[str]:
    """The paths of the steps of a body, without the part that all have in common."""
    return [path.removeprefix("w/start@1") for path in execute(body, *args, **kwargs).steps]
