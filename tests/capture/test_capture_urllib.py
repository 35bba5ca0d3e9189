"""urllib.request, xmlrpc.client and http.client: what a body sees of them is the same live and on a replay."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from compared import Compared, compare
from harness import case
from wire_server import WireServer

FLOWS = [
    *("plain", "posted", "posted_in_pieces", "shapes", "head", "streamed", "redirected", "logged_in", "error_answer"),
    *("retrieved", "retried", "refused", "timed_out", "no_answer", "broken_off", "broken_off_in_pieces"),
    *("remote_call", "direct", "refused_directly", "too_early", "a_file", "concurrently"),
]


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Compared:
    folder = tmp_path_factory.mktemp("urllib")
    return compare("urllib_flows", FLOWS, WireServer(), lambda it: (it.url,), lambda it: len(it.requests), folder)


@pytest.mark.rule("A3")
@pytest.mark.parametrize("name", FLOWS)
def test_a_replay_shows_what_the_live_call_showed(compared: Compared, name: str) -> None:
    assert compared.replayed[name] == compared.live[name]


def test_a_replay_shows_what_was_said_over_tls(tmp_path: Path) -> None:
    certificate = (Path(__file__).parent / "localhost.pem",) * 2
    server = WireServer(certificate)
    both = compare("urllib_flows", ["over_tls"], server, lambda it: (it.url,), lambda it: len(it.requests), tmp_path)
    assert both.replayed == both.live
    assert both.asked == 1


def test_a_replay_asks_nothing(compared: Compared) -> None:
    assert compared.asked == compared.asked_live > len(FLOWS)


@pytest.mark.rule("A2")
@pytest.mark.parametrize(("crash", "before"), [("step.recorded:1", 1), ("step.recorded:2", 2), ("step.recorded:3", 3)])
def test_after_a_crash_between_parts_only_the_rest_is_asked(tmp_path: Path, crash: str, before: int) -> None:
    with WireServer() as server:
        run = case("urllib_flows", "two_calls", server.url, folder=tmp_path)
        assert run.attempt(crash).killed
        assert len(server.requests) == before
        assert run.replayed().result == "b'POST - 1' [b'GET - ']"
        assert [path for _, path in server.requests] == ["/echo?first", "/redirect/2", "/redirect/1", "/echo"]


def test_the_parts_of_a_call_are_named_after_it(tmp_path: Path) -> None:
    with WireServer() as server:
        run = case("urllib_flows", "two_calls", server.url, folder=tmp_path)
        assert run.attempt().fault is None
    calls = [
        "#auto:urllib.urlopen",
        "[0]#auto:urllib.urlopen",
        "[0]#auto:urllib.urlopen~1",
        "[0]#auto:urllib.urlopen~2",
    ]
    assert run.steps() == [f"two_calls/start@1{call}" for call in calls]


SHARING = """
import http.client
from semel import App

app = App("shop", database={database!r})
connection = http.client.HTTPConnection("127.0.0.1", {port})

def asked(path):
    connection.request("GET", path)
    return str(connection.getresponse().read())

@app.workflow
def ask():
    return [asked(path) for path in ("/echo?1", "/echo?2")]
"""


def test_a_connection_is_shared_by_a_body_and_other_code(program: Callable[[str], ModuleType], tmp_path: Path) -> None:
    with WireServer() as server:
        module = program(SHARING.format(database=f"sqlite:///{tmp_path / 'shop.db'}", port=server.port))
        answer = "b'GET - '"
        assert module.asked("/echo?0") == answer
        with module.app.worker():
            assert module.app.start(module.ask).result(timeout=60) == [answer, answer]
        assert module.asked("/echo?3") == answer
        module.connection.close()
        module.app.close()
        assert [path for _, path in server.requests] == [f"/echo?{number}" for number in range(4)]
        assert server.sessions == 1


@pytest.mark.rule("A10")
def test_a_failure_that_ends_the_body_is_asked_for_again(tmp_path: Path) -> None:
    with WireServer() as server:
        run = case("urllib_flows", "much", server.url, "half", folder=tmp_path)
        assert "IncompleteRead" in str(run.attempt().fault)
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
        run = case("urllib_flows", "much", server.url, name, folder=tmp_path)
        fault = str(run.attempt().fault)
        assert "ResultNotRecordable" in fault
        assert told in fault
        assert "much/start@1#auto:urllib.urlopen" in fault
        assert len(server.requests) == 1


def test_nothing_of_a_request_and_no_unlisted_header_is_stored(tmp_path: Path) -> None:
    with WireServer() as server:
        run = case("urllib_flows", "secret", server.url, folder=tmp_path)
        assert run.attempt().result == "not there"
    stored = b"".join(file.read_bytes() for file in tmp_path.glob("capture*"))
    assert b"application/json" in stored
    for secret in (b"secret-in-url", b"secret-in-body", b"secret-in-header", b"not recorded"):
        assert secret not in stored


@pytest.mark.parametrize(("workflow", "told"), [("upgraded", "websocket"), ("over_ftp", "once")])
def test_what_cannot_be_recorded_is_refused(tmp_path: Path, workflow: str, told: str) -> None:
    with WireServer() as server:
        run = case("urllib_flows", workflow, server.url, folder=tmp_path)
        fault = str(run.attempt().fault)
        assert "CallNotRecordable" in fault
        assert told in fault
        assert "urllib_flows.py:" in fault
        assert server.requests == []
