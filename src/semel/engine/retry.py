"""``retry=`` and ``timeout=`` of a step (rules R1–R10).

An attempt that fails parks the execution on a clock. When that is due the body runs again from its top, comes to the
step, and makes the next attempt, whose nested steps have ``~k`` after the step's label. The failed attempts are kept
with the wait in the run's row. What the last one raised is recorded at once, under the step's own path.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Generator
from datetime import timedelta
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Protocol

from semel.codec import Codec
from semel.compiler import Path
from semel.errors import InvalidRetry, StepTimedOut
from semel.store.interface import Note

from .decisions import is_decision
from .live import Live
from .moment import moment_of_flow
from .outcomes import Outcome
from .parks import Wait
from .waiting import Waiting, on_loop, on_thread
from .writes import recorded

if TYPE_CHECKING:
    from .execution import Execution


class Policy(Protocol):
    """What the engine needs of a ``Backoff``."""

    @property
    def attempts(self) -> int | None:
        """How many in all."""
        ...

    def delay(self, failed: int, key: bytes) -> float:
        """Seconds to wait after so many failures; ``key`` is what jitter is derived from."""
        ...


class Attempt(Live):
    """One attempt of a step with a retry or a time limit."""

    __slots__ = ("end", "error", "number", "policy", "recorded", "since", "timed_out")

    #: Whether a decision is recorded at once, as an exhausted retry is: no flow goes on past it.
    decides = False

    def __init__(self, text: str, path: Path, label: str, scope: object, step: object, scoped: bool) -> None:
        super().__init__(text, path, label, scope, step, scoped)
        self.policy: Policy | None = None
        self.number = 0
        self.since = 0.0
        self.end: float | None = None  # of its time, if that is limited
        self.timed_out = False
        self.error: BaseException | None = None
        self.recorded = False

    @property
    def place(self) -> Path:
        """Where it waits for its next attempt."""
        return self.path

    def notes(self, execution: Execution, error: BaseException) -> list[Note]:
        """What an operator should know when it has failed for good."""
        return []

    def out_of_time(self, task: asyncio.Future[object]) -> None:
        self.timed_out = task.cancel()

    def result_of(self, task: asyncio.Future[object]) -> object:
        if self.timed_out and task.cancelled():
            raise self.over_time()
        return task.result()

    def over_time(self) -> StepTimedOut:
        assert self.end is not None
        return StepTimedOut(
            f"the step {self.text} had not ended within its timeout of {timedelta(seconds=self.end - self.since)}"
        )

    def took(self, error: BaseException) -> bool:
        """Keeps what it raised: whether that is a fact is told by the policy."""
        self.error = error
        return True

    def final(self, codec: Codec) -> Outcome:
        assert self.error is not None
        return self.failed(codec, self.error)


def check_policy(label: str, retry: Any, timeout: object) -> None:
    """Raises where a retry or a time limit is none (rule R2)."""
    if retry is not None and not hasattr(retry, "attempts"):
        raise TypeError(
            f"the retry of once({label!r}, …) is a {type(retry).__qualname__}; write "
            f"retry=Backoff.exponential(timedelta(seconds=2)).max_attempts(4)"
        )
    if retry is not None and retry.attempts is None:
        raise InvalidRetry(
            f"the retry of once({label!r}, …) has no max_attempts, so a step that always fails would be tried for "
            f"ever, and nobody would hear of it. Say how often: retry={retry!r}.max_attempts(4)"
        )
    if timeout is not None and (not isinstance(timeout, timedelta) or timeout <= timedelta(0)):
        raise TypeError(f"the timeout of once({label!r}, …) must be a timedelta above nothing, not {timeout!r}")


def attempted(
    execution: Execution,
    live: Attempt,
    awaited: bool,
    *,
    retry: Policy | None = None,
    timeout: timedelta | None = None,
) -> Any:
    """Makes the attempt that it is time for; called where the body calls ``once``."""
    live.policy = retry
    try:
        check_policy(live.label, retry, timeout)
    except InvalidRetry as error:
        raise execution.condemned(error) from None
    wait = execution.parks.wait_of(live.text)
    live.number = wait.attempt if wait is not None else 0
    live.since = wait.since if wait is not None else max(moment_of_flow.get(), execution.began_at)
    if timeout is not None:
        live.end = live.since + timeout.total_seconds()
    if live.number:
        live.path.name = f"{live.path.name}~{live.number}"
        execution.also_claimed(live.path)
        execution.replay.found(live.text)  # what the attempts before have recorded in it is not unreached
    if live.policy is not None and not live.decides:  # an undo is a body of its own, and may wait
        execution.parks.retries(live.path, live.label)
    if awaited or (wait is not None and wait.awaited):  # also where it is not awaited right here, as in a gather
        return _attempt_awaited(execution, live, wait)
    return _attempt_here(execution, live, wait)


def _attempt_here(execution: Execution, live: Attempt, wait: Wait | None) -> Any:
    on_thread(_before(execution, live, wait))
    try:
        value = execution.run_here(live)
    except BaseException as error:
        if error is live.error:
            on_thread(_failed(execution, live, False))
        raise
    return _await_rest(execution, live, value) if isawaitable(value) else value


async def _await_rest(execution: Execution, live: Attempt, awaitable: Awaitable[object]) -> object:
    try:
        return await awaitable
    except BaseException as error:
        if error is live.error:
            await on_loop(_failed(execution, live, True))
        raise


async def _attempt_awaited(execution: Execution, live: Attempt, wait: Wait | None) -> object:
    await on_loop(_before(execution, live, wait))
    try:
        return await execution.run_awaited(live)
    except BaseException as error:
        if error is live.error:
            await on_loop(_failed(execution, live, True))
        raise


def _before(execution: Execution, live: Attempt, wait: Wait | None) -> Generator[Waiting, Any, None]:
    """Waits for the clock of the attempt; no attempt starts when the time of the step is over."""
    now = execution.now()
    if wait is not None and wait.at is not None and wait.at > now:
        yield execution.parks.at(live.text, live.place, wait)
    if live.end is not None:
        if now >= live.end:
            live.error = live.over_time()
            yield from _record(execution, live, False)
            raise live.error
        live.limit = live.end - now


def _failed(execution: Execution, live: Attempt, awaited: bool) -> Generator[Waiting, Any, None]:
    """What the failure of an attempt leads to: a wait, a record, or a fact of the ordinary kind."""
    error = live.error
    assert error is not None
    decision = is_decision(error)
    if not isinstance(error, Exception) or (decision and not live.decides):
        execution.take_failure(live, error, awaited=awaited)
        return
    policy = live.policy
    made = live.number + 1
    if policy is not None and policy.attempts is not None and made < policy.attempts and not decision:
        key = execution.keys.of_value(f"{live.text}\x1fjitter\x1f{made}", 16)
        at = live.ended + policy.delay(made, key)
        if live.end is None or at < live.end:
            execution.facts.forgo(error)
            yield execution.parks.at(live.text, live.place, Wait("retry", at, made, live.since, awaited))
            return
    if policy is None:
        execution.take_failure(live, error, awaited=awaited)
        return
    yield from _record(execution, live, awaited)


def _record(execution: Execution, live: Attempt, awaited: bool) -> Generator[Waiting, Any, None]:
    """An exhausted retry is a fact at once: no later attempt makes another (rule O24)."""
    live.ended = live.ended or execution.now()
    live.started = live.started or live.ended
    execution.parks.over(live.text)
    record = execution.record_of(live, live.final(execution.codec), awaited)
    assert live.error is not None
    yield from recorded(execution, [record], live.notes(execution, live.error))
    live.recorded = True
