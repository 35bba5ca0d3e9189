"""Tracebacks, coverage and breakpoints are those of the user's own file."""

from __future__ import annotations

import asyncio
import bdb
import contextlib
import os
import traceback
from collections.abc import Callable
from inspect import iscoroutinefunction
from typing import Any

import coverage
import places
import pytest
from recorder import execute

import semel

HERE = os.path.dirname(os.path.abspath(semel.__file__))
RECORDER = execute.__code__.co_filename


def _trace(call: Callable[[], Any]) -> list[Any]:
    """Every place of the traceback and its causes, but for those of semel and the test."""
    try:
        call()
    except BaseException as error:
        found: list[Any] = []
        while error is not None:
            found.append((type(error).__name__, str(error)))
            found += [
                (frame.filename, frame.lineno, frame.end_lineno, frame.colno, frame.end_colno, frame.name, frame.line)
                for frame in traceback.TracebackException.from_exception(error).stack
                if not frame.filename.startswith(HERE) and frame.filename not in (__file__, RECORDER)
            ]
            error = error.__cause__ or error.__context__  # type: ignore[assignment]
        return found
    raise AssertionError("it did not fail")


def _plainly(function: Callable[[], Any]) -> Any:
    return asyncio.run(function()) if iscoroutinefunction(function) else function()


@pytest.mark.parametrize("function", places.FAILING, ids=lambda function: function.__name__)
def test_a_traceback_is_that_of_the_plain_function(function: Callable[[], Any]) -> None:
    plain = _trace(lambda: _plainly(function))
    assert _trace(lambda: execute(function)) == plain
    assert any(place[0] == places.__file__ for place in plain)


def _covered(call: Callable[[], Any]) -> tuple[list[int], list[tuple[int, int]]]:
    measured = coverage.Coverage(branch=True, data_file=None, include=[places.__file__], config_file=False)
    measured.start()
    try:
        _trace_quietly(call)
    finally:
        measured.stop()
    data = measured.get_data()
    return sorted(data.lines(places.__file__) or []), sorted(data.arcs(places.__file__) or [])


@pytest.mark.filterwarnings("ignore::coverage.exceptions.CoverageWarning")
@pytest.mark.parametrize("function", [places.everything, *places.FAILING], ids=lambda function: function.__name__)
def test_coverage_is_that_of_the_plain_function(function: Callable[[], Any]) -> None:
    _trace_quietly(lambda: execute(function))  # so that compiling is not measured
    plain = _covered(lambda: _plainly(function))
    assert plain[0]
    assert _covered(lambda: execute(function)) == plain


def _trace_quietly(call: Callable[[], Any]) -> None:
    with contextlib.suppress(Exception):
        call()


class Debugger(bdb.Bdb):
    def __init__(self) -> None:
        super().__init__()
        self.stops: list[tuple[int, str, bool]] = []

    def user_line(self, frame: Any) -> None:
        if frame.f_code.co_filename == places.__file__ and frame.f_lineno in self.get_file_breaks(places.__file__):
            self.stops.append((frame.f_lineno, frame.f_code.co_name, "value" in frame.f_locals))
        self.set_continue()


def _stops(call: Callable[[], Any]) -> list[tuple[int, str, bool]]:
    debugger = Debugger()
    first = places.branches.__code__.co_firstlineno
    for line in range(first + 1, first + 7):
        debugger.set_break(places.__file__, line)
    debugger.runcall(call)
    return debugger.stops


def test_a_breakpoint_stops_in_the_twin() -> None:
    execute(places.everything)
    plain = _stops(places.everything)
    assert plain
    assert _stops(lambda: execute(places.everything)) == plain
