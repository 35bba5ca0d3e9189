"""What programs do with urllib3 itself; each function gives the objects that it got."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import urllib3
from deep import show
from urllib3.util.retry import Retry

from semel import App

app = App("capture", database=os.environ["DATABASE"])


@app.workflow
def flows(url: str, names: list[str]) -> None:
    for name in names:
        show([name, globals()[name](url)])


def caught(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except urllib3.exceptions.HTTPError as error:
        return error


def told(response: Any) -> Any:
    """What a caller can see of a response."""
    seen = [response.status, response.reason, response.version, response.headers.items(), response.geturl()]
    return [*seen, response.retries, response.data, response]


def error_answers(url: str) -> Any:
    with urllib3.PoolManager() as pool:
        return [told(pool.request("GET", f"{url}/status/{status}")) for status in (404, 500)]


def redirected(url: str) -> Any:
    with urllib3.PoolManager() as pool:
        return told(pool.request("GET", f"{url}/redirect/2"))


def refused(url: str) -> Any:
    addresses = (f"http://127.0.0.1:{os.environ['CLOSED_PORT']}/", "http://no.such.host.invalid/")
    with urllib3.PoolManager(retries=False) as pool:
        errors = [caught(partial(pool.request, "GET", address)) for address in addresses]
    # Its connection, which it holds too, has what connecting left in it.
    return [(type(error).__name__, str(error), error.args, error.__cause__) for error in errors]


def broken_off(url: str) -> Any:
    seen: list[Any] = []
    with urllib3.PoolManager() as pool:
        for name in ("half", "half-chunked", "reset"):
            response = pool.request("GET", f"{url}/{name}", preload_content=False)
            seen += [response.status, response.headers.items(), caught(response.read)]
    return seen


def longer(url: str) -> Any:
    with urllib3.PoolManager() as pool:
        return told(pool.request("GET", f"{url}/longer"))


def twenty_at_once(url: str) -> Any:
    with urllib3.PoolManager(maxsize=20) as pool, ThreadPoolExecutor(20) as threads:
        return [*threads.map(lambda number: pool.request("POST", f"{url}/echo", body=str(number)).data, range(20))]


@app.workflow
def retried(url: str) -> str:
    with urllib3.PoolManager() as pool:
        response = pool.request("GET", f"{url}/flaky", retries=Retry(5, status_forcelist=[503]))
        return str(response.data)


@app.workflow
def much(url: str, name: str) -> str:
    with urllib3.PoolManager() as pool:
        return str(len(pool.request("GET", f"{url}/{name}").data))
