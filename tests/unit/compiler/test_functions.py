"""Calls of functions: what each kind of function adds to a path."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from recorder import execute, mark, steps

from semel.compiler import pass_name  # noqa: F401 (a foreign function in this module's globals)
from semel.errors import PathClaimedTwice


def helper(value: Any = None) -> Any:
    mark("x")
    return value


def outer() -> None:
    helper()


def test_a_step_in_the_body_is_its_label() -> None:
    def body() -> None:
        mark("a")
        mark("b")

    assert steps(body) == ["#a", "#b"]


@pytest.mark.rule("O15")
def test_a_helper_is_a_segment() -> None:
    def body() -> None:
        mark("x")
        outer()

    assert steps(body) == ["#x", "/outer/helper#x"]


@pytest.mark.rule("O19")
def test_a_helper_called_twice_has_one_path() -> None:
    def body() -> None:
        helper()
        helper()

    with pytest.raises(PathClaimedTwice):
        steps(body)


def test_arguments_of_every_kind_arrive() -> None:
    def taking(a: Any, /, b: Any, *rest: Any, c: Any, d: Any = 4, **more: Any) -> Any:
        mark("x")
        return a, b, rest, c, d, more

    def body() -> Any:
        more = {"e": 6}
        return taking(1, 2, *[3, 4], c=5, **more)

    run = execute(body)
    assert run.result == (1, 2, (3, 4), 5, 4, {"e": 6})
    assert run.steps == ["w/start@1/test_arguments_of_every_kind_arrive.taking#x"]


def test_defaults_are_those_of_the_function_that_is_called() -> None:
    def make(number: int) -> Callable[..., Any]:
        def inner(value: int = number, *, other: int = number * 2) -> tuple[int, int]:
            mark("x")
            return value, other

        return inner

    def body() -> Any:
        return [make(number)() for number in range(3)]

    assert execute(body).result == [(0, 0), (1, 2), (2, 4)]


def test_closures_share_their_variables() -> None:
    def body() -> int:
        total = 0

        def add(number: int) -> None:
            nonlocal total
            total += number
            mark("x")

        for number in range(3):
            add(number)
        return total

    run = execute(body)
    assert run.result == 3
    assert [step.removeprefix("w/start@1") for step in run.steps] == [
        f"[{number}]/test_closures_share_their_variables.body.add#x" for number in range(3)
    ]


_counter = 0


def _advance() -> int:
    global _counter
    _counter += 1
    mark("x")
    return _counter


def test_global_variables_are_the_modules() -> None:
    def body() -> int:
        return _advance()

    before = _counter
    assert execute(body).result == before + 1
    assert _counter == before + 1


def test_a_lambda_is_a_function_like_any_other() -> None:
    def body() -> Any:
        double = lambda value: (mark("x"), value * 2)[1]  # noqa: E731
        return double(4)

    run = execute(body)
    assert run.result == 8
    assert run.steps == ["w/start@1/test_a_lambda_is_a_function_like_any_other.body.<lambda>#x"]


def test_two_lambdas_on_one_line_are_told_apart() -> None:
    def body() -> Any:
        first, second = (lambda: mark("a") or 1), (lambda: mark("b") or 2)
        return first(), second()

    run = execute(body)
    assert run.result == (1, 2)
    assert [step.rpartition("#")[2] for step in run.steps] == ["a", "b"]


def _factorial(number: int) -> int:
    mark("x")
    return 1 if number == 0 else number * _factorial(number - 1)


def test_recursion_goes_deeper_at_each_call() -> None:
    def body() -> int:
        return _factorial(2)

    run = execute(body)
    assert run.result == 2
    assert run.steps[-1] == "w/start@1/_factorial/_factorial/_factorial#x"


def test_a_recursion_that_is_deep_has_a_path() -> None:
    def body() -> int:
        return _factorial(150)

    assert execute(body).steps[-1].count("/_factorial") == 151


def test_a_nested_function_calls_itself() -> None:
    def body() -> int:
        def down(number: int) -> int:
            mark("x")
            return 0 if number == 0 else down(number - 1)

        return down(2)

    assert len(execute(body).steps) == 3


def _numbers(count: int) -> Iterator[int]:
    for number in range(count):
        mark("x")
        received = yield number
        if received:
            mark("got")


def _delegating() -> Iterator[int]:
    mark("before")
    yield from _numbers(2)


def test_a_generator_binds_its_path_when_it_is_called() -> None:
    def body() -> Any:
        generator = _delegating()
        for _ in range(1):
            found = list(generator)
        return found

    run = execute(body)
    assert run.result == [0, 1]
    assert run.steps == [
        "w/start@1/_delegating#before",
        "w/start@1/_delegating/_numbers[0]#x",
        "w/start@1/_delegating/_numbers[1]#x",
    ]


def test_a_generator_receives_what_it_is_sent() -> None:
    def body() -> None:
        generator = _numbers(2)
        next(generator)
        generator.send(True)  # type: ignore[attr-defined]

    assert steps(body) == ["/_numbers[0]#x", "/_numbers[0]#got", "/_numbers[1]#x"]


def test_a_step_s_lambda_adds_no_segment() -> None:
    def body() -> Any:
        mark("one", helper)
        mark("two", lambda: helper())
        mark("three", functools.partial(helper, 3))
        return mark("four", lambda: mark("inner") or 4)

    run = execute(body)
    assert run.result == 4
    assert [step.removeprefix("w/start@1") for step in run.steps] == [
        *("#one", "/one/helper#x", "#two", "/two/helper#x", "#three", "/three/helper#x", "#four", "/four#inner")
    ]


def test_the_path_knows_that_it_is_in_a_step() -> None:
    def body() -> None:
        mark("out")
        mark("step", lambda: helper())

    from semel.compiler import Path

    seen: list[bool] = []
    claimed = __import__("recorder").Recorder.claim

    class Spy(__import__("recorder").Recorder):  # type: ignore[misc]
        def claim(self, path: Path) -> None:
            seen.append(path.in_step)
            claimed(self, path)

    from semel.compiler import enter

    enter(Path(None, (), "w/start@1", Spy()), body)()
    assert seen == [False, False, True]


def test_partials_keep_the_path() -> None:
    def body() -> Any:
        return functools.partial(functools.partial(helper), 5)()

    run = execute(body)
    assert run.result == 5
    assert run.steps == ["w/start@1/helper#x"]


def logged(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any) -> Any:
        mark("logged")
        return function(*args)

    return wrapper


def tried(times: int) -> Callable[[Any], Any]:
    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any) -> Any:
            for _ in range(times):
                result = function(*args)
            return result

        return wrapper

    return decorate


@logged
@tried(2)
def decorated(value: int) -> int:
    mark("x")
    return value


@logged
def undecorated(value: int) -> int:
    if value:
        return undecorated(value - 1)
    return mark("x")  # type: ignore[no-any-return]


def test_a_wrapper_and_what_it_wraps_are_one_segment() -> None:
    def body() -> Any:
        return decorated(3)

    run = execute(body)
    assert run.result == 3
    assert run.steps == ["w/start@1/decorated#logged", "w/start@1/decorated[0]#x", "w/start@1/decorated[1]#x"]


def test_a_wrapped_function_that_calls_itself_goes_deeper() -> None:
    def body() -> Any:
        return undecorated(1)

    assert steps(body) == ["/undecorated#logged", "/undecorated/undecorated#logged", "/undecorated/undecorated#x"]


def test_a_decorator_without_wraps_is_a_segment() -> None:
    def plain(function: Callable[[], Any]) -> Callable[[], Any]:
        def wrapper() -> Any:
            return function()

        return wrapper

    def body() -> Any:
        return plain(helper)()

    assert steps(body) == ["/test_a_decorator_without_wraps_is_a_segment.plain.wrapper/helper#x"]


@pytest.mark.rule("O15")
def test_a_walrus_and_a_match_and_try_behave() -> None:
    def body(value: Any) -> Any:
        if (found := helper(value)) is not None:
            match found:
                case [first, *rest] if mark("guard") is None:
                    mark("list")
                    return first, rest
                case {"key": inner, **more}:
                    mark("dict")
                    return inner, more
        return None

    assert execute(body, [1, 2]).result == (1, [2])
    run = execute(body, {"key": 1, "other": 2})
    assert run.result == (1, {"other": 2})
    assert run.steps == ["w/start@1/helper#x", "w/start@1#dict"]


@pytest.mark.rule("O15")
def test_exceptions_are_handled_as_ever() -> None:
    def body() -> list[str]:
        seen = []
        try:
            try:
                mark("try")
                raise ExceptionGroup("two", [ValueError("a"), KeyError("b")])
            except* ValueError:
                mark("value")
                seen.append("value")
            except* KeyError:
                mark("key")
                seen.append("key")
        finally:
            mark("finally")
            seen.append("finally")
        return seen

    run = execute(body)
    assert run.result == ["value", "key", "finally"]
    assert [step.rpartition("#")[2] for step in run.steps] == ["try", "value", "key", "finally"]


def test_locals_and_dir_show_no_hidden_variable() -> None:
    def body(given: int) -> Any:
        for number in range(1):
            mark("x")
        return sorted(locals()), dir(), sorted(vars())

    names = ["given", "number"]
    assert execute(body, 1).result == (names, names, names)


def test_eval_and_exec_see_the_variables() -> None:
    def body(given: int) -> Any:
        mark("x")
        exec("global_only = 1", {})
        return eval("given + 1")

    assert execute(body, 1).result == 2


def test_a_monkeypatched_helper_is_the_one_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def body() -> Any:
        return helper(1)

    def other(value: Any) -> Any:
        mark("other")
        return value + 1

    monkeypatch.setitem(globals(), "helper", other)
    run = execute(body)
    assert run.result == 2
    assert run.steps == ["w/start@1/test_a_monkeypatched_helper_is_the_one_that_runs.other#other"]


def test_changed_defaults_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def body() -> Any:
        return helper()

    assert execute(body).result is None
    monkeypatch.setattr(helper, "__defaults__", (7,))
    assert execute(body).result == 7


def test_a_shadowed_builtin_is_not_taken_for_the_builtin() -> None:
    def body() -> Any:
        def len(value: Any) -> int:
            mark("x")
            return 99

        return len([])

    assert execute(body).result == 99


def test_a_leaf_is_called_as_it_is() -> None:
    def body() -> bool:
        return _leaf() is _leaf.__code__

    assert execute(body).result is True


def _leaf() -> Any:
    import sys

    return __import__("sys")._getframe and sys and _leaf.__code__


@pytest.mark.rule("A6")
def test_a_function_that_is_called_outside_a_run_is_untouched() -> None:
    assert helper(3) == 3


def test_calling_what_is_not_callable_fails_as_ever() -> None:
    def body() -> None:
        nothing = None
        nothing()  # type: ignore[misc]

    with pytest.raises(TypeError, match="'NoneType' object is not callable"):
        execute(body)


def test_an_assert_in_a_rewritten_module_explains_itself() -> None:
    def body() -> None:
        assert helper(1) == 2

    with pytest.raises(AssertionError, match=r"assert 1 == 2"):
        execute(body)
