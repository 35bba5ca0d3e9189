"""aiohttp: the tries that one call makes, a crash between them, and a length that lies."""

from __future__ import annotations

from pathlib import Path

import pytest
from cells_server import CellsServer
from compared import Compared, compare
from harness import case

FLOWS = ["retried", "longer"]


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Compared:
    folder = tmp_path_factory.mktemp("aiohttp")
    program = "aiohttp_cells_flows"
    return compare(program, FLOWS, CellsServer(), lambda it: (it.url,), lambda it: len(it.requests), folder)


@pytest.mark.rule("A3")
@pytest.mark.parametrize("name", FLOWS)
def test_a_replay_shows_what_the_live_call_showed(compared: Compared, name: str) -> None:
    assert compared.replayed[name] == compared.live[name]
    assert compared.asked == compared.asked_live == 3 + 1


@pytest.mark.rule("A2")
@pytest.mark.parametrize(("crash", "before"), [("step.before:2", 1), ("step.before:3", 2)])
def test_after_a_crash_between_two_tries_only_the_rest_is_asked_for(tmp_path: Path, crash: str, before: int) -> None:
    with CellsServer() as server:
        run = case("aiohttp_cells_flows", "asked_again", server.url, folder=tmp_path)
        assert run.attempt(crash).killed
        assert len(server.requests) == before
        assert run.replayed().result == "at last"
        assert len(server.requests) == 3
    call = "asked_again/start@1#auto:aiohttp.ClientSession.get"
    assert run.steps() == [call, f"{call}~1", f"{call}~2"]
