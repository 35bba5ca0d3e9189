"""The programs that are measured, as a user would write them. A step returns a dict of about 200 bytes."""

from __future__ import annotations

import calendar
import os
import signal
from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns, time

from semel import App, once, run_child, sleep, wait_all

#: The steps in which something happens: the process dies, or the run waits while the floor has its turn.
stops: dict[int, Callable[[], object]] = {}


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def receipt(number: int) -> dict[str, object]:
    """What a step does. When it began is in its record, so that no clock is read here."""
    if number in stops:
        stops[number]()
    return {
        "id": f"re_{number:012d}",
        "status": "succeeded",
        "amount": 1950 + number,
        "currency": "eur",
        "customer": "cus_9s6XKzkNRiz8i3",
        "description": "Order A-1, three books and a lamp, sent to the address on file",
        "paid": True,
        "created": 1_760_000_000 + number,
    }


async def receipt_async(number: int) -> dict[str, object]:
    return receipt(number)


def steps(count: int) -> int:
    for number in range(count):
        once("charge", lambda: receipt(number))  # noqa: B023 -- called before the next pass
    return count


async def steps_async(count: int) -> int:
    for number in range(count):
        await once("charge", lambda: receipt_async(number))  # noqa: B023 -- called before the next pass
    return count


def naps(count: int, seconds: float = 1e-6) -> int:
    """Parks so many times; by default the clock is due when the park is durable."""
    for _ in range(count):
        sleep(seconds)
    return count


def child() -> int:
    return 1


def parent(count: int) -> int:
    return sum(wait_all([run_child("child", child) for _ in range(count)]))


def helper() -> None:
    return None


def prices(count: int) -> dict[str, float]:
    """Nanoseconds of a loop's pass, and of a call of a user's helper and of a foreign function in one."""
    began = perf_counter_ns()
    for _ in range(count):
        pass
    looped = perf_counter_ns()
    for _ in range(count):
        helper()
    helped = perf_counter_ns()
    for _ in range(count):
        calendar.isleap(2028)
    called = perf_counter_ns()
    one_pass = (looped - began) / count
    return {
        "a loop's pass": one_pass,
        "a helper call": (helped - looped) / count - one_pass,
        "a third-party call": (called - helped) / count - one_pass,
    }


def new_app(folder: Path, name: str = "semel", now: Callable[[], float] = time) -> App:
    """An app on a database in ``folder``, with all programs registered."""
    app = App("bench", database=f"sqlite:///{folder / name}.db", now=now)
    for workflow in (steps, steps_async, prices, naps, child, parent):
        app.workflow(workflow)
    return app
