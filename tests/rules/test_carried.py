"""Rule A8: foreign code that runs later, or in another context, belongs to the call that the body made of it."""

from __future__ import annotations

import contextvars
import itertools
from collections.abc import Callable
from contextlib import AsyncExitStack, ExitStack

import anyio.to_thread
import httpx
import pytest
from automatic_scene import Server, break_off, client, faulted_then_retried, paths, server
from foreign_sdk import Service

from semel import App

__all__ = ["server"]

ASK = "#auto:foreign_sdk.Service.ask"
GET = "#auto:httpx.Client.get"
PAGES = "#auto:foreign_sdk.Service.pages"
number: contextvars.ContextVar[int] = contextvars.ContextVar("number", default=0)


def counted(url: str) -> list[str]:
    seen = []
    for index, page in enumerate(Service(url).pages(2)):
        seen.append(f"{index}{page}")
    break_off()
    return seen


def zipped(url: str) -> list[str]:
    seen = []
    for (index, letter), page in zip(enumerate("ab"), Service(url).pages(2), strict=False):
        seen.append(f"{index}{page}".strip(letter))
    break_off()
    return seen


def sliced(url: str) -> list[str]:
    seen = []
    for index, page in zip(range(2), itertools.islice(Service(url).pages(5), 2), strict=False):
        seen.append(f"{index}{page}")
    break_off()
    return seen


def chained(url: str) -> list[str]:
    seen: list[str] = []
    for page in itertools.chain(Service(url).pages(2)):
        seen.append(f"{len(seen)}{page}")
    break_off()
    return seen


@pytest.mark.rule("A8")
@pytest.mark.parametrize(
    ("body", "call"),
    [(counted, PAGES), (zipped, PAGES), (sliced, "#auto:itertools.islice"), (chained, "#auto:itertools.chain")],
)
def test_what_a_loop_draws_through_the_standard_library_is_recorded(
    app: App, server: Server, body: Callable[[str], list[str]], call: str
) -> None:
    run, result = faulted_then_retried(app, body, server.url)
    assert result == ["0/page/0", "1/page/1"]
    assert server.asked == ["GET /page/0", "GET /page/1"]
    assert paths(run) == [call, f"{call}~1"]


def of_mine(url: str) -> int:
    number.set(7)
    return client.get(f"{url}/mine").status_code


def in_other_contexts(url: str) -> list[int]:
    context = contextvars.Context()
    seen = [context.run(of_mine, url), context[number], context.run(client.post, f"{url}/theirs").status_code]
    seen.append(contextvars.copy_context().run(Service(url).ask, "/copy"))
    break_off()
    return seen


@pytest.mark.rule("A8")
def test_a_call_in_another_context_is_the_call_that_stands_there(app: App, server: Server) -> None:
    run, result = faulted_then_retried(app, in_other_contexts, server.url)
    assert result == [200, 7, 200, 3]
    assert server.asked == ["GET /mine", "POST /theirs", "GET /copy"]
    assert paths(run) == [f"/of_mine{GET}", "#auto:httpx.Client.post", ASK]


def on_exit(url: str) -> int:
    with ExitStack() as stack:
        stack.callback(Service(url).ask, "/left")
        stack.push(lambda *_: bool(client.post(f"{url}/pushed").status_code) and None)
        count = int(client.get(f"{url}/in").json()["count"])
    break_off()
    return count


@pytest.mark.rule("A8")
def test_what_an_exit_stack_calls_is_recorded(app: App, server: Server) -> None:
    run, result = faulted_then_retried(app, on_exit, server.url)
    assert result == 1
    assert server.asked == ["GET /in", "POST /pushed", "GET /left"]
    assert paths(run)[0] == GET
    assert paths(run)[2] == ASK


async def on_async_exit(url: str) -> int:
    async with httpx.AsyncClient(trust_env=False) as asking, AsyncExitStack() as stack:
        stack.push_async_callback(asking.get, f"{url}/left")
        count = int((await asking.post(f"{url}/in")).json()["count"])
    break_off()
    return count


@pytest.mark.rule("A8")
def test_what_an_async_exit_stack_awaits_is_recorded(app: App, server: Server) -> None:
    run, result = faulted_then_retried(app, on_async_exit, server.url)
    assert result == 1
    assert server.asked == ["POST /in", "GET /left"]
    assert paths(run) == ["#auto:httpx.AsyncClient.post", "#auto:httpx.AsyncClient.get"]


async def on_a_thread(url: str) -> int:
    count = await anyio.to_thread.run_sync(Service(url).ask, "/thread")
    break_off()
    return count


@pytest.mark.rule("A8")
def test_a_foreign_function_on_a_thread_of_anyio_is_the_call_that_stands_there(app: App, server: Server) -> None:
    run, result = faulted_then_retried(app, on_a_thread, server.url)
    assert result == 1
    assert server.asked == ["GET /thread"]
    assert paths(run) == [ASK]
