"""Programs that wait, for the checks: ``check_programs`` with more in the head."""

from __future__ import annotations

import check_programs
from check_programs import marks, model_of

from semel.checks import Problem, refusals

__all__ = ["assert_refused", "assert_right", "marks", "model_of", "program"]

MORE = """\
from datetime import timedelta
import httpx
from semel import Backoff, Child, Event, run_child, saga, sleep, sleep_async, sleep_until, transaction
from semel import wait_all, wait_all_async, wait_first, wait_for, wait_for_async
DAY = timedelta(days=1)
PAID = "paid"
EVENT = Event("paid")
TYPED: Event[int] = Event[int]("paid")
POLICY = Backoff.exponential(DAY).max_attempts(4)
def cancel(x): ...
@app.workflow
def check(x): return 1
"""


def program(text: str) -> str:
    whole = check_programs.program(text)
    return check_programs.HEAD + MORE + whole.removeprefix(check_programs.HEAD)


def assert_refused(text: str, rule: str) -> Problem:
    """The program is refused by this rule, and by no other, at its marked lines."""
    whole = program(text)
    problems = refusals(model_of(whole))
    assert [problem.rule for problem in problems] == [rule] * len(problems), f"{problems}\n{whole}"
    expected = marks(whole)
    assert sorted({problem.place.line for problem in problems}) == expected.place, f"{problems}\n{whole}"
    others = sorted({place.line for problem in problems for place in problem.others})
    assert others == sorted(expected.others), f"{problems}\n{whole}"
    for problem in problems:
        assert problem.message
        assert problem.fix
    return problems[0]


def assert_right(text: str) -> None:
    whole = program(text)
    assert refusals(model_of(whole)) == [], whole
