"""Flows and draining: who goes on past a failure, and when nothing is in flight any more.

A flow is one line of execution in a body: the body itself, an asyncio task, or a function that foreign code calls back
in a thread of its own. A failure is a fact once its own flow starts another step, or once another flow does after the
failed one has ended and its exception was taken (rule O24).
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from asyncio.events import _get_running_loop
from collections.abc import Callable, Iterable
from typing import Any


class ThreadFlow:
    """The flow of a callback, or of a sync body."""

    __slots__ = ("ended", "error")

    def __init__(self) -> None:
        self.ended = False
        self.error: BaseException | None = None  # what ended it


Flow = ThreadFlow | asyncio.Task[object]

flow_of_context: contextvars.ContextVar[ThreadFlow | None] = contextvars.ContextVar("semel_flow", default=None)


def current_flow(root: ThreadFlow) -> Flow:
    """The flow of the caller: its asyncio task, else the callback that it runs in, else the body."""
    loop = _get_running_loop()
    if loop is not None:
        task = asyncio.current_task(loop)
        if task is not None:
            return task
    return flow_of_context.get() or root


def run_as_flow(call: Any, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
    """Runs a callback as a flow of its own."""
    flow = ThreadFlow()
    token = flow_of_context.set(flow)
    try:
        return call(*args, **kwargs)
    except BaseException as error:
        flow.error = error
        raise
    finally:
        flow.ended = True
        flow_of_context.reset(token)


def is_past(failed: Flow, mine: Flow) -> bool:
    """Whether a step that starts in ``mine`` goes on past a failure in ``failed``."""
    if failed is mine:
        return True
    if isinstance(failed, ThreadFlow):
        return failed.ended
    # An exception that nobody has taken from its task yet may still end the body.
    return failed.done() and not getattr(failed, "_log_traceback", False)


class Drain:
    """Keeps the steps in flight, and is waited for when the body ends (rule O20).

    Without a lock, because each step comes and goes here: adding to and taking from a set, or a list, is one act. No
    wake-up is lost, because who leaves is gone before it looks for waiters, and a waiter is there before it looks.
    """

    def __init__(self) -> None:
        self._steps: set[object] = set()
        self._waiters: list[_Waiter] = []
        self.enter: Callable[[object], None] = self._steps.add

    def leave(self, step: object) -> None:
        self._steps.discard(step)
        if self._waiters:
            self._wake()

    def _when(self, steps: Iterable[object] | None, wake: Callable[[], object]) -> None:
        self._waiters.append(_Waiter(None if steps is None else frozenset(steps), wake))
        self._wake()

    def _wake(self) -> None:
        for waiter in tuple(self._waiters):
            if self._steps if waiter.steps is None else not self._steps.isdisjoint(waiter.steps):
                continue
            try:
                self._waiters.remove(waiter)
            except ValueError:  # another thread wakes it
                continue
            waiter.wake()

    @property
    def idle(self) -> bool:
        return not self._steps

    def steps(self) -> list[object]:
        """What is in flight at this moment."""
        return list(self._steps)

    def wait(self) -> None:
        """Blocks until nothing is in flight."""
        self.gone(None).wait()

    def future(self, loop: asyncio.AbstractEventLoop) -> asyncio.Future[None]:
        """The same for a coroutine of ``loop``."""
        return self.gone(None).future(loop)

    def gone(self, steps: Iterable[object] | None) -> Gone:
        """What is waited for until none of these steps is in flight; None is all."""
        return Gone(self, steps)


class _Waiter:
    def __init__(self, steps: frozenset[object] | None, wake: Callable[[], object]) -> None:
        self.steps = steps
        self.wake = wake


class Gone:
    """Steps that are waited for, on a thread or on a loop."""

    def __init__(self, drain: Drain, steps: Iterable[object] | None) -> None:
        self._drain = drain
        self._steps = steps

    def wait(self) -> None:
        done = threading.Event()
        self._drain._when(self._steps, done.set)
        done.wait()

    def future(self, loop: asyncio.AbstractEventLoop) -> asyncio.Future[None]:
        future: asyncio.Future[None] = loop.create_future()

        def settle() -> None:
            if not future.done():
                future.set_result(None)

        self._drain._when(self._steps, lambda: loop.call_soon_threadsafe(settle))
        return future
