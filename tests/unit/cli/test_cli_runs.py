"""``semel runs``, ``show``, ``retry``: what became of runs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from cli_project import Process, Project

from semel.cli.moments import iso
from semel.cli.output import printable


@pytest.fixture
def ended(project: Project) -> Project:
    project.write()
    project.finished("A-1", "broken")
    return project


def test_runs_are_listed_newest_first(ended: Project) -> None:
    result = ended.with_app("runs")
    assert result.exit_code == 0
    assert result.output.index("broken") < result.output.index("A-1")
    assert "completed" in result.output
    assert "ValueError: no such card" in result.output


def test_runs_are_filtered(ended: Project) -> None:
    def ids(*options: str) -> list[str]:
        return [run["id"] for run in json.loads(ended.with_app("runs", "--json", *options).stdout)["runs"]]

    assert ids() == ["broken", "A-1"]
    assert ids("--status", "faulted") == ["broken"]
    assert ids("--workflow", "fulfil", "--limit", "1") == ["broken"]
    assert ids("--workflow", "another") == []
    assert ids("--since", "1h") == ["broken", "A-1"]
    assert ids("--until", "1h") == []
    assert ids("--since", "2020-01-01", "--until", "2020-01-02T00:00:00Z") == []


def test_runs_as_json_have_stable_keys_and_times_in_utc(ended: Project) -> None:
    runs = json.loads(ended.with_app("runs", "--json").stdout)["runs"]
    keys = {"id", "workflow", "status", "created_at", "started_at", "finished_at", "visits", "fault"}
    assert [set(run) for run in runs] == [keys, keys]
    assert runs[1]["visits"] == {"start": 1}
    assert runs[1]["fault"] is None
    assert runs[0]["fault"] == "ValueError: no such card"
    assert iso(datetime.fromisoformat(runs[0]["created_at"]).timestamp()) == runs[0]["created_at"]


def test_a_status_that_does_not_exist_is_a_usage_error(ended: Project) -> None:
    assert ended.with_app("runs", "--status", "happy").exit_code == 2


def test_a_time_that_is_none_is_a_usage_error(ended: Project) -> None:
    result = ended.with_app("runs", "--since", "yesterday")
    assert result.exit_code == 2
    assert "2h, 3d" in result.stderr


def test_a_run_is_shown_with_its_steps_and_shortened_results(ended: Project) -> None:
    result = ended.with_app("show", "A-1")
    assert result.exit_code == 0
    assert "fulfil/start@1#charge" in result.output
    assert "fulfil/start@1#mail" in result.output
    assert "('A-1')" in result.output
    assert "..." in result.output
    assert "98, 99" not in result.output


def test_a_faulted_run_is_shown_with_its_traceback_and_exit_code_1(ended: Project) -> None:
    result = ended.with_app("show", "broken")
    assert result.exit_code == 1
    assert f"{ended.name}.py" in result.output
    assert 'raise ValueError("no such card")' in result.output
    assert "semel retry broken" in result.output


def test_a_run_as_json_has_stable_keys(ended: Project) -> None:
    run = json.loads(ended.with_app("show", "A-1", "--json").stdout)
    assert set(run) == {
        *("id", "workflow", "registered", "status", "created_at", "started_at", "finished_at", "visits"),
        *("arguments", "result", "fault", "steps", "notes", "waits", "events", "ending", "row"),
    }
    assert run["registered"] is True
    assert run["result"] == "'r-A-1'"
    charge, mail = run["steps"]
    assert set(charge) == {
        *("path", "kind", "body", "outcome", "value", "undo", "request_differs", "awaited", "delivery", "started_at"),
        "finished_at",
    }
    assert charge["path"] == "fulfil/start@1#charge"
    assert mail["value"] == "None"
    assert mail["outcome"] == "result"
    assert (mail["kind"], mail["undo"]) == ("step", None)


def test_secrets_of_a_run_are_shown_nowhere(ended: Project) -> None:
    app = ended.app()
    row = app.store.get("A-1")
    assert row is not None
    shown = "".join(
        ended.with_app(*command).output
        for command in (["show", "A-1"], ["show", "A-1", "--json"], ["runs"], ["runs", "--json"])
    )
    assert row.seed.hex() not in shown
    assert "seed" not in shown
    assert app.namespace().hex() not in shown
    app.close()


def test_a_run_of_a_workflow_that_is_no_more_says_so(ended: Project) -> None:
    (Path.cwd() / f"{ended.name}_b.py").write_text(
        'from semel import App\napp = App("b", database="sqlite:///shop.db")\n'
    )
    result = ended.run("show", "A-1", "--app", f"{ended.name}_b:app")
    assert result.exit_code == 0
    assert "does not register it" in result.output
    run = ended.run("show", "A-1", "--json", "--app", f"{ended.name}_b:app")
    assert json.loads(run.stdout)["registered"] is False


def test_a_result_that_cannot_be_read_shows_the_reason(project: Project, semel_process: Callable[..., Process]) -> None:
    project.write(
        """
        from dataclasses import dataclass
        from semel import App, once

        app = App("NAME", database="sqlite:///shop.db")

        @dataclass
        class Receipt:
            number: str

        @app.workflow
        def fulfil(order):
            return once("charge", lambda: Receipt(order)).number
        """
    )
    project.finished("A-1")
    (Path.cwd() / f"{project.name}_b.py").write_text(
        'from semel import App\napp = App("b", database="sqlite:///shop.db")\n'
    )
    show = semel_process("show", "A-1", "--app", f"{project.name}_b:app")
    assert show.ended() == 0
    assert "<cannot be read:" in show.output
    assert "Receipt" in show.output


def test_a_value_whose_repr_raises_does_not_end_the_command(project: Project) -> None:
    project.write(
        """
        from dataclasses import dataclass
        from semel import App, once

        app = App("NAME", database="sqlite:///shop.db")

        @dataclass
        class Receipt:
            number: str

            def __repr__(self):
                raise RuntimeError("not ready")

        @app.workflow
        def fulfil(order):
            return once("charge", lambda: Receipt(order)).number
        """
    )
    project.finished("A-1")
    result = project.with_app("show", "A-1")
    assert result.exit_code == 0
    assert "Receipt" in result.output


def test_a_failure_that_the_body_went_past_is_shown_as_one(project: Project) -> None:
    project.write(
        """
        from semel import App, once

        app = App("NAME", database="sqlite:///shop.db")

        def refuse():
            raise LookupError("no stock [at all]")

        @app.workflow
        def fulfil(order):
            try:
                once("reserve", lambda: refuse())
            except LookupError:
                return "later"
        """
    )
    project.finished("A-1")
    assert "failed: LookupError: no stock [at all]" in project.with_app("show", "A-1").output
    (step,) = json.loads(project.with_app("show", "A-1", "--json").stdout)["steps"]
    assert (step["outcome"], step["value"]) == ("failure", "LookupError: no stock [at all]")


def test_a_run_that_is_not_there_is_an_answer_of_no(ended: Project) -> None:
    for command in ("show", "retry"):
        result = ended.with_app(command, "nobody")
        assert result.exit_code == 1
        assert "error[SEMEL-RUN-NOT-FOUND]: there is no run 'nobody'" in result.stderr


def test_a_faulted_run_is_made_pending_again(ended: Project) -> None:
    asked = ended.with_app("retry", "broken")
    assert asked.exit_code == 1, "it asks, and nobody has answered"
    assert "0 recorded steps are found" in asked.stderr
    result = ended.with_app("retry", "broken", "--yes")
    assert result.exit_code == 0
    assert json.loads(ended.with_app("show", "broken", "--json").stdout)["status"] == "pending"


def test_only_a_faulted_run_is_retried(ended: Project) -> None:
    result = ended.with_app("retry", "A-1")
    assert result.exit_code == 1
    assert "is completed" in result.stderr


def test_what_would_steer_the_terminal_is_shown_as_text() -> None:
    assert printable("a\x1b[2J\tb\nc\x00") == "a\\x1b[2J\tb\nc\\x00"


ASKING = """
    import httpx
    from semel import App
    from semel.testing import script

    app = App("NAME", database="sqlite:///shop.db")
    tries = []

    @app.workflow(redeliver=1)
    def fulfil(order):
        rate = httpx.get(f"https://rates.example/?try={len(tries)}").json()
        missing = httpx.head("https://rates.example/").status_code
        httpx.post("https://rates.example/")
        tries.append(order)
        if len(tries) == 1:
            raise ValueError("delivered again")
        return rate, missing
"""


def test_show_tells_what_a_call_was_answered_and_that_its_request_has_changed(project: Project) -> None:
    from semel.testing import script

    project.write(ASKING)
    with script() as net:
        net.on("GET", "https://rates.example/*").answer(json={"eur": 1})
        net.on("HEAD", "https://rates.example/").answer(status=404)
        net.on("POST", "https://rates.example/").answer(status=201)
        project.finished("A-1")
    shown = project.with_app("show", "A-1").output
    assert "200 OK, 9 bytes (request differs)" in " ".join(shown.split())
    steps = json.loads(project.with_app("show", "A-1", "--json").stdout)["steps"]
    assert [(step["path"].partition("#")[2], step["request_differs"]) for step in steps] == [
        ("auto:httpx.get", True),
        ("auto:httpx.head", False),
        ("auto:httpx.post", False),
    ]


def test_a_fault_after_recorded_calls_says_that_their_answers_are_given_again(project: Project) -> None:
    from semel.testing import script

    project.write(ASKING.replace("(redeliver=1)", ""))
    with script() as net:
        net.on("GET", re.compile(".*")).answer(json={"eur": 1})
        net.on("HEAD", "https://rates.example/").answer()
        net.on("POST", "https://rates.example/").answer()
        project.finished("A-1")
    told = project.with_app("show", "A-1").output.splitlines()[-2:]
    assert told[0] == "mend it, then: semel retry A-1"
    assert told[1].endswith("is given the recorded answer again; to have it made anew: semel forget A-1 PATH")


def test_a_fault_of_a_run_without_calls_says_nothing_of_answers(ended: Project) -> None:
    assert ended.with_app("show", "broken").output.splitlines()[-1] == "mend it, then: semel retry broken"


def test_a_path_is_broken_where_a_name_begins(capsys: pytest.CaptureFixture[str]) -> None:
    from rich.table import Table

    from semel.cli.output import FoldedPath, console

    table = Table.grid()
    table.add_row(FoldedPath("fulfil/start@1[0]/notify_everybody#auto:httpx.Client.post~1"))
    out = console()
    out.width = 30
    out.print(table)
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == [
        "fulfil/start@1[0]",
        "/notify_everybody",
        "#auto:httpx.Client.post~1",
    ]
    out.width = 12
    out.print(table)
    assert "".join(capsys.readouterr().out.split()) == "fulfil/start@1[0]/notify_everybody#auto:httpx.Client.post~1"
