"""A script in place of the network: what is answered, what is not, and that nothing goes out."""

from __future__ import annotations

import asyncio
import contextlib
import re
import smtplib
import urllib.error
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import aiohttp
import aiosmtplib
import boto3
import botocore.exceptions
import httpx
import httpx2
import pytest
import requests
import urllib3.exceptions

from semel import Answer, App, Client, once, post
from semel.errors import ErrorStatus, SemelError, UnscriptedRequest, UnusedAnswers
from semel.testing import script

URL = "https://api.example/orders"


class Orders(Client, base_url="https://api.example"):
    @post("/orders")
    def create(self, number: int) -> dict[str, int]: ...

    @post("/orders")
    async def create_async(self, number: int) -> dict[str, int]: ...


orders = Orders()


def by_httpx(url: str) -> tuple[int, bytes]:
    response = httpx.post(url, json={"number": 7})
    return response.status_code, response.content


def by_httpx2(url: str) -> tuple[int, bytes]:
    response = httpx2.post(url, json={"number": 7})
    return response.status_code, response.content


def by_requests(url: str) -> tuple[int, bytes]:
    response = requests.post(url, json={"number": 7}, timeout=5)
    return response.status_code, response.content


def by_urllib(url: str) -> tuple[int, bytes]:
    with urllib.request.urlopen(urllib.request.Request(url, b'{"number": 7}')) as response:
        return response.status, response.read()


async def by_httpx_async(url: str) -> tuple[int, bytes]:
    async with httpx.AsyncClient() as client:
        response = await client.post(url, json={"number": 7})
        return response.status_code, response.content


async def by_aiohttp(url: str) -> tuple[int, bytes]:
    async with aiohttp.ClientSession() as session, session.post(url, json={"number": 7}) as response:
        return response.status, await response.read()


SYNC: dict[str, Callable[[str], Any]] = {
    "httpx": by_httpx,
    "httpx2": by_httpx2,
    "requests": by_requests,
    "urllib": by_urllib,
}
ASYNC: dict[str, Callable[[str], Any]] = {"httpx": by_httpx_async, "aiohttp": by_aiohttp}

seen: list[Any] = []


@pytest.fixture(autouse=True)
def _fresh() -> None:
    seen.clear()


def break_once() -> None:
    """The first attempt faults here."""
    if len(seen) < 2:
        raise RuntimeError("broken")


def driven_twice(app: App, workflow: Any, *args: Any) -> Any:
    """A run that faults once and is delivered again."""
    app.workflow(workflow)
    with app.worker():
        run = app.start(workflow, *args)
        with pytest.raises(RuntimeError, match="broken"):
            run.result(timeout=20)
        assert run.retry()
        run.result(timeout=20)
        return run


def asking(library: str) -> list[Any]:
    return list(SYNC[library](URL))


async def asking_async(library: str) -> list[Any]:
    return list(await ASYNC[library](URL))


@pytest.mark.parametrize("library", SYNC)
@pytest.mark.parametrize("in_run", [True, False])
def test_each_library_is_answered_in_a_run_and_outside(app: App, library, in_run) -> None:
    app.workflow(asking)
    with script() as net:
        net.on("POST", URL).answer(201, json={"id": 1})
        if in_run:
            with app.worker():
                done = app.start(asking, library).result(timeout=20)
        else:
            done = asking(library)
    assert done == [201, b'{"id":1}']
    (sent,) = net.requests
    assert (sent.method, sent.url, sent.path, sent.query) == ("POST", URL, "/orders", {})
    assert sent.json() == {"number": 7}


@pytest.mark.parametrize("library", ASYNC)
@pytest.mark.parametrize("in_run", [True, False])
async def test_each_async_library_is_answered_too(app: App, library, in_run) -> None:
    app.workflow(asking_async)
    with script() as net:
        net.on("POST", URL).answer(201, json={"id": 1})
        if in_run:
            async with app.worker():
                run = await app.start_async(asking_async, library)
                done = await run.result_async(timeout=20)
        else:
            done = await asking_async(library)
    assert done == [201, b'{"id":1}']
    assert [sent.url for sent in net.requests] == [URL]


def test_an_sdk_reads_the_answer_of_a_script() -> None:
    client = boto3.client("sqs", region_name="eu-central-1", aws_access_key_id="a", aws_secret_access_key="b")
    with script() as net:
        net.on("POST", "https://sqs.eu-central-1.amazonaws.com/").answer(json={"QueueUrls": ["https://queue"]})
        assert client.list_queues()["QueueUrls"] == ["https://queue"]


def creating() -> None:
    seen.append(orders.create(1))
    once("check", lambda: by_httpx("https://other.example/check"))
    break_once()


@pytest.mark.rule("A1")
def test_a_run_under_a_script_is_recorded(app: App) -> None:
    with script() as net:
        net.on("POST", URL).answer(json={"id": 1})
        net.on("POST", "https://other.example/check").answer(204)
        run = driven_twice(app, creating)
    assert seen == [{"id": 1}, {"id": 1}]
    assert len(net.requests) == 2
    assert [record.path.removeprefix("creating/start@1") for record in run.steps()] == [
        "#auto:Orders.create",
        "/check/by_httpx#auto:httpx.post",
        "#check",
    ]


def handling() -> None:
    try:
        orders.create(1)
    except ErrorStatus as error:
        seen.append((str(error), error.json(), error.headers))
    once("after", lambda: None)
    break_once()


@pytest.mark.rule("A10")
@pytest.mark.parametrize("status", [404, 500])
def test_an_error_answer_that_the_body_goes_past_is_a_fact(app: App, status) -> None:
    with script() as net:
        net.on("POST", URL).answers([Answer.of(status, json={"error": "no"}, headers={"retry-after": "3"})])
        driven_twice(app, handling)
    first, second = seen
    assert first == second
    assert first[0].startswith(f"Orders.create: POST /orders answered {status} ")
    assert len(net.requests) == 1


async def creating_async() -> dict[str, int]:
    return await orders.create_async(1)


@pytest.mark.rule("A10")
def test_an_error_answer_that_ends_the_body_is_asked_for_again(app: App) -> None:
    app.workflow(creating_async)
    with script() as net, app.worker():
        net.on("POST", URL).answers([Answer.of(503, text="later"), Answer.of(json={"id": 2})])
        run = app.start(creating_async)
        with pytest.raises(ErrorStatus, match="503 Service Unavailable: later"):
            run.result(timeout=20)
        run.retry()
        assert run.result(timeout=20) == {"id": 2}
        net.done()


def creating_once() -> dict[str, int]:
    return once("create", lambda: orders.create(1))


@pytest.mark.rule("A7")
def test_once_round_an_operation_is_one_step(app: App) -> None:
    app.workflow(creating_once)
    with script() as net, app.worker():
        net.on("POST", URL).answer(json={"id": 1})
        run = app.start(creating_once)
        assert run.result(timeout=20) == {"id": 1}
    assert [record.path for record in run.steps()] == ["creating_once/start@1#create"]


FAILURES: dict[str, tuple[str, BaseException | type[BaseException], type[BaseException]]] = {
    "refused by httpx": ("httpx", httpx.ConnectError("refused"), httpx.ConnectError),
    "late by httpx": ("httpx", httpx.ReadTimeout("late"), httpx.ReadTimeout),
    "refused by httpx2": ("httpx2", httpx2.ConnectError("refused"), httpx2.ConnectError),
    "refused by requests": ("requests", ConnectionRefusedError("refused"), requests.ConnectionError),
    "late by requests": ("requests", urllib3.exceptions.ReadTimeoutError(None, URL, "late"), requests.ReadTimeout),
    "refused by urllib": ("urllib", ConnectionRefusedError, urllib.error.URLError),
    "late by urllib": ("urllib", TimeoutError("late"), urllib.error.URLError),
}


def failing(name: str) -> None:
    library, _, kind = FAILURES[name]
    try:
        SYNC[library](URL)
    except kind as failure:
        seen.append(re.sub(" at 0x[0-9a-f]+", "", repr(failure)))
    once("after", lambda: None)
    break_once()


@pytest.mark.parametrize("name", FAILURES)
@pytest.mark.parametrize("in_run", [True, False])
def test_a_failure_is_the_library_s_own(app: App, name, in_run) -> None:
    library, error, kind = FAILURES[name]
    with script() as net:
        net.on("POST", URL).fail(error)
        if in_run:
            driven_twice(app, failing, name)
            assert seen[0] == seen[1]
        else:
            with pytest.raises(kind):
                SYNC[library](URL)
    assert len(net.requests) == 1


async def failing_async(kind: str) -> None:
    try:
        await by_aiohttp(URL)
    except aiohttp.ClientError as failure:
        seen.append(repr(failure))
    await once("after", lambda: asyncio.sleep(0))
    break_once()


@pytest.mark.parametrize("kind", [aiohttp.ClientConnectionError, aiohttp.ServerTimeoutError])
def test_a_failure_of_aiohttp_is_its_own(app: App, kind) -> None:
    with script() as net:
        net.on("POST", URL).fail(kind("refused"))
        driven_twice(app, failing_async, "")
    assert seen[0] == seen[1]
    assert len(net.requests) == 1


def creating_without_a_script() -> None:
    orders.create(1)


def test_a_request_that_is_not_in_the_script_raises_and_names_what_is() -> None:
    net = script()
    net.on("GET", URL).answer()
    net.on("POST", re.compile(r"/items/\d+")).answers([Answer.of()])
    net.on("*", "https://other.example/*", when=lambda sent: False).answer()
    with pytest.raises(UnscriptedRequest) as raised, net:
        orders.create(1)
    assert isinstance(raised.value, AssertionError)
    assert isinstance(raised.value, SemelError)
    assert str(raised.value).splitlines() == [
        "POST https://api.example/orders is not in the script, and was not sent",
        "the script answers",
        "  GET https://api.example/orders",
        r"  POST /items/\d+ (a regular expression)",
        "  * https://other.example/* when …",
    ]


def test_a_program_cannot_pass_over_it() -> None:
    with pytest.raises(UnscriptedRequest, match="the script is empty"), script(), contextlib.suppress(Exception):
        orders.create(1)


def test_an_sdk_that_makes_another_error_of_it_does_not_hide_it() -> None:
    client = boto3.client("sqs", region_name="eu-central-1", aws_access_key_id="a", aws_secret_access_key="b")
    with pytest.raises(botocore.exceptions.HTTPClientError) as raised, script():
        client.list_queues()
    assert "POST https://sqs.eu-central-1.amazonaws.com/ is not in the script" in raised.value.__notes__[0]


def test_a_run_faults_with_it(app: App) -> None:
    app.workflow(creating_without_a_script)
    with pytest.raises(UnscriptedRequest, match=r"^POST https://api\.example/orders is not"), script(), app.worker():
        app.start(creating_without_a_script).result(timeout=20)


def test_nothing_of_a_script_stays_behind() -> None:
    from semel.capture import recorder

    with script() as outer:
        outer.on("POST", URL).answer(json={"id": 1})
        with script() as inner:
            inner.on("POST", URL).answer(json={"id": 2})
            assert orders.create(1) == {"id": 2}
        assert orders.create(1) == {"id": 1}
    assert recorder.answering is None


def test_answers_are_given_in_order_and_then_no_more() -> None:
    with script() as net:
        net.on("POST", URL).answers(
            [
                Answer.of(503),
                httpx.ReadTimeout("late"),
                lambda sent: Answer.of(json=sent.json()),
                Answer.of(json={"id": 4}),
            ]
        )
        with pytest.raises(ErrorStatus, match="503 Service Unavailable"):
            orders.create(1)
        with pytest.raises(httpx.ReadTimeout, match="late"):
            orders.create(2)
        assert orders.create(3) == {"number": 3}
        assert orders.create(4) == {"id": 4}
        net.on("POST", URL).answer(json={"id": 5})
        assert orders.create(5) == orders.create(6) == {"id": 5}
        assert [sent.json()["number"] for sent in net.requests] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("url", "asked", "fits"),
    [
        ("https://a.example/b", "https://a.example/b", True),
        ("https://a.example/b", "https://a.example/b?c=d", True),
        ("https://a.example/b?c=d", "https://a.example/b?c=d", True),
        ("https://a.example/b?c=d", "https://a.example/b", False),
        ("https://a.example/b", "https://a.example/b/c", False),
        ("https://a.example/b*", "https://a.example/b/c?d", True),
        ("https://a.example*", "https://a.example/b", True),
        ("https://a.example", "https://a.example/", True),
        ("https://A.example:443/b", "https://a.example/b", True),
        ("http://a.example:80/b", "http://a.example/b", True),
        ("http://a.example:8080/b", "http://a.example/b", False),
        ("http://a.example:8080/b", "http://a.example:8080/b", True),
        ("*", "http://a.example/b", True),
        (re.compile("b[0-9]$"), "https://a.example/b1", True),
        (re.compile("b[0-9]$"), "https://a.example/b1c", False),
    ],
)
@pytest.mark.parametrize("get", [httpx.get, requests.get], ids=["httpx", "requests"])
def test_a_url_stands_for(get, url, asked, fits) -> None:
    with script() as net:
        net.on("get", url).answer(text="first")
        net.on("*", "*").answer(text="second")
        assert get(asked).text == ("first" if fits else "second")


def test_when_asks_the_request() -> None:
    with script() as net:
        net.on("POST", URL, when=lambda sent: sent.json()["number"] > 10).answer(json={"id": 2})
        net.on("POST", URL).answer(json={"id": 1})
        assert (orders.create(1), orders.create(11)) == ({"id": 1}, {"id": 2})


def test_a_query_is_read() -> None:
    with script() as net:
        net.on("GET", URL).answer()
        httpx.get(URL, params={"a": ["1", "2"], "b": ""})
        assert net.requests[0].query == {"a": ["1", "2"], "b": [""]}


def test_done_demands_that_all_was_asked_for() -> None:
    with script() as net:
        net.on("POST", URL).answers([Answer.of(json={}), Answer.of(json={}), Answer.of(json={})])
        net.on("GET", URL).answer()
        net.on("PUT", URL)
        orders.create(1)
        with pytest.raises(UnusedAnswers) as raised:
            net.done()
        assert str(raised.value).splitlines() == [
            "not all of the script was asked for:",
            f"  POST {URL}: 2 answers left",
            f"  GET {URL}: was never asked",
            f"  PUT {URL}: has no answers; say what answers them",
        ]


def test_many_threads_share_a_script() -> None:
    with script() as net, ThreadPoolExecutor(16) as pool:
        net.on("POST", URL).answers([Answer.of(json={"id": number}) for number in range(100)])
        ids = [made["id"] for made in pool.map(orders.create, range(100))]
        net.done()
    assert sorted(ids) == list(range(100))
    assert len(net.requests) == 100


def test_what_is_wrong_in_a_script_is_said_at_once() -> None:
    net = script()
    with pytest.raises(ValueError, match='"https://host/orders"'):
        net.on("GET", "/orders")
    with pytest.raises(TypeError, match=r"write Answer.of\(json=…\)"):
        net.on("GET", URL).answers([{"id": 1}])  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"write Answer.of\(json=…\)"):
        net.on("GET", URL).call(dict)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="leave the line out"):
        net.on("GET", URL).answers([])
    answered = net.on("GET", URL)
    answered.answer()
    with pytest.raises(ValueError, match=r"answers\(\[…, …\]\)"):
        answered.answer()


def test_a_function_must_give_an_answer() -> None:
    net = script()
    net.on("POST", URL).call(lambda sent: {"id": 1})  # type: ignore[arg-type, return-value]
    with net, pytest.raises(TypeError, match="the function gave a dict for POST"):
        orders.create(1)


def mailing() -> list[Any]:
    with smtplib.SMTP("mail.example", 25) as server:
        server.login("user", "hidden")
        return [server.sendmail("shop@example.org", ["ann@example.org"], "Subject: hello\n\ntext")]


async def mailing_async() -> list[Any]:
    message = "Subject: hello\n\ntext"
    sent = await aiosmtplib.send(
        message, sender="shop@example.org", recipients=["ann@example.org"], hostname="mail.example", port=25
    )
    return list(sent)


@pytest.mark.parametrize("in_run", [True, False])
def test_mail_is_answered_too(app: App, in_run) -> None:
    app.workflow(mailing)
    with script() as net:
        net.on("MAIL", "smtp://mail.example:25").give({})
        if in_run:
            with app.worker():
                done = app.start(mailing).result(timeout=20)
        else:
            done = mailing()
    assert done == [{}]
    (sent,) = net.requests
    assert sent.query == {"to": ["ann@example.org"]}
    assert b"hello" in (sent.body or b"")


@pytest.mark.parametrize("in_run", [True, False])
async def test_async_mail_is_answered_too(app: App, in_run) -> None:
    app.workflow(mailing_async)
    with script() as net:
        net.on("MAIL", "smtp://mail.example:25").give(({}, "OK"))
        if in_run:
            async with app.worker():
                run = await app.start_async(mailing_async)
                done = await run.result_async(timeout=20)
        else:
            done = await mailing_async()
    assert done == [{}, "OK"]
