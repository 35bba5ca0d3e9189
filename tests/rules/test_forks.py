"""``app.fork``: a new run that takes over what another one has done before a step."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from uuid import uuid4

import pytest
from time_scene import Scene

from semel import once, run_child, saga, sleep
from semel.errors import RunIdConflict, RunNotFound, StepNotFound

done: list[str] = []
keys: list[str] = []
broken: set[str] = set()

DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    done.clear()
    keys.clear()
    broken.clear()
    return


def do(what: str, key: str = "") -> str:
    done.append(what)
    keys.append(key)
    return what


def order(number: int) -> list[str]:
    reference = str(uuid4())
    first = once("reserve", lambda key: do(f"reserve {number}", key))
    sleep(DAY)
    moment = datetime.now().isoformat()
    second = once("charge", lambda key: charge(reference, key))
    third = once("ship", lambda: do("ship"))
    return [first, second, third, reference, moment]


def charge(reference: str, key: str) -> str:
    once("ask", lambda: do("ask"))
    return do(f"charge {reference}", key)


def path(run, label: str) -> str:
    return next(record.path for record in run.steps() if record.path.endswith(f"#{label}"))


def test_what_came_before_the_step_is_taken_over_and_the_rest_is_done(scene: Scene) -> None:
    run = scene.start(order, 7)
    scene.again(run, DAY)
    first = run.result()
    assert [what.partition(" ")[0] for what in done] == ["reserve", "ask", "charge", "ship"]
    fork = scene.app.fork(run, path(run, "charge"), id="two")
    scene.settle()
    assert [what.partition(" ")[0] for what in done[4:]] == ["ask", "charge", "ship"]
    assert fork.result() == first  # the reference that was read before the step is the same
    assert len({key for key in keys if key}) == 3, "the second charge is another one to the other side"
    assert run.result() == first
    assert run.status == "completed"


def test_a_fork_of_a_fork(scene: Scene) -> None:
    run = scene.start(order, 7)
    scene.again(run, DAY)
    fork = scene.app.fork(run, path(run, "charge"), id="two")
    scene.settle()
    again = scene.app.fork("two", path(fork, "ship"), id="three")
    scene.settle()
    assert again.result() == run.result()
    assert done[-1] == "ship"
    assert len(done) == 8


def parent() -> int:
    number = once("number", lambda: 3)
    return run_child("child", child, number).result() + once("more", lambda: 1)


def child(number: int) -> int:
    do("child")
    return number * 2


def test_a_child_that_had_ended_before_is_not_started_again(scene: Scene) -> None:
    scene.app.workflow(child)
    run = scene.start(parent)
    assert run.result() == 7
    assert scene.app.fork(run, path(run, "more"), id="two").id == "two"
    scene.settle()
    assert (scene.app.run("two").result(), done) == (7, ["child"])
    scene.app.fork(run, path(run, "child"), id="three")
    scene.settle()
    assert (scene.app.run("three").result(), done) == (7, ["child", "child"])


def cancel(what: str) -> None:
    do(f"cancel {what}")


def trip() -> str:
    with saga("trip") as steps:
        steps.step("flight", lambda: do("flight"), undo=cancel)
        if "hotel" in broken:
            raise ValueError("no hotel")
        steps.step("hotel", lambda: do("hotel"), undo=cancel)
    return "away"


def test_a_fork_in_a_saga_can_be_undone(scene: Scene) -> None:
    run = scene.start(trip)
    broken.add("hotel")
    fork = scene.app.fork(run, path(run, "hotel"), id="two")
    scene.settle()
    assert fork.status == "faulted"
    assert done == ["flight", "hotel", "cancel flight"]


def test_a_fork_at_a_step_of_a_saga_does_it_anew(scene: Scene) -> None:
    run = scene.start(trip)
    fork = scene.app.fork(run, path(run, "flight"), id="two")
    scene.settle()
    assert fork.result() == "away"
    assert done == ["flight", "hotel", "flight", "hotel"]


def loop(number: int) -> int:
    once("tick", lambda: do(f"tick {number}"))
    once("tock", lambda: do(f"tock {number}"))
    if number < 2:
        the_app[0].again(number + 1)
    return number


the_app = []


def test_a_fork_of_a_later_visit_goes_on_from_there(scene: Scene) -> None:
    the_app[:] = [scene.app]
    run = scene.start(loop, 0)
    assert run.result() == 2
    fork = scene.app.fork(run, path(run, "tock"), id="two")
    scene.settle()
    assert fork.result() == 2
    assert done[6:] == ["tock 2"]


def test_what_there_is_not_is_told(scene: Scene) -> None:
    run = scene.start(trip)
    with pytest.raises(StepNotFound, match="#flight"):
        scene.app.fork(run, "trip/start@1#nothing")
    with pytest.raises(RunNotFound):
        scene.app.fork("nobody", path(run, "hotel"))
    with pytest.raises(RunIdConflict):
        scene.app.fork(run, path(run, "hotel"), id="one")
