"""More of what programs do with aiohttp's client; each function gives what it got."""

from __future__ import annotations

import os
from typing import Any

import aiohttp
from deep import show

from semel import App

app = App("capture", database=os.environ["DATABASE"])


@app.workflow
async def flows(url: str, names: list[str]) -> None:
    for name in names:
        show([name, await globals()[name](url)])


async def asking_again(request: Any, handler: Any) -> Any:
    """As SDKs on aiohttp do it."""
    while True:
        try:
            response = await handler(request)
        except aiohttp.ClientOSError:
            continue
        if response.status != 503:
            return response
        await response.read()


async def retried(url: str) -> Any:
    session = aiohttp.ClientSession(middlewares=(asking_again,))
    async with session, session.get(f"{url}/flaky?live") as response:
        return response.status, response.headers, await response.text()


async def longer(url: str) -> Any:
    """aiohttp does not take an answer that is followed by something else."""
    async with aiohttp.ClientSession() as session:
        try:
            return await session.get(f"{url}/longer")
        except aiohttp.ClientResponseError as error:
            return error, repr(error), error.status, error.message, error.headers


@app.workflow
async def asked_again(url: str) -> str:
    async with aiohttp.ClientSession(middlewares=(asking_again,)) as session, session.get(f"{url}/flaky") as response:
        return await response.text()
