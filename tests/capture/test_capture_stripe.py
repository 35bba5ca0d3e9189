"""Stripe's SDK, unmodified, on its default client: its objects, errors and retries, live and on a replay."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from harness import Case, case
from seen import seen
from stripe_server import StripeServer

PROGRAM = "stripe_program"


def assert_replayed(run: Case, server: StripeServer, parts: int) -> None:
    with server:
        live = run.live()
    asked = list(server.asked)
    assert len(run.steps()) == parts
    assert seen(run.replayed()) == seen(live)
    assert server.asked == asked


@pytest.mark.rule("A3")
@pytest.mark.parametrize(
    ("workflow", "parts"),
    [
        *(("charged", 1), ("declined", 1), ("missing", 1), ("listed", 3), ("by_a_client", 2), ("downloaded", 1)),
        ("twenty_at_once", 20),
    ],
)
def test_a_replay_shows_what_the_live_call_showed(workflow: str, parts: int, tmp_path: Path) -> None:
    server = StripeServer()
    assert_replayed(case(PROGRAM, workflow, server.url, folder=tmp_path), server, parts)


def test_the_retries_of_the_sdk_are_parts_of_one_call(tmp_path: Path) -> None:
    server = StripeServer()
    server.failing = 2
    run = case(PROGRAM, "retried", server.url, folder=tmp_path)
    assert_replayed(run, server, 3)
    call = "retried/start@1#auto:stripe.PaymentIntent.create"
    assert run.steps() == [call, f"{call}~1", f"{call}~2"]


@pytest.mark.rule("A2")
@pytest.mark.parametrize("crash", ["step.before:2", "step.before:3", "step.recorded:1"])
def test_after_a_crash_between_two_tries_only_the_rest_is_asked_for(crash: str, tmp_path: Path) -> None:
    with StripeServer() as server:
        server.failing = 2
        run = case(PROGRAM, "retried", server.url, folder=tmp_path)
        assert run.attempt(crash).killed
        assert run.attempt().fault is None
        assert len(server.asked) == 3


def test_a_server_that_cannot_be_reached_is_stripe_s_own_error(tmp_path: Path) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{bound.getsockname()[1]}"
        run = case(PROGRAM, "unreachable", nobody, folder=tmp_path)
        live = run.live()
        assert live.shown[0] == "APIConnectionError"
        assert seen(run.replayed()) == seen(live)


def test_a_result_outlives_the_key_and_the_key_is_not_stored(tmp_path: Path) -> None:
    with StripeServer() as server:
        case(PROGRAM, "charged", server.url, folder=tmp_path).live()
    stored = b"".join(file.read_bytes() for file in tmp_path.iterdir() if file.is_file() and file.suffix != ".json")
    assert b"ch_1" in stored
    assert b"sk_test_very_secret" not in stored


def test_telemetry_goes_along_in_headers_and_changes_nothing(tmp_path: Path) -> None:
    server = StripeServer()
    assert_replayed(case(PROGRAM, "by_a_client", server.url, folder=tmp_path), server, 2)
    assert [list(json.loads(told)) for told in server.telemetry] == [["last_request_metrics"]]
