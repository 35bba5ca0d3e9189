"""Rule O18 against the truth: generated programs, run in every way that they can run."""

from __future__ import annotations

import pytest
from flow_programs import HEAD, Writer, both_on_one_path
from hypothesis import given, settings
from hypothesis import strategies as st

from semel.checks import refusals
from semel.compiler.model import Source, build

pytestmark = pytest.mark.rule("O18")


def refused(body: str) -> bool:
    model = build([Source("x", "x.py", f"{HEAD}@app.workflow\n{body}\n")])
    return any(problem.rule == "helper-called-twice" for problem in refusals(model))


@given(st.integers(0, 10**9))
@settings(max_examples=400, deadline=None)
def test_two_calls_are_refused_just_when_some_way_runs_both_on_one_path(seed: int) -> None:
    body = Writer(seed, trying=False).body()
    both, complete = both_on_one_path(body, failing=False)
    if both:
        assert refused(body), body
    elif complete:
        assert not refused(body), body


@given(st.integers(0, 10**9))
@settings(max_examples=400, deadline=None)
def test_with_try_and_with_none_is_missed_even_if_the_helper_fails(seed: int) -> None:
    body = Writer(seed, trying=True).body()
    both, _ = both_on_one_path(body, failing=True)
    if both:
        assert refused(body), body
