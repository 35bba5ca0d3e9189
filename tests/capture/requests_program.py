"""What programs do with requests and urllib3, each as a workflow that is given a server's address.

Each shows what it got. Nothing in it knows that it is recorded.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import requests
import urllib3
from deep import show
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry

from semel import App, once

app = App("capture", database=os.environ["DATABASE"])


def caught(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
        return error


def of(response: requests.Response) -> list[Any]:
    """What a caller can see of an answer."""
    read = [response.text, response.apparent_encoding, response.links, response.ok, response.is_redirect]
    return [response, *read, response.raw.headers, response.raw.version, caught(response.raise_for_status)]


# ----------------------------------------------------------------------------------------------------------- requests


@app.workflow
def plain(url: str) -> int:
    response = requests.get(f"{url}/json", params={"q": "ü"})
    show(*of(response), response.json())
    return response.status_code


@app.workflow
def kinds(url: str) -> None:
    with requests.Session() as session:
        for path in ("text", "empty", "gzip", "chunked", "old", "missing"):
            show(*of(session.get(f"{url}/{path}")))


@app.workflow
def sent(url: str) -> None:
    with requests.Session() as session:
        bodies: list[dict[str, Any]] = [
            {"json": {"a": 1}},
            {"data": {"a": "1"}},
            {"data": iter([b"in ", b"pieces"])},
            {"files": {"f": ("f.txt", b"text")}},
        ]
        for body in bodies:
            response = session.post(f"{url}/echo?files={'files' in body}", **body)
            show(response.status_code, response.headers.get("Content-Type", "").split(";")[0])


@app.workflow
def head(url: str) -> None:
    show(*of(requests.head(f"{url}/json")))


@app.workflow
def cookies(url: str) -> None:
    with requests.Session() as session:
        show(*of(session.get(f"{url}/json")))
        show(session.cookies.get_dict())
        show(session.post(f"{url}/echo", data="x").request.headers["Cookie"])


@app.workflow
def redirected(url: str) -> None:
    response = requests.get(f"{url}/see_other")
    show(*of(response), response.history, [step.url for step in response.history], response.cookies)


@app.workflow
def too_many_redirects(url: str) -> None:
    with requests.Session() as session:
        session.max_redirects = 3
        show(caught(lambda: session.get(f"{url}/loop")))


@app.workflow
def streamed(url: str) -> None:
    with requests.get(f"{url}/chunked", stream=True) as response:
        show(response.raw.closed, list(response.iter_lines()), response)


@app.workflow
def read_in_pieces(url: str) -> None:
    with requests.get(f"{url}/gzip", stream=True) as response:
        raw = response.raw
        show(raw.read(5), raw.tell(), raw.read(decode_content=False), raw.closed, raw.isclosed(), raw.read())


@app.workflow
def decoded_in_pieces(url: str) -> None:
    with requests.get(f"{url}/gzip", stream=True) as response:
        show(list(response.iter_content(7)), response)


def session_with(**retries: Any) -> requests.Session:
    session = requests.Session()
    session.mount("http://", HTTPAdapter(max_retries=Retry(backoff_factor=0, **retries)))
    return session


@app.workflow
def retried(url: str) -> None:
    with session_with(total=5, status_forcelist=[503]) as session:
        response = session.get(f"{url}/busy")
        show(*of(response), response.raw.retries)


@app.workflow
def retried_after_a_failure(url: str) -> None:
    with session_with(total=5) as session:
        response = session.get(f"{url}/shy")
        show(*of(response), response.raw.retries)


@app.workflow
def retried_in_vain(url: str) -> None:
    with session_with(total=2, status_forcelist=[503]) as session:
        show(caught(lambda: session.get(f"{url}/down")))


@app.workflow
def failures(url: str, nobody: str) -> None:
    targets = {
        "refused": nobody,
        "unknown": "http://nowhere.invalid/",
        "no TLS": url.replace("http:", "https:"),
        **{name: f"{url}/{name}" for name in ("silence", "reset", "no_http")},
    }
    for name, target in targets.items():
        show(name, caught(lambda target=target: requests.get(target)))  # type: ignore[misc]


@app.workflow
def late(url: str) -> None:
    show(caught(lambda: requests.get(f"{url}/slow", timeout=(5, 0.05))))


BROKEN = ("lying", "halfway", "between", "no_size", "torn", "garbled")


@app.workflow
def broken(url: str) -> None:
    for name in BROKEN:
        show(name, caught(lambda name=name: requests.get(f"{url}/{name}")))  # type: ignore[misc]


@app.workflow
def broken_in_a_stream(url: str) -> None:
    for name in BROKEN:
        show(name, *pieces(f"{url}/{name}"))


@app.workflow
def stalled(url: str) -> None:
    show(*pieces(f"{url}/stalled", timeout=(5, 0.05)))


def pieces(url: str, **options: Any) -> list[Any]:
    got: list[Any] = []
    with requests.get(url, stream=True, **options) as response:
        try:
            got.extend(response.iter_content(20))
        except requests.RequestException as error:
            got.append(error)
        return [got, response.status_code, response.headers, response.raw.closed]


@app.workflow
def through_a_proxy(url: str, proxy: str, nobody: str) -> None:
    ways = [("http", url), ("https", nobody), ("http", nobody), ("https", url), ("https", proxy)]
    with requests.Session() as session:
        session.trust_env = False
        for scheme, by in ways:
            show(scheme, caught(lambda way=(scheme, by): get_through(session, *way)))  # type: ignore[misc]


def get_through(session: requests.Session, scheme: str, proxy: str) -> list[Any]:
    return of(session.get(f"{scheme}://far.example/json", proxies={scheme: proxy}))


@app.workflow
def over_tls(url: str, proxy: str, certificate: str) -> None:
    ways: list[dict[str, Any]] = [
        {"verify": certificate},
        {"verify": certificate, "proxies": {"https": proxy}},
        {"verify": True},
    ]
    with requests.Session() as session:
        session.trust_env = False
        for way in ways:
            show(caught(lambda way=way: of(session.get(f"{url}/json", **way))))  # type: ignore[misc]


# ------------------------------------------------------------------------------------------------------------ urllib3


@app.workflow
def by_urllib3(url: str) -> None:
    with urllib3.PoolManager() as pool:
        for path in ("json", "gzip", "chunked", "empty", "see_other", "busy", "shy"):
            response = pool.request("GET", f"{url}/{path}", retries=Retry(5, status_forcelist=[503]))
            show(response, response.data, response.geturl(), response.retries, response.getheader("x-none", "none"))


@app.workflow
def by_urllib3_in_pieces(url: str) -> None:
    with urllib3.PoolManager() as pool:
        for path in ("gzip", "chunked"):
            response = pool.request("GET", f"{url}/{path}", preload_content=False, decode_content=path == "gzip")
            show(list(response.stream(5)), response, response.connection is None)
            response.release_conn()


@app.workflow
def urllib3_fails(url: str, nobody: str) -> None:
    with urllib3.PoolManager(retries=1) as pool:
        for target in (nobody, f"{url}/silence", f"{url}/down", f"{url}/lying", f"{url}/loop"):
            show(caught(lambda target=target: pool.request("GET", target)))  # type: ignore[misc]


# -------------------------------------------------------------------------------------------------- many, and two parts


@app.workflow
def twenty_at_once(url: str) -> None:
    with requests.Session() as session, ThreadPoolExecutor(20) as threads:

        def ask(number: int) -> str:
            return session.post(f"{url}/echo", json={"number": number}).text

        show(list(threads.map(ask, range(20))))


shared = requests.Session()
everybody = threading.Barrier(20)


@app.workflow
def one_of_twenty(url: str, number: int) -> str:
    text = shared.post(f"{url}/echo", json={"number": number}).text
    everybody.wait()  # so that all have their answers before one of them ends
    return text


@app.workflow
def posted_files(url: str, file: str) -> None:
    with open(file, "rb") as opened:
        show(requests.post(f"{url}/echo", data=opened).text)


@app.workflow
def named(url: str) -> None:
    """A call written directly in a ``once`` belongs to that; one that a helper in it makes is a step in it."""
    show(once("direct", lambda: requests.get(f"{url}/json").json()))
    show(once("by a helper", lambda: name_of(url)))


@app.workflow
async def handed_to_a_thread(url: str) -> None:
    """The address is new at each attempt: a call of one exchange has its record all the same."""
    response = await asyncio.to_thread(requests.get, f"{url}/json?at={time.perf_counter_ns()}")
    show(response.text)
    with ThreadPoolExecutor(1) as pool:
        show(pool.submit(requests.post, f"{url}/echo?at={time.perf_counter_ns()}", data="x").result().text)


def name_of(url: str) -> str:
    return str(requests.get(f"{url}/json").json()["name"])


@app.workflow
def without_end(url: str, path: str) -> None:
    show("asking")
    show(len(requests.get(f"{url}/{path}").content))


def twenty_bodies(url: str) -> list[str]:
    runs = [app.start(one_of_twenty, url, number, id=f"run-{number}") for number in range(20)]
    with app.worker():
        return [str(run.result(timeout=60)) for run in runs]


if __name__ == "__main__":
    print(json.dumps(twenty_bodies(sys.argv[1])))
