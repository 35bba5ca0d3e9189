"""The SDK of OpenAI, unmodified: every flow live and replayed, its retries, and a crash between two exchanges."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from harness import case
from llm_server import LlmServer
from sdk_cells import Cells, cells, flows

SYNC = flows("openai_flows", coroutines=False, leaving_out=frozenset({"upgraded"}))
ASYNC = flows("openai_flows", coroutines=True)
CHAT = "POST /chat/completions"


@pytest.fixture
def server() -> Iterator[LlmServer]:
    server = LlmServer()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Cells:
    return cells("openai_flows", SYNC, LlmServer(), tmp_path_factory.mktemp("cells"), coroutines=False)


@pytest.fixture(scope="module")
def shown_async(tmp_path_factory: pytest.TempPathFactory) -> Cells:
    return cells("openai_flows", ASYNC, LlmServer(), tmp_path_factory.mktemp("cells"), coroutines=True)


@pytest.mark.rule("A11")
@pytest.mark.parametrize("flow", SYNC)
def test_a_replay_gives_equal_objects(shown: Cells, flow: str) -> None:
    assert shown.again[flow] == shown.live[flow]


@pytest.mark.rule("A11")
@pytest.mark.parametrize("flow", ASYNC)
def test_a_replay_gives_equal_objects_to_coroutines(shown_async: Cells, flow: str) -> None:
    assert shown_async.again[flow] == shown_async.live[flow]


@pytest.mark.rule("A6")
@pytest.mark.parametrize("flow", SYNC)
def test_a_run_sees_what_a_program_without_runs_sees(shown: Cells, flow: str) -> None:
    assert shown.live[flow] == shown.without_connection(flow)


@pytest.mark.rule("A6")
@pytest.mark.parametrize("flow", [flow for flow in ASYNC if flow != "twenty_chats"])
def test_a_coroutine_in_a_run_sees_what_one_without_sees(shown_async: Cells, flow: str) -> None:
    assert shown_async.live[flow] == shown_async.without_connection(flow)


@pytest.mark.rule("A11")
def test_the_api_is_asked_what_it_is_asked_without_runs_and_nothing_for_a_replay(
    shown: Cells, shown_async: Cells
) -> None:
    assert shown.asked == shown.asked_outside
    assert sorted(shown_async.asked) == sorted(shown_async.asked_outside)


@pytest.mark.rule("A8")
def test_steps_are_named_after_the_call_and_the_retries_of_the_sdk_are_its_parts(
    shown: Cells, shown_async: Cells
) -> None:
    create = "openai.Completions.create"
    assert shown.operations("chat") == [create]
    assert shown.operations("chat_streamed") == [create]
    assert shown.operations("chat_stream_helper") == ["openai.Completions.stream"]
    assert shown.operations("responses") == ["openai.Responses.create"]
    assert shown.operations("tool_calls") == [create, create]
    assert shown.operations("retried_429") == [create, f"{create}~1", f"{create}~2"]
    assert shown.operations("retried_connection") == [create, f"{create}~1"]
    assert shown.operations("retries_exhausted") == [create, f"{create}~1"]
    assert shown_async.operations("chat_streamed_async") == ["openai.AsyncCompletions.create"]


@pytest.mark.rule("A8")
def test_the_pages_of_a_list_are_parts_of_the_call_that_gave_the_list(shown: Cells, shown_async: Cells) -> None:
    parts = ["openai.Jobs.list", "openai.Jobs.list~1", "openai.Jobs.list~2"]
    assert shown.operations("jobs_paged") == parts
    assert shown.operations("jobs_in_a_list") == parts
    assert shown.operations("jobs_by_page") == [parts[0], *["openai.BaseSyncPage.get_next_page"] * 2]
    assert shown_async.operations("jobs_paged_async") == [part.replace("Jobs", "AsyncJobs") for part in parts]


def test_twenty_calls_in_one_body_each_keep_their_own_answer(shown_async: Cells) -> None:
    assert shown_async.operations("twenty_chats") == ["openai.AsyncCompletions.create"] * 20


@pytest.mark.rule("A10")
@pytest.mark.parametrize(("point", "asked"), [("step.before:2", 1), ("step.before:3", 2), ("step.recorded:1", 3)])
def test_killed_between_the_tries_of_the_sdk_only_the_rest_is_asked_for(
    server: LlmServer, tmp_path: Path, point: str, asked: int
) -> None:
    run = case("openai_flows", "sync_flows", server.url, ["retried_429"], folder=tmp_path)
    assert run.attempt(point).killed
    assert len(server.asked) == asked
    assert run.attempt().fault is None
    assert server.asked == [f"{CHAT} 429-twice-then-200"] * 3
    assert len(run.steps()) == 3, "the answers of the first process were read back"


@pytest.mark.rule("A11")
@pytest.mark.parametrize("flow", ["chat", "chat_streamed"])
def test_killed_after_an_answer_was_recorded_the_llm_is_not_asked_again(
    server: LlmServer, tmp_path: Path, flow: str
) -> None:
    run = case("openai_flows", "sync_flows", server.url, [flow], folder=tmp_path)
    assert run.attempt("step.recorded:1").killed
    assert run.attempt().fault is None
    assert len(server.asked) == 1


@pytest.mark.rule("O8")
def test_killed_in_the_window_the_llm_is_asked_twice(server: LlmServer, tmp_path: Path) -> None:
    run = case("openai_flows", "sync_flows", server.url, ["chat"], folder=tmp_path)
    assert run.attempt("step.returned:1").killed
    assert run.attempt().fault is None
    assert server.asked == [f"{CHAT} plain"] * 2


def test_a_record_made_over_httpx_is_read_back_by_an_sdk_that_has_moved_to_httpx2(
    server: LlmServer, tmp_path: Path
) -> None:
    run = case("openai_flows", "sync_flows", server.url, ["upgraded"], folder=tmp_path)
    assert run.attempt("body.before_commit:1", HTTP_CLIENT="httpx").killed
    shown = run.attempt(HTTP_CLIENT="httpx2").shown
    assert "httpx2.RemoteProtocolError" in str(shown)
    assert server.asked == [f"{CHAT} plain", f"{CHAT} dies-then-200"]


def test_no_key_of_the_caller_is_in_the_database(server: LlmServer, tmp_path: Path) -> None:
    run = case("openai_flows", "sync_flows", server.url, ["chat_streamed", "unauthorized"], folder=tmp_path)
    run.live()
    assert any(headers.get("authorization") == "Bearer sk-secret" for headers in server.seen)
    stored = b"".join(file.read_bytes() for file in tmp_path.iterdir() if file.name.startswith("capture."))
    assert b" upon" in stored
    assert b"sk-secret" not in stored
    assert b"weather in Turin" not in stored
