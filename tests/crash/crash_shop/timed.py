"""Programs that wait: retries, sleeps, events, children, further visits, limits of time.

Their clock is the machine's, or the number in the file ``clock`` beside the log, which a test moves.
"""

from __future__ import annotations

import os
import textwrap
import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from crash_effects import effect, effect_async

from semel import (
    App,
    Backoff,
    Child,
    once,
    run_child,
    saga,
    sleep,
    sleep_async,
    wait_all,
    wait_all_async,
    wait_first,
    wait_for,
    wait_for_async,
)
from semel.compiler import current
from semel.errors import RunEnded, StepTimedOut, WaitTimedOut

SHORT = timedelta(seconds=0.03)
DAY = timedelta(days=1)


def clock() -> float:
    try:
        return float(Path(os.environ["CRASH_LOG"]).with_name("clock").read_text())
    except FileNotFoundError:
        return time.time()


app = App("timed", database=os.environ["CRASH_DATABASE"], now=clock)


class Down(Exception):
    """The other side is not there."""


def here() -> str:
    """The path of the code that calls this."""
    textwrap.dedent("")  # a foreign call, whose site is the current path
    path = current.get()
    assert path is not None
    return path.text()


def attempt() -> str:
    """What the path of the step that runs has after its label: "", or "~1" for the second attempt."""
    _, mark, number = here().partition("~")
    return mark + number[:1]


# -------------------------------------------------------------------------------------------------------------- retries


@app.workflow
def retries(run: str) -> list[object]:
    before = once("before", lambda: effect(run, "#before"))
    paid = once("charge", lambda key: charge(run, key, attempt()), retry=Backoff.constant(SHORT).max_attempts(4))
    return [before, paid, once("after", lambda: effect(run, "#after"))]


def charge(run: str, key: str, k: str) -> object:
    once("ask", lambda: effect(run, f"/charge{k}/charge#ask"))
    return effect(run, f"#charge{k}", key=key, fail=None if k == "~2" else Down(f"down{k}"))


@app.workflow
async def async_retries(run: str) -> list[object]:
    before = await once("before", lambda: effect_async(run, "#before"))
    retry = Backoff.constant(SHORT).max_attempts(4)
    paid = await once("charge", lambda key: charge_async(run, key, attempt()), retry=retry)
    return [before, paid, await once("after", lambda: effect_async(run, "#after"))]


async def charge_async(run: str, key: str, k: str) -> object:
    await once("ask", lambda: effect_async(run, f"/charge{k}/charge_async#ask"))
    return await effect_async(run, f"#charge{k}", key=key, fail=None if k == "~2" else Down(f"down{k}"))


@app.workflow
def exhausts(run: str) -> list[object]:
    try:
        once("charge", lambda: fails(run, attempt()), retry=Backoff.constant(SHORT).max_attempts(3))
    except Down as down:
        told = str(down)
        return [told, once("apology", lambda: effect(run, "#apology"))]
    return []


def fails(run: str, k: str) -> None:
    effect(run, f"#charge{k}", fail=Down(f"down{k}"))


# ---------------------------------------------------------------------------------------------------------------- waits


@app.workflow
def naps(run: str) -> list[object]:
    first = once("first", lambda: effect(run, "#first"))
    for i in range(2):
        sleep(SHORT)
        once("work", lambda: effect(run, f"[{i}]#work"))
    return [first, once("last", lambda: effect(run, "#last"))]


@app.workflow
async def async_naps(run: str) -> list[object]:
    first = await once("first", lambda: effect_async(run, "#first"))
    for i in range(2):
        await sleep_async(SHORT)
        await once("work", lambda: effect_async(run, f"[{i}]#work"))
    return [first, await once("last", lambda: effect_async(run, "#last"))]


@app.workflow
def rings(run: str) -> list[object]:
    once("before", lambda: effect(run, "#before"))
    sleep(DAY)
    return [once("ring", lambda: effect(run, "#ring"))]


@app.workflow
def listens(run: str) -> list[object]:
    once("before", lambda: effect(run, "#before"))
    first = wait_for("go", label="first")
    once("between", lambda: effect(run, "#between"))
    second = wait_for("go", label="second")
    return [first, second, once("after", lambda: effect(run, "#after"))]


@app.workflow
async def async_listens(run: str) -> list[object]:
    await once("before", lambda: effect_async(run, "#before"))
    first = await wait_for_async("go", label="first")
    await once("between", lambda: effect_async(run, "#between"))
    second = await wait_for_async("go", label="second")
    return [first, second, await once("after", lambda: effect_async(run, "#after"))]


@app.workflow
def patient(run: str) -> object:
    try:
        return [wait_for("go", timeout=DAY), once("in time", lambda: effect(run, "#in time"))]
    except WaitTimedOut:
        return once("late", lambda: effect(run, "#late"))


# ------------------------------------------------------------------------------------------------------------- children


def name_of_child(workflow: str, run: str, i: int) -> str:
    """What a child writes into the log as its run."""
    return f"{workflow}-{run.replace('-', '.')}.{i}"


@app.workflow
def works(run: str) -> list[object]:
    done = [once("work", lambda: effect(run, "#work"))]
    sleep(SHORT)
    return [*done, once("rest", lambda: effect(run, "#rest"))]


@app.workflow
def refuses(run: str) -> None:
    once("try", lambda: effect(run, "#try", fail=Down("refused")))


@app.workflow
def family(run: str) -> list[object]:
    children = [run_child("works", works, name_of_child("works", run, i)) for i in range(3)]
    once("meanwhile", lambda: effect(run, "#meanwhile"))
    found: list[object] = [*wait_all(children)]
    try:
        run_child("refuses", refuses, name_of_child("refuses", run, 0)).result()
    except Down as down:
        found.append(str(down))
    return [*found, once("after", lambda: effect(run, "#after"))]


@app.workflow
async def async_family(run: str) -> list[object]:
    children = [run_child("works", works, name_of_child("works", run, i)) for i in range(3)]
    await once("meanwhile", lambda: effect_async(run, "#meanwhile"))
    found = await wait_all_async(children)
    return [*found, await once("after", lambda: effect_async(run, "#after"))]


@app.workflow
def races(run: str) -> list[object]:
    children = [run_child("works", works, name_of_child("works", run, i)) for i in range(3)]
    first: Child[list[object]] = wait_first(children)
    seen = once("seen", lambda: effect(run, "#seen", result=first.id))
    sleep(SHORT)
    return [seen == first.id, first.result(), wait_all(children)]


@app.workflow
def tells(run: str, parent: str) -> None:
    once("tell", lambda: tell(run, parent))


def tell(run: str, parent: str) -> None:
    effect(run, "#tell")
    with suppress(RunEnded):  # it was told before, by a call that was cut
        app.run(parent).send("told", "news")


@app.workflow
def everything(run: str) -> list[object]:
    """A retry, a sleep, an event, and children, one of which sends the event."""
    run_child("tells", tells, name_of_child("tells", run, 0), run)
    paid = once("charge", lambda key: charge(run, key, attempt()), retry=Backoff.constant(SHORT).max_attempts(3))
    children = [run_child("works", works, name_of_child("works", run, i)) for i in range(2)]
    told = wait_for("told", timeout=DAY)
    sleep(SHORT)
    heard = once("heard", lambda: effect(run, "#heard"))
    return [paid, told, heard, *wait_all(children)]


# --------------------------------------------------------------------------------------------- visits, limits of time


@app.workflow
def agains(run: str) -> int:
    n = int(here().partition("@")[2][:1])
    once("work", lambda: effect(run, f"@{n}#work"))
    sleep(SHORT)
    once("rest", lambda: effect(run, f"@{n}#rest"))
    if n < 3:
        app.again(run)
    return n


@app.workflow
def counts_up(run: str, n: int = 1) -> int:
    once("work", lambda: effect(run, f"@{n}#work"))
    if n < 3:
        app.again(run, n + 1)
    return n


@app.workflow
def hurries(run: str) -> object:
    once("before", lambda: effect(run, "#before"))
    try:
        retry = Backoff.constant(timedelta(hours=6)).max_attempts(9)
        return once("slow", lambda: fails_slowly(run, attempt()), retry=retry, timeout=timedelta(hours=15))
    except (StepTimedOut, Down) as error:
        told = type(error).__name__
        return [told, once("gave up", lambda: effect(run, "#gave up"))]


def fails_slowly(run: str, k: str) -> None:
    effect(run, f"#slow{k}", fail=Down("slow"))


@app.workflow(timeout=3 * DAY)
def limited(run: str) -> object:
    once("before", lambda: effect(run, "#before"))
    child = run_child("listens", listens, name_of_child("listens", run, 0))
    return child.result()


@app.workflow
def deadly(run: str) -> object:
    """Parks once, and then kills its worker, until it is mended."""
    once("before", lambda: effect(run, "#before"))
    sleep(SHORT)
    once("between", lambda: effect(run, "#between"))
    if not Path(os.environ["CRASH_LOG"]).with_name("mended").exists():
        os.kill(os.getpid(), 9)
    return "mended"


@app.workflow(timeout=3 * DAY)
def hasty(run: str) -> None:
    once("before", lambda: effect(run, "#before"))
    sleep(5 * DAY)
    once("after", lambda: effect(run, "#after"))


@app.workflow(timeout=3 * DAY)
def hasty_trip(run: str) -> None:
    with saga("trip") as steps:
        steps.step("book", lambda: effect(run, "/trip#book"), undo=call_off)
        sleep(5 * DAY)
    once("after", lambda: effect(run, "#after"))


def call_off(booking: object) -> None:
    effect("hasty_trip-1", f"#call off {booking}")


@app.workflow
def listens_late(run: str) -> object:
    """Faults before it comes to its wait, until it is mended."""
    once("before", lambda: effect(run, "#before"))
    if not Path(os.environ["CRASH_LOG"]).with_name("mended").exists():
        raise Down("not yet")
    return wait_for("go")
