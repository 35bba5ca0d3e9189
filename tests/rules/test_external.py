"""Rule A3 of ``@external``: a call that semel cannot name is refused, wherever it is made from, and never lost."""

from __future__ import annotations

import asyncio
import functools
import inspect
import operator
from typing import Any

import pytest
from automatic_scene import Server, break_off, faulted_then_retried, log, paths, server

from semel import App, external, once
from semel.errors import CallWithoutName

__all__ = ["server"]


@external
def fetch(what: str) -> str:
    """Fetches it."""
    log.append(what)
    return what


@external
async def fetch_later(what: str) -> str:
    await asyncio.sleep(0)
    log.append(what)
    return what


def state_of(parcel: object) -> str:
    return fetch("property")


def length_of(parcel: object) -> int:
    return len(fetch("length"))


#: Made in a way that the check of the whole program does not see through, so that it is the run that refuses.
Parcel: Any = type("Parcel", (), {"state": property(state_of), "__len__": length_of})


def by_a_property() -> None:
    _ = Parcel().state


def by_a_special_method() -> None:
    len(Parcel())


def by_a_library_that_is_given_a_list() -> None:
    list(map(operator.call, [functools.partial(fetch, "listed")]))


def after_a_step() -> None:
    once("before", lambda: fetch("step"))
    log.clear()
    _ = Parcel().state


@pytest.mark.rule("A3")
@pytest.mark.rule("A8")
@pytest.mark.parametrize("body", [by_a_property, by_a_special_method, by_a_library_that_is_given_a_list, after_a_step])
def test_an_external_call_without_a_path_is_refused_and_not_made(app: App, server: Server, body: object) -> None:
    app.workflow(body)  # type: ignore[call-overload]
    run = app.start(body)  # type: ignore[call-overload]
    with app.worker(), pytest.raises(CallWithoutName, match=r"fetch, which is declared external.*\n.*once\("):
        run.result(timeout=10)
    assert log == []


def handled() -> str:
    try:
        return str(Parcel().state)
    except Exception:
        return "handled"


def test_a_body_that_handles_the_refusal_faults_all_the_same(app: App, server: Server) -> None:
    app.workflow(handled)
    run = app.start(handled)
    with app.worker(), pytest.raises(CallWithoutName):
        run.result(timeout=10)


def within_steps() -> list[str]:
    seen = [once("state", lambda: Parcel().state), str(once("length", lambda: len(Parcel())))]
    break_off()
    return seen


@pytest.mark.rule("A7")
def test_within_a_step_it_is_part_of_that_step_wherever_it_is_made_from(app: App, server: Server) -> None:
    run, result = faulted_then_retried(app, within_steps)
    assert result == ["property", "6"]
    assert paths(run) == ["#state", "#length"]
    assert log == ["property", "length", "/go"]


async def async_within_a_step() -> list[str]:
    async def both() -> list[str]:
        return await asyncio.gather(*[call() for call in [functools.partial(fetch_later, name) for name in "ab"]])

    async def kept() -> str:
        return await fetch_later("c")

    seen = [await once("kept", kept), *await once("both", both)]
    break_off()
    return seen


def test_async_ones_go_on_in_a_step_too(app: App, server: Server) -> None:
    _, result = faulted_then_retried(app, async_within_a_step)
    assert result == ["c", "a", "b"]
    assert log.count("c") == 1


def test_outside_of_a_run_what_makes_the_call_does_not_matter() -> None:
    log.clear()
    assert Parcel().state == "property"
    assert asyncio.run(fetch_later("later")) == "later"
    assert log == ["property", "later"]


def test_an_external_function_looks_as_it_was_written() -> None:
    assert (fetch.__qualname__, fetch.__module__, fetch.__doc__) == ("fetch", __name__, "Fetches it.")
    assert list(inspect.signature(fetch).parameters) == ["what"]
    assert inspect.iscoroutinefunction(fetch_later)
    assert not inspect.iscoroutinefunction(fetch)
