"""The SDKs of OpenAI and Anthropic: redirects, failures of coroutines, and answers that are no good."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cells_server import CellsServer
from compared import Compared, closed_port
from harness import case
from llm_server import LlmServer

FLOWS = [
    *("gpt_redirected", "claude_redirected", "gpt_half", "claude_half", "gpt_longer", "claude_longer"),
    "claude_cut_in_a_stream",
]
ASYNC = ["gpt_failures_async", "claude_failures_async"]


@contextmanager
def serving() -> Iterator[tuple[CellsServer, LlmServer]]:
    """A server that sends what comes under ``/to`` on to one that speaks the APIs."""
    llm = LlmServer()
    with CellsServer() as server:
        server.target = llm.url
        yield server, llm
    llm.stop()


def compared_by(workflow: str, names: list[str], folder: Path) -> Compared:
    with closed_port() as port:
        with serving() as (server, llm):
            run = case("llm_cells_flows", workflow, server.url, names, folder=folder, CLOSED_PORT=port)
            live = run.live().shown
            asked = len(server.requests) + len(llm.asked)
        replayed = run.replayed().shown
    by_name = [{one["items"][0]: one["items"][1] for one in shown} for shown in (live, replayed)]
    return Compared(run, by_name[0], by_name[1], asked, len(server.requests) + len(llm.asked))


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Compared:
    return compared_by("flows", FLOWS, tmp_path_factory.mktemp("llm"))


@pytest.fixture(scope="module")
def compared_async(tmp_path_factory: pytest.TempPathFactory) -> Compared:
    return compared_by("flows_async", ASYNC, tmp_path_factory.mktemp("llm"))


@pytest.mark.rule("A11")
@pytest.mark.parametrize("name", FLOWS)
def test_a_replay_gives_equal_objects(compared: Compared, name: str) -> None:
    assert compared.replayed[name] == compared.live[name]
    assert compared.asked == compared.asked_live


@pytest.mark.rule("A11")
@pytest.mark.parametrize("name", ASYNC)
def test_a_replay_gives_equal_objects_to_coroutines(compared_async: Compared, name: str) -> None:
    assert compared_async.replayed[name] == compared_async.live[name]
    assert compared_async.asked == compared_async.asked_live


@pytest.mark.rule("A8")
def test_each_hop_of_a_redirect_is_a_part_of_the_call(compared: Compared) -> None:
    steps = compared.run.steps()
    for flow, operation in (("gpt", "openai.Completions.create"), ("claude", "anthropic.Messages.create")):
        parts = [path.rpartition("#auto:")[2] for path in steps if f"{flow}_redirected/" in path]
        assert parts == [operation, f"{operation}~1"]


@pytest.mark.rule("O23")
@pytest.mark.parametrize("workflow", ["gpt_much", "claude_much"])
@pytest.mark.parametrize(
    ("name", "told"),
    [("endless", "more than 16 MiB"), ("large", "more than 16 MiB"), ("bomb", "unpacks to more than 256 MiB")],
)
def test_what_is_too_much_faults_the_run_and_the_sdk_does_not_ask_again(
    tmp_path: Path, workflow: str, name: str, told: str
) -> None:
    with CellsServer() as server:
        fault = str(case("llm_cells_flows", workflow, f"{server.url}/{name}", folder=tmp_path).attempt().fault)
        assert "ResultNotRecordable" in fault
        assert told in fault
        assert len(server.requests) == 1
