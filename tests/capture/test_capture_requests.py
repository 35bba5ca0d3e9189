"""requests: what a body sees of it is the same live and on a replay, and the same as outside of a run."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness import AT_THE_END, HERE, Case, case
from http_server import Proxy, Server
from seen import seen

PROGRAM = "requests_program"


@pytest.fixture
def nobody() -> Iterator[str]:
    """An address that nobody listens at."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"


def assert_replayed(run: Case, server: Server, parts: int) -> None:
    """Runs it live, stops the server, runs it again: the same is seen, and ``parts`` exchanges were recorded."""
    with server:
        live = run.live()
    asked = len(server.requests)
    assert len(run.steps()) == parts
    replayed = run.replayed()
    assert seen(replayed) == seen(live)
    assert len(server.requests) == asked


@pytest.mark.rule("A3")
@pytest.mark.parametrize(
    ("workflow", "parts"),
    [
        *(("plain", 1), ("kinds", 6), ("sent", 4), ("head", 1), ("cookies", 2), ("redirected", 3)),
        *(("too_many_redirects", 4), ("streamed", 1), ("read_in_pieces", 1), ("decoded_in_pieces", 1)),
        *(("retried", 3), ("retried_after_a_failure", 2), ("retried_in_vain", 3), ("late", 1), ("broken", 6)),
        *(("broken_in_a_stream", 6), ("stalled", 1), ("twenty_at_once", 20)),
    ],
)
def test_a_replay_shows_what_the_live_call_showed(workflow: str, parts: int, tmp_path: Path) -> None:
    server = Server()
    assert_replayed(case(PROGRAM, workflow, server.url, folder=tmp_path), server, parts)


def test_a_call_that_fails_fails_equally_on_a_replay(tmp_path: Path, nobody: str) -> None:
    server = Server()
    assert_replayed(case(PROGRAM, "failures", server.url, nobody, folder=tmp_path), server, 6)


def test_a_proxy_is_not_asked_on_a_replay(tmp_path: Path, nobody: str) -> None:
    server, proxy = Server(), Proxy()
    with proxy:
        assert_replayed(case(PROGRAM, "through_a_proxy", server.url, proxy.url, nobody, folder=tmp_path), server, 5)


def test_no_tls_connection_and_no_tunnel_is_made_on_a_replay(tmp_path: Path) -> None:
    certificate = str(HERE / "localhost.pem")
    server = Server(certificate=certificate)
    with Proxy(server.address) as proxy:
        assert_replayed(case(PROGRAM, "over_tls", server.url, proxy.url, certificate, folder=tmp_path), server, 3)
        assert proxy.tunnels == 1


@pytest.mark.rule("A2")
@pytest.mark.parametrize("crash", ["step.recorded:1", "step.recorded:2", "step.before:2", "step.before:3"])
@pytest.mark.parametrize("workflow", ["redirected", "retried"])
def test_after_a_crash_between_two_parts_only_the_rest_is_asked_for(workflow: str, crash: str, tmp_path: Path) -> None:
    with Server() as server:
        run = case(PROGRAM, workflow, server.url, folder=tmp_path)
        assert run.attempt(crash).killed or workflow == "retried"  # a 503 is no fact before the next part begins
        done = run.attempt()
        assert done.fault is None
        assert len(server.requests) == 3
    assert len(done.shown) == 12 if workflow == "redirected" else 10


@pytest.mark.rule("A7")
def test_a_call_directly_in_a_once_belongs_to_it_and_one_of_a_helper_is_a_step_in_it(tmp_path: Path) -> None:
    server = Server()
    run = case(PROGRAM, "named", server.url, folder=tmp_path)
    assert_replayed(run, server, 3)
    assert run.steps() == [
        "named/start@1#direct",
        "named/start@1/by a helper/name_of#auto:requests.get",
        "named/start@1#by a helper",
    ]


@pytest.mark.rule("O20")
def test_a_call_that_is_handed_to_a_thread_has_its_record_whatever_the_request_now_says(tmp_path: Path) -> None:
    server = Server()
    assert_replayed(case(PROGRAM, "handed_to_a_thread", server.url, folder=tmp_path), server, 2)


def test_a_body_given_as_a_file_is_read_once(tmp_path: Path) -> None:
    file = tmp_path / "file.txt"
    file.write_text("from a file")
    server = Server()
    run = case(PROGRAM, "posted_files", server.url, str(file), folder=tmp_path)
    assert_replayed(run, server, 1)
    assert server.bodies == [b"from a file"]


def test_twenty_bodies_over_one_session_each_keep_their_own_answers(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(HERE), str(HERE.parent.parent / "src")]),
        "DATABASE": f"sqlite:///{tmp_path / 'capture.db'}",
    }
    with Server() as server:
        command = [sys.executable, str(HERE / "requests_program.py"), server.url]
        crash = {"SEMEL_CRASH_AT": AT_THE_END}
        first = subprocess.run(command, env=environment | crash, check=False, capture_output=True, text=True)
    assert first.returncode == -signal.SIGKILL, first.stderr
    assert len(server.requests) == 20
    again = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    assert [json.loads(text)["number"] for text in json.loads(again.stdout)] == list(range(20))


@pytest.mark.parametrize("path", ["endless", "endless_chunks", "big"])
def test_an_answer_over_the_limit_faults_the_run_with_the_way_out(path: str, tmp_path: Path) -> None:
    with Server() as server:
        run = case(PROGRAM, "without_end", server.url, path, folder=tmp_path)
        fault = run.attempt().fault
    assert fault is not None
    assert "ResultNotRecordable" in fault
    assert "without_end/start@1#auto:requests.get" in fault
    assert "an answer of more than 16 MiB" in fault


def test_an_answer_that_unpacks_to_too_much_faults_the_run(tmp_path: Path) -> None:
    with Server() as server:
        fault = case(PROGRAM, "without_end", server.url, "bomb", folder=tmp_path).attempt().fault
    assert fault is not None
    assert "that unpacks to more than" in fault
