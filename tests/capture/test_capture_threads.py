"""Threads of foreign code: which of them work for the call of a run that they were started in."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest

from semel.capture import threads
from semel.capture.recorder import in_pool
from semel.compiler.path import Path, current

SITE = Path(None, (), "fulfil/start@1", cast(Any, None))


@pytest.fixture(autouse=True)
def installed() -> None:
    threads.install(threading)


@pytest.fixture
def in_a_call() -> Iterator[None]:
    """As if a call of foreign code were in progress in the body of a run."""
    token = current.set(SITE)
    yield
    current.reset(token)


def seen_by(start: Callable[[Callable[[], None]], Any]) -> tuple[Path | None, bool]:
    """The path that work has, and whether it is beside others, when ``start`` runs it elsewhere."""
    seen: list[tuple[Path | None, bool]] = []
    done = threading.Event()

    def work() -> None:
        seen.append((current.get(), in_pool.get()))
        done.set()

    start(work)
    assert done.wait(10)
    return seen[0]


def start_thread(work: Callable[[], None], *, daemon: bool) -> None:
    thread = threading.Thread(target=work, daemon=daemon)
    thread.start()
    thread.join()


@pytest.mark.rule("O20")
@pytest.mark.usefixtures("in_a_call")
def test_work_that_is_given_to_a_pool_belongs_to_the_call() -> None:
    with ThreadPoolExecutor(1) as pool:
        assert seen_by(pool.submit) == (SITE, True)


@pytest.mark.usefixtures("in_a_call")
def test_work_that_work_in_a_pool_gives_to_it_belongs_to_the_call_too() -> None:
    with ThreadPoolExecutor(2) as pool:
        assert seen_by(lambda work: pool.submit(pool.submit, work)) == (SITE, True)


def test_a_worker_of_a_pool_keeps_nothing_of_the_call_that_it_was_started_in() -> None:
    with ThreadPoolExecutor(1) as pool:
        token = current.set(SITE)
        assert seen_by(pool.submit) == (SITE, True)
        current.reset(token)
        assert seen_by(pool.submit) == (None, False)


def test_a_call_that_hands_on_one_piece_of_work_keeps_its_order_and_what_that_hands_on_has_none() -> None:
    handing = Path(SITE, (), "ThreadPoolExecutor.submit", cast(Any, None))
    token = current.set(handing)
    with ThreadPoolExecutor(2) as pool:
        assert seen_by(pool.submit) == (handing, False)
        assert seen_by(lambda work: pool.submit(pool.submit, work)) == (handing, True)
    current.reset(token)


@pytest.mark.usefixtures("in_a_call")
def test_a_thread_belongs_to_the_call_that_starts_it() -> None:
    assert seen_by(lambda work: start_thread(work, daemon=False)) == (SITE, True)


@pytest.mark.usefixtures("in_a_call")
def test_a_daemon_thread_belongs_to_nobody() -> None:
    assert seen_by(lambda work: start_thread(work, daemon=True)) == (None, False)


@pytest.mark.usefixtures("in_a_call")
def test_a_subclass_that_overrides_run_belongs_to_the_call() -> None:
    class Worker(threading.Thread):
        def __init__(self, work: Callable[[], None]) -> None:
            super().__init__()
            self.work = work

        def run(self) -> None:
            self.work()

    assert seen_by(lambda work: Worker(work).start()) == (SITE, True)


@pytest.mark.usefixtures("in_a_call")
def test_a_thread_that_is_started_twice_raises_as_ever() -> None:
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()
    with pytest.raises(RuntimeError, match="once"):
        thread.start()
    assert "run" not in vars(thread)


@pytest.mark.rule("A6")
def test_outside_of_a_run_nothing_changes() -> None:
    with ThreadPoolExecutor(1) as pool:
        assert seen_by(pool.submit) == (None, False)
    assert seen_by(lambda work: start_thread(work, daemon=False)) == (None, False)
    assert ThreadPoolExecutor.submit.__qualname__ == "ThreadPoolExecutor.submit"
