"""urllib3 used directly: pools, its own retries and redirects, answers in pieces, failures."""

from __future__ import annotations

from pathlib import Path

import pytest
import urllib3
from harness import case
from http_server import Server
from test_capture_requests import PROGRAM, assert_replayed, nobody

from semel.capture import urllib3 as seam

__all__ = ["nobody"]


@pytest.mark.rule("A3")
@pytest.mark.parametrize(("workflow", "parts"), [("by_urllib3", 12), ("by_urllib3_in_pieces", 2)])
def test_a_replay_shows_what_the_live_call_showed(workflow: str, parts: int, tmp_path: Path) -> None:
    server = Server()
    assert_replayed(case(PROGRAM, workflow, server.url, folder=tmp_path), server, parts)


def test_each_try_is_a_part_and_the_failure_at_the_end_is_the_same(tmp_path: Path, nobody: str) -> None:
    server = Server()
    assert_replayed(case(PROGRAM, "urllib3_fails", server.url, nobody, folder=tmp_path), server, 9)


@pytest.mark.rule("A6")
def test_outside_of_a_run_nothing_is_recorded_and_the_library_does_its_own() -> None:
    seam.install(urllib3)
    with Server() as server, urllib3.PoolManager() as pool:
        response = pool.request("GET", f"{server.url}/chunked", preload_content=False)
        pieces = list(response.stream(100))
        assert pieces == [b"one\n", b"two\n", b"three\n"]  # as they came: a recorded answer comes whole
        assert response.headers["Server"] == "local "


def test_installing_twice_changes_nothing() -> None:
    seam.install(urllib3)
    once = urllib3.HTTPConnectionPool._make_request
    seam.install(urllib3)
    assert urllib3.HTTPConnectionPool._make_request is once
