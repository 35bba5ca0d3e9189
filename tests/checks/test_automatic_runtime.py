"""The paths that the source shows are the ones that a run records (rules A8 and A9)."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from semel.checks.explanation import general
from semel.checks.verdict import verdict
from semel.compiler.model import build, from_paths

PROGRAM = """
import asyncio
import http.client
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import httpx
import requests
from semel import App, each, once

U = "URL"
app = App("seen_by_both", database="sqlite:///FOLDER/shop.db")
web = httpx.Client(trust_env=False)


def notify(x):
    return web.get(U).text


def rank(x):
    once("rank", lambda: notify(x))
    return 1


class Box:
    def __init__(self, session: requests.Session) -> None:
        self.session = session

    def go(self):
        return self.session.get(U).text


@app.workflow
def fulfil(xs: list) -> int:
    httpx.post(U)
    for x in xs:
        notify(x)
    for x in each(xs, key=str):
        requests.get(U)
    sorted(xs, key=rank)
    Box(requests.Session()).go()
    ask = partial(urllib.request.urlopen, U)
    ask()
    with ThreadPoolExecutor() as pool:
        pool.submit(web.get, U).result()
    [web.put(U) for x in xs]
    with web.stream("GET", U) as streamed:
        streamed.read()
    once("direct", lambda: web.delete(U).text)
    once("helped", lambda: notify(1))
    return 1


@app.workflow(name="full-async")
async def fulfil_async(xs: list) -> int:
    async with httpx.AsyncClient(trust_env=False) as client:
        await client.get(U)
        await asyncio.gather(*[client.post(U) for x in xs])
    await asyncio.to_thread(notify, 1)
    await asyncio.to_thread(httpx.get, U)
    return 1
"""


class _Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    do_POST = do_PUT = do_DELETE = do_GET

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.rule("A8")
@pytest.mark.rule("A9")
def test_a_run_records_the_paths_that_the_model_foretells(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "seen_by_both.py"
    file.write_text(PROGRAM.replace("URL", url).replace("FOLDER", tmp_path.as_posix()))
    monkeypatch.syspath_prepend(str(tmp_path))
    program = importlib.import_module("seen_by_both")
    runs = {
        "fulfil": program.app.start(program.fulfil, ["a", "b"]),
        "full-async": program.app.start(program.fulfil_async, ["a", "b"]),
    }
    with program.app.worker():
        for run in runs.values():
            run.result(timeout=60)
    bodies = {body.workflow: body for body in verdict(build(from_paths([file]))).bodies}
    for name, run in runs.items():
        recorded = {general(step.path) for step in run.steps()}
        assert recorded == {step.path for step in bodies[name].steps}
        assert all(step.certain for step in bodies[name].steps)
    program.app.close()
    program.web.close()
