"""What programs do with httpx, or with httpx2 (``HTTPX_FLOWS`` says which); each function gives what it got.

Each is called in a body with the server's address, and nothing in it knows of that.
"""

from __future__ import annotations

import asyncio
import importlib
import os
from typing import Any

from deep import show

from semel import App, once

app = App("capture", database=os.environ["DATABASE"])

httpx: Any = importlib.import_module(os.environ.get("HTTPX_FLOWS", "httpx"))


@app.workflow
def sync_flows(url: str, names: list[str]) -> None:
    for name in names:
        show([name, globals()[name](url)])


@app.workflow
async def async_flows(url: str, names: list[str]) -> None:
    for name in names:
        show([name, await globals()[name](url)])


def caught(call: Any) -> Any:
    try:
        return call()
    except httpx.HTTPError as error:
        return error


async def caught_async(call: Any) -> Any:
    try:
        return await call
    except httpx.HTTPError as error:
        return error


# --------------------------------------------------------------------------------------------------------------- sync


def plain(url: str) -> Any:
    return httpx.get(f"{url}/plain")


def encodings(url: str) -> Any:
    with httpx.Client(base_url=url) as client:
        return [client.get(f"/{path}") for path in ("gzip", "latin", "status/204", "page/1")]


def bodies(url: str) -> Any:
    with httpx.Client(base_url=url) as client:
        sent: list[dict[str, Any]] = [
            {"json": {"a": 1}},
            {"data": {"a": "1"}},
            {"files": {"f": ("f.txt", b"text")}, "headers": {"content-type": "multipart/form-data; boundary=b"}},
            {"content": iter([b"in ", b"pieces"])},
        ]
        answers = [client.post("/echo", **options) for options in sent]
    return [(answer.text, answer.headers) for answer in answers]  # the request says if its stream was read


def elapsed(url: str) -> Any:
    """It says how long this attempt took, and is not recorded."""
    return httpx.get(f"{url}/plain").elapsed.total_seconds() >= 0


def in_a_once(url: str) -> Any:
    return once("ask", lambda: httpx.get(f"{url}/plain").text)


def by_a_helper_of_a_once(url: str) -> Any:
    def ask() -> str:
        response = httpx.get(f"{url}/plain")
        return str(response.text)

    return once("helped", lambda: ask().upper())


def head(url: str) -> Any:
    return httpx.head(f"{url}/plain")


def streamed(url: str) -> Any:
    with httpx.Client() as client, client.stream("GET", f"{url}/stream") as response:
        lines = list(response.iter_lines())
    return lines, response


def streamed_raw(url: str) -> Any:
    with httpx.Client() as client, client.stream("GET", f"{url}/gzip") as response:
        raw = b"".join(response.iter_raw())
        return raw, response.num_bytes_downloaded, response


def sent_as_stream(url: str) -> Any:
    client = httpx.Client()
    response = client.send(client.build_request("GET", f"{url}/stream"), stream=True)
    before = response.is_closed
    text = response.read()
    client.close()
    return before, text, response


def redirected(url: str) -> Any:
    with httpx.Client(follow_redirects=True) as client:
        return client.get(f"{url}/redirect/3"), client.cookies


def not_followed(url: str) -> Any:
    with httpx.Client() as client:
        first = client.get(f"{url}/redirect/2")
        return first, client.send(first.next_request)


def cookies_are_sent(url: str) -> Any:
    with httpx.Client(base_url=url) as client:
        client.get("/redirect/1")
        echoed = client.post("/echo", content=b"x")
        return echoed.request.headers["cookie"], client.cookies


def error_answer(url: str) -> Any:
    return caught(lambda: httpx.get(f"{url}/status/404").raise_for_status())


def server_error(url: str) -> Any:
    response = httpx.get(f"{url}/status/503")
    return response, caught(response.raise_for_status)


def refused(url: str) -> Any:
    return caught(lambda: httpx.get(os.environ["NOBODY"]))


def dropped(url: str) -> Any:
    return caught(lambda: httpx.get(f"{url}/drop"))


def nonsense(url: str) -> Any:
    return caught(lambda: httpx.get(f"{url}/nonsense"))


def timed_out(url: str) -> Any:
    return caught(lambda: httpx.get(f"{url}/slow", timeout=httpx.Timeout(5, read=0.05)))


def no_such_scheme(url: str) -> Any:
    return caught(lambda: httpx.get("gopher://127.0.0.1/x"))


def cut(url: str) -> Any:
    return caught(lambda: httpx.get(f"{url}/cut"))


def cut_in_a_stream(url: str) -> Any:
    got: list[str] = []
    with httpx.Client() as client, client.stream("GET", f"{url}/cutstream") as response:
        try:
            got.extend(text for text in response.iter_text())
        except httpx.HTTPError as error:
            return got, response.status_code, response.headers.multi_items(), error
    return got


def says_less_than_it_sends(url: str) -> Any:
    with httpx.Client(base_url=url) as client:
        first = client.get("/longer")
        return first, client.post("/echo", content=b"still usable")


def not_compressed_as_it_says(url: str) -> Any:
    return caught(lambda: httpx.get(f"{url}/garbage"))


def basic(url: str) -> Any:
    return httpx.get(f"{url}/basic", auth=("ann", "secret"))


def told(response: Any) -> Any:
    """What is told of an exchange whose request holds a new random number each time."""
    return response.text, response.headers, [before.headers for before in response.history]


def digest(url: str) -> Any:
    return told(httpx.get(f"{url}/digest", auth=httpx.DigestAuth("ann", "secret")))


class Token(httpx.Auth):  # type: ignore[misc]
    """Fetches a token by an exchange of its own, as OAuth clients do."""

    requires_response_body = True

    def __init__(self, url: str) -> None:
        self.url = url
        self.token = ""

    def auth_flow(self, request: Any) -> Any:
        if not self.token:
            answer = yield httpx.Request("POST", f"{self.url}/token", data={"grant_type": "client_credentials"})
            self.token = answer.json()["access_token"]
        request.headers["Authorization"] = f"Bearer {self.token}"
        yield request


def oauth(url: str) -> Any:
    with httpx.Client(auth=Token(url)) as client:
        return [client.get(f"{url}/guarded") for _ in range(2)]


def hooks(url: str) -> Any:
    seen: list[str] = []

    def on_response(response: Any) -> None:
        response.read()
        seen.append(response.text)

    with httpx.Client(event_hooks={"response": [on_response]}) as client:
        return client.get(f"{url}/plain"), seen


def pages(url: str) -> Any:
    texts = []
    with httpx.Client() as client:
        following = f"{url}/page/1"
        while following:
            response = client.get(following)
            texts.append(response.text)
            following = response.links.get("next", {}).get("url")
    return texts, response


def transports_below(url: str) -> Any:
    with httpx.Client(mounts={"http://": httpx.HTTPTransport(retries=2)}) as client:
        return client.get(f"{url}/plain"), caught(lambda: client.post(os.environ["NOBODY"]))


def in_process(url: str) -> Any:
    """A double answers: it does not leave the process, and is no step."""
    transport = httpx.MockTransport(lambda request: httpx.Response(200, text="from the double"))
    with httpx.Client(transport=transport) as client:
        return client.get(f"{url}/plain")


def websocket(url: str) -> Any:
    return httpx.get(f"{url}/plain", headers={"Connection": "upgrade", "Upgrade": "websocket"})


def large(url: str) -> Any:
    return httpx.get(f"{url}/large/200")


def endless(url: str) -> Any:
    with httpx.Client() as client, client.stream("GET", f"{url}/endless") as response:
        return next(response.iter_bytes())


def bomb(url: str) -> Any:
    return httpx.get(f"{url}/bomb/300", timeout=60).content


def two_of_one_name(url: str) -> Any:
    return [httpx.get(f"{url}/plain"), httpx.get(f"{url}/latin")]


# -------------------------------------------------------------------------------------------------------------- async


async def plain_async(url: str) -> Any:
    async with httpx.AsyncClient() as client:
        return await client.get(f"{url}/gzip")


async def streamed_async(url: str) -> Any:
    async with httpx.AsyncClient() as client, client.stream("GET", f"{url}/stream") as response:
        lines = [line async for line in response.aiter_lines()]
    return lines, response


async def redirected_async(url: str) -> Any:
    async with httpx.AsyncClient(follow_redirects=True) as client:
        return await client.get(f"{url}/redirect/3"), client.cookies


async def error_answer_async(url: str) -> Any:
    async with httpx.AsyncClient() as client:
        response = await client.get(f"{url}/status/404")
        return response, caught(response.raise_for_status)


async def failures_async(url: str) -> Any:
    targets = (os.environ["NOBODY"], f"{url}/drop", f"{url}/nonsense", f"{url}/cut", f"{url}/slow")
    async with httpx.AsyncClient(timeout=httpx.Timeout(5, read=0.05)) as client:
        return [await caught_async(client.get(target)) for target in targets]


async def cut_in_a_stream_async(url: str) -> Any:
    got: list[str] = []
    async with httpx.AsyncClient() as client, client.stream("GET", f"{url}/cutstream") as response:
        try:
            async for text in response.aiter_text():
                got += [text]
        except httpx.HTTPError as error:
            return got, response.status_code, error
    return got


async def digest_async(url: str) -> Any:
    async with httpx.AsyncClient(auth=httpx.DigestAuth("ann", "secret")) as client:
        return told(await client.get(f"{url}/digest"))


async def twenty_at_once(url: str) -> Any:
    async with httpx.AsyncClient() as client:
        return await asyncio.gather(*[client.get(f"{url}/plain", params={"n": n}) for n in range(20)])


async def twenty_by_a_helper(url: str) -> Any:
    async def ask(n: int) -> Any:
        response = await shared_async.post(f"{url}/echo", json={"n": n})
        return response.raise_for_status()

    async with httpx.AsyncClient() as shared_async:
        return await asyncio.gather(*(ask(n) for n in range(20)))


async def endless_async(url: str) -> Any:
    async with httpx.AsyncClient() as client:
        return await client.get(f"{url}/endless")


async def given_up(url: str) -> Any:
    """The body stops to wait; the call goes on, and fails by itself."""
    async with httpx.AsyncClient(timeout=httpx.Timeout(5, read=0.3)) as client:
        try:
            async with asyncio.timeout(0.05):
                return await client.get(f"{url}/slow")
        except TimeoutError:
            return "given up"
