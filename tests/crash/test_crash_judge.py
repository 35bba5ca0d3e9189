"""The judge of the crash tests itself: what it excuses, and what it does not."""

from __future__ import annotations

from typing import Any

import pytest
from crash_judge import Judge, Line, Undisturbed, Verdict

KILLED, ALIVE = 1, 2
RUN = "shop-1"
EXPECTED = {"shop": Undisturbed("completed", "done", None, frozenset({"#a", "#b"}), frozenset({"#maybe", "/a/in#x"}))}


def lines_of(text: str) -> list[Line]:
    """``1 start #a`` is a line of process 1 in the flow of the body; ``1 start #a t`` one of the flow t."""
    lines: list[Line] = []
    for number, words in enumerate(filter(None, (line.split() for line in text.splitlines()))):
        pid, kind, step, *flow = words
        lines.append(Line(number, kind, RUN, step, flow[0] if flow else "body", int(pid), ""))
    return lines


def judged(text: str, *noted: str, result: object = "done") -> Verdict:
    report: dict[str, dict[str, Any]] = {
        RUN: {
            "status": "completed",
            "result": result,
            "error": None,
            "visits": {"start": 1},
            "notes": [["possibly doubled", path] for path in noted],
        }
    }
    return Judge(lines_of(text), report, {KILLED}).judge(EXPECTED)


ALL = """
    2 start #a
    2 end #a
    2 start #b
    2 end #b
"""


def test_a_run_that_did_each_step_once_is_right() -> None:
    verdict = judged(ALL)
    assert (verdict.wrong, verdict.excused) == ([], [])


def test_another_result_is_wrong() -> None:
    assert len(judged(ALL, result="other").wrong) == 1


@pytest.mark.parametrize("cut", ["1 start #a", "1 start #a \n 1 end #a"])
def test_a_double_that_the_kill_cut_is_excused_if_it_is_noted(cut: str) -> None:
    verdict = judged(cut + ALL, "#a")
    assert verdict.wrong == []
    assert [call.step for call in verdict.excused] == ["#a"]


def test_one_that_is_not_noted_is_wrong() -> None:
    assert "no note" in judged("1 start #a" + ALL).wrong[0]


def test_a_double_of_a_process_that_was_not_killed_is_wrong() -> None:
    assert "was not killed" in judged("2 start #a \n 2 end #a" + ALL, "#a").wrong[0]


def test_a_double_whose_flow_had_gone_on_is_wrong() -> None:
    assert "was followed by #b" in judged("1 start #a \n 1 end #a \n 1 start #b" + ALL, "#a", "#b").wrong[0]


def test_another_flow_may_have_gone_on() -> None:
    assert judged("1 start #a t \n 1 end #a t \n 1 start #b" + ALL, "#a", "#b").wrong == []


def test_but_not_one_that_had_joined_it() -> None:
    cut = "1 start #a t \n 1 end #a t \n 1 joined body t \n 1 start #b"
    assert "was followed by #b" in judged(cut + ALL, "#a", "#b").wrong[0]


def test_what_runs_inside_a_step_does_not_follow_it() -> None:
    cut = "1 start #a \n 1 end #a \n 1 start /a/in#x \n 1 end /a/in#x"
    assert judged(cut + ALL, "#a").wrong == []


def test_a_step_that_never_ran_was_lost() -> None:
    assert "#b never ran" in judged("2 start #a \n 2 end #a").wrong[0]


def test_a_step_that_was_cut_and_not_run_again_was_lost() -> None:
    assert "#b was cut" in judged("2 start #a \n 2 end #a \n 1 start #b").wrong[0]


def test_a_step_that_is_none_of_the_program_is_wrong() -> None:
    assert "is no step of it" in judged(ALL + "2 start #c \n 2 end #c").wrong[0]


def test_a_step_that_may_run_or_not_is_right_either_way() -> None:
    assert judged(ALL + "2 start #maybe \n 2 end #maybe").wrong == []
