"""Programs that wait, driven until they do: what the tests of the command line of time work on."""

from __future__ import annotations

import json
import threading
from typing import Any

from cli_project import Project

import semel

_PATIENCE = 30.0  # seconds; only a failing test waits so long
_MOST = 20  # deliveries, one after the other

WAITING = """
    from datetime import timedelta

    from semel import App, Backoff, Event, once, run_child, saga, sleep, wait_all, wait_first, wait_for

    app = App("NAME", database="sqlite:///shop.db")
    paid = Event[int]("paid")
    ONCE = Backoff.constant(timedelta(milliseconds=1)).max_attempts(1)

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
    def short():
        once("nothing", lambda: None)

    @app.workflow
    def family():
        wait_all([run_child("a", parent), run_child("b", short), run_child("c", trip)])

    @app.workflow
    def crowd(first):
        children = [run_child("nap", sleeper) for number in range(7)]
        if first:
            wait_first(children)
        else:
            wait_all(children)

    @app.workflow
    def trip():
        with saga("trip") as steps:
            steps.step("flight", lambda: "F-7", undo=cancel)
            steps.step("hotel", lambda: "H-7", undo=cancel)
            sleep(timedelta(days=1))

    def refuse(booking):
        raise LookupError(f"{booking} is not known")

    @app.workflow
    def lost():
        once("order", lambda: "O-7")
        with saga("trip") as steps:
            steps.step("flight", lambda: "F-7", undo=cancel)
            steps.step("hotel", lambda: "H-7", undo=refuse, undo_retry=ONCE)
            steps.step("car", lambda: fail(), undo=cancel)

    @app.workflow
    def kept():
        with saga("outer"):
            with saga("inner") as steps:
                steps.step("flight", lambda: "F-7", undo=cancel)
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
            assert ended.wait(_PATIENCE)

    def settle(self, app: semel.App) -> None:
        """Until no run of the app goes on by itself."""
        for _ in range(_MOST):
            row = next((row for row in app.runs() if row.status == "pending"), None)
            if row is None:
                return
            self.drive(app, app.run(row.id))
        raise AssertionError([(row.id, row.status) for row in app.runs()])

    def shown(self, run: str) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.project.with_app("show", run, "--json").stdout)
        return document

    def told(self, *arguments: str, input: str | None = None) -> Any:
        return self.project.with_app(*arguments, input=input)
