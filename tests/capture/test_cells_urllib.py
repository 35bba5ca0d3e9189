"""urllib.request and xmlrpc.client: tries that one call makes, a crash between them, and a length that lies."""

from __future__ import annotations

from pathlib import Path

import pytest
from cells_server import CellsServer
from compared import Compared, compare
from harness import case

FLOWS = ["longer", "remote_call", "retried"]


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Compared:
    folder = tmp_path_factory.mktemp("urllib")
    program = "urllib_cells_flows"
    return compare(program, FLOWS, CellsServer(), lambda it: (it.url,), lambda it: len(it.requests), folder)


@pytest.mark.rule("A3")
@pytest.mark.parametrize("name", FLOWS)
def test_a_replay_shows_what_the_live_call_showed(compared: Compared, name: str) -> None:
    assert compared.replayed[name] == compared.live[name]
    assert compared.asked == compared.asked_live == 1 + 2 + 3


@pytest.mark.rule("A2")
@pytest.mark.parametrize(
    ("workflow", "crash", "before", "tries", "result"),
    [
        ("asked_again", "step.before:2", 1, 3, "b'at last'"),
        ("asked_again", "step.before:3", 2, 3, "b'at last'"),
        ("called_again", "step.before:2", 1, 2, "42"),
    ],
)
def test_after_a_crash_between_two_tries_only_the_rest_is_asked_for(
    tmp_path: Path, workflow: str, crash: str, before: int, tries: int, result: str
) -> None:
    with CellsServer() as server:
        run = case("urllib_cells_flows", workflow, server.url, folder=tmp_path)
        assert run.attempt(crash).killed
        assert len(server.requests) == before
        assert run.replayed().result == result
        assert len(server.requests) == tries
    first = run.steps()[0]
    assert run.steps() == [first, *(f"{first}~{part}" for part in range(1, tries))]
