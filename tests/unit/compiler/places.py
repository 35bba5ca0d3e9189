"""A program whose lines matter: each function fails, branches or loops in a way of its own."""

from __future__ import annotations

import asyncio
import json
from contextlib import contextmanager
from typing import Any


def ok(value: Any = None, *more: Any) -> Any:
    str(value).strip()
    return value


def fail(value: Any = None, *more: Any, key: Any = None) -> Any:
    ok(1)
    raise ValueError(
        ok("no"),
    )


class Chain:
    def again(self) -> Chain:
        ok()
        return self

    def fail(self) -> Chain:
        ok()
        return fail(1)

    @property
    def broken(self) -> Any:
        return fail()


def simple() -> Any:
    return ok(1) + fail(2, ok(3))


def on_several_lines() -> Any:
    return ok(
        1,
        fail(
            ok(2),
            key=ok,
        ),
    )


def chained() -> Any:
    return (
        Chain()
        .again()
        .again()
        .fail()
        .again()
    )  # fmt: skip


def in_foreign_code() -> Any:
    ok(1)
    return json.loads(
        ok("{"),
    )


def called_back() -> Any:
    return sorted([1, 2], key=lambda item: fail(item))


def in_a_loop() -> Any:
    for number in range(3):
        if ok(number):
            fail(number)


def in_a_while() -> Any:
    number = 0
    while ok(number) or ok(True):
        number += 1
        if number > 2:
            fail()  # fmt: skip


def in_an_endless_while() -> Any:
    number = 0
    while True:
        number += 1
        if number > 2:
            fail()


def in_a_comprehension() -> Any:
    return [
        fail(number)
        for number in range(2)
        if ok(True)
    ]  # fmt: skip


def in_a_generator() -> Any:
    def numbers() -> Any:
        yield ok(1)
        yield fail(2)

    return list(numbers())


def in_a_generator_expression() -> Any:
    for _ in range(1):
        return list(fail(number) for number in range(2))  # noqa: C400
    return None


@contextmanager
def managed() -> Any:
    try:
        yield ok(1)
    finally:
        ok(2)


def in_a_with() -> Any:
    with managed() as one, managed():
        fail(one)


def in_a_handler() -> Any:
    try:
        fail(1)
    except ValueError as error:
        raise RuntimeError(
            "again") from error  # fmt: skip
    finally:
        ok(1)


def not_callable() -> Any:
    nothing = None
    return ok(
        nothing(1),
    )


def wrong_arguments() -> Any:
    return ok(Chain().again(
        *[], unknown=1))  # fmt: skip


def bad_attribute() -> Any:
    return ok(Chain().
              nothing.at(1).all)  # fmt: skip


def bad_operator() -> Any:
    return ok(1) + ok("a")


def by_a_property() -> Any:
    return ok(Chain().broken)


def asserted() -> Any:
    assert ok(0), ok("because")


async def later() -> Any:
    await asyncio.sleep(0)
    return fail(1)


async def awaited() -> Any:
    async with asyncio.timeout(10):
        return await asyncio.wait_for(
            later(),
            10,
        )


async def gathered() -> Any:
    async def one() -> Any:
        return ok(1)

    return await asyncio.gather(one(), later())


FAILING = [
    *(simple, on_several_lines, chained, in_foreign_code, called_back, in_a_loop, in_a_while, in_an_endless_while),
    *(in_a_comprehension, in_a_generator, in_a_generator_expression, in_a_with, in_a_handler, not_callable),
    *(wrong_arguments, bad_attribute, bad_operator, by_a_property, asserted, awaited, gathered),
]


def everything() -> Any:
    """Goes through every branch of the functions below."""
    seen = []
    for number in range(3):
        if number == 1:
            continue
        seen.append(branches(number))
    number = 0
    while number < 2:
        number = branches(number) + 1
    else:
        seen.append(number)
    while True:
        with managed():
            number += 1
        if number > 4:
            break
    seen += [
        branches(item)
        for item in seen
        if isinstance(item, int)
    ]  # fmt: skip

    class Local:
        for name in "ab":
            ok(name)

        def get(self) -> Any:
            return ok(self.name)

    try:
        Local().get()
        fail()
    except* ValueError:
        seen.append(0)
    finally:
        ok()
    match seen:
        case [int(), *_] if ok(True):
            ok(1)
        case _:
            ok(2)
    return seen


def branches(value: int) -> int:
    if ok(value) and ok(value > 1):
        return ok(
            value,
            ok(2),
        )
    return next(ok(item) for item in [value])
