"""Twenty bodies at once over one client of each library: each keeps its own records, and reads back its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from aws_server import AwsServer
from harness import HERE
from llm_server import LlmServer
from mail_server import MailServer
from stripe_server import StripeServer
from wire_server import WireServer

Serving = Iterator[tuple[str, Callable[[], int]]]


@contextmanager
def llm() -> Serving:
    server = LlmServer()
    try:
        yield server.url, lambda: len(server.asked)
    finally:
        server.stop()


@contextmanager
def http(made: Callable[[], Any], asked: str) -> Serving:
    with made() as server:
        yield server.url, lambda: len(getattr(server, asked))


@contextmanager
def mail() -> Serving:
    with MailServer() as server:
        yield f"{server.host}:{server.port}", lambda: len(server.messages)


#: By kind: the server, and how many exchanges the twenty bodies make.
KINDS: dict[str, tuple[Callable[[], Any], int]] = {
    "urllib": (lambda: http(WireServer, "requests"), 40),
    "urllib3": (lambda: http(WireServer, "requests"), 40),
    "aiohttp": (lambda: http(WireServer, "requests"), 40),
    "boto3": (lambda: http(AwsServer, "asked"), 80),
    "stripe": (lambda: http(StripeServer, "asked"), 40),
    "openai": (llm, 40),
    "openai_async": (llm, 40),
    "anthropic": (llm, 40),
    "anthropic_async": (llm, 40),
    "smtplib": (mail, 40),
    "aiosmtplib": (mail, 40),
}


@pytest.mark.rule("A2")
@pytest.mark.parametrize("kind", KINDS)
def test_twenty_bodies_over_one_client_each_keep_their_own_records(tmp_path: Path, kind: str) -> None:
    serving, exchanges = KINDS[kind]
    with AwsServer() as credentials:
        environment = {
            **os.environ,
            **credentials.environment(),
            "PYTHONPATH": os.pathsep.join([str(HERE), str(HERE.parent.parent / "src")]),
            "DATABASE": f"sqlite:///{tmp_path / 'capture.db'}",
            "SHOWN": str(tmp_path / "shown.json"),
            "NO_PROXY": "*",
        }
        with serving() as (address, asked):
            command = [sys.executable, str(HERE / "shared_program.py"), kind, address]
            killed = subprocess.run(
                command, env={**environment, "DIE": "1"}, capture_output=True, text=True, check=False
            )
            assert killed.returncode == -signal.SIGKILL, killed.stderr
            assert asked() == exchanges
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    shown = json.loads((tmp_path / "shown.json").read_text())
    assert shown == [[f"{number}-{n}" for n in range(2)] for number in range(20)]
