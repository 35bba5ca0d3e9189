"""A process that makes HTTP calls to a server in a thread of its own, and prints what one call takes, in microseconds.

``plain`` knows nothing of semel; ``registered`` calls outside of a run where semel has installed its recorder; ``run``
makes the same calls in a run, live, and then replays them in a second delivery.
"""

from __future__ import annotations

import json
import socketserver
import sys
import tempfile
import threading
import timeit
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import httpx
import requests

_BODY = b'{"id": "ch_1", "status": "succeeded"}'
_ANSWER = (
    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: "
    + str(len(_BODY)).encode()
    + b"\r\n\r\n"
    + _BODY
)
CALLS = 200

spent: list[float] = []
gone: list[bool] = []


class _Handler(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        while self.request.recv(65536):
            self.request.sendall(_ANSWER)


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


client = httpx.Client(trust_env=False)
session = requests.Session()
session.trust_env = False


def by_httpx(url: str) -> None:
    began = perf_counter()
    for _ in range(CALLS):
        client.get(url)
    spent.append(perf_counter() - began)
    if len(gone) == 0:
        gone.append(True)
        raise RuntimeError("delivered again")


def by_requests(url: str) -> None:
    began = perf_counter()
    for _ in range(CALLS):
        session.get(url)
    spent.append(perf_counter() - began)
    if len(gone) == 0:
        gone.append(True)
        raise RuntimeError("delivered again")


def main(role: str) -> None:
    """The child's side."""
    server = _Server(("127.0.0.1", 0), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}/"
    with tempfile.TemporaryDirectory() as folder:
        if role == "plain":
            print(json.dumps(_outside(url)))
        else:
            print(json.dumps(_with_semel(role, url, Path(folder))))


def _outside(url: str) -> dict[str, float]:
    return {"httpx": _least(lambda: client.get(url)), "requests": _least(lambda: session.get(url))}


def _least(call: Callable[[], object]) -> float:
    return min(timeit.Timer(call).repeat(repeat=40, number=10)) / 10 * 1e6


def _with_semel(role: str, url: str, folder: Path) -> dict[str, float]:
    from semel import App

    app = App("bench", database=f"sqlite:///{folder / 'asking.db'}")
    found: dict[str, float] = {}
    for name, workflow in (("httpx", by_httpx), ("requests", by_requests)):
        app.workflow(redeliver=1)(workflow)
        spent.clear()
        gone.clear()
        with app.worker():
            app.start(workflow, url).result()
        found[f"{name} live"], found[f"{name} replayed"] = (seconds / CALLS * 1e6 for seconds in spent)
    if role == "registered":
        found = _outside(url)
    app.close()
    return found


if __name__ == "__main__":
    main(sys.argv[1])
