"""urllib3 used directly: the cells of the matrix that are not shown by requests, and answers that are no good."""

from __future__ import annotations

from pathlib import Path

import pytest
from cells_server import CellsServer
from compared import Compared, compare
from harness import case

FLOWS = ["error_answers", "redirected", "refused", "broken_off", "longer", "twenty_at_once"]


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Compared:
    folder = tmp_path_factory.mktemp("urllib3")
    return compare("urllib3_flows", FLOWS, CellsServer(), lambda it: (it.url,), lambda it: len(it.requests), folder)


@pytest.mark.rule("A3")
@pytest.mark.parametrize("name", FLOWS)
def test_a_replay_shows_what_the_live_call_showed(compared: Compared, name: str) -> None:
    assert compared.replayed[name] == compared.live[name]
    assert compared.asked == compared.asked_live


@pytest.mark.rule("A2")
@pytest.mark.parametrize(("crash", "before"), [("step.before:2", 1), ("step.before:3", 2)])
def test_after_a_crash_between_two_tries_only_the_rest_is_asked_for(tmp_path: Path, crash: str, before: int) -> None:
    with CellsServer() as server:
        run = case("urllib3_flows", "retried", server.url, folder=tmp_path)
        assert run.attempt(crash).killed
        assert len(server.requests) == before
        assert run.replayed().result == "b'at last'"
        assert len(server.requests) == 3
    call = "retried/start@1#auto:urllib3.RequestMethods.request"
    assert run.steps() == [call, f"{call}~1", f"{call}~2"]


@pytest.mark.rule("O23")
@pytest.mark.parametrize(
    ("name", "told"),
    [("endless", "more than 16 MiB"), ("large", "more than 16 MiB"), ("bomb", "unpacks to more than 256 MiB")],
)
def test_what_is_too_much_is_an_error_that_names_the_step(tmp_path: Path, name: str, told: str) -> None:
    with CellsServer() as server:
        fault = str(case("urllib3_flows", "much", server.url, name, folder=tmp_path).attempt().fault)
        assert "ResultNotRecordable" in fault
        assert told in fault
        assert "much/start@1#auto:urllib3." in fault
        assert len(server.requests) == 1
