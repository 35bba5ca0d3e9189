"""Loops, comprehensions and context managers: the passes of a path, and user-made iterators and managers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
from recorder import execute, mark, steps

from semel.compiler import Key


def helper(value: Any = None) -> Any:
    mark("x")
    return value


@pytest.mark.rule("O16")
def test_a_pass_is_part_of_the_path() -> None:
    def body() -> None:
        for first in range(2):
            for second in "ab":
                mark(second)
            helper(first)

    assert steps(body) == ["[0][0]#a", "[0][1]#b", "[0]/helper#x", "[1][0]#a", "[1][1]#b", "[1]/helper#x"]


def test_break_continue_and_else_work() -> None:
    def body() -> Any:
        seen = []
        for number in range(5):
            if number == 1:
                continue
            mark("x")
            if number == 3:
                break
            seen.append(number)
        else:
            seen.append("never")
        for _ in ():
            mark("y")
        else:
            mark("else")
        return seen

    run = execute(body)
    assert run.result == [0, 2]
    assert run.steps == [f"w/start@1{end}" for end in ("[0]#x", "[2]#x", "[3]#x", "#else")]


def test_a_while_loop_counts_its_tests() -> None:
    def more(number: int) -> bool:
        mark("x")
        return number < 2

    def body() -> int:
        number = 0
        while more(number):
            number += 1
            mark("pass")
        else:
            mark("else")
        return number

    name = "test_a_while_loop_counts_its_tests.more"
    run = execute(body)
    assert run.result == 2
    assert [step.removeprefix("w/start@1") for step in run.steps] == [
        *(f"[0]/{name}#x", "[0]#pass", f"[1]/{name}#x", "[1]#pass", f"[2]/{name}#x", "#else")
    ]


def test_an_endless_while_loop_counts_its_passes() -> None:
    def body() -> None:
        number = 0
        while True:
            for _ in range(1):
                mark("x")
            number += 1
            if number == 2:
                break

    assert steps(body) == ["[0][0]#x", "[1][0]#x"]


def test_a_loop_starts_anew_each_time() -> None:
    def body() -> None:
        for _ in range(2):
            number = 0
            while number < 2:
                mark("x")
                number += 1

    assert steps(body) == ["[0][0]#x", "[0][1]#x", "[1][0]#x", "[1][1]#x"]


@pytest.mark.rule("O16")
def test_a_set_names_its_passes_by_element() -> None:
    def body() -> None:
        for name in {"A-1"}:
            mark("x")
            for number in frozenset({7}):
                helper(name or number)
        [mark("c") for _ in {True}]

    assert steps(body) == ['[="A-1"]#x', '[="A-1"][=7]/helper#x', "[=True]#c"]


class Named:
    """What ``each`` gives."""

    def __semel_passes__(self) -> Iterator[tuple[object, str]]:
        return iter([(Key("k"), "item")])

    def __iter__(self) -> Iterator[str]:
        return iter(["item"])


def test_an_object_may_name_its_passes() -> None:
    def body() -> Any:
        for item in Named():
            mark("x")
        return [(mark("y"), item)[1] for item in Named()]

    run = execute(body)
    assert run.result == ["item"]
    assert run.steps == ['w/start@1[="k"]#x', 'w/start@1[="k"]#y']


@pytest.mark.rule("O16")
def test_comprehensions_are_loops() -> None:
    def body() -> Any:
        listed = [helper(first) for first in range(2) for _ in range(2) if first]
        mapped = {key: mark("d") for key in range(1)}
        made = {mark("s") for _ in range(1)}
        return listed, mapped, made

    run = execute(body)
    assert run.result == ([1, 1], {0: None}, {None})
    assert [step.removeprefix("w/start@1") for step in run.steps] == [
        *("[1][0]/helper#x", "[1][1]/helper#x", "[0]#d", "[0]#s")
    ]


def test_a_generator_expression_keeps_the_passes_of_its_making() -> None:
    def body() -> Any:
        made = []
        for _ in range(2):
            made.append(helper(number) for number in range(2))  # noqa: PERF401
        return [list(each) for each in made]

    run = execute(body)
    assert run.result == [[0, 1], [0, 1]]
    assert [step.removeprefix("w/start@1") for step in run.steps] == [
        *("[0][0]/helper#x", "[0][1]/helper#x", "[1][0]/helper#x", "[1][1]/helper#x")
    ]


def test_a_generator_expression_takes_its_first_iterable_at_once() -> None:
    def body() -> Any:
        for _ in range(1):
            made = (mark("x") for _ in 5)  # type: ignore[attr-defined]
        return made

    with pytest.raises(TypeError, match="'int' object is not iterable"):
        execute(body)


class Shelf:
    def __init__(self, *items: str) -> None:
        self.items = items

    def __iter__(self) -> Iterator[str]:
        for item in self.items:
            mark("take")
            yield item


class Count:
    def __init__(self, end: int) -> None:
        self.at = 0
        self.end = end

    def __iter__(self) -> Count:
        return self

    def __next__(self) -> int:
        if self.at == self.end:
            raise StopIteration
        mark("next")
        self.at += 1
        return self.at


def test_a_user_made_iterable_runs_as_a_twin() -> None:
    def body() -> Any:
        return [item for item in Shelf("a", "b")]  # noqa: C416

    run = execute(body)
    assert run.result == ["a", "b"]
    assert run.steps == ["w/start@1/Shelf.__iter__[0]#take", "w/start@1/Shelf.__iter__[1]#take"]


def test_each_item_of_a_user_made_iterator_is_a_pass() -> None:
    def body() -> Any:
        seen = []
        for number in Count(2):
            mark("x")
            seen.append(number)
        return seen

    run = execute(body)
    assert run.result == [1, 2]
    assert [step.removeprefix("w/start@1") for step in run.steps] == [
        *("[0]/Count.__next__#next", "[0]#x", "[1]/Count.__next__#next", "[1]#x")
    ]


class Shop:
    def __enter__(self) -> Shop:
        mark("open")
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        mark("close")
        return kind is KeyError


def test_a_user_made_context_manager_runs_as_a_twin() -> None:
    def body() -> Any:
        with Shop() as shop:
            mark("in")
            raise KeyError
        return shop

    run = execute(body)
    assert type(run.result) is Shop
    assert run.steps == ["w/start@1/Shop.__enter__#open", "w/start@1#in", "w/start@1/Shop.__exit__#close"]


@contextlib.contextmanager
def session(name: str) -> Iterator[str]:
    mark("begin")
    try:
        yield name
    finally:
        mark("end")


class Holder:
    @contextlib.contextmanager
    def lease(self) -> Iterator[Holder]:
        mark("lease")
        yield self


def test_an_exit_stack_enters_and_leaves_twins() -> None:
    def body() -> Any:
        with contextlib.ExitStack() as stack:
            shop = stack.enter_context(Shop())
            stack.enter_context(session("s"))
            stack.callback(helper, 1)
            mark("in")
        return type(shop) is Shop

    run = execute(body)
    assert run.result is True
    assert [step.removeprefix("w/start@1") for step in run.steps] == [
        *("/Shop.__enter__#open", "/session#begin", "#in", "/_BaseExitStack.callback[0]/helper#x"),
        *("/session#end", "/Shop.__exit__#close"),
    ]


def test_a_contextmanager_is_the_function_that_it_wraps() -> None:
    def body() -> Any:
        with session("s") as name, Holder().lease() as holder:
            mark("in")
        return name, type(holder).__name__

    run = execute(body)
    assert run.result == ("s", "Holder")
    assert [step.removeprefix("w/start@1") for step in run.steps] == [
        *("/session#begin", "/Holder.lease#lease", "#in", "/session#end")
    ]


def test_a_manager_that_is_not_one_fails_as_ever() -> None:
    def body() -> None:
        with 5:  # type: ignore[attr-defined]
            mark("x")

    with pytest.raises(TypeError, match="context manager protocol"):
        execute(body)


def test_a_class_body_holds_no_hidden_name() -> None:
    def body() -> Any:
        class Local:
            """Documented."""

            for number in range(2):
                mark("x")
            while number:
                mark("w")
                number -= 1
            made = tuple([mark("c") for _ in range(1)])

            class Inner:
                for _ in range(1):
                    mark("i")

        return Local

    run = execute(body)
    names = [*vars(run.result), *vars(run.result.Inner)]
    assert not [name for name in names if name.startswith(".")]
    assert run.result.__doc__ == "Documented."
    assert run.result.Inner.__qualname__.endswith("body.<locals>.Local.Inner")
    assert [step.removeprefix("w/start@1") for step in run.steps] == ["[0]#x", "[1]#x", "[0]#w", "[0]#c", "[0]#i"]
