"""aiohttp's client: what a body sees of it is the same live and on a replay."""

from __future__ import annotations

from pathlib import Path

import aiohttp
import pytest
from compared import Compared, compare
from harness import case
from wire_server import WireServer

from semel.capture import _aiohttp_response
from semel.errors import ConfigurationError

FLOWS = [
    *("plain", "awaited", "by_function", "bodies", "shapes", "not_unpacked", "head", "streamed", "redirected"),
    *("posted_and_redirected", "not_followed", "too_many_redirects", "error_answers", "wrong_type", "refused"),
    *("no_answer", "broken_off", "asked_again_by_the_library", "timed_out", "retried", "through_middlewares"),
    *("traced", "concurrently", "begun_here_and_awaited_there", "gathered", "in_a_once"),
]


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Compared:
    folder = tmp_path_factory.mktemp("aiohttp")
    return compare("aiohttp_flows", FLOWS, WireServer(), lambda it: (it.url,), lambda it: len(it.requests), folder)


@pytest.mark.rule("A3")
@pytest.mark.parametrize("name", FLOWS)
def test_a_replay_shows_what_the_live_call_showed(compared: Compared, name: str) -> None:
    assert compared.replayed[name] == compared.live[name]


def test_a_replay_shows_what_was_said_over_tls(tmp_path: Path) -> None:
    certificate = (Path(__file__).parent / "localhost.pem",) * 2
    server = WireServer(certificate)
    both = compare("aiohttp_flows", ["over_tls"], server, lambda it: (it.url,), lambda it: len(it.requests), tmp_path)
    assert both.replayed == both.live
    assert both.asked == 1


def test_a_replay_asks_nothing(compared: Compared) -> None:
    assert compared.asked == compared.asked_live > len(FLOWS)


@pytest.mark.rule("A2")
@pytest.mark.parametrize(("crash", "before"), [("step.recorded:1", 1), ("step.recorded:2", 2), ("step.recorded:3", 3)])
def test_after_a_crash_between_parts_only_the_rest_is_asked(tmp_path: Path, crash: str, before: int) -> None:
    with WireServer() as server:
        run = case("aiohttp_flows", "two_calls", server.url, folder=tmp_path)
        assert run.attempt(crash).killed
        assert len(server.requests) == before
        assert run.replayed().result == "first: GET -  GET - "
        assert [path for _, path in server.requests] == ["/echo?first", "/redirect/2", "/redirect/1", "/echo"]


@pytest.mark.rule("A10")
def test_a_failure_that_ends_the_body_is_asked_for_again(tmp_path: Path) -> None:
    with WireServer() as server:
        run = case("aiohttp_flows", "much", server.url, "half", folder=tmp_path)
        assert "ClientPayloadError" in str(run.attempt().fault)
    assert run.steps() == []


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("endless", "more than 16 MiB"),
        ("large", "more than 16 MiB"),
        ("bomb", "unpacks to more than 256 MiB"),
    ],
)
def test_what_is_too_much_is_an_error_that_names_the_step(tmp_path: Path, name: str, told: str) -> None:
    with WireServer() as server:
        run = case("aiohttp_flows", "much", server.url, name, folder=tmp_path)
        fault = str(run.attempt().fault)
        assert "ResultNotRecordable" in fault
        assert told in fault
        assert "much/start@1#auto:aiohttp.ClientSession.get" in fault
        assert len(server.requests) == 1


@pytest.mark.parametrize("workflow", ["websocket", "upgraded"])
def test_a_websocket_is_refused(tmp_path: Path, workflow: str) -> None:
    with WireServer() as server:
        run = case("aiohttp_flows", workflow, server.url, folder=tmp_path)
        fault = str(run.attempt().fault)
        assert "CallNotRecordable" in fault
        assert "aiohttp_flows.py:" in fault
        assert server.requests == []


def test_a_version_that_is_built_otherwise_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    async def _request(self: object, method: str, url: str) -> None:
        """Of a version without middlewares."""

    monkeypatch.setattr(aiohttp.ClientSession, "_request", _request)
    with pytest.raises(ConfigurationError, match=rf"aiohttp {aiohttp.__version__} cannot be recorded.*middlewares"):
        _aiohttp_response.check(aiohttp)
