"""``semel worker`` and ``semel dev`` as processes: they stop in order, they die by SIGKILL, they start again."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_project import Process, Project

Start = Callable[..., Process]

# Steps that say that they run by a file, and wait for another: a test can stand between them.
SLOW = """
    import time
    from pathlib import Path

    from semel import App, once

    app = App("NAME", database="sqlite:///shop.db")

    def work(name):
        with open("work.log", "a") as log:
            log.write(name + "\\n")
        while not Path(name).exists():
            time.sleep(0.01)
        return name

    @app.workflow
    def fulfil(order):
        return [once("one", lambda: work("one")), once("two", lambda: work("two"))]
"""


def started(project: Project, id: str):
    app = project.app()
    return app.start(app.workflows["fulfil"].function, "A-1", id=id)


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def work_log() -> list[str]:
    return Path("work.log").read_text().split() if Path("work.log").exists() else []


def test_a_worker_tells_what_it_runs_and_each_runs_end(project: Project, semel_process: Start) -> None:
    project.write()
    worker = semel_process("worker", "--app", project.target)
    line = worker.until("started")
    assert "sqlite:///shop.db" in line
    assert "workflows fulfil" in line
    app = project.app()
    assert app.start(app.workflows["fulfil"].function, "A-1", id="A-1").result(timeout=30) == "r-A-1"
    worker.until("run A-1 of fulfil completed")
    with pytest.raises(ValueError, match="no such card"):
        app.start(app.workflows["fulfil"].function, "broken", id="A-2").result(timeout=30)
    worker.until("run A-2 of fulfil faulted")
    app.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_signal_lets_the_run_under_way_end(project: Project, semel_process: Start, number: int) -> None:
    project.write(SLOW)
    run = started(project, "A-1")
    worker = semel_process("worker", "--app", project.target)
    worker.until(" started:")
    wait_for(lambda: work_log() == ["one"])
    worker.signal(number)
    worker.until("stops")
    Path("one").touch()
    Path("two").touch()
    assert worker.ended() == 0
    assert "stopped" in worker.output
    assert run.status == "completed"
    assert work_log() == ["one", "two"]


def test_a_second_signal_stops_at_once_and_another_worker_goes_on(project: Project, semel_process: Start) -> None:
    project.write(SLOW)
    run = started(project, "A-1")
    worker = semel_process("worker", "--app", project.target)
    worker.until(" started:")
    wait_for(lambda: work_log() == ["one"])
    worker.signal(signal.SIGTERM)
    worker.until("stops")
    worker.signal(signal.SIGTERM)
    assert worker.ended() == -signal.SIGTERM
    Path("one").touch()
    Path("two").touch()
    semel_process("worker", "--app", project.target)
    assert run.result(timeout=30) == ["one", "two"]
    assert work_log() == ["one", "one", "two"]


def test_after_sigkill_another_worker_finds_what_was_done(project: Project, semel_process: Start) -> None:
    project.write(SLOW)
    Path("one").touch()
    run = started(project, "A-1")
    worker = semel_process("worker", "--app", project.target)
    worker.until(" started:")
    wait_for(lambda: work_log() == ["one", "two"])
    worker.signal(signal.SIGKILL)
    assert worker.ended() == -signal.SIGKILL
    Path("two").touch()
    semel_process("worker", "--app", project.target)
    assert run.result(timeout=30) == ["one", "two"]
    assert work_log() == ["one", "two", "two"]
    notes = json.loads(project.with_app("show", "A-1", "--json").stdout)["notes"]
    assert [(note["kind"], note["path"]) for note in notes] == [("possibly doubled", "fulfil/start@1#two")]


def test_a_worker_of_an_app_without_workflows_is_a_configuration_error(project: Project) -> None:
    project.write('from semel import App\napp = App("NAME", database="sqlite:///shop.db")\n')
    result = project.with_app("worker")
    assert result.exit_code == 2
    assert "registers no workflow" in result.stderr


@pytest.mark.parametrize("options", [("--threads", "0"), ("--tasks", "-1"), ("--lease", "0.01")])
def test_numbers_that_make_no_worker_are_usage_errors(project: Project, options: tuple[str, ...]) -> None:
    project.write()
    assert project.with_app("worker", *options).exit_code == 2


def test_a_worker_whose_database_is_of_a_newer_semel_says_so(project: Project, semel_process: Start) -> None:
    project.write()
    assert project.with_app("migrate").exit_code == 0
    connection = sqlite3.connect("shop.db")
    with connection:
        connection.execute("UPDATE semel_meta SET value = 999 WHERE name = 'schema'")
    connection.close()
    worker = semel_process("worker", "--app", project.target)
    assert worker.ended() == 3
    assert worker.output.startswith("error[SEMEL-STORE-NEWER]")


def test_dev_starts_the_worker_again_when_the_program_changes(project: Project, semel_process: Start) -> None:
    file = project.write()
    dev = semel_process("dev", "--app", project.target)
    dev.until("started")
    file.write_text(file.read_text().replace("def fulfil", "def deliver"))
    dev.until(f"{file.name} changed")
    assert "workflows deliver" in dev.until(" started:")
    dev.signal(signal.SIGINT)
    assert dev.ended() == 0
    assert dev.output.rstrip().endswith("stopped")


def test_dev_waits_for_a_change_when_the_program_does_not_load(project: Project, semel_process: Start) -> None:
    file = project.write("app = \n")
    dev = semel_process("dev", "--app", project.target)
    dev.until("SyntaxError")
    dev.until("waiting for a change")
    project.write()
    dev.until(" started:")
    file.write_text("app = \n")
    dev.until("waiting for a change")
    dev.signal(signal.SIGTERM)
    assert dev.ended() == 0


def test_dev_starts_a_killed_worker_again(project: Project, semel_process: Start) -> None:
    project.write()
    dev = semel_process("dev", "--app", project.target)
    pid = int(dev.until(" started:").split("worker ")[1].split()[0])
    os.kill(pid, signal.SIGKILL)
    dev.until("killed by signal 9")
    dev.until(" started:")
    dev.signal(signal.SIGTERM)
    assert dev.ended() == 0
