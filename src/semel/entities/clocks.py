"""When the clocks of a state are due: ``after`` its entry, and then every so often."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from semel.workflow.definition import Calendar, Delay

_MOST = 10_000  # firings that were missed and are passed over, before a reminder counts as too quick


def due_after(delay: Delay, item: Any, start: float, calendar: Calendar | None, what: str) -> float | None:
    """The time that is ``delay`` after ``start``, in seconds since the epoch; None: the clock is not armed.

    Raises:
        TypeError, ValueError: the attribute or function gave no length or moment.
    """
    given: Any = delay
    if isinstance(delay, str):
        given = getattr(item, delay)
        if isinstance(given, datetime) and given.tzinfo is None:
            given = given.replace(tzinfo=UTC)  # SQLite keeps no zone: what was stored as aware comes back like this
    elif not isinstance(delay, timedelta):
        function: Callable[[Any], Any] = delay
        given = function(item)
    if given is None:
        return None
    if isinstance(given, datetime):
        if given.tzinfo is None:
            raise TypeError(
                f"{what}: {given!r} has no zone, so it names no moment; give an aware datetime: "
                f"datetime.now(UTC) + timedelta(days=3)"
            )
        return given.timestamp()
    if not isinstance(given, timedelta):
        raise TypeError(f"{what}: a delay is a timedelta, an aware datetime or None, not {given!r}")
    if given < timedelta(0):
        raise ValueError(f"{what}: {given!r} is negative")
    if calendar is None:
        return start + given.total_seconds()
    return calendar.add(datetime.fromtimestamp(start, UTC), given).timestamp()


def due_again(
    every: Delay | None, item: Any, due: float, now: float, calendar: Calendar | None, what: str
) -> float | None:
    """The next time after ``now`` of a clock that was due at ``due``; what was missed meanwhile is not made up for."""
    if every is None:
        return None
    following = due_after(every, item, due, calendar, what)
    for _ in range(_MOST):
        if following is None or following > now:
            return following
        if following <= due:
            raise ValueError(f"{what}: then_every must be more than nothing")
        if calendar is None and isinstance(every, timedelta):  # at once, however long the worker was off
            missed = (now - due) // every.total_seconds()
            return due + (missed + 1) * every.total_seconds()
        due, following = following, due_after(every, item, following, calendar, what)
    return due_after(every, item, now, calendar, what)
