"""What waits, on the command line: ``show`` of it, ``cancel`` and ``send``; and ``record`` and ``fork``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

import pytest
from cli_project import Process, Project
from cli_waiting import Waiting

from semel.cli.output import tell_list
from semel.errors import RunCancelled


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


@pytest.mark.parametrize(("first", "which"), [(False, "7 of"), (True, "the first of")])
def test_of_many_children_five_are_named(waiting: Waiting, first: bool, which: str) -> None:
    waiting.parked("crowd", first, id="P-1")
    shown = waiting.told("show", "P-1").output
    assert f": {which} 7 children: P-1/start@1[0]#nap, P-1/start@1[1]#nap, " in shown
    assert "P-1/start@1[4]#nap and 2 more\n" in shown
    assert "[5]" not in shown
    assert len(waiting.shown("P-1")["waits"][0]["children"]) == 7


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


@pytest.mark.parametrize("payload", ["nineteen", "NaN", "[" * 100_000, "9" * 5000, "{'a': 1}"])
def test_a_payload_that_is_no_json_is_a_usage_error(waiting: Waiting, payload: str) -> None:
    for command in (("send", "A-1", "paid"), ("record", "A-1", "order/start@1#reserve")):
        result = waiting.told(*command, payload)
        assert result.exit_code == 2
        assert f"{payload[:50]}" in result.stderr
        assert "is no JSON that can be read" in result.stderr
        assert len(result.stderr) < 500


def test_an_event_without_a_name_is_a_usage_error(waiting: Waiting) -> None:
    result = waiting.told("send", "A-1", "")
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (2, "Error: the event has no name")


def test_an_event_that_the_run_does_not_wait_for_is_kept_and_that_is_said(waiting: Waiting) -> None:
    waiting.parked("order", "tea", id="A-1")
    told = waiting.told("send", "A-1", "payed", '{"by": "card"}').stdout
    assert told == "the run A-1 was sent the event 'payed'; it waits for 'paid', and keeps this one\n"
    (event,) = waiting.shown("A-1")["events"]
    assert (event["name"], event["payload"]) == ("payed", "{'by': 'card'}")
    assert waiting.told("send", "A-1", "payed").exit_code == 0
    assert waiting.shown("A-1")["events"][1]["payload"] == "None", "no payload is None"


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
    assert "!undo" not in waiting.told("show", "T-1").output
    asked = waiting.told("cancel", "T-1", input="y\n")
    assert asked.stderr.index("trip#hotel") < asked.stderr.index("trip#flight")
    assert asked.stdout == "the run T-1 is cancelled as soon as a worker comes to it\n"
    shown = waiting.told("show", "T-1").output
    assert "'F-7' (to be undone)" in shown
    assert "the run is to end: cancelled; before that, 2 steps are undone" in shown
    waiting.drive(app, app.run("T-1"))
    assert waiting.shown("T-1")["status"] == "cancelled"
    shown = waiting.told("show", "T-1").output
    assert "'F-7' (undone)" in shown
    assert "is to end" not in shown


@pytest.mark.rule("W8")
def test_a_cancel_names_all_that_is_below_and_what_is_undone_there(waiting: Waiting) -> None:
    app = waiting.parked("family", id="P-1")
    waiting.settle(app)
    asked = waiting.told("cancel", "P-1").stderr
    children, undone = asked.split("What these steps have done will be undone, the latest first:")
    assert "P-1/start@1#a (parked)\n  P-1/start@1#a/start@1#nap (parked)\n" in children
    assert "#b" not in children, "it has completed"
    assert "trip/start@1/trip#hotel (of P-1/start@1#c)\n  trip/start@1/trip#flight (of P-1/start@1#c)\n" in undone


@pytest.mark.rule("W8")
def test_a_cancel_says_of_what_it_is_not_known_whether_it_was_done(waiting: Waiting) -> None:
    app = waiting.parked("trip", id="T-1")
    app.run("T-1").forget("trip/start@1/trip#hotel")  # as a crash leaves it that comes before the record
    asked = waiting.told("cancel", "T-1", input="y\n").stderr
    assert "trip/start@1/trip#hotel, of which it is not known whether it was done\n" in asked
    shown = waiting.told("show", "T-1").output
    assert "to be undone trip/start@1/trip#hotel (it is not known whether it was done)" in shown


@pytest.mark.rule("W8")
def test_a_cancel_of_a_run_that_a_worker_has_says_where_it_stops(
    project: Project, semel_process: Callable[..., Process]
) -> None:
    project.write("""
        import threading
        from semel import App, once

        app = App("NAME", database="sqlite:///shop.db")
        begun, go_on = threading.Event(), threading.Event()

        def work():
            begun.set()
            go_on.wait(30)

        @app.workflow
        def long():
            once("first", lambda: work())
            once("second", lambda: begun.clear())
    """)
    app = project.app()
    module = sys.modules[project.name]
    run = app.start(app.workflows["long"].function, id="A-1")
    with app.worker():
        assert module.begun.wait(30)
        asked = semel_process("cancel", "A-1", "--app", project.target)
        assert asked.ended() == 1, "it asks, and nobody has answered"
        assert semel_process("cancel", "A-1", "--yes", "--app", project.target).ended() == 0
        module.go_on.set()
        with pytest.raises(RunCancelled):
            run.result(timeout=30)
    assert "The run A-1 (running) will be cancelled; what runs of it stops at its next step. Go on?" in asked.output
    assert module.begun.is_set(), "the second step has not run"


@pytest.mark.rule("W7")
def test_show_tells_of_each_step_of_a_saga_what_has_become_of_its_undo(waiting: Waiting) -> None:
    waiting.parked("trip", id="T-1")
    assert "'F-7' (to be undone if trip fails)" in waiting.told("show", "T-1").output
    waiting.parked("kept", id="K-1")
    assert "'F-7' (to be undone if outer fails)" in waiting.told("show", "K-1").output
    waiting.parked("lost", id="L-1")
    shown = waiting.told("show", "L-1").output
    assert "'F-7' (undone)" in shown
    assert "'H-7' (undo failed)" in shown
    assert "saga failed: OSError: no answer" in shown
    assert "undo failed: LookupError: H-7 is not known" in shown
    assert "undo done" in shown
    assert not any(end in shown for end in ("!undo ", "!within", "!closed"))


@pytest.mark.rule("W7")
def test_the_records_of_a_saga_are_told_apart_in_json(waiting: Waiting) -> None:
    waiting.parked("lost", id="L-1")
    kinds = {step["path"].partition("@1")[2]: (step["kind"], step["undo"]) for step in waiting.shown("L-1")["steps"]}
    assert kinds == {
        "#order": ("step", None),
        "/trip#flight!undo": ("saga", None),
        "/trip#flight": ("step", "undone"),
        "/trip#hotel!undo": ("saga", None),
        "/trip#hotel": ("step", "failed"),
        "/trip#car!undo": ("saga", None),
        "/trip#car": ("step", None),
        "#trip!within": ("saga", None),
        "#trip": ("saga", None),
        "/trip#hotel!undone": ("undo", None),
        "/trip#flight!undone": ("undo", None),
        "#trip!closed": ("saga", None),
    }


@pytest.mark.rule("R11")
def test_a_retry_says_which_sagas_are_done_anew(waiting: Waiting) -> None:
    waiting.parked("lost", id="L-1")
    asked = waiting.told("retry", "L-1")
    assert asked.exit_code == 1, "it asks, and nobody has answered"
    assert asked.stderr.startswith(
        "1 recorded step is found, and not done again.\nThe saga lost/start@1#trip was undone, and is done anew.\n"
    )


@pytest.mark.rule("O25")
def test_an_outcome_is_stated(waiting: Waiting) -> None:
    waiting.parked("order", "tea", id="A-1")
    path = "order/start@1#reserve"
    asked = waiting.told("record", "A-1", path, '"coffee"')
    assert asked.exit_code == 1
    assert f"The record of {path} will be replaced (result: 'tea'); it will not run again" in asked.stderr
    assert waiting.told("record", "A-1", path, '"coffee"', "--yes").exit_code == 0
    assert waiting.shown("A-1")["steps"][0]["value"] == "'coffee'"
    ship = waiting.told("record", "A-1", "order/start@1#ship", "null", input="y\n")
    assert "has no record yet; if the body comes to it, it will not run" in ship.stderr
    assert ship.exit_code == 0


@pytest.mark.rule("O25")
def test_on_a_completed_run_a_stated_outcome_promises_nothing(waiting: Waiting) -> None:
    waiting.parked("short", id="S-1")
    asked = waiting.told("record", "S-1", "short/start@1#nothing", "1").stderr
    assert "The run has completed, so nothing comes of it." in asked


@pytest.mark.rule("O25")
def test_a_path_of_no_step_is_not_asked_about(waiting: Waiting) -> None:
    waiting.parked("order", "tea", id="A-1")
    wrong = waiting.told("record", "A-1", "nowhere", "1", input="y\n")
    assert wrong.exit_code == 1
    assert "is no step of" in wrong.stderr
    assert "Go on?" not in wrong.stderr


def test_a_fork_says_what_it_takes_over_and_what_it_does_anew(waiting: Waiting) -> None:
    app = waiting.parked("order", "tea", id="A-1")
    app.run("A-1").send("paid", 5)
    waiting.drive(app, app.run("A-1"))
    path = "order/start@1#ship"
    asked = waiting.told("fork", "A-1", path)
    assert asked.exit_code == 1
    takes, anew = asked.stderr.split("It does anew, with new idempotency keys")
    assert "order/start@1#reserve" in takes
    assert path in anew
    made = waiting.told("fork", "A-1", path, "--id", "A-2", "--yes")
    assert made.stdout == f"the run A-2 goes on from {path} of the run A-1\n"
    waiting.drive(app, app.run("A-2"))
    assert waiting.shown("A-2")["result"] == "5"
    nothing = waiting.told("fork", "A-1", "order/start@1#nothing", "--yes")
    assert nothing.exit_code == 1
    assert "no record" in nothing.stderr


def test_of_a_long_list_the_beginning_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    tell_list("These:", [f"step {number}" for number in range(25)])
    told = capsys.readouterr().err.splitlines()
    assert (told[0], told[-2:], len(told)) == ("These:", ["  step 19", "  and 5 more"], 22)
