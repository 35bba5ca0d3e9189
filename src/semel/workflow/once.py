"""``once``: a step with a boundary of its own (rules O1–O23).

In a run the compiler turns a call of ``once`` into a step of the execution, under the path that leads to it. Outside of
a run it just calls the step.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any, LiteralString, TypeVar, overload

from semel.compiler import Path, current, explain_uncompiled, intrinsic
from semel.engine.keys import Scope, scoped_key
from semel.engine.labels import scope_and_step, segment_of_label, wants_key
from semel.engine.retry import check_policy
from semel.errors import ConfigurationError, NotCompiled

from .backoff import Backoff

T = TypeVar("T")


@overload
def once(
    label: LiteralString, step: Callable[[], T], /, *, retry: Backoff | None = None, timeout: timedelta | None = None
) -> T: ...
@overload
def once(
    label: LiteralString, step: Callable[[str], T], /, *, retry: Backoff | None = None, timeout: timedelta | None = None
) -> T: ...
@overload
def once(
    label: LiteralString,
    scope: Scope,
    step: Callable[[str], T],
    /,
    *,
    retry: Backoff | None = None,
    timeout: timedelta | None = None,
) -> T: ...
def once(label: str, *rest: Any, retry: Backoff | None = None, timeout: timedelta | None = None) -> Any:
    """Runs a step once in this execution of the body: its result is recorded durably, and then returned.

    Every later attempt of the execution gets the recorded outcome and does not run the step. The result type is the
    step's own; an async step is awaited (``await once("ask", lambda: ask(question))``). A sync step in an async body
    that is slow is written ``await once("pay", lambda: asyncio.to_thread(pay, total))``.

    A crash, or a lost lease, between the moment the call may have reached the other side and the moment its record is
    durable runs the step again. No engine can close that window from this side. Give the other side the idempotency
    key, which is the same at each attempt, to recognise the second call.

    Args:
        label: a string literal that names the step; the only one of that name in its function.
        scope: what the work is identified by beyond this run (a str, int, UUID or a tuple of these). Any run that
            reaches this label for this scope presents the same key; each run still runs the step once.
        step: a function or lambda without arguments, or with one: the idempotency key (40 hex digits).
        retry: what to do when the step raises: ``Backoff.exponential(timedelta(seconds=2)).max_attempts(4)``. The run
            waits durably, and the body runs again from its top; the last failure is raised. A ``Decision`` is not
            retried. Outside of a run the step is called once.
        timeout: how long the step may take from its first start, all attempts and their waits included. An async step
        is
            cancelled then; a sync one cannot be, and its result counts, but no attempt starts after it.

    Raises:
        InvalidLabel, InvalidScope, TypeError: the call itself is wrong; the step has not run.
        PathClaimedTwice: another step of this execution has the same path (rule O19); the step has not run.
        NotCompiled: reached in a run through a function that has no path (rule O19); the step has not run.
        ResultNotRecordable: the step ran, and its result cannot be recorded (rule O23).
        StepTimedOut: the time was over (a TimeoutError).
    """
    check_policy(label, retry, timeout)
    path = current.get()
    if path is not None:
        error = NotCompiled(
            f"once({label!r}, …) was reached in a run, but not through code that semel compiles, so the step has no "
            f"path that a later attempt could find. It was not run. {explain_uncompiled()}"
        )
        if not path.execution.over:
            path.execution.condemned(error)  # type: ignore[attr-defined]
        raise error
    scope, step = scope_and_step(label, rest)
    segment_of_label(label)
    if not wants_key(step, label, scoped=len(rest) == 2):
        return step()
    return step(scoped_key(_namespace(label), label, scope) if len(rest) == 2 else uuid.uuid4().hex)


def _at(path: Path, passes: tuple[object, ...], awaited: bool) -> Callable[..., Any]:
    return partial(path.execution.once, path, passes, awaited)  # type: ignore[attr-defined]


intrinsic(once, _at)

#: The key namespaces of the apps of this process, by app name; read when a scoped key is made outside of a run.
namespaces: dict[str, Callable[[], bytes]] = {}


def _namespace(label: str) -> bytes:
    if len(namespaces) != 1:
        there = f"there are {len(namespaces)} ({', '.join(sorted(namespaces))})" if namespaces else "there is none"
        raise ConfigurationError(
            f"once({label!r}, scope, …) outside of a run needs the key namespace of the one App of this process; "
            f"{there}"
        )
    (namespace,) = namespaces.values()
    return namespace()
