"""Rule A8, A10 and DESIGN 6: the exchanges of one call of an SDK are its parts, in order or side by side."""

from __future__ import annotations

import json
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from functools import singledispatch

import httpx
import pytest
from automatic_scene import BrokenOff, Server, break_off, client, failing, faulted_then_retried, log, paths, server
from foreign_sdk import SdkError, Service

from semel import App
from semel.errors import CallWithoutName, RequestNotAligned

__all__ = ["server"]

ASK = "#auto:foreign_sdk.Service.ask"


def retried(url: str) -> int:
    count = Service(url).ask("/one")
    break_off()
    return count


@pytest.mark.rule("A10")
def test_an_sdk_that_retries_asks_in_parts_and_a_replay_asks_for_none_of_them(app: App, server: Server) -> None:
    failing.add("/one")
    app.workflow(gives_in)
    run = app.start(gives_in, server.url)
    with app.worker():
        with pytest.raises(BrokenOff):
            run.result(timeout=10)
        log.append("/go")
        assert run.retry()
        assert run.result(timeout=10) == "/one: 500"
    assert server.asked == ["GET /one"] * 3 + ["POST /after"]
    assert paths(run) == [ASK, f"{ASK}~1", f"{ASK}~2", "#auto:httpx.Client.post"]


def gives_in(url: str) -> str:
    try:
        said = str(Service(url).ask("/one"))
    except SdkError as error:
        said = str(error)
    client.post(f"{url}/after")
    break_off()
    return said


@pytest.mark.rule("A10")
def test_a_call_that_failed_for_good_has_all_its_retries_again(app: App, server: Server) -> None:
    failing.add("/one")
    app.workflow(retried)
    log.append("/go")
    run = app.start(retried, server.url)
    with app.worker():
        with pytest.raises(SdkError):
            run.result(timeout=10)
        assert run.steps() == []
        assert run.retry()
        with pytest.raises(SdkError):
            run.result(timeout=10)
        assert len(server.asked) == 6
        failing.clear()
        assert run.retry()
        assert run.result(timeout=10) == 7


def side_by_side(url: str) -> list[str]:
    forwards = [f"/{number}" for number in range(8)]
    asked = forwards if "/go" not in log else forwards[::-1]  # threads may come in any order
    found = Service(url).ask_all(asked)
    break_off()
    return found


@pytest.mark.rule("O20")
def test_parts_that_were_made_side_by_side_are_found_in_any_order(app: App, server: Server) -> None:
    _, result = faulted_then_retried(app, side_by_side, server.url)
    assert result == [f"/{number}" for number in reversed(range(8))]
    assert len(server.asked) == 10


def side_by_side_of_others(url: str) -> list[str]:
    found = Service(url).ask_all(["/a", "/b"] if "/go" not in log else ["/a", "/c"])
    break_off()
    return found


@pytest.mark.rule("A8")
def test_a_request_that_no_part_is_of_is_not_sent_while_records_wait(app: App, server: Server) -> None:
    app.workflow(side_by_side_of_others)
    run = app.start(side_by_side_of_others, server.url)
    with app.worker():
        with pytest.raises(BrokenOff):
            run.result(timeout=10)
        log.append("/go")
        assert run.retry()
        with pytest.raises(RequestNotAligned):
            run.result(timeout=10)
    assert "GET /c" not in server.asked


def page_by_page(url: str) -> list[str]:
    seen = []
    for page in Service(url).pages(3):
        client.post(f"{url}/seen{page}")
        seen.append(page)
    break_off()
    return seen


@pytest.mark.rule("A8")
def test_pages_that_are_asked_for_while_the_body_iterates_are_parts_of_the_call(app: App, server: Server) -> None:
    run, result = faulted_then_retried(app, page_by_page, server.url)
    assert result == ["/page/0", "/page/1", "/page/2"]
    assert len(server.asked) == 6
    pages = "#auto:foreign_sdk.Service.pages"
    assert paths(run) == [
        *(pages, "[0]#auto:httpx.Client.post"),
        *(f"{pages}~1", "[1]#auto:httpx.Client.post"),
        *(f"{pages}~2", "[2]#auto:httpx.Client.post"),
    ]


def kept_then_iterated(url: str) -> list[str]:
    pages = Service(url).pages(2)
    client.post(f"{url}/between")
    found = list(pages) if url == "never" else [page for page in pages]  # noqa: C416 (the loop is what is tested)
    break_off()
    return found


def test_what_is_iterated_later_is_named_by_what_it_is(app: App, server: Server) -> None:
    run, result = faulted_then_retried(app, kept_then_iterated, server.url)
    assert result == ["/page/0", "/page/1"]
    assert paths(run) == ["#auto:httpx.Client.post", "#auto:builtins.generator", "#auto:builtins.generator~1"]


def pausing(url: str) -> list[int]:
    pauses: list[int] = []
    try:
        Service(url).ask("/one", pause=0.0 if "/go" not in log else 3600.0, pauses=pauses)
    except SdkError:
        client.post(f"{url}/after")
    break_off()
    return pauses[:2]


def test_the_pauses_of_an_sdk_between_recorded_attempts_are_not_waited_through_again(app: App, server: Server) -> None:
    failing.add("/one")
    app.workflow(pausing)
    run = app.start(pausing, server.url)
    with app.worker():
        with pytest.raises(BrokenOff):
            run.result(timeout=10)
        log.append("/go")
        assert run.retry()
        assert run.result(timeout=10) == [2, 1], "an hour each"
    assert server.asked == ["GET /one"] * 3 + ["POST /after"]


class Token(httpx.Auth):
    """Asks for a token if it has none, as many clients do."""

    requires_response_body = True
    known: str | None = None

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        if Token.known is None:
            answer = yield httpx.Request("POST", f"{request.url.copy_with(path='/token')}")
            Token.known = str(answer.json()["count"])
        request.headers["authorization"] = Token.known
        yield request


def charged(url: str) -> int:
    count = client.post(f"{url}/charge", json={"cents": 5}, auth=Token()).json()["count"]
    break_off()
    return int(count)


@pytest.mark.rule("A10")
@pytest.mark.parametrize(("at_first", "later"), [("known", None), (None, "known")])
def test_a_client_that_has_its_token_only_sometimes_is_not_charged_twice(
    app: App, server: Server, at_first: str | None, later: str | None
) -> None:
    app.workflow(charged)
    Token.known = at_first
    run = app.start(charged, server.url)
    with app.worker():
        with pytest.raises(BrokenOff):
            run.result(timeout=10)
        log.append("/go")
        Token.known = later
        assert run.retry()
        if later is None:
            with pytest.raises(RequestNotAligned):
                run.result(timeout=10)
        else:
            assert run.result(timeout=10) == 2
    assert server.asked.count("POST /charge") == 1


def posts_with_nonces(url: str) -> list[int]:
    found = Service(url).post_all(6)
    break_off()
    return found


@pytest.mark.rule("O20")
def test_answers_of_requests_that_cannot_be_told_apart_are_not_given_at_random(app: App, server: Server) -> None:
    app.workflow(posts_with_nonces)
    run = app.start(posts_with_nonces, server.url)
    with app.worker():
        with pytest.raises(BrokenOff):
            run.result(timeout=10)
        log.append("/go")
        assert run.retry()
        with pytest.raises(RequestNotAligned, match=r"side by side.*once"):
            run.result(timeout=10)
    assert len(server.asked) == 6


def in_a_pool(url: str) -> list[int]:
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(asked, f"{url}/{number}") for number in range(6)]
        return [done.result() for done in waiting]


def asked(url: str) -> int:
    return int(client.get(url).raise_for_status().json()["count"])


@pytest.mark.rule("A10")
def test_a_failed_call_of_a_pool_that_ends_the_body_is_made_again(app: App, server: Server) -> None:
    app.workflow(in_a_pool)
    failing.add("/0")
    run = app.start(in_a_pool, server.url)
    with app.worker():
        with pytest.raises(httpx.HTTPStatusError):
            run.result(timeout=10)
        failing.clear()
        assert run.retry()
        assert len(run.result(timeout=10)) == 6
    assert server.asked.count("GET /0") == 2


def three_pages(url: str) -> list[int]:
    counts = Service(url).polled(3)
    break_off()
    return counts


@pytest.mark.rule("O25")
def test_a_forgotten_part_is_asked_for_again_in_its_place(app: App, server: Server) -> None:
    app.workflow(three_pages)
    run = app.start(three_pages, server.url)
    with app.worker(), pytest.raises(BrokenOff):
        run.result(timeout=10)
    part = next(record.path for record in run.steps() if record.path.endswith("~1"))
    run.forget(part)
    log.append("/go")
    assert run.retry()
    with app.worker():
        assert run.result(timeout=10) == [1, 4, 3]


async def awaited(url: str) -> int:
    async with httpx.AsyncClient(trust_env=False) as own:
        answer = await own.get(f"{url}/one")
    break_off()
    return int(answer.json()["count"])


@pytest.mark.rule("A1")
def test_a_call_that_is_awaited_where_it_stands_is_a_step(app: App, server: Server) -> None:
    run, result = faulted_then_retried(app, awaited, server.url)
    assert result == 1
    assert paths(run) == ["#auto:httpx.AsyncClient.get"]


def later_line(url: str) -> int:
    pages = Service(url).lazy_length()
    if "/go" in log:
        json.dumps({})
    return len(pages)


@pytest.mark.rule("O17")
def test_what_a_later_line_asks_for_is_not_taken_for_the_call_before_it(app: App, server: Server) -> None:
    app.workflow(later_line)
    with app.worker(), pytest.raises(CallWithoutName):
        app.start(later_line, server.url).result(timeout=10)
    assert server.asked == []


@singledispatch
def send(what: object, url: str) -> int:
    raise TypeError


@send.register
def _(what: int, url: str) -> int:
    return int(client.post(f"{url}/charge").json()["count"])


@send.register
def _(what: str, url: str) -> int:
    return int(client.post(f"{url}/mail").json()["count"])


def sent(url: str) -> list[int]:
    things: list[object] = [1, "a"] if "/go" not in log else ["a", 1]
    counts = [send(thing, url) for thing in things]
    break_off()
    return counts


@pytest.mark.rule("O18")
def test_the_functions_of_a_singledispatch_do_not_read_each_others_records(app: App, server: Server) -> None:
    run, result = faulted_then_retried(app, sent, server.url)
    assert result == [3, 4], "other passes of other functions: other steps"
    assert paths(run)[:2] == ["[0]/send.int#auto:httpx.Client.post", "[1]/send.str#auto:httpx.Client.post"]
