"""A step that runs now: what it calls, what is recorded of it, and the asyncio task that an async one is given."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Coroutine
from types import FunctionType
from typing import TYPE_CHECKING, Any

from semel.codec import Codec
from semel.compiler import Path, begins_step, step_call

from .labels import wants_key
from .outcomes import UNSEEN, Outcome, outcome_of_failure, outcome_of_value

if TYPE_CHECKING:
    from .execution import Execution

_EAGER = sys.version_info >= (3, 12)


class Live:
    """A step that runs now."""

    __slots__ = (
        *(
            "cancelled",
            "ended",
            "label",
            "limit",
            "mark",
            "outcome",
            "path",
            "scope",
            "scoped",
            "started",
            "step",
            "text",
        ),
    )

    #: Whether its record is durable before it is given to the engine, so that it cannot have run without one.
    exactly_once = False
    durable = False

    def __init__(self, text: str, path: Path, label: str, scope: object, step: object, scoped: bool) -> None:
        self.text = text
        self.path = path
        self.label = label
        self.scope = scope
        self.scoped = scoped
        self.step = step
        self.started = 0.0
        self.ended = 0.0
        self.cancelled = 0.0  # when the body was, while it awaited the step
        self.outcome: Outcome | None = None
        self.mark: object = None
        self.limit: float | None = None  # seconds that an async step has, if its time is limited

    def call(self, execution: Execution) -> Callable[[], object]:
        """What is called for the step: compiled code, and given its idempotency key if it takes one."""
        call = step_call(self.path, self.step)
        step = self.step
        # That a function without parameters wants no key is told here: it is what is written most.
        perhaps = self.scoped or type(step) is not FunctionType or step.__code__.co_argcount
        if perhaps and wants_key(step, self.label, scoped=self.scoped):
            keys = execution.keys
            key = keys.of_scope(self.label, self.scope) if self.scoped else keys.of_step(self.text)
            return lambda: call(key)
        return call  # type: ignore[no-any-return]

    def returned(self, codec: Codec, value: object) -> bool:
        """Takes what the step returned as its outcome; whether that is a fact at once."""
        self.outcome = outcome_of_value(codec, value)
        return True

    def out_of_time(self, task: asyncio.Future[object]) -> None:
        """The time of an async step is over."""
        task.cancel()

    def result_of(self, task: asyncio.Future[object]) -> object:
        """What the task of an async step gave; raises what it raised."""
        return task.result()

    def took(self, error: BaseException) -> bool:
        """Whether the step itself sees to what it raised; else that is a fact where the body goes on past it."""
        return False

    def failed(self, codec: Codec, error: BaseException) -> Outcome:
        """The outcome of the step where it raised ``error``."""
        return outcome_of_failure(codec, error)

    def given(self, execution: Execution) -> object:
        """What the body gets of the outcome."""
        assert self.outcome is not None
        seen = self.outcome.seen
        return seen if seen is not UNSEEN else execution.replay.seen(self.text, self.outcome)

    def replayed(self, execution: Execution, outcome: Any) -> object:
        """What the body gets of a recorded outcome."""
        return execution.replay.seen(self.text, outcome)


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


begins_step(as_task.__code__)
