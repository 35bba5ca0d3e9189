"""What cannot be waited for, clocks that jump, and answers that come too late: clear errors, and nothing lost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from time_scene import START, Scene

from semel import App, Event, once, run_child, sleep, sleep_until, wait_first, wait_for
from semel.errors import NotAllowedHere, RegistrationError, RunEnded, StepNotFound, WaitTimedOut, WorkflowUnknown

done: list[str] = []

DAY = timedelta(days=1)
BERLIN = ZoneInfo("Europe/Berlin")


@pytest.fixture(autouse=True)
def _fresh() -> None:
    done.clear()


def do(what: str) -> str:
    done.append(what)
    return what


# --------------------------------------------------------------------------------------------------- delays and moments


def naps(delay: Any) -> None:
    once("before", lambda: do("before"))
    sleep(delay)


def until(moment: Any) -> str:
    once("before", lambda: do("before"))
    sleep_until(moment)
    return once("after", lambda: do("after"))


def waits(timeout: Any) -> object:
    once("before", lambda: do("before"))
    return wait_for("go", timeout=timeout)


NO_DELAY = [
    (-1, "-1 is not between nothing and a hundred years"),
    (-DAY, "-1 day, 0:00:00 is not between"),
    (timedelta.max, "is not between nothing and a hundred years"),
    (1e30, "is not between"),
    (float("inf"), "inf is not between"),
    (float("nan"), "nan is not between"),
    ("3", "is a str; give a timedelta"),
    (True, "is a bool; give a timedelta"),
]


@pytest.mark.rule("W6")
@pytest.mark.parametrize("body", [naps, waits])
@pytest.mark.parametrize(("delay", "says"), NO_DELAY)
def test_what_is_no_delay_is_refused_and_the_steps_before_it_are_kept(
    scene: Scene, body: object, delay: object, says: str
) -> None:
    run = scene.start(body, delay)
    with pytest.raises((TypeError, ValueError), match=says):
        run.result()
    run.retry()
    scene.settle()
    assert run.status == "faulted"
    assert done == ["before"]


@pytest.mark.rule("W6")
@pytest.mark.parametrize(
    ("moment", "says"),
    [
        (datetime(2030, 1, 1), "has no time zone"),
        (date(2030, 1, 1), "takes a datetime, not a date"),
        ("2030-01-01", "takes a datetime, not a str"),
        (datetime.max.replace(tzinfo=UTC), "is not between nothing and a hundred years"),
    ],
)
def test_what_is_no_moment_is_refused(scene: Scene, moment: object, says: str) -> None:
    run = scene.start(until, moment)
    with pytest.raises((TypeError, ValueError), match=says):
        run.result()


@pytest.mark.rule("W6")
def test_a_moment_that_has_passed_is_no_wait(scene: Scene) -> None:
    assert scene.start(until, datetime.min.replace(tzinfo=UTC)).result() == "after"


@pytest.mark.rule("W6")
@pytest.mark.parametrize("timeout", [timedelta(0), -DAY, 5])
def test_a_workflow_takes_a_time_above_nothing(scene: Scene, timeout: Any) -> None:
    with pytest.raises(RegistrationError, match="must be a timedelta above nothing"):
        scene.app.workflow(timeout=timeout)(naps)


# ------------------------------------------------------------------------------------------ clocks that jump, and zones


@pytest.mark.rule("W9")
def test_a_clock_that_is_set_back_while_a_run_sleeps_makes_it_wait_for_the_same_moment(scene: Scene) -> None:
    run = scene.start(until, datetime.fromtimestamp(START, UTC) + DAY)
    scene.again(run, -7 * DAY)
    scene.again(run, 7 * DAY)
    assert run.status == "parked"
    scene.again(run, DAY)
    assert run.result() == "after"
    assert done == ["before", "after"]


@pytest.mark.rule("W6")
@pytest.mark.rule("W9")
def test_a_timeout_that_was_reached_stays_so_though_the_clock_is_set_back_before_an_event(scene: Scene) -> None:
    run = scene.start(handles_the_timeout)
    scene.again(run, DAY)
    assert run.status == "parked"
    scene.time = START
    run.send("go", "late")
    scene.again(run)
    assert run.result() == ["no event", "late"]


def handles_the_timeout() -> list[object]:
    try:
        first = wait_for("go", timeout=DAY)
    except WaitTimedOut:
        first = "no event"
    return [first, wait_for("go", label="second")]


@pytest.mark.rule("W6")
@pytest.mark.parametrize(
    ("moment", "utc"),
    [
        # 02:30 is left out on that day: it is taken with the offset from before, so 03:30 by the clock on the wall
        (datetime(2027, 3, 28, 2, 30, tzinfo=BERLIN), datetime(2027, 3, 28, 1, 30, tzinfo=UTC)),
        # 02:30 comes twice on that day: fold says which
        (datetime(2027, 10, 31, 2, 30, tzinfo=BERLIN), datetime(2027, 10, 31, 0, 30, tzinfo=UTC)),
        (datetime(2027, 10, 31, 2, 30, fold=1, tzinfo=BERLIN), datetime(2027, 10, 31, 1, 30, tzinfo=UTC)),
        # the same hour of the next day, across the change
        (datetime(2027, 3, 27, 9, tzinfo=BERLIN) + DAY, datetime(2027, 3, 28, 7, tzinfo=UTC)),
    ],
)
def test_a_moment_in_a_zone_whose_clocks_jump_is_the_one_that_python_means(
    scene: Scene, moment: datetime, utc: datetime
) -> None:
    scene.time = utc.timestamp() - 1
    run = scene.start(until, moment)
    assert run.status == "parked"
    assert scene.app.store.next_due() == utc.timestamp()
    scene.again(run, timedelta(seconds=1))
    assert run.status == "completed"


# --------------------------------------------------------------------------------------------------------------- events


@dataclass
class Payment:
    amount: int


paid = Event[Payment]("paid", Payment)


def expects_a_payment() -> Payment:
    return wait_for(paid)


def takes_two() -> list[object]:
    return [wait_for("go"), wait_for("go", label="second")]


@pytest.mark.rule("W6")
@pytest.mark.parametrize("ending", ["completed", "cancelled", "faulted"])
def test_an_event_for_a_run_that_has_ended_is_refused(scene: Scene, ending: str) -> None:
    run = scene.start(waits, -1 if ending == "faulted" else None)
    if ending == "completed":
        run.send("go")
        scene.settle()
    elif ending == "cancelled":
        run.cancel()
    assert run.status == ending
    with pytest.raises(RunEnded, match=f"'go' was not sent: the run 'one' has ended \\({ending}\\)"):
        run.send("go")


@pytest.mark.rule("W6")
def test_an_event_of_the_wrong_type_is_refused_and_the_run_waits_on(scene: Scene) -> None:
    run = scene.start(expects_a_payment)
    for wrong in (7, None, {"amount": 7}):
        with pytest.raises(TypeError, match="'paid' carries a Payment, not a"):
            run.send(paid, wrong)
    with pytest.raises(TypeError, match="object"):
        run.send("paid", object())
    scene.settle()
    assert run.status == "parked"
    run.send(paid, Payment(7))
    scene.settle()
    assert run.result() == Payment(7)


@pytest.mark.rule("W6")
@pytest.mark.parametrize("name", ["", None, 7])
def test_an_event_has_a_name(scene: Scene, name: Any) -> None:
    run = scene.start(waits, None)
    with pytest.raises(TypeError, match="an event is a name or an Event"):
        run.send(name)


@pytest.mark.rule("W6")
def test_an_event_of_another_name_is_kept_and_disturbs_nothing(scene: Scene) -> None:
    run = scene.start(takes_two)
    run.send("gone", 1)
    run.send("go", 2)
    scene.settle()
    assert run.status == "parked"
    run.send("go", 3)
    scene.settle()
    assert run.result() == [2, 3]


# ------------------------------------------------------------------------------------------------------------- children


def square(n: int) -> int:
    return n * n


def slow_square(n: int) -> int:
    sleep(DAY)
    once("slow", lambda: do("slow"))
    return n * n


def squares_late() -> int:
    once("before", lambda: do("before"))
    return run_child("square", slow_square, 4).result()


def squares_by_a_child() -> int:
    once("before", lambda: do("before"))
    return run_child("square", square, 4).result()


def ping(n: int) -> int:
    return run_child("pong", pong, n + 1).result()


def pong(n: int) -> int:
    return run_child("ping", ping, n + 1).result()


def first_of_none() -> object:
    return wait_first([])


@pytest.fixture
def deployed(new_app: Callable[..., App]) -> Callable[..., Scene]:
    """The app on its database, with these workflows, as one deploy after the other has it."""

    def deploy(*workflows: Any, time: float = START) -> Scene:
        made = Scene(new_app)
        made.time = time
        for workflow in workflows:
            made.app.workflow(workflow)
        return made

    return deploy


@pytest.mark.rule("W5")
@pytest.mark.rule("D1")
def test_a_child_whose_workflow_was_removed_waits_with_its_parent_until_it_is_there_again(
    deployed: Callable[..., Scene],
) -> None:
    deployed(slow_square).start(squares_late)
    without = deployed(squares_late, time=START + DAY.total_seconds())
    without.settle()
    assert {row.workflow: row.status for row in without.app.runs()} == {
        "squares_late": "parked",
        "slow_square": "pending",
    }
    again = deployed(squares_late, slow_square, time=without.time)
    again.settle()
    assert again.app.run("one").result() == 16
    assert done == ["before", "slow"]


@pytest.mark.rule("W8")
def test_a_parent_whose_childs_workflow_was_removed_can_be_cancelled(deployed: Callable[..., Scene]) -> None:
    deployed(slow_square).start(squares_late)
    without = deployed(squares_late, time=START + DAY.total_seconds())
    without.settle()
    assert without.app.run("one").cancel()
    assert without.app.run("one").status == "cancelled"


@pytest.mark.rule("W5")
def test_a_child_of_a_workflow_that_this_app_has_not_is_refused_by_name(scene: Scene) -> None:
    run = scene.start(squares_by_a_child)
    with pytest.raises(WorkflowUnknown, match="square is not a workflow of the app 'shop'"):
        run.result()
    scene.app.workflow(square)
    run.retry()
    scene.settle()
    assert run.result() == 16
    assert done == ["before"]


@pytest.mark.rule("W5")
def test_two_workflows_that_start_each_other_for_ever_are_stopped(scene: Scene) -> None:
    scene.app.workflow(pong)
    run = scene.start(ping, 0)
    with pytest.raises(NotAllowedHere, match="two that start each other, would never end"):
        run.result()
    assert all(row.status == "faulted" for row in scene.app.runs(limit=1000))


@pytest.mark.rule("W5")
def test_the_first_of_no_children_is_refused(scene: Scene) -> None:
    with pytest.raises(ValueError, match="would wait for ever"):
        scene.start(first_of_none).result()


# ------------------------------------------------------------------------------------------------------------- operator


@pytest.mark.rule("O25")
@pytest.mark.parametrize("path", ["", "nonesuch", "waits/start@1#befor", "waits/start@2#before", "waits/start@1#go"])
def test_a_path_that_does_not_exist_is_not_forgotten_and_those_that_do_are_named(scene: Scene, path: str) -> None:
    run = scene.start(waits, None)
    with pytest.raises(StepNotFound, match=r"waits/start@1#before"):
        run.forget(path)
    assert run.notes() == []
    run.send("go", 1)
    scene.settle()
    assert run.result() == 1
    assert done == ["before"]
