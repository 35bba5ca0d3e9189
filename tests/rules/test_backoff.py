"""``Backoff``: the waits between the attempts of a step, and what is refused at once (rules R2, R10)."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semel.workflow.backoff import Backoff

TWO = timedelta(seconds=2)


def waits(policy: Backoff, count: int = 4) -> list[float]:
    return [policy.delay(failed, b"run/step") for failed in range(1, count + 1)]


@pytest.mark.rule("R2", "R10")
@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (Backoff.exponential(TWO), [2.0, 4.0, 8.0, 16.0]),
        (Backoff.constant(TWO), [2.0, 2.0, 2.0, 2.0]),
        (Backoff.linear(TWO), [2.0, 4.0, 6.0, 8.0]),
        (Backoff.exponential(TWO).cap(timedelta(seconds=5)), [2.0, 4.0, 5.0, 5.0]),
        (Backoff.linear(TWO).cap(timedelta(milliseconds=1)), [0.001] * 4),
    ],
)
def test_a_policy_waits_as_its_name_says(policy: Backoff, expected: list[float]) -> None:
    assert waits(policy) == expected


@pytest.mark.rule("R2")
def test_max_attempts_is_the_number_of_attempts_and_none_where_nobody_said_it() -> None:
    assert Backoff.exponential(TWO).max_attempts(4).attempts == 4
    assert Backoff.exponential(TWO).max_attempts(1).attempts == 1
    assert Backoff.exponential(TWO).attempts is None


@pytest.mark.rule("R10")
def test_each_method_gives_a_new_policy_and_changes_nothing() -> None:
    plain = Backoff.exponential(TWO)
    for other in (plain.max_attempts(3), plain.cap(TWO), plain.jitter()):
        assert other != plain
    assert plain == Backoff.exponential(TWO)
    with pytest.raises((FrozenInstanceError, TypeError)):
        plain.attempts = 4  # type: ignore[misc]


@pytest.mark.rule("R10")
def test_the_last_call_of_a_method_counts() -> None:
    assert Backoff.constant(TWO).max_attempts(3).max_attempts(5) == Backoff.constant(TWO).max_attempts(5)
    assert Backoff.constant(TWO).cap(TWO * 2).cap(TWO) == Backoff.constant(TWO).cap(TWO)
    assert Backoff.constant(TWO).jitter().jitter() == Backoff.constant(TWO).jitter()


def test_equal_policies_are_equal_hash_alike_and_survive_a_pickle() -> None:
    policy = Backoff.linear(TWO).max_attempts(3).cap(timedelta(hours=1)).jitter()
    same = Backoff.linear(timedelta(milliseconds=2000)).jitter().cap(timedelta(minutes=60)).max_attempts(3)
    assert policy == same
    assert hash(policy) == hash(same)
    assert pickle.loads(pickle.dumps(policy)) == policy
    assert policy != Backoff.exponential(TWO).max_attempts(3).cap(timedelta(hours=1)).jitter()


def test_a_policy_is_shown_as_it_is_written() -> None:
    policy = Backoff.exponential(TWO).max_attempts(4).cap(timedelta(hours=1)).jitter()
    shown = "Backoff.exponential(timedelta(seconds=2)).max_attempts(4).cap(timedelta(seconds=3600)).jitter()"
    assert repr(policy) == shown
    assert eval(shown, {"Backoff": Backoff, "timedelta": timedelta}) == policy


@pytest.mark.rule("R10")
@given(failed=st.integers(1, 10**30), key=st.binary(max_size=64))
def test_jitter_is_between_half_of_the_wait_and_all_of_it_and_always_the_same(failed: int, key: bytes) -> None:
    for plain in (Backoff.exponential(TWO), Backoff.constant(TWO), Backoff.linear(TWO)):
        whole = plain.delay(failed, key)
        drawn = plain.jitter().delay(failed, key)
        assert whole / 2 <= drawn <= whole
        assert drawn == plain.jitter().delay(failed, key)


@pytest.mark.rule("R10")
def test_jitter_differs_from_run_to_run_and_from_attempt_to_attempt() -> None:
    policy = Backoff.constant(TWO).jitter()
    assert len({policy.delay(1, b"run-%d" % number) for number in range(100)}) == 100
    assert len({policy.delay(failed, b"run-1") for failed in range(1, 101)}) == 100


@pytest.mark.rule("R10")
@pytest.mark.parametrize("failed", [100, 1025, 10**6, 10**400])
def test_a_wait_never_overflows_and_is_never_longer_than_ten_years(failed: int) -> None:
    for base in (timedelta(microseconds=1), TWO, timedelta(days=3653)):
        for policy in (Backoff.exponential(base), Backoff.linear(base), Backoff.constant(base)):
            assert 0 < policy.delay(failed, b"") <= timedelta(days=3653).total_seconds()


@pytest.mark.rule("R10")
@pytest.mark.parametrize("method", ["exponential", "constant", "linear", "cap"])
@pytest.mark.parametrize(
    ("bad", "kind", "fix"),
    [
        (timedelta(0), ValueError, "timedelta(seconds=2)"),
        (timedelta(seconds=-2), ValueError, "timedelta(seconds=2)"),
        (timedelta(days=4000), ValueError, "look at the unit"),
        (timedelta.max, ValueError, "look at the unit"),
        (3, TypeError, "timedelta(seconds=3)"),
        (0.5, TypeError, "timedelta(seconds=0.5)"),
        (True, TypeError, "timedelta(seconds=2)"),
        ("2s", TypeError, "timedelta(seconds=2)"),
        (None, TypeError, "timedelta(seconds=2)"),
    ],
)
def test_a_wait_that_is_none_is_refused_at_once(method: str, bad: object, kind: type[Exception], fix: str) -> None:
    with pytest.raises(kind) as raised:
        getattr(Backoff.constant(TWO), method)(bad)
    assert method in str(raised.value)
    assert fix in str(raised.value)


@pytest.mark.rule("R2", "R10")
@pytest.mark.parametrize(("bad", "kind"), [(0, ValueError), (-1, ValueError), (True, TypeError), (2.0, TypeError)])
def test_a_number_of_attempts_that_is_none_is_refused_at_once(bad: object, kind: type[Exception]) -> None:
    with pytest.raises(kind, match=r"write \.max_attempts\(4\)"):
        Backoff.constant(TWO).max_attempts(bad)  # type: ignore[arg-type]


def test_a_policy_is_made_by_its_methods() -> None:
    with pytest.raises(TypeError, match=r"write Backoff\.exponential\(timedelta\(seconds=2\)\)"):
        Backoff(TWO, TWO)  # type: ignore[arg-type]
