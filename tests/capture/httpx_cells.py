"""What is tested of httpx and of httpx2 alike: a test class for each says which."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from harness import HERE, Case, case
from httpx_server import OddServer
from sdk_cells import NOBODY, Cells, cells, flows

FAULTS = frozenset({"websocket", "large", "endless", "bomb", "endless_async", "two_of_one_name"})
SYNC = flows("httpx_flows", coroutines=False, leaving_out=FAULTS)
ASYNC = flows("httpx_flows", coroutines=True, leaving_out=FAULTS)

#: Their calls overlap, so the server numbers them as they come.
IN_NO_ORDER = frozenset({"twenty_at_once", "twenty_by_a_helper"})


@pytest.fixture
def server() -> Iterator[OddServer]:
    server = OddServer()
    yield server
    server.stop()


class HttpxCells:
    """``library`` is the module's name."""

    library: ClassVar[str]

    @pytest.fixture(scope="class")
    @classmethod
    def shown(cls, tmp_path_factory: pytest.TempPathFactory) -> Cells:
        folder = tmp_path_factory.mktemp("cells")
        return cells("httpx_flows", SYNC, OddServer(), folder, coroutines=False, HTTPX_FLOWS=cls.library)

    @pytest.fixture(scope="class")
    @classmethod
    def shown_async(cls, tmp_path_factory: pytest.TempPathFactory) -> Cells:
        folder = tmp_path_factory.mktemp("cells")
        return cells("httpx_flows", ASYNC, OddServer(), folder, coroutines=True, HTTPX_FLOWS=cls.library)

    def one(self, flow: str, server: OddServer, folder: Path) -> Case:
        workflow = "async_flows" if flow in flows("httpx_flows", coroutines=True) else "sync_flows"
        return case("httpx_flows", workflow, server.url, [flow], folder=folder, HTTPX_FLOWS=self.library, NOBODY=NOBODY)

    # ---------------------------------------------------------------------------------------------------- the matrix

    @pytest.mark.rule("A1")
    @pytest.mark.parametrize("flow", SYNC)
    def test_a_replay_gives_equal_objects(self, shown: Cells, flow: str) -> None:
        assert shown.again[flow] == shown.live[flow]

    @pytest.mark.rule("A1")
    @pytest.mark.parametrize("flow", ASYNC)
    def test_a_replay_gives_equal_objects_to_coroutines(self, shown_async: Cells, flow: str) -> None:
        assert shown_async.again[flow] == shown_async.live[flow]

    @pytest.mark.rule("A6")
    @pytest.mark.parametrize("flow", SYNC)
    def test_a_run_sees_what_a_program_without_runs_sees(self, shown: Cells, flow: str) -> None:
        assert shown.live[flow] == shown.without_connection(flow)

    @pytest.mark.rule("A6")
    @pytest.mark.parametrize("flow", [flow for flow in ASYNC if flow not in IN_NO_ORDER])
    def test_a_coroutine_in_a_run_sees_what_one_without_sees(self, shown_async: Cells, flow: str) -> None:
        assert shown_async.live[flow] == shown_async.without_connection(flow)

    @pytest.mark.rule("A2")
    def test_the_server_is_asked_what_it_is_asked_without_runs(self, shown: Cells, shown_async: Cells) -> None:
        assert shown.asked == shown.asked_outside
        assert shown_async.asked == shown_async.asked_outside

    @pytest.mark.rule("A8")
    def test_steps_are_named_after_the_call_and_exchanges_are_its_parts(self, shown: Cells, shown_async: Cells) -> None:
        name = self.library
        redirects = [f"{name}.Client.get", *(f"{name}.Client.get~{part}" for part in (1, 2, 3))]
        assert shown.operations("plain") == [f"{name}.get"]
        assert shown.operations("redirected") == redirects
        assert shown.operations("streamed") == [f"{name}.Client.stream"]
        assert shown.operations("not_followed") == [f"{name}.Client.get", f"{name}.Client.send"]
        assert shown.operations("digest") == [f"{name}.get", f"{name}.get~1"]
        assert shown.operations("oauth") == [f"{name}.Client.get", f"{name}.Client.get~1", f"{name}.Client.get"]
        assert shown_async.operations("plain_async") == [f"{name}.AsyncClient.get"]
        assert shown_async.operations("digest_async") == [f"{name}.AsyncClient.get", f"{name}.AsyncClient.get~1"]

    @pytest.mark.rule("A1")
    def test_a_double_that_answers_in_the_process_is_no_step(self, shown: Cells) -> None:
        assert shown.paths("in_process") == []

    @pytest.mark.rule("A7")
    def test_a_once_round_a_call_is_one_step_and_a_helper_in_it_another(self, shown: Cells) -> None:
        assert shown.paths("in_a_once") == ["in_a_once#ask"]
        helped = "by_a_helper_of_a_once"
        assert shown.paths(helped) == [f"{helped}/helped/{helped}.ask#auto:{self.library}.get", f"{helped}#helped"]

    def test_twenty_calls_in_one_body_each_keep_their_own_answer(self, shown_async: Cells) -> None:
        sent = [json.loads(text_of(response))["n"] for response in shown_async.again["twenty_by_a_helper"]["items"]]
        assert sent == [*range(20)]
        assert len(shown_async.operations("twenty_at_once")) == 20

    @pytest.mark.parametrize("kind", ["sync", "coroutines"])
    def test_twenty_bodies_over_one_client_each_keep_their_own_records(
        self, server: OddServer, tmp_path: Path, kind: str
    ) -> None:
        command = [sys.executable, str(HERE / "httpx_many.py"), kind, server.url]
        environment = {
            **os.environ,
            "PYTHONPATH": str(HERE.parent.parent / "src"),
            "DATABASE": f"sqlite:///{tmp_path / 'capture.db'}",
            "SHOWN": str(tmp_path / "shown.json"),
            "HTTPX_FLOWS": self.library,
        }
        killed = subprocess.run(command, env={**environment, "DIE": "1"}, capture_output=True, text=True, check=False)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        assert sorted(server.asked) == [*["GET /plain"], *["POST /echo"] * 60]
        server.stop()
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        results, steps = json.loads((tmp_path / "shown.json").read_text())
        assert results == [[f"{number} {n}" for n in range(3)] for number in range(20)]
        assert steps == [3] * 20

    # ------------------------------------------------------------------------------------------------------- crashes

    @pytest.mark.rule("A2")
    @pytest.mark.parametrize("part", [1, 2, 3, 4])
    def test_killed_between_two_exchanges_only_the_rest_is_asked_for(
        self, server: OddServer, tmp_path: Path, part: int
    ) -> None:
        run = self.one("redirected", server, tmp_path)
        assert run.attempt(f"step.recorded:{part}").killed
        assert len(server.asked) == part
        assert run.attempt().fault is None
        assert server.asked == ["GET /redirect/3", "GET /redirect/2", "GET /redirect/1", "GET /plain"]

    @pytest.mark.rule("O8")
    def test_killed_in_the_window_the_exchange_is_made_twice(self, server: OddServer, tmp_path: Path) -> None:
        run = self.one("redirected", server, tmp_path)
        assert run.attempt("step.returned:2").killed
        assert run.attempt().fault is None
        assert server.asked == ["GET /redirect/3", *["GET /redirect/2"] * 2, "GET /redirect/1", "GET /plain"]

    # ----------------------------------------------------------------------------------------------------- bad input

    @pytest.mark.rule("O23")
    @pytest.mark.parametrize("flow", ["large", "endless", "endless_async", "bomb"])
    def test_an_answer_that_is_too_much_faults_the_run_and_is_not_asked_for_again(
        self, server: OddServer, tmp_path: Path, flow: str
    ) -> None:
        run = self.one(flow, server, tmp_path)
        for _ in range(2):
            fault = run.attempt().fault
            assert fault is not None
            assert "ResultNotRecordable" in fault
            assert f"start@1[0]/{flow}#auto:{self.library}." in fault
        assert len(server.asked) == 1

    @pytest.mark.rule("A1")
    def test_a_websocket_is_refused_before_it_is_opened(self, server: OddServer, tmp_path: Path) -> None:
        fault = self.one("websocket", server, tmp_path).attempt().fault
        assert fault is not None
        assert "CallNotRecordable" in fault
        assert "httpx_flows.py:" in fault
        assert 'once("talk", lambda: talk())' in fault
        assert server.asked == []

    @pytest.mark.rule("A8")
    def test_two_calls_of_one_operation_are_refused_and_the_second_is_not_made(
        self, server: OddServer, tmp_path: Path
    ) -> None:
        fault = self.one("two_of_one_name", server, tmp_path).attempt().fault
        assert fault is not None
        assert "PathClaimedTwice" in fault
        assert server.asked == ["GET /plain"]


def text_of(response: Any) -> str:
    """The text of a response's dump."""
    return str(response["vars"]["_content"]["bytes"])
