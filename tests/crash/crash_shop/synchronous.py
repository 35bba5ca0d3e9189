"""Sync programs. The second argument of ``effect`` is the path that the step must have, from its body on."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from crash_effects import effect, joined

from semel import each, once

from . import app


class Declined(Exception):
    """A failure of a step."""


@app.workflow
def sequence(run: str) -> list[object]:
    return [
        once("reserve", lambda key: effect(run, "#reserve", key=key)),
        once("charge", lambda key: effect(run, "#charge", key=key, result={"receipt": 7})),
        once("pack", lambda: effect(run, "#pack")),
        once("mail", lambda key: effect(run, "#mail", key=key)),
    ]


@app.workflow
def loops(run: str) -> list[object]:
    done: list[object] = []
    for i in range(3):
        once("open", lambda: effect(run, f"[{i}]#open"))
        done += [pack(run, i, j) for j in range(2)]
    left = 2
    while left:
        once("count", lambda: effect(run, f"[{2 - left}]#count"))
        left -= 1
    for name in each(["a", "b"], key=str):
        done.append(once("name", lambda: effect(run, f'[="{name}"]#name')))
    return done


def pack(run: str, i: int, j: int) -> object:
    return once("box", lambda key: effect(run, f"[{i}][{j}]/pack#box", key=key))


@app.workflow
def three_deep(run: str) -> object:
    before = once("before", lambda: effect(run, "#before"))
    value = first_level(run)
    return [before, value, once("after", lambda: effect(run, "#after"))]


def first_level(run: str) -> object:
    once("one", lambda: effect(run, "/first_level#one"))
    return [second_level(run, i) for i in range(2)]


def second_level(run: str, i: int) -> object:
    value = third_level(run, i)
    once("two", lambda: effect(run, f"/first_level[{i}]/second_level#two"))
    return value


def third_level(run: str, i: int) -> object:
    return once("three", lambda key: effect(run, f"/first_level[{i}]/second_level/third_level#three", key=key))


@app.workflow
def cleans_up(run: str) -> list[str]:
    seen: list[str] = []
    try:
        try:
            once("take", lambda: effect(run, "#take"))
            once("fail", lambda: effect(run, "#fail", fail=Declined("no such card")))
        finally:
            once("give back", lambda: effect(run, "#give back"))
            seen.append("gave back")
    except Declined as declined:
        seen.append(str(declined))
    with opened(run) as name:
        once("inside", lambda: effect(run, "#inside"))
        seen.append(name)
    return seen


@contextmanager
def opened(run: str) -> Iterator[str]:
    once("open", lambda: effect(run, "/opened#open"))
    try:
        yield "opened"
    finally:
        once("close", lambda: effect(run, "/opened#close"))


@app.workflow
def handles_failures(run: str) -> list[str]:
    seen: list[str] = []
    for i in range(3):
        try:
            ask(run, i)
        except Declined as declined:
            seen.append(f"{declined} {declined.args}")
        except (ValueError, KeyError) as error:
            seen.append(f"{type(error).__name__} {error}")
    once("tell", lambda: effect(run, "#tell"))
    return seen


def ask(run: str, i: int) -> None:
    failures = [Declined("declined", i), ValueError("bad"), KeyError("gone")]
    once("warn", lambda: effect(run, f"[{i}]/ask#warn"))
    once("ask", lambda: effect(run, f"[{i}]/ask#ask", fail=failures[i]))


@app.workflow
def nested(run: str) -> list[object]:
    outer = once("outer", lambda: inside(run))
    return [outer, once("last", lambda: effect(run, "#last"))]


def inside(run: str) -> object:
    effect(run, "#outer")
    once("inner", lambda: effect(run, "/outer/inside#inner"))
    return once("other", lambda: effect(run, "/outer/inside#other"))


@app.workflow
def pool(run: str) -> list[str]:
    seen: list[str] = []
    with ThreadPoolExecutor(3) as threads:
        futures = [threads.submit(in_thread, run, i) for i in range(3)]
        while not all(future.done() for future in futures):
            once_in_a_while(futures)
        joined(run, "thread 0", "thread 1", "thread 2")
        for future in futures:
            try:
                seen.append(str(future.result()))
            except Declined as declined:
                seen.append(str(declined))
    once("after", lambda: effect(run, "#after"))
    return seen


def once_in_a_while(futures: list) -> None:
    for future in futures:
        future.exception()


def in_thread(run: str, i: int) -> object:
    once("lift", lambda: effect(run, f"[{i}]/in_thread#lift", f"thread {i}", seconds=0.001 * (i + 1)))
    fail = Declined("too heavy") if i == 1 else None
    return once("drop", lambda: effect(run, f"[{i}]/in_thread#drop", f"thread {i}", fail=fail))


@app.workflow
def called_back(run: str) -> list[int]:
    def weight(item: int) -> int:
        once("weigh", lambda: effect(run, f"/sorted[{[3, 1, 2].index(item)}]/called_back.weight#weigh"))
        return item

    found = sorted([3, 1, 2], key=weight)
    once("store", lambda: effect(run, "#store"))
    return found


@app.workflow
def ends_in_a_failure(run: str) -> None:
    once("before", lambda: effect(run, "#before"))
    try:
        once("fail", lambda: effect(run, "#fail", fail=Declined("for good")))
    finally:
        run = run.upper()


@app.workflow
def writes_rows(run: str) -> object:
    once("before", lambda: effect(run, "#before"))
    connection = app.session().connection()
    connection.exec_driver_sql("CREATE TABLE IF NOT EXISTS orders (name TEXT)")
    connection.exec_driver_sql("WITH given AS (SELECT ? AS name) INSERT INTO orders SELECT name FROM given", (run,))
    once("after", lambda: effect(run, "#after"))
    rows = connection.exec_driver_sql("SELECT count(*) FROM orders WHERE name = ?", (run,))
    return rows.scalar_one()
