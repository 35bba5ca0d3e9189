"""What programs do with aiohttp's client; each function gives the objects that it got."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
from deep import show

from semel import App, once

app = App("capture", database=os.environ["DATABASE"])


@app.workflow
async def flows(url: str, names: list[str]) -> None:
    for name in names:
        show([name, await globals()[name](url)])


async def caught(call: Any) -> Any:
    try:
        return await call
    except (aiohttp.ClientError, OSError) as error:
        return told_error(error)


def told_error(error: Any) -> Any:
    """What a caller can see of a failure that is not among its attributes."""
    seen = [getattr(error, name, None) for name in ("host", "port", "ssl", "os_error", "status", "message", "headers")]
    return error, repr(error), seen


def told(response: Any) -> Any:
    """What a caller can see of a response without reading it."""
    seen = [response.status, response.reason, response.version, response.headers, response.raw_headers, response.ok]
    seen += [response.cookies, response.url, response.real_url, response.method, response.links, response.charset]
    seen += [response.content_type, response.content_length, response.content_disposition, response.request_info]
    return [*seen, [told(one) for one in response.history], repr(response)]


async def plain(url: str) -> Any:
    async with aiohttp.ClientSession() as session, session.get(f"{url}/json", params={"q": "ü"}) as response:
        return told(response), await response.json(), await response.text(), await response.read()


async def awaited(url: str) -> Any:
    session = aiohttp.ClientSession(base_url=url)
    try:
        response = await session.request("post", "/echo", data=b"body")
        seen = [told(response), response.closed, await response.text(), response.closed, response.connection]
        response.release()
        return seen
    finally:
        await session.close()


async def by_function(url: str) -> Any:
    async with aiohttp.request("PUT", f"{url}/echo", json={"a": 1}) as response:
        return told(response), await response.text()


async def pieces() -> AsyncIterator[bytes]:
    yield b"in "
    yield b"pieces"


async def bodies(url: str) -> Any:
    form = aiohttp.FormData({"a": "1"})
    form.add_field("file", b"content", filename="a.txt")
    seen = []
    async with aiohttp.ClientSession() as session:
        for number, data in enumerate(("text", {"a": "1"}, pieces(), form)):
            async with session.post(f"{url}/echo?{number}", data=data) as response:
                answer = await response.text()
                seen.append((response.status, answer if number < 3 else len(answer)))
    return seen


async def shapes(url: str) -> Any:
    seen = []
    async with aiohttp.ClientSession() as session:
        for name in ("chunked", "gzip", "empty", "until-closed"):
            async with session.get(f"{url}/{name}") as response:
                seen.append((told(response), await response.read(), await response.text()))
    return seen


async def not_unpacked(url: str) -> Any:
    async with aiohttp.ClientSession(auto_decompress=False) as session, session.get(f"{url}/gzip") as response:
        return await response.read()


async def head(url: str) -> Any:
    async with aiohttp.ClientSession() as session, session.head(f"{url}/head") as response:
        return told(response), await response.read()


async def streamed(url: str) -> Any:
    seen = []
    async with aiohttp.ClientSession() as session:
        for name in ("chunked", "gzip", "json"):
            for read in (by_chunks, by_any, by_lines, by_pairs, by_read, by_iteration):
                async with session.get(f"{url}/{name}") as response:
                    seen.append(await read(response.content))
    return seen


async def by_chunks(content: Any) -> Any:
    return [piece async for piece in content.iter_chunked(100)]


async def by_any(content: Any) -> Any:
    return [piece async for piece in content.iter_any()]


async def by_pairs(content: Any) -> Any:
    return [piece async for piece in content.iter_chunks()]


async def by_lines(content: Any) -> Any:
    return [await content.readline(), await content.readline(), await content.readany(), content.at_eof()]


async def by_read(content: Any) -> Any:
    return [await content.readexactly(3), await content.read(4), await content.read(), content.is_eof()]


async def by_iteration(content: Any) -> Any:
    return [line async for line in content]


async def redirected(url: str) -> Any:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        async with session.get(f"{url}/redirect/3") as response:
            seen = told(response), await response.text()
        return seen, sorted(morsel.OutputString() for morsel in session.cookie_jar)


async def posted_and_redirected(url: str) -> Any:
    async with aiohttp.ClientSession() as session, session.post(f"{url}/redirect/1", data=pieces()) as response:
        return told(response), await response.text()


async def not_followed(url: str) -> Any:
    async with aiohttp.ClientSession() as session, session.get(f"{url}/redirect/2", allow_redirects=False) as response:
        return told(response)


async def too_many_redirects(url: str) -> Any:
    async with aiohttp.ClientSession() as session:
        return await caught(session.get(f"{url}/redirect/5", max_redirects=2))


async def error_answers(url: str) -> Any:
    async with aiohttp.ClientSession(raise_for_status=True) as session:
        return [await caught(session.get(f"{url}/status/{status}")) for status in (404, 500)]


async def wrong_type(url: str) -> Any:
    async with aiohttp.ClientSession() as session, session.get(f"{url}/echo") as response:
        return await caught(response.json())


async def refused(url: str) -> Any:
    addresses = (f"http://127.0.0.1:{os.environ['CLOSED_PORT']}/", "http://no.such.host.invalid/")
    async with aiohttp.ClientSession() as session:
        return [await caught(session.get(address)) for address in addresses]


async def no_answer(url: str) -> Any:
    async with aiohttp.ClientSession() as session:
        return [await caught(session.post(f"{url}/{name}")) for name in ("nothing", "garbage")]


async def broken_off(url: str) -> Any:
    seen: list[Any] = []
    async with aiohttp.ClientSession() as session:
        for name in ("half", "half-chunked", "reset"):
            async with session.post(f"{url}/{name}") as response:
                seen += [told(response), await caught(response.read()), response.closed]
    return seen


async def asked_again_by_the_library(url: str) -> Any:
    async with aiohttp.ClientSession() as session:
        return await caught(session.get(f"{url}/nothing"))


async def over_tls(url: str) -> Any:
    async with aiohttp.ClientSession() as session:
        return [await over_tls_once(session, url, secure) for secure in (False, True)]


async def over_tls_once(session: Any, url: str, secure: bool) -> Any:
    response = await caught(session.get(f"{url}/json", ssl=secure))
    return told(response) if isinstance(response, aiohttp.ClientResponse) else response


async def timed_out(url: str) -> Any:
    async with aiohttp.ClientSession() as session:
        return [
            await caught(session.get(f"{url}/silence", timeout=timeout))
            for timeout in (aiohttp.ClientTimeout(total=0.3), aiohttp.ClientTimeout(sock_read=0.3))
        ]


async def retried(url: str) -> Any:
    async with aiohttp.ClientSession() as session:
        for _ in range(5):
            async with session.get(f"{url}/flaky") as response:
                if response.ok:
                    return await response.text()
    return "never"


async def through_middlewares(url: str) -> Any:
    async def logging_in(request: Any, handler: Any) -> Any:
        response = await handler(request)
        if response.status == 401:
            request.headers["Authorization"] = "Basic c2VjcmV0"
            response = await handler(request)
        return response

    async with aiohttp.ClientSession(middlewares=(logging_in,)) as session, session.get(f"{url}/login") as response:
        return told(response), await response.text()


async def traced(url: str) -> Any:
    seen: list[Any] = []

    async def note(session: Any, context: Any, told: Any) -> None:
        seen.append(type(told).__name__)

    config = aiohttp.TraceConfig()
    for signal in (
        config.on_request_start,
        config.on_request_redirect,
        config.on_request_end,
        config.on_request_exception,
    ):
        signal.append(note)
    config.on_response_chunk_received.append(note)
    async with aiohttp.ClientSession(trace_configs=[config]) as session, session.get(f"{url}/redirect/2") as response:
        await response.read()
    return seen


async def concurrently(url: str) -> Any:
    async with aiohttp.ClientSession() as session:
        return await asyncio.gather(*[fetch(session, f"{url}/echo?{number}") for number in range(20)])


async def fetch(session: Any, url: str) -> Any:
    async with session.get(url) as response:
        return response.url.query_string, await response.text()


async def begun_here_and_awaited_there(url: str) -> Any:
    async with aiohttp.ClientSession() as session:
        return await finish(session.get(f"{url}/redirect/2"))


async def finish(call: Any) -> Any:
    response = await call
    return response.status, await response.text()


async def gathered(url: str) -> Any:
    async with aiohttp.ClientSession() as session:
        calls = [session.get(f"{url}/echo?{number}") for number in range(5)]
        return [await response.text() for response in await asyncio.gather(*calls)]


async def in_a_once(url: str) -> Any:
    async def ask() -> str:
        async with aiohttp.ClientSession() as session, session.get(f"{url}/json") as response:
            return await response.text()

    return await once("ask", lambda: ask())


@app.workflow
async def two_calls(url: str) -> str:
    async with aiohttp.ClientSession() as session:
        first = ": ".join(await fetch(session, f"{url}/echo?first"))
        async with session.get(f"{url}/redirect/2") as response:
            return f"{first} {await response.text()}"


@app.workflow
async def websocket(url: str) -> None:
    async with aiohttp.ClientSession() as session, session.ws_connect(f"{url}/ws") as socket:
        await socket.send_str("hello")


@app.workflow
async def upgraded(url: str) -> None:
    async with aiohttp.ClientSession() as session:
        await session.get(f"{url}/json", headers={"Upgrade": "websocket", "Connection": "Upgrade"})


@app.workflow
async def much(url: str, name: str) -> str:
    async with aiohttp.ClientSession() as session, session.get(f"{url}/{name}") as response:
        return str(len(await response.read()))
