"""Child runs: W5, V3, W8 and W11."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta

import pytest
from time_scene import Scene

from semel import Child, once, run_child, sleep, wait_all, wait_all_async, wait_first, wait_for
from semel.errors import NotAllowedHere, RunCancelled

done: list[str] = []

DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    done.clear()
    return


@pytest.fixture(autouse=True)
def _workflows(scene: Scene) -> None:
    for workflow in (square, slow_square, refuses, itself):
        scene.app.workflow(workflow)


def do(what: str) -> str:
    done.append(what)
    return what


class Refusal(Exception):
    """A child's failure."""


def square(n: int) -> int:
    once("work", lambda: do(f"square {n}"))
    return n * n


def slow_square(n: int) -> int:
    sleep(n * DAY)
    return square(n)


def refuses(n: int) -> int:
    raise Refusal(n)


def itself(n: int) -> int:
    return run_child("deeper", itself, n + 1).result()


def one_child() -> str:
    child = run_child("square", square, 7)
    once("beside", lambda: do("beside"))
    return f"{child.id}: {child.result()}, {child.result()}"


@pytest.mark.rule("W5")
def test_a_child_runs_once_and_its_result_is_waited_for(scene: Scene) -> None:
    run = scene.start(one_child)
    assert run.result() == "one/start@1#square: 49, 49"
    assert done == ["beside", "square 7"]


def fan_out() -> list[int]:
    return wait_all([run_child("square", slow_square, n) for n in range(5)])


async def fan_out_async() -> list[int]:
    return await wait_all_async([run_child("square", slow_square, n) for n in range(5)])


async def gathered() -> list[int]:
    return await asyncio.gather(*[run_child("square", slow_square, n).result_async() for n in range(5)])


@pytest.mark.rule("W5")
@pytest.mark.parametrize("body", [fan_out, fan_out_async, gathered])
def test_the_results_of_many_children_come_in_their_order(scene: Scene, body: object) -> None:
    run = scene.start(body)
    for _ in range(4):
        assert run.status == "parked"
        scene.again(run, DAY)
    assert run.result() == [0, 1, 4, 9, 16]
    assert sorted(done) == [f"square {n}" for n in range(5)]


def first_of() -> list[object]:
    children = [run_child("square", slow_square, n) for n in (3, 1, 2)]
    first = wait_first(children)
    once("seen", lambda: do(first.id))
    return [first.result(), wait_all(children)]


@pytest.mark.rule("W5")
def test_which_child_was_the_first_stays_so(scene: Scene) -> None:
    run = scene.start(first_of)
    scene.again(run, DAY)
    assert done == ["square 1", "one/start@1[1]#square"]
    scene.again(run, 5 * DAY)
    assert run.result() == [1, [9, 1, 4]]
    assert done[1:] == ["one/start@1[1]#square", "square 2", "square 3"]


def handles_a_failure() -> list[object]:
    try:
        run_child("refuses", refuses, 3).result()
    except Refusal as error:
        return [*error.args, once("after", lambda: do("after"))]
    return []


@pytest.mark.rule("W5")
@pytest.mark.rule("O24")
def test_a_childs_failure_arrives_as_itself_and_is_a_fact(scene: Scene) -> None:
    run = scene.start(handles_a_failure)
    assert run.result() == [3, "after"]
    assert [(step.path, step.kind) for step in run.steps()] == [
        ("handles_a_failure/start@1#refuses", "failure"),
        ("handles_a_failure/start@1#after", "result"),
    ]


def waits_for_one() -> object:
    child = run_child("square", slow_square, 9)
    try:
        return child.result()
    except RunCancelled:
        return "cancelled"


@pytest.mark.rule("W5")
@pytest.mark.rule("W8")
@pytest.mark.rule("R6")
def test_a_cancelled_child_is_a_decision_for_its_parent(scene: Scene) -> None:
    run = scene.start(waits_for_one)
    assert scene.app.run("one/start@1#square").cancel()
    scene.settle()
    assert run.result() == "cancelled"


@pytest.mark.rule("W8")
def test_cancelling_a_parent_cancels_its_children(scene: Scene) -> None:
    run = scene.start(waits_for_one)
    assert run.cancel()
    assert run.status == "cancelled"
    child = scene.app.run("one/start@1#square")
    assert child.status == "cancelled"
    scene.again(run, 30 * DAY)
    assert done == []


def twice(n: int) -> int:
    result = run_child("square", square, n).result()
    if n < 3:
        Again.app.again(n + 1)
    return result


class Again:
    app: object


@pytest.mark.rule("V3")
def test_a_second_visit_starts_a_second_child(scene: Scene) -> None:
    Again.app = scene.app
    run = scene.start(twice, 2)
    assert run.result() == 9
    assert done == ["square 2", "square 3"]


def in_a_step() -> int:
    return once("check", lambda: run_child("square", square, 4).result())


@pytest.mark.rule("W11")
@pytest.mark.rule("W5")
def test_a_child_may_be_waited_for_in_a_step(scene: Scene) -> None:
    assert scene.start(in_a_step).result() == 16
    assert done == ["square 4"]


def never_waited() -> str:
    child: Child[int] = run_child("square", square, 5)
    return child.id


@pytest.mark.rule("W5")
def test_a_child_that_nobody_waits_for_runs_all_the_same(scene: Scene) -> None:
    run = scene.start(never_waited)
    assert scene.app.run(run.result()).result() == 25


def breaks_first(n: int) -> None:
    run_child("square", square, n)
    once("break", lambda: breaks())


def breaks() -> None:
    raise RuntimeError("broken")


@pytest.mark.rule("W4")
def test_a_body_that_faults_has_started_no_child(scene: Scene) -> None:
    run = scene.start(breaks_first, 5)
    assert run.status == "faulted"
    assert scene.app.store.children(run.uid) == []


@pytest.mark.rule("W5")
def test_a_workflow_that_starts_itself_for_ever_is_refused(scene: Scene) -> None:
    run = scene.start(itself, 0)
    assert run.status == "faulted"
    with pytest.raises(NotAllowedHere, match="100 generations"):
        run.result()


def waits_then_fans_out() -> list[int]:
    wait_for("go")
    return wait_all([run_child("square", square, n) for n in range(300)])


@pytest.mark.rule("W5")
def test_a_park_on_many_children_wakes_once(scene: Scene) -> None:
    run = scene.start(waits_then_fans_out)
    run.send("go")
    deliveries = scene.settle()
    assert run.result() == [n * n for n in range(300)]
    assert deliveries == 300 + 2


def taken() -> int:
    return run_child("square", square, 7).result()


@pytest.mark.rule("W5")
def test_a_child_whose_id_another_run_has_is_started_under_another_one(scene: Scene) -> None:
    scene.start(square, 2, id="one/start@1#square")
    assert scene.start(taken).result() == 49
