"""Calls that the body waits for so long and no longer, as coroutines; each function gives what it got."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import aiohttp
import httpx
import httpx2
import openai
from deep import show

from semel import App

app = App("capture", database=os.environ["DATABASE"])


@app.workflow
async def flows(url: str, names: list[str]) -> None:
    for name in names:
        show([name, await globals()[name](url)])


async def by_httpx(url: str) -> Any:
    async with httpx.AsyncClient() as client:
        return await asyncio.wait_for(client.get(f"{url}/json?httpx"), 60)


async def by_httpx2(url: str) -> Any:
    async with httpx2.AsyncClient() as client:
        return await asyncio.wait_for(client.get(f"{url}/json?httpx2"), 60)


async def by_aiohttp(url: str) -> Any:
    async with aiohttp.ClientSession() as session:
        response = await asyncio.wait_for(session.get(f"{url}/json?aiohttp"), 60)
        return response.status, response.headers, await asyncio.wait_for(response.json(), 60)


async def by_openai(url: str) -> Any:
    client = openai.AsyncOpenAI(api_key="k", base_url=f"{url}/json", max_retries=0)
    async with client:
        return await asyncio.wait_for(client.models.list(), 60)


async def httpx_given_up(url: str) -> Any:
    async with httpx.AsyncClient(timeout=httpx.Timeout(5, read=0.5)) as client:
        return await given_up(client.get(f"{url}/silence?httpx"))


async def httpx2_given_up(url: str) -> Any:
    async with httpx2.AsyncClient(timeout=httpx2.Timeout(5, read=0.5)) as client:
        return await given_up(client.get(f"{url}/silence?httpx2"))


async def aiohttp_given_up(url: str) -> Any:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=0.5)) as session:
        return await given_up(session.get(f"{url}/silence?aiohttp"))


async def openai_given_up(url: str) -> Any:
    async with openai.AsyncOpenAI(api_key="k", base_url=f"{url}/silence", max_retries=0, timeout=0.5) as client:
        return await given_up(client.models.list())


async def given_up(call: Any) -> Any:
    """The body stops to wait; the exchange goes on, and fails by itself."""
    try:
        return await asyncio.wait_for(call, 0.05)
    except TimeoutError as error:
        return type(error).__name__
