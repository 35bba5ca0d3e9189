"""Mail servers that are no good: what comes of them is the same on a replay, by smtplib and by aiosmtplib."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mail_server
import pytest
from harness import case
from mail_server import MailServer


def closing_half_way(session: Any, line: str) -> None:
    session.say("354 go on")
    session.read()
    raise EOFError


def without_end(session: Any, line: str) -> None:
    while True:
        session.connection.sendall(b"x" * 10_000)  # one line


def nonsense(session: Any, line: str) -> None:
    session.connection.sendall(b"this is no mail\r\n")


#: The command whose answer is replaced, and by what.
BAD: dict[str, tuple[str, Any]] = {
    "closes half-way": ("do_data", closing_half_way),
    "never ends its line": ("do_mail", without_end),
    "answers nonsense": ("do_mail", nonsense),
}


def replayed_equally(workflow: str, server: MailServer, folder: Path) -> Any:
    with server:
        run = case("mail_cells_flows", workflow, server.host, server.port, folder=folder)
        live = run.live()
    assert run.replayed().shown == live.shown
    assert len(run.steps()) == 1
    return live.shown[0]


@pytest.mark.rule("A10")
@pytest.mark.parametrize("workflow", ["by_smtplib", "by_aiosmtplib"])
@pytest.mark.parametrize("bad", BAD)
def test_a_server_that_is_no_good_is_the_same_error_on_a_replay(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, workflow: str, bad: str
) -> None:
    command, answers = BAD[bad]
    monkeypatch.setattr(mail_server._Session, command, answers)
    assert "exception" in replayed_equally(workflow, MailServer(), tmp_path)


@pytest.mark.rule("A10")
@pytest.mark.parametrize("workflow", ["by_smtplib", "by_aiosmtplib"])
def test_a_server_that_wants_nobody_is_the_same_error_on_a_replay(tmp_path: Path, workflow: str) -> None:
    server = MailServer()
    server.greeting = "554 go away"
    assert "SMTPConnect" in replayed_equally(workflow, server, tmp_path)["exception"]
