"""``@external`` and ``[tool.semel] external``: calls that leave the process by ways that no library's file knows.

Such a call is an automatic step as a whole: its result is recorded by the codec, and nothing that it does is recorded
or refused by itself.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any, TypeVar

from semel.compiler import Path, current, intrinsic
from semel.compiler.external import declare_patterns
from semel.errors import RegistrationError

F = TypeVar("F", bound=Callable[..., Any])


def external(function: F) -> F:
    """Declares a function, sync or async, as one that leaves the process: a call of it in a run is a step (rule A3).

    The function stays as it is, and outside of a run the call simply happens. Its result must be recordable. Of two
    calls in one body one needs a ``once`` with a name (rule A8).

    Raises:
        RegistrationError: it is no plain function, or a generator.
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
    intrinsic(function, partial(called, function))
    return function


def called(
    function: Callable[..., Any], path: Path, passes: tuple[object, ...], awaited: bool, *owner: Any
) -> Callable[..., Any]:
    """What is called in place of ``function`` from the function at ``path``."""
    execution: Any = path.execution
    if execution.over or execution.is_step(path):
        return partial(unrecorded, function, *owner)
    return partial(execution.automatic.external, path, passes, awaited, function, owner)


def unrecorded(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls it as if there were no run."""
    if inspect.iscoroutinefunction(function):
        return _unrecorded_async(function, args, kwargs)
    token = current.set(None)
    try:
        return function(*args, **kwargs)
    finally:
        current.reset(token)


async def _unrecorded_async(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    token = current.set(None)
    try:
        return await function(*args, **kwargs)
    finally:
        current.reset(token)


def configure(patterns: tuple[str, ...]) -> None:
    """Takes ``[tool.semel] external``: names such as ``mylib.client.*``."""
    declare_patterns(patterns, called)
