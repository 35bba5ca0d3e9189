"""Taking one library's file out of capture/ turns the cells of that library red, and no other's."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from aws_server import AwsServer
from cells_server import CellsServer
from harness import HERE
from llm_server import LlmServer
from mail_server import MailServer
from matrix_bad import FILES
from stripe_server import StripeServer

from semel.capture.install import LIBRARIES

SOURCES = HERE.parents[1] / "src" / "semel"

#: They record nothing.
OTHERS = {"guard", "threads", "sleeps", "grpc", "websockets"}

Shown = dict[str, str]


def test_each_file_that_records_is_taken_out_in_turn() -> None:
    assert set(FILES) == set(LIBRARIES) - OTHERS


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], tuple[Shown, Shown]]]:
    """By file: what each library's call gave live, and on a replay without that file with the servers stopped."""
    folder = tmp_path_factory.mktemp("removed")
    live = folder / "live"
    live.mkdir()
    with AwsServer() as credentials, CellsServer() as sessions:  # they stay: what they give is in no record
        environment = credentials.environment()
        with ExitStack() as servers:
            addresses = started(servers) | {"botocore": sessions.url}
            arguments = [json.dumps(addresses), json.dumps([*addresses])]
            first = run(live, SOURCES.parent, arguments, STOP="1", **environment)

        def without(file: str) -> Shown:
            copy = folder / (file or "nothing")
            shutil.copytree(live, copy)
            shutil.copytree(SOURCES, copy / "src" / "semel")
            if file:
                (copy / "src" / "semel" / "capture" / f"{file}.py").unlink()
            return run(copy, copy / "src", arguments, **environment)

        with ThreadPoolExecutor(2) as threads:
            coming = {file: threads.submit(without, file) for file in ("", *FILES)}
            yield lambda file: (first, coming[file].result())


def started(servers: ExitStack) -> dict[str, str]:
    """The addresses of the servers, by the name of the call."""
    web, aws, mail, stripe = (
        servers.enter_context(CellsServer()),
        servers.enter_context(AwsServer()),
        servers.enter_context(MailServer()),
        servers.enter_context(StripeServer()),
    )
    llm = LlmServer()
    servers.callback(llm.stop)
    aws.objects["shop/k"] = b"text"
    post = f"{mail.host}:{mail.port}"
    return {
        **dict.fromkeys(("httpx", "httpx2", "requests", "urllib3", "urllib", "aiohttp"), web.url),
        "boto3": aws.url,
        "smtplib": post,
        "aiosmtplib": post,
        "openai": llm.url,
        "anthropic": llm.url,
        "stripe": stripe.url,
    }


def run(folder: Path, sources: Path, arguments: list[str], **env: str) -> Shown:
    done = subprocess.run(
        [sys.executable, str(HERE / "removed_program.py"), *arguments],
        env={
            **os.environ,
            **env,
            "PYTHONPATH": os.pathsep.join([str(HERE), str(sources)]),
            "DATABASE": f"sqlite:///{folder / 'capture.db'}",
            "NO_PROXY": "*",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    shown: Shown = json.loads(done.stdout.splitlines()[-1])
    return shown


@pytest.mark.rule("A3")
@pytest.mark.parametrize("file", ["", *FILES], ids=["nothing", *FILES])
def test_without_a_file_the_calls_of_its_library_are_red_and_no_others(
    replayed: Callable[[str], tuple[Shown, Shown]], file: str
) -> None:
    live, again = replayed(file)
    assert all(told.startswith("StopHere: ") for told in live.values()), live
    red = {name for name, told in again.items() if f"StopHere: {told}" != live[name]}
    assert red == FILES.get(file, frozenset())
