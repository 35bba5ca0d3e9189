"""aiosmtplib: each message is a step, and a replay needs no server."""

from __future__ import annotations

from pathlib import Path

import aiosmtplib
import pytest
from compared import Compared, compare
from harness import case
from mail_server import MailServer

from semel import App

FLOWS = [
    *("plain", "raw", "by_hand", "refusals", "wrong_password", "no_server", "never_connected"),
    *("in_a_block", "concurrently", "concurrently_over_one", "in_a_once"),
]
#: Each with a server of its own kind.
TLS = {"secured": False, "secured_from_the_start": True, "distrusted": True}
CERTIFICATE = (Path(__file__).parent / "localhost.pem",) * 2


def compared_over(server: MailServer, names: list[str], folder: Path) -> Compared:
    return compare(
        "aiosmtplib_flows", names, server, lambda it: (it.host, it.port), lambda it: len(it.commands), folder
    )


@pytest.fixture(scope="module")
def server() -> MailServer:
    return MailServer()


@pytest.fixture(scope="module")
def compared(server: MailServer, tmp_path_factory: pytest.TempPathFactory) -> Compared:
    return compared_over(server, FLOWS, tmp_path_factory.mktemp("aiosmtplib"))


@pytest.mark.rule("A3")
@pytest.mark.parametrize("name", FLOWS)
def test_a_replay_shows_what_the_live_call_showed(compared: Compared, name: str) -> None:
    assert compared.replayed[name] == compared.live[name]


def test_a_replay_says_nothing_to_the_server(compared: Compared, server: MailServer) -> None:
    assert compared.asked >= compared.asked_live > 0
    assert len(server.messages) == 1 + 1 + 1 + 3 + 20 + 5 + 1


def test_messages_over_one_connection_log_in_once_and_hang_up(tmp_path: Path) -> None:
    server = MailServer()
    compared_over(server, ["in_a_block"], tmp_path)
    assert (server.sessions, server.count("AUTH"), server.count("QUIT"), len(server.messages)) == (1, 0, 1, 3)


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
        run = case("aiosmtplib_flows", "fulfil", server.host, server.port, folder=tmp_path)
        assert run.attempt(f"step.recorded:{number}").killed
        assert len(server.messages) == number
        assert run.replayed().result == "sent"
    assert [to for _, to, _ in server.messages] == [["first@test"], ["second@test"], ["third@test"]]
    assert run.steps() == [f"fulfil/start@1[{number}]#auto:aiosmtplib.SMTP.sendmail" for number in range(3)]


@pytest.mark.rule("A6")
async def test_outside_of_a_run_it_simply_happens(app: App) -> None:
    with MailServer() as server:
        async with aiosmtplib.SMTP(hostname=server.host, port=server.port) as client:
            assert client.is_connected
            assert client.supports_extension("size")
            assert (await client.noop()).code == 250
            assert await client.sendmail("me@test", ["you@test"], "text") == ({}, "kept as 1")
        assert not client.is_connected


def test_no_password_and_no_message_is_stored(tmp_path: Path) -> None:
    with MailServer() as server:
        run = case("aiosmtplib_flows", "flows", server.host, server.port, ["plain", "wrong_password"], folder=tmp_path)
        run.live()
    stored = b"".join(file.read_bytes() for file in tmp_path.glob("capture*"))
    assert b"SMTPAuthenticationError" in stored
    for secret in (b"wrong-secret", b"you@test", b"Hello", b"A letter"):
        assert secret not in stored


@pytest.mark.parametrize("what", ["VRFY", "supports_extension", "MAIL", "DATA", "HELP"])
def test_what_else_a_server_could_be_asked_is_refused(tmp_path: Path, what: str) -> None:
    with MailServer() as server:
        run = case("aiosmtplib_flows", "asks", server.host, server.port, what, folder=tmp_path)
        fault = str(run.attempt().fault)
        assert "CallNotRecordable" in fault
        assert "aiosmtplib_flows.py:" in fault
        assert what in fault
    assert server.commands == []
