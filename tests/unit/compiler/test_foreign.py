"""Foreign code: what is a site, what it is given in place of a user function, and what is refused."""

from __future__ import annotations

import _thread
import asyncio
import functools
import heapq
import inspect
import itertools
import logging
import multiprocessing
import multiprocessing.pool
import os
import threading
import warnings
from collections import defaultdict, deque
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextvars import ContextVar
from queue import Queue
from typing import Any
from unittest.mock import Mock

import pytest
import tenacity
from recorder import execute, mark, steps

from semel.compiler import current
from semel.errors import NotAllowedHere, NotCompiled


def key_of(value: Any) -> Any:
    mark("x")
    return value


def add(first: int, second: int) -> int:
    mark("x")
    return first + second


class Ranked:
    def rank(self, value: int) -> int:
        mark("rank")
        return -value


@pytest.mark.rule("O19")
def test_each_callback_is_a_pass_of_its_site() -> None:
    def body() -> Any:
        ordered = sorted([2, 1], key=key_of)
        items = [3, 4]
        items.sort(key=Ranked().rank)
        return ordered, items, max(5, 6, key=functools.partial(key_of)), functools.reduce(add, [1, 2, 3])

    run = execute(body)
    assert run.result == ([1, 2], [4, 3], 6, 6)
    assert [step.removeprefix("w/start@1") for step in run.steps] == [
        *("/sorted[0]/key_of#x", "/sorted[1]/key_of#x", "/list.sort[0]/Ranked.rank#rank"),
        *("/list.sort[1]/Ranked.rank#rank", "/max[0]/key_of#x", "/max[1]/key_of#x"),
        *("/reduce[0]/add#x", "/reduce[1]/add#x"),
    ]
    assert run.callbacks == 8


def test_lazy_sites_count_as_they_are_asked() -> None:
    def body() -> Any:
        chosen = filter(lambda value: key_of(value) > 1, map(key_of, [1, 2]))
        return list(itertools.chain(chosen)), heapq.nlargest(1, [1, 2], key=key_of)

    run = execute(body)
    assert run.result == ([2], [2])
    assert "w/start@1/map[1]/key_of#x" in run.steps
    assert "w/start@1/nlargest[1]/key_of#x" in run.steps


def test_a_callback_looks_like_the_function() -> None:
    def body() -> Any:
        return threading.Timer(1, key_of).function

    given = execute(body).result
    assert given is not key_of
    assert given.__name__ == "key_of"
    assert given.__wrapped__ is key_of
    assert inspect.signature(given) == inspect.signature(key_of)
    assert given(3) == 3  # the execution is over: the original runs


def test_an_async_callback_is_a_coroutine_function() -> None:
    async def work() -> None:
        mark("x")

    def body() -> Any:
        return threading.Timer(1, work).function

    assert inspect.iscoroutinefunction(execute(body).result)


def test_a_callback_that_comes_back_is_the_function_itself() -> None:
    def body() -> Any:
        given = threading.Timer(1, key_of).function
        return given(5)

    run = execute(body)
    assert run.result == 5
    assert run.steps == ["w/start@1/key_of#x"]


def test_containers_hold_the_functions_themselves() -> None:
    def body() -> Any:
        listed: list[Any] = []
        listed.append(key_of)
        queue: Any = deque()
        queue.append(key_of)
        table = {}
        table.setdefault("k", key_of)
        made: Any = defaultdict(list)
        made["k"].append(key_of)
        waiting: Any = Queue()
        waiting.put(key_of)
        variable: Any = ContextVar("variable")
        variable.set(key_of)
        return [listed[0], queue[0], table["k"], made["k"][0], waiting.get(), variable.get(), id(key_of)]

    result = execute(body).result
    assert all(held is key_of for held in result[:6])
    assert result[6] == id(key_of)


def test_a_mock_is_given_the_functions_themselves() -> None:
    mock = Mock(return_value=1)

    def body() -> Any:
        return mock(key_of)

    assert execute(body).result == 1
    mock.assert_called_once_with(key_of)


def test_current_is_that_of_the_call_after_its_arguments_were_made() -> None:
    def body() -> Any:
        return _foreign_current(next(map(key_of, [1])), 2)

    assert repr(execute(body).result) == "<Path w/start@1/get_current>"


def _make_foreign() -> Any:
    names: dict[str, Any] = {"__name__": "elsewhere", "current": current}
    exec("def get_current(*args): return current.get()\nasync def get_later(): return current.get()", names)
    return names["get_current"], names["get_later"]


_foreign_current, _foreign_later = _make_foreign()


def test_current_is_the_site_in_a_task_too() -> None:
    async def body() -> Any:
        task = asyncio.create_task(_foreign_later())
        return await task, await _foreign_later()

    first, second = execute(body).result
    assert repr(first) == repr(second) == "<Path w/start@1/get_later>"


def test_log_records_and_warnings_show_the_user_s_line(caplog: pytest.LogCaptureFixture) -> None:
    def body() -> None:
        logging.getLogger("shop").warning("hello %s", key_of("you"))
        warnings.warn("careful", UserWarning, stacklevel=1)

    with pytest.warns(UserWarning, match="careful") as caught:
        execute(body)
    record = caplog.records[0]
    assert record.pathname == __file__
    assert record.funcName == "body"
    assert caught[0].filename == __file__


@tenacity.retry(stop=tenacity.stop_after_attempt(3), reraise=True)
def flaky(fail: list[int]) -> str:
    mark("try")
    if fail:
        raise ValueError(fail.pop())
    return "done"


class Client:
    @tenacity.retry(stop=tenacity.stop_after_attempt(3), reraise=True)
    async def fetch(self, fail: list[int]) -> str:
        mark("fetch")
        if fail:
            raise ValueError(fail.pop())
        return "fetched"


def test_a_foreign_decorator_runs_the_twin() -> None:
    def body() -> Any:
        return flaky([1, 2])

    run = execute(body)
    assert run.result == "done"
    assert run.steps == [f"w/start@1/flaky[{number}]#try" for number in range(3)]
    assert flaky([1]) == "done"


def test_a_foreign_decorator_of_an_async_method_runs_the_twin() -> None:
    async def body() -> Any:
        return await Client().fetch([1])

    run = execute(body)
    assert run.result == "fetched"
    assert run.steps == [f"w/start@1/Client.fetch[{number}]#fetch" for number in range(2)]


@functools.singledispatch
def describe(value: object) -> str:
    mark("object")
    return "object"


@describe.register
def _(value: int) -> str:
    mark("int")
    return "int"


def test_singledispatch_runs_the_twin_it_chooses() -> None:
    def body() -> Any:
        return describe(1), describe("a")

    run = execute(body)
    assert run.result == ("int", "object")
    assert run.steps == ["w/start@1/describe.int#int", "w/start@1/describe#object"]


def test_submit_is_no_segment_and_map_numbers_its_items() -> None:
    def body() -> Any:
        with ThreadPoolExecutor(2) as pool:
            futures = [pool.submit(key_of, number) for number in range(2)]
            mapped = list(pool.map(add, [1, 2, 3], [4, 5, 6]))
        with multiprocessing.pool.ThreadPool(2) as threads:
            pooled = threads.map(key_of, [7, 8])
        return [future.result() for future in futures], mapped, pooled

    run = execute(body)
    assert run.result == ([0, 1], [5, 7, 9], [7, 8])
    assert sorted(step.removeprefix("w/start@1") for step in run.steps) == [
        *("/Executor.map[0]/add#x", "/Executor.map[1]/add#x", "/Executor.map[2]/add#x"),
        *("/Pool.map[0]/key_of#x", "/Pool.map[1]/key_of#x", "[0]/key_of#x", "[1]/key_of#x"),
    ]


def test_passes_that_overlap_on_threads_have_no_number() -> None:
    both = threading.Barrier(2)

    def work() -> None:
        both.wait(10)
        mark("x")

    def body() -> Any:
        errors: list[Any] = []
        run_on_two_threads(work, errors)
        return errors

    errors = execute(body).result
    assert errors
    assert all(isinstance(error, NotAllowedHere) and "Executor.map" in str(error) for error in errors)


def _two_threads() -> Any:
    names: dict[str, Any] = {"__name__": "elsewhere", "threading": threading}
    exec(
        "def run_on_two_threads(work, errors):\n"
        "    def one():\n"
        "        try: work()\n"
        "        except BaseException as error: errors.append(error)\n"
        "    threads = [threading.Thread(target=one) for _ in range(2)]\n"
        "    for thread in threads: thread.start()\n"
        "    for thread in threads: thread.join()\n",
        names,
    )
    return names["run_on_two_threads"]


run_on_two_threads = _two_threads()


def test_a_callback_on_another_thread_knows_its_site() -> None:
    def body() -> Any:
        errors: list[Any] = []
        once_on_a_thread(key_of, errors)
        return errors

    run = execute(body)
    assert run.steps == ["w/start@1/once_on_a_thread[0]/key_of#x"]


def _one_thread() -> Any:
    names: dict[str, Any] = {"__name__": "elsewhere", "threading": threading}
    exec(
        "def once_on_a_thread(work, errors):\n"
        "    thread = threading.Thread(target=work, args=(1,))\n"
        "    thread.start(); thread.join()\n",
        names,
    )
    return names["once_on_a_thread"]


once_on_a_thread = _one_thread()


def _nothing() -> None:
    mark("never")


@pytest.mark.parametrize(
    "start",
    [
        lambda: threading.Thread(target=_nothing).start(),
        lambda: threading.Timer(0, _nothing).start(),
        lambda: _thread.start_new_thread(_nothing, ()),
        lambda: multiprocessing.get_context("spawn").Process(target=_nothing).start(),
        lambda: os.fork(),
        lambda: ProcessPoolExecutor(1).submit(_nothing).result(),
        lambda: list(ProcessPoolExecutor(1).map(key_of, [1])),
    ],
)
def test_a_bare_thread_or_process_is_refused_in_a_body(start: Any) -> None:
    def body() -> None:
        start()

    with pytest.raises(NotAllowedHere, match=r"once\(\"(start|compute)\", lambda: .*") as raised:
        execute(body)
    assert __file__ in str(raised.value)


def test_a_bare_thread_may_be_started_in_a_step() -> None:
    ran = threading.Event()

    def body() -> None:
        def launch() -> None:
            thread = threading.Thread(target=ran.set)
            thread.start()
            thread.join()

        mark("start", launch)

    execute(body)
    assert ran.is_set()


def test_a_function_of_a_package_that_is_not_listed_says_so() -> None:
    names: dict[str, Any] = {"__name__": "unlisted.helpers", "mark": mark}
    exec("def reach(): mark('x')", names)
    reach = names["reach"]

    def body() -> None:
        reach()

    with pytest.raises(NotCompiled, match=r'packages = \["unlisted"\]'):
        execute(body)


def test_what_stays_uncompiled_still_runs() -> None:
    @functools.lru_cache
    def cached(number: int) -> int:
        return number + 1

    def body() -> Any:
        return cached(1), cached(1), steps is not None

    assert execute(body).result == (2, 2, True)
    assert cached.cache_info().hits == 1


def test_nothing_lives_longer_than_in_the_plain_function(tmp_path: Any) -> None:
    def body() -> str:
        text = "written"
        (tmp_path / "file").open("w").write(text)  # closed, and so written, as soon as nothing holds it
        return (tmp_path / "file").read_text()  # type: ignore[no-any-return]

    with pytest.warns(ResourceWarning):
        assert execute(body).result == "written"


def test_work_for_another_process_may_be_done_in_a_step() -> None:
    def body() -> Any:
        def compute() -> Any:
            with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
                return pool.submit(abs, -1).result(), list(pool.map(abs, [-2]))

        return mark("compute", compute)

    assert execute(body).result == (1, [2])
