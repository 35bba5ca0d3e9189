"""What programs do with the SDK of Anthropic; each function gives the objects that it got.

Each is called in a body with the server's address, and nothing in it knows of that.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any

import anthropic
import pydantic
from deep import show

from semel import App

app = App("capture", database=os.environ["DATABASE"])

SAID: Any = [{"role": "user", "content": "weather in Turin?"}]
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS: Any = [{"name": "weather", "input_schema": PARAMETERS}]


class Weather(pydantic.BaseModel):
    city: str
    degrees: int


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
    except anthropic.AnthropicError as error:
        return error


def claude(address: str, **options: Any) -> anthropic.Anthropic:
    return anthropic.Anthropic(api_key="sk-secret", base_url=address, **options)


def message(url: str) -> Any:
    answer = claude(url).messages.create(model="plain", max_tokens=9, messages=SAID)
    return answer, answer._request_id


def message_streamed(url: str) -> Any:
    calls = claude(url).messages
    return list(calls.create(model="p", max_tokens=9, messages=SAID, tools=TOOLS, stream=True))


def message_stream_helper(url: str) -> Any:
    with claude(url).messages.stream(model="p", max_tokens=9, messages=SAID, tools=TOOLS) as stream:
        events = list(stream)
        return events, stream.get_final_message(), stream.request_id


def message_parsed(url: str) -> Any:
    return claude(url).messages.parse(model="plain", max_tokens=9, messages=SAID, output_format=Weather)


def tool_use(url: str) -> Any:
    client, said, answers = claude(url), list(SAID), []
    while True:
        answer = client.messages.create(model="tools", max_tokens=9, messages=said, tools=TOOLS)
        answers.append(answer)
        if answer.stop_reason != "tool_use":
            return answers
        used = [block for block in answer.content if block.type == "tool_use"]
        results = [{"type": "tool_result", "tool_use_id": block.id, "content": "20"} for block in used]
        said += [{"role": "assistant", "content": answer.content}, {"role": "user", "content": results}]


def message_raw(url: str) -> Any:
    raw = claude(url).messages.with_raw_response.create(model="plain", max_tokens=9, messages=SAID)
    return raw.parse(), raw.headers, raw.request_id, raw.retries_taken


def message_retried(url: str) -> Any:
    return claude(url).messages.create(model="429-twice-then-200", max_tokens=9, messages=SAID)


def message_overloaded(url: str) -> Any:
    return claude(url).messages.create(model="529-then-200", max_tokens=9, messages=SAID)


def message_refused(url: str) -> Any:
    return caught(lambda: claude(url).messages.create(model="status-400", max_tokens=9, messages=SAID))


def message_exhausted(url: str) -> Any:
    client = claude(url, max_retries=1)
    return caught(lambda: client.messages.create(model="status-500", max_tokens=9, messages=SAID))


def message_unreachable(url: str) -> Any:
    client = anthropic.Anthropic(api_key="k", base_url="http://127.0.0.1:9", max_retries=0)
    return caught(lambda: client.messages.create(model="plain", max_tokens=9, messages=SAID))


def claude_models(url: str) -> Any:
    return {model.id: model for model in claude(url).models.list(limit=2)}


async def message_async(url: str) -> Any:
    async with anthropic.AsyncAnthropic(api_key="k", base_url=url) as client:
        return await client.messages.create(model="plain", max_tokens=9, messages=SAID)


async def message_stream_async(url: str) -> Any:
    client = anthropic.AsyncAnthropic(api_key="k", base_url=url)
    async with client, client.messages.stream(model="p", max_tokens=9, messages=SAID, tools=TOOLS) as stream:
        events = [event async for event in stream]
        return events, await stream.get_final_message()


async def twenty_messages(url: str) -> Any:
    async with anthropic.AsyncAnthropic(api_key="k", base_url=url) as client:
        return await asyncio.gather(
            *[client.messages.create(model=f"p{n}", max_tokens=9, messages=SAID) for n in range(20)]
        )


async def message_retried_async(url: str) -> Any:
    async with anthropic.AsyncAnthropic(api_key="k", base_url=url) as client:
        return await client.messages.create(model="429-twice-then-200", max_tokens=9, messages=SAID)
