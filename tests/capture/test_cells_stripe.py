"""Stripe's SDK: its coroutines, which go over httpx, redirects, and answers that are no good."""

from __future__ import annotations

from pathlib import Path

import pytest
from cells_server import CellsServer
from compared import closed_port
from harness import case
from seen import seen
from stripe_server import StripeServer

PROGRAM = "stripe_cells_program"


@pytest.mark.rule("A11")
@pytest.mark.parametrize(
    ("workflow", "failing", "parts"),
    [("in_coroutines", 0, 5), ("twenty_coroutines", 0, 20), ("retried_in_a_coroutine", 2, 3)],
)
def test_a_replay_shows_what_the_live_call_showed(tmp_path: Path, workflow: str, failing: int, parts: int) -> None:
    with StripeServer() as server:
        server.failing = failing
        run = case(PROGRAM, workflow, server.url, folder=tmp_path)
        live = run.live()
        assert len(run.steps()) == len(server.asked) == parts
    assert seen(run.replayed()) == seen(live)
    assert len(server.asked) == parts


@pytest.mark.rule("A11")
def test_each_hop_of_a_redirect_is_a_part_of_the_call(tmp_path: Path) -> None:
    with StripeServer() as stripe, CellsServer() as server:
        server.target = stripe.url
        run = case(PROGRAM, "redirected", server.url, folder=tmp_path)
        live = run.live()
    assert seen(run.replayed()) == seen(live)
    call = "redirected/start@1#auto:stripe.Charge.create"
    assert run.steps() == [call, f"{call}~1"]


@pytest.mark.rule("A11")
def test_an_answer_that_breaks_off_is_the_same_error_on_a_replay(tmp_path: Path) -> None:
    with CellsServer() as server:
        run = case(PROGRAM, "broken_off", server.url, folder=tmp_path)
        live = run.live()
    assert len(live.shown) == 10, "each is an error of Stripe's own"
    assert seen(run.replayed()) == seen(live)


@pytest.mark.rule("A11")
def test_a_server_that_cannot_be_reached_is_the_same_error_to_a_coroutine(tmp_path: Path) -> None:
    with closed_port() as port:
        run = case(PROGRAM, "unreachable_to_a_coroutine", f"http://127.0.0.1:{port}", folder=tmp_path)
        live = run.live()
        assert live.shown[0]["items"][0] == "APIConnectionError"
        assert seen(run.replayed()) == seen(live)


@pytest.mark.rule("A2")
@pytest.mark.parametrize(("crash", "before"), [("step.before:2", 1), ("step.before:3", 2)])
def test_after_a_crash_between_two_tries_of_a_coroutine_only_the_rest_is_asked_for(
    tmp_path: Path, crash: str, before: int
) -> None:
    with StripeServer() as server:
        server.failing = 2
        run = case(PROGRAM, "retried_in_a_coroutine", server.url, folder=tmp_path)
        assert run.attempt(crash).killed
        assert len(server.asked) == before
        assert run.attempt().fault is None
        assert len(server.asked) == 3


@pytest.mark.rule("O23")
@pytest.mark.parametrize(
    ("name", "told"),
    [("endless", "more than 16 MiB"), ("large", "more than 16 MiB"), ("bomb", "unpacks to more than 256 MiB")],
)
def test_what_is_too_much_faults_the_run_and_the_sdk_does_not_ask_again(tmp_path: Path, name: str, told: str) -> None:
    with CellsServer() as server:
        fault = str(case(PROGRAM, "much", f"{server.url}/{name}", folder=tmp_path).attempt().fault)
        assert "ResultNotRecordable" in fault
        assert told in fault
        assert len(server.requests) == 1
