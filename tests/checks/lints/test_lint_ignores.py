"""``# semel: ignore[rule] reason``."""

from __future__ import annotations

import textwrap

import pytest

from semel.checks import refusals
from semel.checks.ignores import OF_IGNORES, ignores, without_ignored
from semel.checks.lints import LINTS, lints
from semel.compiler.model import Source, build

SLEEP = "workflow-sleep-outside-a-step"
ALL = (*LINTS, *OF_IGNORES)


def told(body: str, judged: tuple[str, ...] = ALL) -> list[tuple[str, int]]:
    """Rule and line of what is left, of a body that begins on line 5."""
    head = 'import time, threading\nfrom semel import App, once\napp = App("shop")\n@app.workflow\n'
    text = head + "def fulfil(order):\n" + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ") + "\n"
    model = build([Source("shop", "shop.py", text)])
    problems = [*refusals(model), *lints(model, judged)]
    return [(p.rule, p.place.line) for p in without_ignored(problems, ignores(model), judged)]


@pytest.mark.rule("E")
@pytest.mark.parametrize(
    "body",
    [
        f"time.sleep(1)  # semel: ignore[{SLEEP}] short",
        f"# semel: ignore[{SLEEP}] short\ntime.sleep(1)",
        f"# semel: ignore[{SLEEP}] short\n# and more of it\n\ntime.sleep(1)",
        f"time.sleep(1)  # noqa: S1  # semel: ignore[ {SLEEP} , workflow-global-changed ]: short",
        f"time.sleep(1)  #semel:ignore[{SLEEP}] short",
        f"if order:\n    # semel: ignore[{SLEEP}] short\n    time.sleep(1)",
    ],
)
def test_a_finding_with_a_reason_is_not_told(body: str) -> None:
    assert told(body, (SLEEP, "ignore-without-reason")) == []


@pytest.mark.parametrize(
    "body",
    [
        f"# semel: ignore[{SLEEP}] short\norder = 1\ntime.sleep(1)",
        f"time.sleep(1)\n# semel: ignore[{SLEEP}] short",
        f'x = "# semel: ignore[{SLEEP}] short"; time.sleep(1)',
        "time.sleep(1)  # semel: ignore[workflow-global-changed] short",
        "time.sleep(1)  # semel ignore",
    ],
)
def test_an_ignore_elsewhere_or_of_another_rule_does_not_count(body: str) -> None:
    assert SLEEP in [rule for rule, _ in told(body)]


def test_an_ignore_without_a_reason_is_a_finding_and_ignores_all_the_same() -> None:
    assert told(f"time.sleep(1)  # semel: ignore[{SLEEP}]") == [("ignore-without-reason", 6)]
    assert told(f"time.sleep(1)  # semel: ignore[{SLEEP}] - 2!") == [("ignore-without-reason", 6)]


def test_an_ignore_of_nothing_is_a_finding_if_the_rule_was_asked() -> None:
    body = f"order = 1  # semel: ignore[{SLEEP}] short"
    assert told(body) == [("ignore-unused", 6)]
    assert told(body, ("ignore-unused", "workflow-global-changed")) == []


def test_of_several_rules_each_must_ignore_something() -> None:
    assert told(f"time.sleep(1)  # semel: ignore[{SLEEP}, workflow-global-changed] short") == [("ignore-unused", 6)]


def test_a_rule_that_there_is_not_and_no_rule_at_all_are_findings() -> None:
    assert told("order = 1  # semel: ignore[workflow-sleeps] short") == [("ignore-unknown-rule", 6)]
    assert told("order = 1  # semel: ignore short") == [("ignore-unknown-rule", 6)]
    assert told("order = 1  # semel: ignore[ignore-unused] short") == [("ignore-unknown-rule", 6)]


def test_a_refusal_cannot_be_ignored() -> None:
    left = told('once("a", order())  # semel: ignore[once-step-is-a-value] it is right')
    assert left == [("once-step-is-a-value", 6), ("ignore-unknown-rule", 6)]


def test_an_ignore_at_the_end_of_a_file_ignores_nothing() -> None:
    assert told(f"order = 1\n# semel: ignore[{SLEEP}] short") == [("ignore-unused", 7)]
