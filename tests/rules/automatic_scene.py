"""What the tests of automatic steps share: a server that counts, and a run that faults and is delivered again."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

import semel
from semel import App

client = httpx.Client(trust_env=False)
failing: set[str] = set()
log: list[str] = []


class Server(ThreadingHTTPServer):
    """Answers with the path and a count; a path in ``failing`` gets a 500."""

    daemon_threads = True
    request_queue_size = 512

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[str] = []
        self.url = f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        path = self.path.partition("?")[0]
        self.server.asked.append(f"{self.command} {path}")
        if path.startswith("/to/"):
            self._answer(302, b"", ("location", path.removeprefix("/to")))
        elif path in failing:
            self._answer(500, b"broken")
        elif path == "/huge":
            self._answer(200, b"x" * (17 * 2**20))
        else:
            self._answer(200, json.dumps({"path": path, "count": len(self.server.asked)}).encode())

    do_POST = do_GET

    def _answer(self, status: int, body: bytes, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        for name, value in (*headers, ("content-length", str(len(body))), ("x-private", "mine"), ("etag", "7")):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    failing.clear()
    log.clear()
    made = Server()
    thread = threading.Thread(target=made.serve_forever, args=(0.01,))
    thread.start()
    yield made
    made.shutdown()
    made.server_close()
    thread.join()


def paths(run: semel.Run[object]) -> list[str]:
    return [record.path.partition("@1")[2] for record in run.steps()]


def faulted_then_retried(app: App, workflow: Callable[..., object], *args: object) -> tuple[semel.Run[object], object]:
    """The first delivery faults (the body raises while ``/go`` is not in ``log``); then it is delivered again."""
    app.workflow(workflow)
    run = app.start(workflow, *args)
    with app.worker():
        with pytest.raises(BrokenOff):
            run.result(timeout=10)
        log.append("/go")
        assert run.retry()
        return run, run.result(timeout=10)


class BrokenOff(Exception):
    pass


def break_off() -> None:
    if "/go" not in log:
        raise BrokenOff
