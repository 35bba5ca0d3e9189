"""smtplib: each message is a step, and a replay needs no server."""

from __future__ import annotations

import smtplib
from pathlib import Path

import pytest
from compared import Compared, compare
from harness import case
from mail_server import MailServer

from semel import App

FLOWS = [
    *("plain", "by_hand", "refusals", "wrong_password", "no_server", "unknown_host", "never_connected"),
    *("many_over_one", "concurrently", "in_a_once"),
]
#: Each with a server of its own kind.
TLS = {"secured": False, "secured_from_the_start": True, "distrusted": True}
CERTIFICATE = (Path(__file__).parent / "localhost.pem",) * 2


def compared_over(server: MailServer, names: list[str], folder: Path) -> Compared:
    return compare("smtplib_flows", names, server, lambda it: (it.host, it.port), lambda it: len(it.commands), folder)


@pytest.fixture(scope="module")
def server() -> MailServer:
    return MailServer()


@pytest.fixture(scope="module")
def compared(server: MailServer, tmp_path_factory: pytest.TempPathFactory) -> Compared:
    return compared_over(server, FLOWS, tmp_path_factory.mktemp("smtplib"))


@pytest.mark.rule("A3")
@pytest.mark.parametrize("name", FLOWS)
def test_a_replay_shows_what_the_live_call_showed(compared: Compared, name: str) -> None:
    assert compared.replayed[name] == compared.live[name]


def test_a_replay_says_nothing_to_the_server(compared: Compared, server: MailServer) -> None:
    assert compared.asked >= compared.asked_live > 0
    assert len(server.messages) == 1 + 1 + 3 + 20 + 1


def test_messages_over_one_connection_log_in_once_and_hang_up(tmp_path: Path) -> None:
    server = MailServer()
    compared_over(server, ["many_over_one"], tmp_path)
    assert (server.sessions, server.count("AUTH"), server.count("QUIT"), len(server.messages)) == (1, 1, 1, 3)


@pytest.mark.parametrize("name", TLS)
def test_encrypted_connections(tmp_path: Path, name: str) -> None:
    server = MailServer(CERTIFICATE, at_once=TLS[name])
    both = compared_over(server, [name], tmp_path)
    assert both.replayed == both.live
    assert len(server.messages) == (name != "distrusted")


def test_a_dropped_connection_is_opened_again_for_the_next_message(tmp_path: Path) -> None:
    server = MailServer()
    server.dropping = True
    both = compared_over(server, ["dropped_and_sent_again"], tmp_path)
    assert both.replayed == both.live
    assert (server.sessions, len(server.messages)) == (2, 1)


@pytest.mark.rule("A2")
@pytest.mark.parametrize("number", [1, 2, 3])
def test_after_a_crash_between_messages_only_the_rest_is_sent(tmp_path: Path, number: int) -> None:
    with MailServer() as server:
        run = case("smtplib_flows", "fulfil", server.host, server.port, folder=tmp_path)
        assert run.attempt(f"step.recorded:{number}").killed
        assert len(server.messages) == number
        assert run.replayed().result == "sent"
    assert [to for _, to, _ in server.messages] == [["first@test"], ["second@test"], ["third@test"]]
    assert run.steps() == [f"fulfil/start@1[{number}]#auto:smtplib.SMTP.sendmail" for number in range(3)]


def test_a_client_that_was_connected_before_is_used_as_it_is(tmp_path: Path) -> None:
    with MailServer() as server:
        run = case("smtplib_flows", "over_a_shared_client", server.host, server.port, folder=tmp_path)
        assert run.attempt("body.before_commit:1", SHARED=f"{server.host} {server.port}").killed
        assert (server.sessions, len(server.messages)) == (1, 1)
    assert run.replayed().result == "{'no@test': (550, b'nobody of that name')}"


@pytest.mark.rule("A6")
def test_outside_of_a_run_it_simply_happens(app: App) -> None:
    with MailServer() as server:
        with smtplib.SMTP(server.host, server.port) as client:
            assert client.has_extn("size") is False
            assert client.ehlo()[0] == 250
            assert client.has_extn("size")
            assert client.vrfy("you@test") == (500, b"what?")
            assert client.sendmail("me@test", ["you@test"], "text") == {}
        assert len(server.messages) == 1


def test_no_password_and_no_message_is_stored(tmp_path: Path) -> None:
    with MailServer() as server:
        run = case("smtplib_flows", "flows", server.host, server.port, ["plain", "wrong_password"], folder=tmp_path)
        run.live()
    stored = b"".join(file.read_bytes() for file in tmp_path.glob("capture*"))
    assert b"SMTPAuthenticationError" in stored
    for secret in (b"wrong-secret", b"you@test", b"Hello", b"A letter"):
        assert secret not in stored


@pytest.mark.parametrize("what", ["VRFY", "has_extn", "MAIL", "DATA", "HELP"])
def test_what_else_a_server_could_be_asked_is_refused(tmp_path: Path, what: str) -> None:
    with MailServer() as server:
        run = case("smtplib_flows", "asks", server.host, server.port, what.lower(), folder=tmp_path)
        fault = str(run.attempt().fault)
        assert "CallNotRecordable" in fault
        assert "smtplib_flows.py:" in fault
        assert what.lower() in fault
    assert server.commands == []
