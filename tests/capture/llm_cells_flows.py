"""More of what programs do with the SDKs of OpenAI and Anthropic; each function gives the objects that it got."""

from __future__ import annotations

import os
from typing import Any

import anthropic
import openai
from deep import show

from semel import App

app = App("capture", database=os.environ["DATABASE"])

SAID: Any = [{"role": "user", "content": "hello"}]


@app.workflow
def flows(url: str, names: list[str]) -> None:
    for name in names:
        show([name, globals()[name](url)])


@app.workflow
async def flows_async(url: str, names: list[str]) -> None:
    for name in names:
        show([name, await globals()[name](url)])


def gpt(address: str, **options: Any) -> openai.OpenAI:
    return openai.OpenAI(api_key="k", base_url=f"{address}/v1", **options)


def claude(address: str, **options: Any) -> anthropic.Anthropic:
    return anthropic.Anthropic(api_key="k", base_url=address, **options)


def chat(client: openai.OpenAI, model: str = "plain", **options: Any) -> Any:
    try:
        return client.chat.completions.create(model=model, messages=SAID, **options)
    except openai.OpenAIError as error:
        return error


def message(client: anthropic.Anthropic, model: str = "plain", **options: Any) -> Any:
    try:
        return client.messages.create(model=model, max_tokens=9, messages=SAID, **options)
    except anthropic.AnthropicError as error:
        return error


async def chat_async(client: openai.AsyncOpenAI, model: str = "plain") -> Any:
    try:
        return await client.chat.completions.create(model=model, messages=SAID)
    except openai.OpenAIError as error:
        return error


async def message_async(client: anthropic.AsyncAnthropic, model: str = "plain") -> Any:
    try:
        return await client.messages.create(model=model, max_tokens=9, messages=SAID)
    except anthropic.AnthropicError as error:
        return error


def gpt_redirected(url: str) -> Any:
    return chat(gpt(f"{url}/to"))


def claude_redirected(url: str) -> Any:
    return message(claude(f"{url}/to"))


def gpt_half(url: str) -> Any:
    return [chat(gpt(f"{url}/{name}", max_retries=0)) for name in ("half", "half-chunked", "reset", "nothing")]


def claude_half(url: str) -> Any:
    return [message(claude(f"{url}/{name}", max_retries=0)) for name in ("half", "half-chunked", "reset", "nothing")]


def gpt_longer(url: str) -> Any:
    return chat(gpt(f"{url}/longer"))


def claude_longer(url: str) -> Any:
    return message(claude(f"{url}/longer"))


def claude_cut_in_a_stream(url: str) -> Any:
    got: list[Any] = []
    try:
        for event in message(claude(f"{url}/to"), "cut", stream=True):
            got.append(event)  # noqa: PERF402 (what came before the failure is looked at)
    except Exception as error:  # the SDK lets the failure of its transport through
        return got, error
    return got


async def gpt_failures_async(url: str) -> Any:
    async with openai.AsyncOpenAI(api_key="k", base_url=f"{url}/to/v1", max_retries=0) as client:
        seen = [await chat_async(client, model) for model in ("status-400", "status-500")]
    unreachable = f"http://127.0.0.1:{os.environ['CLOSED_PORT']}"
    async with openai.AsyncOpenAI(api_key="k", base_url=unreachable, max_retries=0) as client:
        return [*seen, await chat_async(client)]


async def claude_failures_async(url: str) -> Any:
    async with anthropic.AsyncAnthropic(api_key="k", base_url=f"{url}/to", max_retries=0) as client:
        seen = [await message_async(client, model) for model in ("status-400", "status-500")]
    unreachable = f"http://127.0.0.1:{os.environ['CLOSED_PORT']}"
    async with anthropic.AsyncAnthropic(api_key="k", base_url=unreachable, max_retries=0) as client:
        return [*seen, await message_async(client)]


@app.workflow
def gpt_much(url: str) -> str:
    return str(chat(gpt(url)))


@app.workflow
def claude_much(url: str) -> str:
    return str(message(claude(url)))
