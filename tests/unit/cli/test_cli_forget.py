"""``semel forget``: which records are deleted, what is asked before, and what is promised."""

from __future__ import annotations

import json

import pytest
from cli_project import Project

CALLS = """
    import httpx
    from semel import App, once

    app = App("NAME", database="sqlite:///shop.db")

    def post(order):
        return httpx.post("https://bank.example/", json=order).status_code

    @app.workflow
    def fulfil(order):
        once("pay", lambda: post(order))
        httpx.get("https://bank.example/moved", follow_redirects=True)
        if order == "broken":
            raise ValueError("no such card")
"""
PAID = ["fulfil/start@1/pay/post#auto:httpx.post", "fulfil/start@1#pay"]


@pytest.fixture
def paid(project: Project) -> Project:
    from semel.testing import script

    project.write(CALLS)
    with script() as net:
        net.on("POST", "https://bank.example/").answer()
        net.on("GET", "https://bank.example/moved").answer(status=302, headers={"location": "/there"})
        net.on("GET", "https://bank.example/there").answer()
        project.finished("A-1", "broken")
    return project


def left(project: Project, run: str) -> list[str]:
    return [step["path"] for step in json.loads(project.with_app("show", run, "--json").stdout)["steps"]]


@pytest.mark.rule("O25")
def test_the_records_inside_a_step_go_with_it_and_are_named_before(paid: Project) -> None:
    asked = paid.with_app("forget", "broken", PAID[1])
    assert asked.exit_code == 1, "it asks, and nobody has answered"
    assert asked.stderr.index(PAID[0]) < asked.stderr.index(PAID[1])
    assert "httpx.get" not in asked.stderr
    assert "will be done again when the run is delivered" in asked.stderr
    assert len(left(paid, "broken")) == 4
    done = paid.with_app("forget", "broken", PAID[1], input="y\n")
    assert done.exit_code == 0, done.output
    assert "and 1 that go with it is forgotten; it runs again after: semel retry broken" in done.stdout
    assert left(paid, "broken") == ["fulfil/start@1#auto:httpx.get", "fulfil/start@1#auto:httpx.get~1"]
    notes = json.loads(paid.with_app("show", "broken", "--json").stdout)["notes"]
    assert [(note["kind"], note["path"]) for note in notes] == [("forgotten", path) for path in PAID]


def test_the_parts_of_a_call_go_with_it_and_one_part_goes_alone(paid: Project) -> None:
    call = "fulfil/start@1#auto:httpx.get"
    assert paid.with_app("forget", "A-1", f"{call}~1", "--yes").exit_code == 0
    assert left(paid, "A-1") == [*PAID, call]
    assert paid.with_app("forget", "broken", call, "--yes").exit_code == 0
    assert left(paid, "broken") == PAID


def test_on_a_completed_run_nothing_is_promised_to_run_again(paid: Project) -> None:
    result = paid.with_app("forget", "A-1", PAID[1], input="y\n")
    assert result.exit_code == 0
    assert "nothing will be done again" in result.stderr
    assert "nothing runs again" in result.stdout


def test_a_path_that_is_not_there_is_not_asked_about(paid: Project) -> None:
    result = paid.with_app("forget", "A-1", "nowhere", input="y\n")
    assert result.exit_code == 1
    assert "Go on?" not in result.stderr
    assert "error[SEMEL-STEP-NOT-FOUND]: the run 'A-1' has no record of 'nowhere'" in result.stderr
