"""What waits, on the command line: ``show`` of it, ``cancel``, ``send``, ``record`` and ``fork``."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from cli_project import Project

import semel

WAITING = """
    from datetime import timedelta

    from semel import App, Backoff, Event, once, run_child, saga, sleep, wait_for

    app = App("NAME", database="sqlite:///shop.db")
    paid = Event[int]("paid")

    def fail():
        raise OSError("no answer")

    def cancel(booking):
        pass

    @app.workflow
    def order(what):
        once("reserve", lambda: what)
        amount = wait_for(paid, timeout=timedelta(days=3))
        once("ship", lambda: f"{what} for {amount}")
        return amount

    @app.workflow
    def charge():
        once("charge", lambda: fail(), retry=Backoff.constant(timedelta(days=1)).max_attempts(3))

    @app.workflow
    def sleeper():
        sleep(timedelta(days=1))

    @app.workflow
    def parent():
        run_child("nap", sleeper).result()

    @app.workflow
    def trip():
        with saga("trip") as steps:
            steps.step("flight", lambda: "F-7", undo=cancel)
            steps.step("hotel", lambda: "H-7", undo=cancel)
            sleep(timedelta(days=1))
"""


class Waiting:
    """The project, and its runs driven until they wait."""

    def __init__(self, project: Project) -> None:
        self.project = project
        project.write(WAITING)

    def parked(self, workflow: str, *args: Any, id: str) -> semel.App:
        app = self.project.app()
        run = app.start(app.workflows[workflow].function, *args, id=id)
        self.drive(app, run)
        return app

    def drive(self, app: semel.App, run: Any) -> None:
        """Until a delivery of the run has ended."""
        ended = threading.Event()
        app.signals.when_ended(run.uid, ended.set)
        with app.worker():
            assert ended.wait(30)

    def shown(self, run: str) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.project.with_app("show", run, "--json").stdout)
        return document

    def told(self, *arguments: str, input: str | None = None) -> Any:
        return self.project.with_app(*arguments, input=input)


@pytest.fixture
def waiting(project: Project) -> Waiting:
    return Waiting(project)


def test_a_run_that_waits_for_an_event_says_so(waiting: Waiting) -> None:
    waiting.parked("order", "tea", id="A-1")
    text = waiting.told("show", "A-1").output
    assert "waits for order/start@1#wait_for:paid: the event 'paid', until" in text
    (wait,) = waiting.shown("A-1")["waits"]
    assert (wait["kind"], wait["event"], wait["path"]) == ("event", "paid", "order/start@1#wait_for:paid")
    assert wait["until"].startswith("20")
    listed = waiting.told("runs", "--status", "parked", "--json")
    assert [run["id"] for run in json.loads(listed.stdout)["runs"]] == ["A-1"]
    assert "parked" in waiting.told("runs").output


def test_a_retried_step_and_a_sleep_say_when(waiting: Waiting) -> None:
    waiting.parked("charge", id="C-1")
    waiting.parked("sleeper", id="S-1")
    assert "waits for charge/start@1#charge: attempt 2, at 20" in waiting.told("show", "C-1").output
    assert "waits for sleeper/start@1#sleep: until 20" in waiting.told("show", "S-1").output
    assert waiting.shown("C-1")["waits"][0]["attempt"] == 2


def test_a_parent_names_the_children_that_it_waits_for(waiting: Waiting) -> None:
    waiting.parked("parent", id="P-1")
    assert "waits for parent/start@1#nap: the child P-1/start@1#nap" in waiting.told("show", "P-1").output
    assert waiting.shown("P-1")["waits"][0]["children"] == ["P-1/start@1#nap"]


def test_an_event_is_sent_and_taken(waiting: Waiting) -> None:
    app = waiting.parked("order", "tea", id="A-1")
    assert waiting.told("send", "A-1", "paid", "1950").output == "the run A-1 was sent the event 'paid'\n"
    text = waiting.told("show", "A-1").output
    assert "event not taken yet 'paid'" in text
    assert ": 1950" in text
    waiting.drive(app, app.run("A-1"))
    shown = waiting.told("show", "A-1").output
    assert "event: 1950" in shown
    assert "completed" in shown
    late = waiting.told("send", "A-1", "paid", "1")
    assert late.exit_code == 1
    assert "has ended" in late.stderr


def test_a_payload_that_is_no_json_is_a_usage_error(waiting: Waiting) -> None:
    result = waiting.told("send", "A-1", "paid", "nineteen")
    assert result.exit_code == 2
    assert "'nineteen' is no JSON" in result.stderr


@pytest.mark.rule("W8")
def test_a_cancel_says_what_it_will_do_and_asks(waiting: Waiting) -> None:
    waiting.parked("parent", id="P-1")
    asked = waiting.told("cancel", "P-1")
    assert asked.exit_code == 1, "it asks, and nobody has answered"
    assert "P-1/start@1#nap" in asked.stderr
    assert waiting.shown("P-1")["status"] == "parked"
    assert waiting.told("cancel", "P-1", input="y\n").stdout == "the run P-1 is cancelled\n"
    assert waiting.shown("P-1/start@1#nap")["ending"] == "cancelled"
    late = waiting.told("cancel", "P-1", "--yes")
    assert (late.exit_code, late.stderr) == (1, "too late: the run P-1 has ended (cancelled)\n")


@pytest.mark.rule("W8")
def test_a_cancel_names_what_will_be_undone(waiting: Waiting) -> None:
    app = waiting.parked("trip", id="T-1")
    assert "to be undone" not in waiting.told("show", "T-1").output
    assert "!undo" not in waiting.told("show", "T-1").output
    asked = waiting.told("cancel", "T-1", input="y\n")
    assert asked.stderr.index("trip#hotel") < asked.stderr.index("trip#flight")
    assert asked.stdout == "the run T-1 is cancelled as soon as a worker comes to it\n"
    shown = waiting.told("show", "T-1").output
    assert "to be undone trip/start@1/trip#flight" in shown
    assert "the run is to end: cancelled" in shown
    waiting.drive(app, app.run("T-1"))
    assert waiting.shown("T-1")["status"] == "cancelled"
    assert "trip/start@1/trip#flight!undone" in waiting.told("show", "T-1").output


@pytest.mark.rule("O25")
def test_an_outcome_is_stated(waiting: Waiting) -> None:
    waiting.parked("order", "tea", id="A-1")
    path = "order/start@1#reserve"
    asked = waiting.told("record", "A-1", path, '"coffee"')
    assert asked.exit_code == 1
    assert f"The record of {path} will be replaced (result: 'tea')" in asked.stderr
    assert waiting.told("record", "A-1", path, '"coffee"', "--yes").exit_code == 0
    assert waiting.shown("A-1")["steps"][0]["value"] == "'coffee'"
    ship = waiting.told("record", "A-1", "order/start@1#ship", "null", input="y\n")
    assert "it will not run any more" in ship.stderr
    assert ship.exit_code == 0
    wrong = waiting.told("record", "A-1", "nowhere", "1", "--yes")
    assert wrong.exit_code == 1
    assert "is no step of" in wrong.stderr


def test_a_fork_says_what_it_takes_over_and_what_it_does_anew(waiting: Waiting) -> None:
    app = waiting.parked("order", "tea", id="A-1")
    app.run("A-1").send("paid", 5)
    waiting.drive(app, app.run("A-1"))
    path = "order/start@1#ship"
    asked = waiting.told("fork", "A-1", path)
    assert asked.exit_code == 1
    takes, anew = asked.stderr.split("It does anew:")
    assert "order/start@1#reserve" in takes
    assert path in anew
    made = waiting.told("fork", "A-1", path, "--id", "A-2", "--yes")
    assert made.stdout == f"the run A-2 goes on from {path} of the run A-1\n"
    waiting.drive(app, app.run("A-2"))
    assert waiting.shown("A-2")["result"] == "5"
    nothing = waiting.told("fork", "A-1", "order/start@1#nothing", "--yes")
    assert nothing.exit_code == 1
    assert "no record" in nothing.stderr
