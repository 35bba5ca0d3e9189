"""Times as people give and read them: ISO 8601 or ages such as ``2h``, local on the terminal, UTC in JSON."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import click

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_AGE = re.compile(r"(?:\d+(?:\.\d+)?[smhdw])+")
_PART = re.compile(r"(\d+(?:\.\d+)?)([smhdw])")


def parse_age(text: str) -> timedelta | None:
    """``90s``, ``2h``, ``1d12h``; None if the text is no age."""
    if not _AGE.fullmatch(text):
        return None
    try:
        return sum((timedelta(**{_UNITS[unit]: float(count)}) for count, unit in _PART.findall(text)), timedelta())
    except OverflowError:
        return timedelta.max


def age(text: str) -> timedelta:
    """An age, as the type of an option.

    Raises:
        click.BadParameter: it is none.
    """
    found = parse_age(text)
    if found is None:
        raise click.BadParameter(f"{text!r} is no age; write 30d, 12h, 90m, 10s or 1d12h")
    return found


def moment(text: str) -> datetime | timedelta:
    """A time (aware; without a zone it is local) or an age, as the type of an option.

    Raises:
        click.BadParameter: it is neither.
    """
    found = parse_age(text)
    if found is not None:
        return found
    try:
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError):
        raise click.BadParameter(
            f"{text!r} is neither a time nor an age; write 2026-01-31, 2026-01-31T12:30, 2026-01-31T12:30:00Z, "
            f"or 2h, 3d, 1w"
        ) from None


def seconds_of(given: datetime | timedelta | None, now: float) -> float | None:
    """Seconds since the epoch; an age counts back from ``now``."""
    if given is None:
        return None
    return given.timestamp() if isinstance(given, datetime) else now - given.total_seconds()


def iso(seconds: float | None) -> str | None:
    """ISO 8601 in UTC, with milliseconds."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def local(seconds: float | None) -> str:
    """The local time, for the terminal."""
    if seconds is None:
        return "-"
    return datetime.fromtimestamp(seconds, UTC).astimezone().isoformat(" ", "seconds")[:19]


def duration(seconds: float | None) -> str:
    """``3 ms``, ``1.2 s``, ``4 min``, ``2.5 h``, ``3.1 d``."""
    if seconds is None:
        return "-"
    if seconds < 0.9995:
        return f"{max(seconds, 0) * 1000:.0f} ms"
    for limit, size, unit in ((60, 1, "s"), (3600, 60, "min"), (48 * 3600, 3600, "h")):
        if seconds < limit:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds / 86400:.1f} d"
