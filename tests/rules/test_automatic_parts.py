"""Rule A8, A10 and DESIGN 6: the exchanges of one call of an SDK are its parts, in order or side by side."""

from __future__ import annotations

import pytest
from automatic_scene import BrokenOff, Server, break_off, client, failing, faulted_then_retried, log, paths, server
from foreign_sdk import SdkError, Service

from semel import App
from semel.errors import RequestNotAligned

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
