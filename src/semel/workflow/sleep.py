"""Durable sleep: a run that waits for a time costs no memory, and no worker (rule W6)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, LiteralString

from semel.compiler import Path, intrinsic
from semel.engine.labels import segment_of_label
from semel.engine.waits import seconds

from .uncompiled import refuse_uncompiled


def sleep(delay: timedelta | float, *, label: LiteralString | None = None) -> None:
    """Waits for a ``timedelta`` or seconds, also through restarts of every process.

    The body lets go of its worker, and runs again from its top when the time has come, its steps found. Outside of a
    run it is ``time.sleep``.

    Args:
        delay: not negative, and no more than a hundred years.
        label: a string literal that names the wait, where there are two in a function.

    Raises:
        TypeError, ValueError: ``delay`` is no time to wait.
        NotAllowedHere: in a step with a retry (rule R8), or in one that has made a call of its own (rule W11).
    """
    refuse_uncompiled("sleep(…)")
    time.sleep(seconds(delay, "a sleep"))


async def sleep_async(delay: timedelta | float, *, label: LiteralString | None = None) -> None:
    """``sleep`` in an async body; other tasks of the body go on meanwhile, until all of them wait."""
    refuse_uncompiled("sleep_async(…)")
    await asyncio.sleep(seconds(delay, "a sleep"))


def sleep_until(moment: datetime, *, label: LiteralString | None = None) -> None:
    """Waits until a moment, an aware datetime; one that has passed is no wait.

    Raises:
        TypeError: ``moment`` is no datetime.
        ValueError: it has no time zone, so that it is another moment on another machine.
    """
    refuse_uncompiled("sleep_until(…)")
    time.sleep(max(0.0, _seconds_of(moment) - datetime.now(UTC).timestamp()))


async def sleep_until_async(moment: datetime, *, label: LiteralString | None = None) -> None:
    """``sleep_until`` in an async body."""
    refuse_uncompiled("sleep_until_async(…)")
    await asyncio.sleep(max(0.0, _seconds_of(moment) - datetime.now(UTC).timestamp()))


def _seconds_of(moment: object) -> float:
    if not isinstance(moment, datetime):
        raise TypeError(f"sleep_until takes a datetime, not a {type(moment).__qualname__}")
    if moment.tzinfo is None or moment.utcoffset() is None:
        raise ValueError(
            f"sleep_until({moment}): the datetime has no time zone, so it would be another moment on another machine. "
            f"Give it one: datetime(…, tzinfo=ZoneInfo('Europe/Berlin')), or datetime.now(UTC)"
        )
    return moment.timestamp()


def _sleep_at(is_async: bool, path: Path, passes: tuple[object, ...], awaited: bool) -> Callable[..., Any]:
    waits: Any = path.execution.waits  # type: ignore[attr-defined]

    def call(delay: Any, *, label: str | None = None) -> Any:
        length = seconds(delay, "a sleep")
        name = "sleep" if label is None else segment_of_label(label)
        return waits.sleep(path, passes, is_async, name, lambda now: now + length)

    return call


def _until_at(is_async: bool, path: Path, passes: tuple[object, ...], awaited: bool) -> Callable[..., Any]:
    waits: Any = path.execution.waits  # type: ignore[attr-defined]

    def call(moment: Any, *, label: str | None = None) -> Any:
        at = _seconds_of(moment)
        seconds(max(at - path.execution.now(), 0.0), f"sleep_until({moment}): a wait")  # type: ignore[attr-defined]
        name = "sleep_until" if label is None else segment_of_label(label)
        return waits.sleep(path, passes, is_async, name, lambda now: at)

    return call


intrinsic(sleep, lambda *at: _sleep_at(False, *at))
intrinsic(sleep_async, lambda *at: _sleep_at(True, *at))
intrinsic(sleep_until, lambda *at: _until_at(False, *at))
intrinsic(sleep_until_async, lambda *at: _until_at(True, *at))
