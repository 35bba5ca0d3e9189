"""Times and ages as they are given and shown."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import click
import pytest

from semel.cli.moments import age, duration, iso, local, moment, seconds_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10s", timedelta(seconds=10)),
        ("90m", timedelta(minutes=90)),
        ("2h", timedelta(hours=2)),
        ("3d", timedelta(days=3)),
        ("1w", timedelta(weeks=1)),
        ("1d12h", timedelta(days=1, hours=12)),
        ("0.5h", timedelta(minutes=30)),
        ("9999999999999d", timedelta.max),
    ],
)
def test_an_age_is_a_number_with_a_unit(text: str, expected: timedelta) -> None:
    assert age(text) == expected


@pytest.mark.parametrize("text", ["", "30", "d", "-3d", "3 d", "3days", "3d!", "yesterday"])
def test_anything_else_is_no_age(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is no age"):
        age(text)


def test_a_time_with_a_zone_is_that_time() -> None:
    assert moment("2026-01-31T12:30:00+01:00") == datetime(2026, 1, 31, 11, 30, tzinfo=UTC)
    assert moment("2026-01-31T12:30:00Z") == datetime(2026, 1, 31, 12, 30, tzinfo=UTC)


def test_a_time_without_a_zone_is_local() -> None:
    assert moment("2026-01-31") == datetime(2026, 1, 31).astimezone()


def test_an_age_counts_back_from_now() -> None:
    assert seconds_of(moment("2h"), 10_000.0) == 2_800.0
    assert seconds_of(moment("1970-01-01T00:01Z"), 10_000.0) == 60.0
    assert seconds_of(None, 10_000.0) is None


def test_neither_a_time_nor_an_age_is_refused() -> None:
    with pytest.raises(click.BadParameter, match="2026-01-31T12:30"):
        moment("last week")


def test_json_times_are_iso_8601_in_utc() -> None:
    assert iso(1_769_862_600.1234) == "2026-01-31T12:30:00.123Z"
    assert iso(None) is None


def test_terminal_times_have_seconds() -> None:
    assert len(local(1_769_862_600.1234)) == len("2026-01-31 12:30:00")
    assert local(None) == "-"


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (None, "-"),
        (-0.001, "0 ms"),
        (0.0031, "3 ms"),
        (0.9996, "1.0 s"),
        (59.0, "59.0 s"),
        (90.0, "1.5 min"),
        (7200.0, "2.0 h"),
        (864_000.0, "10.0 d"),
    ],
)
def test_a_duration_has_the_unit_that_fits(seconds: float | None, expected: str) -> None:
    assert duration(seconds) == expected
