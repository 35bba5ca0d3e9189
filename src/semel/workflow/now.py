"""``now``: the time, which a later attempt of a body reads again as it was (rule A5)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

from semel.compiler import Origin, Path, current, intrinsic
from semel.compiler.chain import latest_call
from semel.compiler.where import leads


def now() -> datetime:
    """The time, in UTC and aware.

    In a body it is the end of the latest step that the body has passed, or the start of the attempt: a later attempt
    reads the same, and it never goes back. In a step, and outside of a run, it is the time of the clock. Unlike
    ``datetime.now``, which is answered the same in compiled code, it is right also where foreign code calls it.
    """
    path = current.get()
    if path is None or path.execution.over:
        return datetime.now(UTC)
    return _now(path, None, in_step=path.in_step and leads(path))


def _now(path: Path, origin: Origin | None, *, in_step: bool) -> datetime:
    execution = path.execution
    if in_step:
        return datetime.fromtimestamp(execution.now(), UTC)  # type: ignore[attr-defined]
    return datetime.fromtimestamp(execution.values.watch(origin), UTC)


def _at(path: Path, passes: tuple[object, ...], awaited: bool) -> Callable[..., Any]:
    return partial(_now, path, latest_call(path), in_step=path.in_step)


intrinsic(now, _at)
