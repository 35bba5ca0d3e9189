"""``@external`` and ``[tool.semel] external``: calls that leave the process by ways that no library's file knows.

Such a call is an automatic step as a whole: its result is recorded by the codec, and nothing that it does is recorded
or refused by itself.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial, wraps
from types import FunctionType
from typing import Any, TypeVar

from semel.compiler import Path, current, in_step, intrinsic, place, unrecorded
from semel.compiler.external import declare_patterns
from semel.errors import CallWithoutName, RegistrationError

F = TypeVar("F", bound=Callable[..., Any])


def external(function: F) -> F:
    """Declares a function, sync or async, as one that leaves the process: a call of it in a run is a step (rule A3).

    Outside of a run the call simply happens, and within another step it is part of that. Its result must be
    recordable. Of two calls in one body one needs a ``once`` with a name (rule A8).

    Raises:
        RegistrationError: it is no plain function, or a generator.
        CallWithoutName: when called in a run by something that semel does not compile; it was not made.
    """
    if type(function) is not FunctionType:
        raise RegistrationError(
            f"@external is for functions, not for a {type(function).__qualname__}: put it right above the def, below "
            f"@staticmethod, @classmethod and the like"
        )
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise RegistrationError(
            f"@external def {function.__qualname__} is a generator, which has no one result that could be recorded; "
            f"return a list"
        )
    plain: Any = function
    guarded: Any = _guarded_async(plain) if inspect.iscoroutinefunction(function) else _guarded(plain)
    for known in (guarded, function):
        intrinsic(known, partial(called, function))
    return guarded  # type: ignore[no-any-return]


def _guarded(function: FunctionType) -> Callable[..., Any]:
    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        path = current.get()
        if path is None or path.execution.over:
            return function(*args, **kwargs)
        _refuse_outside_of_steps(path, function)
        with unrecorded():
            return function(*args, **kwargs)

    return call


def _guarded_async(function: FunctionType) -> Callable[..., Any]:
    @wraps(function)
    async def call(*args: Any, **kwargs: Any) -> Any:
        path = current.get()
        if path is None or path.execution.over:
            return await function(*args, **kwargs)
        _refuse_outside_of_steps(path, function)
        with unrecorded():
            return await function(*args, **kwargs)

    return call


def _refuse_outside_of_steps(path: Path, function: FunctionType) -> None:
    """Twins do not call the guard: whoever does can say no path, so that only a step may go on."""
    if in_step(path):
        return
    here, line = place(), place(compiled=True)
    where = f"{here}, in {here.part!r}: " if here is not None else ""
    put = f'\n    {line}: once("ask", lambda: {line.part})' if line is not None else ""
    error = CallWithoutName(
        f"{where}{function.__qualname__}, which is declared external, was reached in a run, but not by a call that "
        f"semel compiles, and a later attempt could not find it again: a library, a property or a special method "
        f"calls it. It was not called. Call it in a function of yours that the body calls, or put a once round what "
        f"makes the call:{put}"
    )
    raise path.execution.condemned(error)  # type: ignore[attr-defined]


def called(
    function: Callable[..., Any], path: Path, passes: tuple[object, ...], awaited: bool, *owner: Any
) -> Callable[..., Any]:
    """What is called in place of ``function`` from the function at ``path``."""
    execution: Any = path.execution
    if execution.is_step(path):
        execution.called_out.add(path)
    if execution.over or execution.is_step(path):
        return partial(_outside, function, *owner)
    return partial(execution.automatic.external, path, passes, awaited, function, owner)


def _outside(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls it as if there were no run."""
    if inspect.iscoroutinefunction(function):
        return _outside_async(function, args, kwargs)
    with unrecorded():
        return function(*args, **kwargs)


async def _outside_async(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    with unrecorded():
        return await function(*args, **kwargs)


def configure(patterns: tuple[str, ...]) -> None:
    """Takes ``[tool.semel] external``: names such as ``mylib.client.*``."""
    declare_patterns(patterns, called)
