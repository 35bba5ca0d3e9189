"""What programs do with the SDK of OpenAI; each function gives the objects that it got.

Each is called in a body with the server's address, and nothing in it knows of that.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any

import httpx
import openai
import pydantic
from deep import show

from semel import App

app = App("capture", database=os.environ["DATABASE"])

SAID: Any = [{"role": "user", "content": "weather in Turin?"}]
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS: Any = [{"type": "function", "function": {"name": "weather", "parameters": PARAMETERS}}]


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
    except openai.OpenAIError as error:
        return error


def openai_client(address: str, **options: Any) -> openai.OpenAI:
    return openai.OpenAI(api_key="sk-secret", base_url=f"{address}/v1", **options)


def async_openai(address: str, **options: Any) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(api_key="sk-secret", base_url=f"{address}/v1", **options)


# --------------------------------------------------------------------------------------------------------------- sync


def chat(url: str) -> Any:
    answer = openai_client(url).chat.completions.create(model="plain", messages=SAID)
    return answer, answer._request_id


def chat_streamed(url: str) -> Any:
    stream = openai_client(url).chat.completions.create(model="plain", messages=SAID, stream=True)
    return list(stream), stream.response


def chat_stream_helper(url: str) -> Any:
    with openai_client(url).chat.completions.stream(model="tools", messages=SAID, tools=TOOLS) as stream:
        events = list(stream)
        return events, stream.get_final_completion()


def chat_parsed(url: str) -> Any:
    return openai_client(url).chat.completions.parse(model="plain", messages=SAID, response_format=Weather)


def tool_calls(url: str) -> Any:
    client, said, answers = openai_client(url), list(SAID), []
    while True:
        answer = client.chat.completions.create(model="tools", messages=said, tools=TOOLS)
        answers.append(answer)
        spoken = answer.choices[0].message
        said.append(spoken.to_dict())
        if not spoken.tool_calls:
            return answers
        said += [{"role": "tool", "tool_call_id": call.id, "content": "20"} for call in spoken.tool_calls]


def responses(url: str) -> Any:
    return openai_client(url).responses.create(model="plain", input="weather in Turin?")


def responses_streamed(url: str) -> Any:
    return list(openai_client(url).responses.create(model="plain", input="weather?", stream=True))


def raw_response(url: str) -> Any:
    raw = openai_client(url).chat.completions.with_raw_response.create(model="plain", messages=SAID)
    return raw.parse(), raw.status_code, raw.headers, raw.request_id, raw.content, raw.retries_taken, raw.http_response


def streaming_response(url: str) -> Any:
    calls = openai_client(url).chat.completions.with_streaming_response
    with calls.create(model="plain", messages=SAID) as raw:
        return list(raw.iter_lines()), raw.headers, raw.status_code


def models_listed(url: str) -> Any:
    return {model.id: model for model in openai_client(url).models.list()}


def jobs_paged(url: str) -> Any:
    got = {}
    for job in openai_client(url).fine_tuning.jobs.list():
        got[job.id] = job
    return got


def jobs_in_a_list(url: str) -> Any:
    return list(openai_client(url).fine_tuning.jobs.list())


def jobs_by_page(url: str) -> Any:
    page = openai_client(url).fine_tuning.jobs.list()
    got = [page.data]
    while page.has_next_page():
        page = page.get_next_page()
        got.append(page.data)
    return got


def retried_429(url: str) -> Any:
    return openai_client(url).chat.completions.create(model="429-twice-then-200", messages=SAID)


def retried_500(url: str) -> Any:
    raw = openai_client(url).chat.completions.with_raw_response.create(model="500-then-200", messages=SAID)
    return raw.parse(), raw.retries_taken


def retried_connection(url: str) -> Any:
    return openai_client(url).chat.completions.create(model="dies-then-200", messages=SAID)


def bad_request(url: str) -> Any:
    return caught(lambda: openai_client(url).chat.completions.create(model="status-400", messages=SAID))


def unauthorized(url: str) -> Any:
    return caught(lambda: openai_client(url).chat.completions.create(model="status-401", messages=SAID))


def retries_exhausted(url: str) -> Any:
    return caught(lambda: openai_client(url, max_retries=1).chat.completions.create(model="status-429", messages=SAID))


def unreachable(url: str) -> Any:
    client = openai.OpenAI(api_key="k", base_url="http://127.0.0.1:9/v1", max_retries=0)
    return caught(lambda: client.chat.completions.create(model="plain", messages=SAID))


def stream_cut(url: str) -> Any:
    got: list[Any] = []
    try:
        for chunk in openai_client(url).chat.completions.create(model="cut", messages=SAID, stream=True):
            got += chunk.choices
    except openai.APIConnectionError as error:
        return got, error
    return got


def azure(url: str) -> Any:
    """The SDK asks a function of the user's for a token, which asks for it elsewhere."""

    def token() -> str:
        answer = httpx.post(f"{url}/tenant/oauth2/v2.0/token", data={"grant_type": "client_credentials"})
        return str(answer.json()["access_token"])

    client = openai.AzureOpenAI(azure_endpoint=url, api_version="2024-10-21", azure_ad_token_provider=token)
    return client.chat.completions.create(model="plain", messages=SAID)


def old_httpx_client(url: str) -> Any:
    """The SDK over a client of httpx, which it takes as well as one of httpx2."""
    client = openai_client(url, http_client=httpx.Client())
    return client.chat.completions.create(model="plain", messages=SAID)


def upgraded(url: str) -> Any:
    """A deploy has another version of the SDK, which is built on another library."""
    http_client = httpx.Client() if os.environ.get("HTTP_CLIENT") == "httpx" else None
    client = openai_client(url, http_client=http_client, max_retries=0)
    models = ("plain", "dies-then-200")
    return [caught(lambda: client.chat.completions.create(model=model, messages=SAID)) for model in models]


# -------------------------------------------------------------------------------------------------------------- async


async def chat_async(url: str) -> Any:
    async with async_openai(url) as client:
        return await client.chat.completions.create(model="plain", messages=SAID)


async def chat_streamed_async(url: str) -> Any:
    async with async_openai(url) as client:
        stream = await client.chat.completions.create(model="plain", messages=SAID, stream=True)
        return [chunk async for chunk in stream]


async def chat_stream_helper_async(url: str) -> Any:
    client = async_openai(url)
    async with client, client.chat.completions.stream(model="tools", messages=SAID, tools=TOOLS) as stream:
        events = [event async for event in stream]
        return events, await stream.get_final_completion()


async def retried_async(url: str) -> Any:
    async with async_openai(url) as client:
        return await client.chat.completions.create(model="429-twice-then-200", messages=SAID)


async def jobs_paged_async(url: str) -> Any:
    async with async_openai(url) as client:
        return [job async for job in client.fine_tuning.jobs.list()]


async def twenty_chats(url: str) -> Any:
    async with async_openai(url) as client:
        return await asyncio.gather(
            *[client.chat.completions.create(model=f"plain-{n}", messages=SAID) for n in range(20)]
        )


async def chat_in_time(url: str) -> Any:
    async with async_openai(url) as client:
        async with asyncio.timeout(30):
            return await client.chat.completions.create(model="plain", messages=SAID)
