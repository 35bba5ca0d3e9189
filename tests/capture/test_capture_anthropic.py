"""The SDK of Anthropic, unmodified: every flow live and replayed, its retries, and a crash between two exchanges."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from harness import case
from llm_server import LlmServer
from sdk_cells import Cells, cells, flows

SYNC = flows("anthropic_flows", coroutines=False)
ASYNC = flows("anthropic_flows", coroutines=True)


@pytest.fixture
def server() -> Iterator[LlmServer]:
    server = LlmServer()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Cells:
    return cells("anthropic_flows", SYNC, LlmServer(), tmp_path_factory.mktemp("cells"), coroutines=False)


@pytest.fixture(scope="module")
def shown_async(tmp_path_factory: pytest.TempPathFactory) -> Cells:
    return cells("anthropic_flows", ASYNC, LlmServer(), tmp_path_factory.mktemp("cells"), coroutines=True)


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
@pytest.mark.parametrize("flow", [flow for flow in ASYNC if flow != "twenty_messages"])
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
    create = "anthropic.Messages.create"
    assert shown.operations("message") == [create]
    assert shown.operations("message_streamed") == [create]
    assert shown.operations("message_stream_helper") == ["anthropic.Messages.stream"]
    assert shown.operations("tool_use") == [create, create]
    assert shown.operations("message_retried") == [create, f"{create}~1", f"{create}~2"]
    assert shown.operations("message_overloaded") == [create, f"{create}~1"]
    assert shown.operations("claude_models") == [
        "anthropic.Models.list",
        *(f"anthropic.Models.list~{n}" for n in (1, 2)),
    ]
    assert shown_async.operations("message_stream_async") == ["anthropic.AsyncMessages.stream"]


def test_twenty_calls_in_one_body_each_keep_their_own_answer(shown_async: Cells) -> None:
    assert shown_async.operations("twenty_messages") == ["anthropic.AsyncMessages.create"] * 20


@pytest.mark.rule("A10")
@pytest.mark.parametrize(("point", "asked"), [("step.before:2", 1), ("step.before:3", 2), ("step.recorded:1", 3)])
def test_killed_between_the_tries_of_the_sdk_only_the_rest_is_asked_for(
    server: LlmServer, tmp_path: Path, point: str, asked: int
) -> None:
    run = case("anthropic_flows", "sync_flows", server.url, ["message_retried"], folder=tmp_path)
    assert run.attempt(point).killed
    assert len(server.asked) == asked
    assert run.attempt().fault is None
    assert server.asked == ["POST /messages 429-twice-then-200"] * 3
    assert len(run.steps()) == 3, "the answers of the first process were read back"


@pytest.mark.rule("A11")
@pytest.mark.parametrize("flow", ["message_streamed"])
def test_killed_after_an_answer_was_recorded_the_llm_is_not_asked_again(
    server: LlmServer, tmp_path: Path, flow: str
) -> None:
    run = case("anthropic_flows", "sync_flows", server.url, [flow], folder=tmp_path)
    assert run.attempt("step.recorded:1").killed
    assert run.attempt().fault is None
    assert len(server.asked) == 1
