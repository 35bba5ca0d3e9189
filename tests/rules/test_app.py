"""Starting runs and asking for them: ids, arguments, results, and what a user can get wrong."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from datetime import timedelta

import pytest

from semel import App, once
from semel.errors import (
    ConfigurationError,
    RegistrationError,
    ResultTimeout,
    RunFaulted,
    RunIdConflict,
    RunNotFound,
    RunPurged,
    WorkflowUnknown,
)

done: list[object] = []


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    done.clear()
    return


def add(left: int, right: int = 1, *, twice: bool = False) -> int:
    done.append((left, right))
    return (left + right) * (2 if twice else 1)


async def add_async(left: int, right: int) -> int:
    await asyncio.sleep(0)
    return left + right


# ------------------------------------------------------------------------------------------------------------- starting


def test_the_same_id_is_the_same_run(app: App) -> None:
    app.workflow(add)
    first = app.start(add, 2, id="one")
    second = app.start(add, 2, id="one")
    assert first.uid == second.uid
    with app.worker():
        assert first.result(timeout=10) == second.result(timeout=10) == 3
    assert app.start(add, 2, id="one").result(timeout=10) == 3
    assert done == [(2, 1)]


def test_the_same_id_with_other_arguments_is_refused(app: App) -> None:
    app.workflow(add)
    app.workflow(add_async)
    app.start(add, 2, id="one")
    with pytest.raises(RunIdConflict, match=r"'one'.*other arguments"):
        app.start(add, 3, id="one")
    for other in (2.0, True):
        with pytest.raises(RunIdConflict, match="other arguments"):
            app.start(add, other, id="one")  # type: ignore[call-overload]
    with pytest.raises(RunIdConflict, match=r"'add'.*'add_async'"):
        app.start(add_async, 2, 1, id="one")


def test_arguments_are_the_same_however_they_are_written(app: App) -> None:
    app.workflow(add)
    first = app.start(add, 2, 5, id="one")
    assert app.start(add, left=2, right=5, id="one").uid == first.uid


def test_arguments_that_do_not_fit_the_function_are_refused(app: App) -> None:
    app.workflow(add)
    with pytest.raises(TypeError, match=r"add\(left: .*cannot be started like that: missing"):
        app.start(add)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match=r"argument of add cannot be recorded.*object"):
        app.start(add, object())  # type: ignore[call-overload]
    with pytest.raises(TypeError, match=r"of add cannot be recorded: left\[0\] is of type object"):
        app.start(add, [object()])  # type: ignore[call-overload]
    for bad in ("", "a\nb", "\ud800", "x" * 501, "\x1b[31m"):
        with pytest.raises(TypeError, match="printable, non-empty str of up to 500"):
            app.start(add, 1, id=bad)
    assert app.runs() == []


def test_keyword_only_arguments_are_recorded(app: App) -> None:
    app.workflow(add)
    run = app.start(add, 2, twice=True)
    with app.worker():
        assert run.result(timeout=10) == 6


async def test_async_forms(app: App) -> None:
    app.workflow(add_async)
    app.workflow(add)
    async with app.worker():
        run = await app.start_async(add_async, 2, 3, id="a")
        assert await run.result_async(timeout=10) == 5
        assert await run.status_async() == "completed"
        assert await (await app.start_async(add, 1)).result_async(timeout=timedelta(seconds=10)) == 2


async def which_loop() -> int:
    return id(asyncio.get_running_loop())


async def test_async_bodies_run_on_the_loop_of_the_caller(app: App) -> None:
    app.workflow(which_loop)
    async with app.worker():
        run = await app.start_async(which_loop)
        assert await run.result_async(timeout=10) == id(asyncio.get_running_loop())


def test_hundreds_of_runs_at_once(app: App) -> None:
    app.workflow(add)
    app.workflow(add_async)
    runs = [app.start(add_async, number, 1) for number in range(200)] + [
        app.start(add, number) for number in range(100)
    ]
    with app.worker(threads=8):
        assert [run.result(timeout=30) for run in runs] == [*range(1, 201), *range(1, 101)]


# --------------------------------------------------------------------------------------------------------------- asking


def test_a_result_that_is_not_there_yet(app: App) -> None:
    app.workflow(add)
    run = app.start(add, 1, id="one")
    assert run.status == "pending"
    with pytest.raises(ResultTimeout, match="'one' had not ended"):
        run.result(timeout=0)
    with app.worker():
        run.result(timeout=10)
    assert run.status == "completed"


def test_a_run_that_does_not_exist(app: App) -> None:
    with pytest.raises(RunNotFound, match="'nobody'"):
        app.run("nobody")


def test_a_purged_run(app: App) -> None:
    app.workflow(add)
    run = app.start(add, 1, id="one")
    other = app.start(add, 1, id="unfinished")
    with app.worker():
        run.result(timeout=10)
        other.result(timeout=10)
    later = app.start(add, 1, id="pending")
    app.now = lambda: 1e11
    assert app.purge(older_than=timedelta(days=30)) == 2
    with pytest.raises(RunNotFound, match="purged"):
        _ = run.status
    with pytest.raises(RunPurged, match="'one'"):
        app.start(add, 1, id="one")
    assert later.status == "pending"
    with pytest.raises(ValueError, match="negative"):
        app.purge(older_than=timedelta(days=-1))


def test_a_run_whose_workflow_no_longer_exists_waits_and_says_so(app: App, new_app) -> None:
    app.workflow(add)
    app.start(add, 1, id="one")
    other = new_app("shop")
    other.workflow(add_async)
    with other.worker():
        with pytest.raises(WorkflowUnknown, match=r"'one'.*'add'"):
            other.run("one").result(timeout=10)
        assert other.run("one").status == "pending", "nothing is lost: a worker that has it will run it"
    with app.worker():
        assert app.run("one").result(timeout=10) == 2


# ---------------------------------------------------------------------------------------------------------- registering


def test_a_workflow_name_registered_twice_is_refused(app: App) -> None:
    app.workflow(name="sum")(add)
    app.workflow(name="sum")(add)  # the same function again: a module that was executed twice
    with pytest.raises(RegistrationError, match=r"'sum' is taken: .*test_app.py:\d+ and .*test_app.py:\d+"):
        app.workflow(name="sum")(add_async)


def test_what_cannot_be_a_workflow_is_refused(app: App) -> None:
    local = 1

    def closes_over() -> int:
        return local

    def generates() -> Iterator[int]:
        yield 1

    for wrong, why in [
        (closes_over, "uses variables of the function round it"),
        (generates, "is a generator"),
        (App, "is a class"),
        (len, "is a builtin_function_or_method"),
    ]:
        with pytest.raises(RegistrationError, match=why):
            app.workflow(wrong)
    with pytest.raises(RegistrationError, match="may not be empty or hold"):
        app.workflow(name="a/b")(add)
    with pytest.raises(RegistrationError, match="redeliver"):
        app.workflow(redeliver=-1)(add)


def test_a_function_that_is_not_registered_cannot_be_started(app: App) -> None:
    with pytest.raises(WorkflowUnknown, match=r"add is not a workflow of the app 'shop'"):
        app.start(add, 1)


def test_a_wrong_database_is_a_clear_error(new_app) -> None:
    for url, why in [("mysql://x/y", "mysql"), ("sqlite://", "memory"), ("", "names no database")]:
        with pytest.raises(ConfigurationError, match=why):
            _ = new_app("wrong", database=url).store
    with pytest.raises(ConfigurationError, match="name of an App"):
        App("")
    with pytest.raises(ConfigurationError, match="16 characters"):
        App("x", key_namespace="short")


def start_inside() -> str:
    import semel_test_apps

    return once("start", lambda: semel_test_apps.app.start(add, 1, id="inner").id)


def start_inside_bare() -> None:
    import semel_test_apps

    semel_test_apps.app.start(add, 1)


def test_starting_a_run_in_a_body_needs_a_step(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys
    from types import SimpleNamespace

    monkeypatch.setitem(sys.modules, "semel_test_apps", SimpleNamespace(app=app))
    for workflow in (add, start_inside, start_inside_bare):
        app.workflow(workflow)
    with app.worker():
        assert app.start(start_inside).result(timeout=10) == "inner"
        assert app.run("inner").result(timeout=10) == 2
        with pytest.raises(Exception, match=r"would start another run at each attempt.*once\("):
            app.start(start_inside_bare).result(timeout=10)


def leaves(kind: str) -> None:
    raise {"exit": SystemExit, "interrupt": KeyboardInterrupt, "stop": StopIteration}[kind]("on purpose")


@pytest.mark.parametrize("kind", ["stop"])
def test_an_odd_exception_is_a_fault_all_the_same(app: App, kind: str) -> None:
    app.workflow(leaves)
    with app.worker(), pytest.raises((RuntimeError, RunFaulted, StopIteration), match="on purpose"):
        app.start(leaves, kind).result(timeout=10)


@pytest.mark.parametrize("kind", ["exit", "interrupt"])
def test_a_body_that_exits_is_a_fault_and_not_the_end_of_its_worker(app: App, kind: str) -> None:
    app.workflow(leaves)
    app.workflow(add)
    with app.worker():
        with pytest.raises(RunFaulted, match="on purpose"):
            app.start(leaves, kind).result(timeout=10)
        assert app.start(add, 1).result(timeout=10) == 2


async def cancels_itself() -> None:
    raise asyncio.CancelledError("by itself")


def test_a_body_that_raises_cancelled_by_itself_is_a_fault(app: App) -> None:
    app.workflow(cancels_itself)
    with app.worker(), pytest.raises(RunFaulted, match="by itself"):
        app.start(cancels_itself).result(timeout=10)


def never_steps() -> int:
    done.append("tried")
    while len(done) < 2:
        pass
    return once("step", lambda: 1)


def test_a_stopped_worker_gives_back_what_it_runs(app: App) -> None:
    app.workflow(never_steps)
    run = app.start(never_steps)
    worker = app.worker()
    worker.start()
    while not done:
        pass
    worker._halt_all(__import__("semel.engine.halt", fromlist=["Halt"]).Halt("stopping"))
    done.append("go on")
    worker.stop()
    assert run.status == "pending"
    assert run.steps() == [], "it unwound at its next step"
    with app.worker():
        assert run.result(timeout=10) == 1


def stuck_in_a_step() -> str:
    def wait() -> str:
        done.append("in the step")
        gate.wait(30)
        return "ended"

    return once("slow", lambda: wait())


gate = threading.Event()


def test_a_stopped_worker_keeps_a_run_whose_step_still_runs(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("semel.worker.worker._DRAIN", 0.0)
    gate.clear()
    app.workflow(stuck_in_a_step)
    run = app.start(stuck_in_a_step)
    worker = app.worker()
    worker.start()
    while not done:
        pass
    worker.stop()
    assert run.status == "running", "nobody else may run the step beside it"
    gate.set()
    while not worker.idle:
        pass
    assert run.status == "pending"
    with app.worker():
        assert run.result(timeout=10) == "ended"
    assert done == ["in the step"], "the record was made though the worker had been stopped"
