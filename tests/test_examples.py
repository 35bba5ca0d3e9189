"""Each example runs, and does what its README says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(example: str) -> list[str]:
    environment = {**os.environ, "PYTHONPATH": str(EXAMPLES.parent / "src")}
    command = [sys.executable, "main.py"]
    done = subprocess.run(
        command, cwd=EXAMPLES / example, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.mark.rule("O8")
@pytest.mark.rule("O10")
def test_payments_a_charge_in_the_window_is_asked_twice_and_made_once() -> None:
    assert run("payments") == [
        "the worker was killed after Stripe had charged, before it could record that",
        "receipt: pi_1 over 1950",
        "calls that Stripe saw: 2, with 1 idempotency key",
        "charges that Stripe made: 1",
        "mails: ann@example.org: pi_1 over 1950",
        (
            "notes on the run: ['possibly doubled: sell/start@1#charge', "
            "'possibly doubled: sell/start@1/charge/charge#auto:stripe.PaymentIntentService.create']"
        ),
    ]


@pytest.mark.rule("A11")
@pytest.mark.rule("O8")
def test_agent_an_llm_and_its_tools_are_asked_once_wherever_the_worker_is_killed() -> None:
    pytest.importorskip("openai")
    llm, book = "#auto:openai.Completions.create", "book#auto:httpx.post"
    assert run("agent") == [
        "A worker is killed after each step, as soon as its record is durable:",
        "Done: booking 5 in Turin, 2 nights.",
        "LLM with 1 messages",
        "weather in Turin",
        "weather in Oslo",
        "LLM with 4 messages",
        "booking in Turin",
        "LLM with 6 messages",
        "steps:",
        f"travel/start@1[0]{llm}",
        "travel/start@1[0][0]/weather#auto:httpx.get",
        "travel/start@1[0][1]/weather#auto:httpx.get",
        f"travel/start@1[1]{llm}",
        f"travel/start@1[1][0]/{book}",
        f"travel/start@1[2]{llm}",
        "A worker is killed in the window: the LLM has answered, and the answer is not yet recorded:",
        "Done: booking 6 in Turin, 2 nights.",
        "LLM with 1 messages",
        "LLM with 1 messages",
        "weather in Turin",
        "weather in Oslo",
        "LLM with 4 messages",
        "booking in Turin",
        "LLM with 6 messages",
        "notes:",
        f"possibly doubled: travel/start@1[0]{llm}",
    ]


def test_subscription_a_year_of_waits_goes_by_in_a_moment() -> None:
    assert run("subscription") == [
        "01 Jan: welcome, your trial is two weeks",
        "12 Jan: your trial ends in three days",
        "15 Jan: your first month begins",
        "15 Jan: charged 9.00",
        "14 Feb: charged 9.00",
        "16 Mar: charged 9.00",
        "15 Apr: charged 9.00",
        "15 May: charged 9.00",
        "14 Jun: the card of ann@example.org has expired, please give us another one",
        "19 Jun: the card of ann@example.org has expired, please give us another one",
        "21 Jun: charged 9.00",
        "21 Jul: charged 9.00",
        "20 Aug: charged 9.00",
        "19 Sep: charged 9.00",
        "19 Oct: charged 9.00",
        "18 Nov: charged 9.00",
        "18 Dec: charged 9.00",
        "27 Dec: goodbye",
        "cancelled in month 12: moving; 12 charges",
    ]


def test_invitation_one_is_accepted_and_the_other_one_lapses() -> None:
    assert run("invitation") == [
        "01 Jan: ann: you are invited: /accept",
        "01 Jan: bob: you are invited: /accept",
        "04 Jan: bob: still waiting: /accept",
        "04 Jan: ann: still waiting: /accept",
        "06 Jan: ann: you are invited: /accept",
        "06 Jan: bob: still waiting: /accept",
        "09 Jan: ann: still waiting: /accept",
        "11 Jan: ann: still waiting: /accept",
        "ann, with the first mail: this link is not valid any more; look for a newer mail",
        "ann, with the last one: accepted",
        "bob: lapsed",
    ]


@pytest.mark.rule("W4")
def test_shop_an_order_is_charged_once_though_the_server_is_killed_in_the_charge() -> None:
    assert run("shop") == [
        "placed: /orders/1",
        "the server was killed: the bank has charged, and nobody has recorded that",
        "Order 1 is shipped (receipt-1)",
        "the bank was asked 2 times and has charged [19]",
        "letters: 1",
    ]


@pytest.mark.parametrize(("example", "passed"), [("subscription", 6), ("invitation", 7)])
def test_an_example_has_tests_as_users_write_them_which_pass(example: str, passed: int) -> None:
    environment = {**os.environ, "PYTHONPATH": str(EXAMPLES.parent / "src")}
    environment.pop("PYTEST_ADDOPTS", None)
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", ".", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=EXAMPLES / example, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{passed} passed" in done.stdout
