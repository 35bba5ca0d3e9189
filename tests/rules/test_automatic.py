"""Rules A1–A3, A6–A8, A10, A11: an ordinary call that leaves the process is a step by itself."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest
from automatic_scene import BrokenOff, Server, break_off, client, failing, faulted_then_retried, log, paths, server

import semel
from semel import Answer, App, external, once
from semel.checks import check_paths
from semel.errors import CallWithoutName, PathClaimedTwice, RequestNotAligned, ResultNotRecordable

__all__ = ["server"]

# ---- A1, A2, A3


def two_calls(url: str) -> list[int]:
    first = client.get(f"{url}/one")
    second = client.post(f"{url}/two", json={"of": first.json()["count"]})
    break_off()
    return [first.json()["count"], second.json()["count"]]


@pytest.mark.rule("A1")
@pytest.mark.rule("A2")
@pytest.mark.rule("A3")
def test_two_calls_of_one_function_are_two_steps_that_nobody_marked(app: App, server: Server) -> None:
    run, result = faulted_then_retried(app, two_calls, server.url)
    assert result == [1, 2]
    assert server.asked == ["GET /one", "POST /two"]
    assert paths(run) == ["#auto:httpx.Client.get", "#auto:httpx.Client.post"]


def in_helper(url: str, number: int) -> int:
    return int(client.get(f"{url}/{number}").json()["count"])


def in_a_loop(url: str) -> list[int]:
    counts = [in_helper(url, number) for number in range(3)]
    break_off()
    return counts


@pytest.mark.rule("A1")
def test_a_call_in_a_helper_in_a_loop_has_the_path_that_leads_to_it(app: App, server: Server) -> None:
    run, result = faulted_then_retried(app, in_a_loop, server.url)
    assert result == [1, 2, 3]
    assert paths(run) == [f"[{number}]/in_helper#auto:httpx.Client.get" for number in range(3)]


@pytest.mark.rule("A2")
def test_a_crash_between_two_calls_repeats_neither(app: App, server: Server) -> None:
    def body(url: str) -> int:
        first = client.get(f"{url}/one").json()["count"]
        break_off()
        return first + client.post(f"{url}/two").json()["count"]

    _, result = faulted_then_retried(app, body, server.url)
    assert result == 1 + 2
    assert server.asked == ["GET /one", "POST /two"]


@pytest.mark.rule("A4")
def test_ordinary_work_between_calls_runs_again(app: App, server: Server) -> None:
    def body(url: str) -> int:
        client.get(f"{url}/one")
        log.append("computed")
        break_off()
        return log.count("computed")

    _, result = faulted_then_retried(app, body, server.url)
    assert result == 2


@pytest.mark.rule("A6")
def test_outside_of_a_run_the_call_happens_each_time(app: App, server: Server) -> None:
    log.append("/go")
    app.check()
    assert two_calls(server.url) == [1, 2]
    assert two_calls(server.url) == [3, 4]
    assert client.get(server.url).headers["x-private"] == "mine", "nothing is filtered where nothing is recorded"


@pytest.mark.rule("A8")
def test_a_call_to_a_pool_and_to_a_thread_is_named_after_what_is_called(app: App, server: Server) -> None:
    async def body(url: str) -> list[int]:
        got = await asyncio.gather(
            *[asyncio.to_thread(client.get, f"{url}/{number}") for number in range(3)],
        )
        loop = asyncio.get_running_loop()
        posted = await loop.run_in_executor(None, client.post, f"{url}/last")
        break_off()
        return [answer.status_code for answer in [*got, posted]]

    run, result = faulted_then_retried(app, body, server.url)
    assert result == [200] * 4
    assert sorted(paths(run)) == [
        "#auto:httpx.Client.post",
        *[f"[{number}]#auto:httpx.Client.get" for number in range(3)],
    ]
    assert len(server.asked) == 4


# ---- A7


@pytest.mark.rule("A7")
def test_a_once_right_round_a_call_makes_one_step(app: App, server: Server) -> None:
    def body(url: str) -> int:
        count = once("mine", lambda: client.get(f"{url}/one").json()["count"])
        break_off()
        return int(count)

    run, result = faulted_then_retried(app, body, server.url)
    assert result == 1
    assert paths(run) == ["#mine"]


def failing_after(url: str) -> int:
    count = in_helper(url, 2)
    break_off()
    return count


@pytest.mark.rule("A7")
def test_a_call_of_a_helper_in_a_once_is_a_nested_step(app: App, server: Server) -> None:
    def body(url: str) -> int:
        first = once("mine", lambda: in_helper(url, 1))
        second = once("other", lambda: failing_after(url))
        return first + second

    run, result = faulted_then_retried(app, body, server.url)
    assert result == 1 + 2
    assert server.asked == ["GET /1", "GET /2"]
    assert paths(run) == [
        *("/mine/in_helper#auto:httpx.Client.get", "#mine"),
        *("/other/failing_after/in_helper#auto:httpx.Client.get", "#other"),
    ]


# ---- A8


@pytest.mark.rule("A8")
def test_two_calls_of_one_operation_that_no_check_saw_are_refused_before_the_second(app: App, server: Server) -> None:
    def body(url: str) -> None:
        for_first, for_second = (getattr(client, name) for name in ("get", "get"))
        for_first(f"{url}/one")
        for_second(f"{url}/two")

    app.workflow(body)
    with app.worker(), pytest.raises(PathClaimedTwice, match=r"(?s)httpx.Client.get.*once\(") as caught:
        app.start(body, server.url).result(timeout=10)
    assert server.asked == ["GET /one"]
    assert "for_second" in str(caught.value)


@pytest.mark.rule("A8")
def test_two_calls_of_one_operation_are_refused_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(
        "import httpx\nfrom semel import App\n\napp = App('shop')\n\n\n@app.workflow\ndef body(url: str) -> None:\n"
        "    httpx.get(url + '/one')\n    httpx.get(url + '/two')\n"
    )
    (problem,) = check_paths([tmp_path / "shop.py"])
    assert (problem.rule, problem.spec) == ("automatic-call-twice", "A8")
    assert sorted([problem.place.line, *[place.line for place in problem.others]]) == [9, 10]
    assert "once(" in (problem.fix or "")


class Order:
    def __init__(self, url: str) -> None:
        self.url = url

    def __len__(self) -> int:
        return len(globals()["client"].get(f"{self.url}/one").json())


@pytest.mark.rule("A8")
def test_a_call_that_an_operator_makes_is_refused_before_the_network_is_touched(app: App, server: Server) -> None:
    def body(url: str) -> int:
        try:
            return len(next(map(Order, [url])))
        except Exception:
            return 0  # what cannot be named must not go unseen

    app.workflow(body)
    with app.worker(), pytest.raises(CallWithoutName, match=r"(?s)special method.*once\(\"ask\", lambda: len\("):
        app.start(body, server.url).result(timeout=10)
    assert server.asked == []


# ---- A10


@pytest.mark.rule("A10")
def test_an_error_answer_that_ends_the_body_is_asked_for_again(app: App, server: Server) -> None:
    def body(url: str) -> int:
        return int(client.get(f"{url}/one").raise_for_status().json()["count"])

    app.workflow(body)
    run = app.start(body, server.url)
    failing.add("/one")
    with app.worker():
        with pytest.raises(httpx.HTTPStatusError, match="500"):
            run.result(timeout=10)
        assert run.steps() == []
        failing.clear()
        assert run.retry()
        assert run.result(timeout=10) == 2
    assert server.asked == ["GET /one", "GET /one"]


@pytest.mark.rule("A10")
def test_an_error_answer_that_the_body_goes_on_past_is_a_fact(app: App, server: Server) -> None:
    def body(url: str) -> list[int]:
        first = client.get(f"{url}/one").status_code
        second = client.post(f"{url}/two").status_code
        break_off()
        return [first, second]

    failing.add("/one")
    run, result = faulted_then_retried(app, body, server.url)
    assert result == [500, 200]
    assert server.asked == ["GET /one", "POST /two"]
    assert paths(run) == ["#auto:httpx.Client.get", "#auto:httpx.Client.post"]


@pytest.mark.rule("A10")
def test_a_connection_failure_that_the_body_handles_is_raised_again_as_it_was(app: App, server: Server) -> None:
    def body(url: str) -> list[str]:
        seen = []
        try:
            client.get("http://127.0.0.1:9/nobody")
        except httpx.ConnectError as error:
            seen += [type(error).__name__, str(error), str(error.request.url)]
        client.post(f"{url}/after")
        break_off()
        return seen

    run, result = faulted_then_retried(app, body, server.url)
    assert result == ["ConnectError", "[Errno 111] Connection refused", "http://127.0.0.1:9/nobody"]
    assert paths(run) == ["#auto:httpx.Client.get", "#auto:httpx.Client.post"]


@pytest.mark.rule("A10")
def test_a_redirect_is_a_part_of_its_call(app: App, server: Server) -> None:
    def body(url: str) -> list[object]:
        answer = client.get(f"{url}/to/there", follow_redirects=True)
        break_off()
        return [answer.json()["path"], len(answer.history)]

    run, result = faulted_then_retried(app, body, server.url)
    assert result == ["/there", 1]
    assert server.asked == ["GET /to/there", "GET /there"]
    assert paths(run) == ["#auto:httpx.Client.get", "#auto:httpx.Client.get~1"]


# ---- requests that differ


def ask_with(query: str, url: str) -> object:
    return client.get(f"{url}/one?{query}").json()["count"]


def differing(url: str) -> object:
    count = ask_with(f"try={len(log)}", url)
    break_off()
    return count


@pytest.mark.rule("A8")
def test_a_call_of_one_exchange_has_its_record_whatever_the_request_says_now(app: App, server: Server) -> None:
    run, result = faulted_then_retried(app, differing, server.url)
    assert result == 1
    assert server.asked == ["GET /one"]
    assert "request differs" in [note.kind for note in run.notes()]


def differing_hops(url: str) -> int:
    where = "there" if "/go" not in log else "elsewhere"
    answer = client.get(f"{url}/to/{where}", follow_redirects=True)
    break_off()
    return answer.status_code


@pytest.mark.rule("A8")
def test_a_part_that_cannot_be_aligned_is_never_sent(app: App, server: Server) -> None:
    app.workflow(differing_hops)
    run = app.start(differing_hops, server.url)
    with app.worker():
        with pytest.raises(BrokenOff):
            run.result(timeout=10)
        log.append("/go")
        assert run.retry()
        with pytest.raises(RequestNotAligned, match=r"(?s)asks GET 127.0.0.1 where.*run.forget"):
            run.result(timeout=10)
    assert server.asked == ["GET /to/there", "GET /there"]


# ---- what is recorded


@pytest.mark.rule("O23")
def test_an_answer_over_the_limit_was_asked_for_once_and_says_so_at_each_attempt(app: App, server: Server) -> None:
    def body(url: str) -> int:
        try:
            return len(client.get(f"{url}/huge").content)
        except Exception:
            return -1  # an SDK would try again

    app.workflow(body)
    run = app.start(body, server.url)
    with app.worker():
        for _ in range(2):
            with pytest.raises(ResultNotRecordable, match=r"(?s)more than 16 MiB.*run.record"):
                run.result(timeout=20)
            assert run.retry()
    assert server.asked == ["GET /huge"]


def test_what_a_body_sees_of_headers_is_what_is_recorded(app: App, server: Server) -> None:
    def body(url: str) -> list[str | None]:
        headers = client.get(f"{url}/one", headers={"authorization": "Bearer hush-hush"}).headers
        break_off()
        return [headers.get("etag"), headers.get("x-private")]

    run, result = faulted_then_retried(app, body, server.url)
    assert result == ["7", None]
    assert all(b"hush-hush" not in record.data for record in run.steps())


@pytest.mark.rule("O25")
def test_an_operator_states_the_answer_of_a_call_or_lets_it_be_made_again(app: App, server: Server) -> None:
    run, _ = faulted_then_retried(app, two_calls, server.url)
    other = app.start(two_calls, server.url)
    other.record("two_calls/start@1#auto:httpx.Client.get", Answer.of(json={"count": 70}))
    with app.worker():
        assert other.result(timeout=10) == [70, 3]
    assert run.steps()


# ---- concurrent


@pytest.mark.rule("O20")
def test_twenty_calls_of_one_body_and_twenty_bodies_over_one_client_keep_their_records(
    app: App, server: Server
) -> None:
    async def body(url: str, number: int) -> list[int]:
        async with httpx.AsyncClient(trust_env=False) as shared:
            answers = await asyncio.gather(*[shared.get(f"{url}/{number}/{part}") for part in range(20)])
        client.post(f"{url}/{number}/sync")
        break_off()
        return [answer.json()["path"] for answer in answers]

    app.workflow(body)
    runs = [app.start(body, server.url, number) for number in range(20)]
    with app.worker():
        for run in runs:
            with pytest.raises(BrokenOff):
                run.result(timeout=30)
        log.append("/go")
        for number, run in enumerate(runs):
            assert run.retry()
            assert run.result(timeout=30) == [f"/{number}/{part}" for part in range(20)]
    assert len(server.asked) == len(set(server.asked)) == 20 * 21


# ---- external


@external
def fetch(what: str) -> dict[str, int]:
    log.append(f"fetch {what}")
    return {what: len(log)}


@external
async def fetch_later(what: str) -> str:
    await asyncio.sleep(0)
    log.append(f"fetch {what}")
    return what


class Gateway:
    @external
    def send(self, what: str) -> str:
        log.append(f"send {what}")
        return what


@pytest.mark.rule("A3")
def test_a_function_that_is_declared_external_is_a_step_as_a_whole(app: App, server: Server) -> None:
    async def body(url: str) -> list[object]:
        first = fetch("one")
        parts = await asyncio.gather(*[fetch_later(f"part {number}") for number in range(3)])
        sent = Gateway().send("mail")
        in_once = once("mine", lambda: fetch("two"))
        threaded = await asyncio.to_thread(Gateway().send, "again") if url == "never" else None
        break_off()
        return [first, parts, sent, in_once, threaded]

    run, result = faulted_then_retried(app, body, server.url)
    assert result == [{"one": 1}, ["part 0", "part 1", "part 2"], "mail", {"two": 6}, None]
    assert [line for line in log if line.startswith(("fetch", "send"))] == [
        *("fetch one", "fetch part 0", "fetch part 1", "fetch part 2", "send mail", "fetch two"),
    ]
    assert sorted(paths(run)) == [
        *("#auto:Gateway.send", "#auto:fetch", "#mine"),
        *[f"[{number}]#auto:fetch_later" for number in range(3)],
    ]


def test_outside_of_a_run_an_external_function_is_an_ordinary_one() -> None:
    log.clear()
    assert fetch("one") == {"one": 1}
    assert fetch("one") == {"one": 2}


def test_a_generator_or_a_class_cannot_be_external() -> None:
    with pytest.raises(semel.SemelError, match="generator"):
        external(lambda: (yield))
    with pytest.raises(semel.SemelError, match="functions"):
        external(Gateway)
