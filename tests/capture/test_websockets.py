"""Websockets: refused in a body, used in a step, whether opened there or before."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from typing import Any

import aiohttp
import aiohttp.web
import pytest
import websockets.asyncio.client
import websockets.sync.client
from websockets.sync.server import serve

from semel import App, once
from semel.errors import CallNotRecordable

got: list[object] = []
url = ""
opened: Any
session: aiohttp.ClientSession


@pytest.fixture(autouse=True)
def _server() -> Iterator[None]:
    """A server that answers each message."""
    global url
    import threading

    def echo(connection: Any) -> None:
        for message in connection:
            got.append(message)
            connection.send(f"+{message}")

    got.clear()
    with serve(echo, "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        url = f"ws://127.0.0.1:{server.socket.getsockname()[1]}"
        yield
        server.shutdown()
        thread.join()


def talk(message: str) -> str:
    with websockets.sync.client.connect(url) as connection:
        connection.send(message)
        return str(connection.recv())


async def talk_async(message: str) -> str:
    async with websockets.asyncio.client.connect(url) as connection:
        await connection.send(message)
        return str(await connection.recv())


async def talk_with_aiohttp(message: str) -> str:
    async with session.ws_connect(url) as connection:
        await connection.send_str(message)
        return await connection.receive_str()


def test_opening_one_in_a_body_is_refused_and_one_step_is_advised(app: App) -> None:
    @app.workflow
    def body() -> str:
        with websockets.sync.client.connect(url) as connection:
            connection.send("x")
            return str(connection.recv())

    run = app.start(body)
    with app.worker(), pytest.raises(CallNotRecordable) as error:
        run.result(timeout=10)
    assert "websockets.connect leaves the process" in str(error.value)
    assert "Open the connection, use it and close it in one step" in str(error.value)
    assert 'once("connect", that_function)' in str(error.value)


def test_one_that_is_open_is_refused_in_a_body_and_used_in_a_step(app: App) -> None:
    @app.workflow
    def sends() -> str:
        with suppress(Exception):
            opened.send("in the body")
        return "hidden"

    @app.workflow
    def receives() -> object:
        return opened.recv()

    @app.workflow
    def steps() -> list[object]:
        once("send", lambda: opened.send("in a step"))
        return [once("receive", lambda: opened.recv()), once("talk", lambda: talk("another"))]

    global opened
    with websockets.sync.client.connect(url) as opened, app.worker():
        with pytest.raises(CallNotRecordable, match="a message is sent over a websocket"):
            app.start(sends).result(timeout=10)
        with pytest.raises(CallNotRecordable, match="a message is awaited from a websocket"):
            app.start(receives).result(timeout=10)
        assert app.start(steps).result(timeout=10) == ["+in a step", "+another"]
    assert got == ["in a step", "another"]


async def test_an_async_one_is_refused_in_a_body_and_used_in_a_step(app: App) -> None:
    @app.workflow
    async def sends() -> str:
        with suppress(Exception):
            await opened.send("in the body")
        return "hidden"

    @app.workflow
    async def opens() -> str:
        return await talk_async("in the body")

    @app.workflow
    async def steps() -> list[object]:
        await once("send", lambda: opened.send("in a step"))
        return [await once("receive", lambda: opened.recv()), await once("talk", lambda: talk_async("another"))]

    global opened
    async with websockets.asyncio.client.connect(url) as opened, app.worker():
        with pytest.raises(CallNotRecordable, match="a message is sent over a websocket"):
            await (await app.start_async(sends)).result_async(timeout=10)
        with pytest.raises(CallNotRecordable, match="a network connection is opened"):
            await (await app.start_async(opens)).result_async(timeout=10)
        assert await (await app.start_async(steps)).result_async(timeout=10) == ["+in a step", "+another"]
        await opened.send("after")
        assert await opened.recv() == "+after"
    assert got == ["in a step", "another", "after"]


@pytest.fixture
async def _session() -> AsyncIterator[None]:
    global session
    async with aiohttp.ClientSession() as session:
        yield


@pytest.mark.usefixtures("_session")
async def test_one_of_aiohttp_is_refused_in_a_body_and_used_in_a_step(app: App) -> None:
    @app.workflow
    async def opens() -> str:
        return await talk_with_aiohttp("in the body")

    @app.workflow
    async def sends() -> None:
        await opened.send_str("in the body")

    @app.workflow
    async def steps() -> str:
        await once("send", lambda: opened.send_str("in a step"))
        return await once("receive", lambda: asyncio.wait_for(opened.receive_str(), 10))

    global opened
    async with session.ws_connect(url) as opened, app.worker():
        with pytest.raises(CallNotRecordable, match="a websocket is opened"):
            await (await app.start_async(opens)).result_async(timeout=10)
        with pytest.raises(CallNotRecordable, match="a message is sent over a websocket"):
            await (await app.start_async(sends)).result_async(timeout=10)
        assert await (await app.start_async(steps)).result_async(timeout=10) == "+in a step"
    assert got == ["in a step"]
