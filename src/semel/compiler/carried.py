"""Foreign code that runs later than the call that made it: iterators, context managers, and functions given to a pool.

What it does belongs to that call, so ``current`` is set to the call's site each time that it runs.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextvars import copy_context
from inspect import CO_COROUTINE
from types import FunctionType, GeneratorType, MethodType
from typing import Any

from .packages import is_user_class, is_user_module
from .path import Path, current
from .twins import is_twin_code, segment
from .where import carrier

_STDLIB = sys.stdlib_module_names
_LAZY = (map, filter)


def may_leave(value: Any) -> bool:
    """Whether using this object may run foreign code that makes exchanges: it is not of the user's and not builtin."""
    kind = type(value)
    if kind is GeneratorType:
        return not is_twin_code(value.gi_code)
    module = kind.__module__
    if kind in _LAZY or module == "itertools":
        return True
    return module.partition(".")[0] not in _STDLIB and not is_user_class(kind)


def draws_on_foreign(items: Any) -> bool:
    """Whether an ``enumerate`` or ``zip`` takes its items from something that may leave. Asked once for a loop."""
    parts = items.__reduce__()[1]
    for inner in parts[:1] if type(items) is enumerate else parts:
        drawing = type(inner) is enumerate or type(inner) is zip
        if draws_on_foreign(inner) if drawing else may_leave(inner):
            return True
    return False


def may_leave_managed(manager: Any) -> bool:
    """The same of a context manager; a generator that ``contextlib`` made one of is asked itself."""
    generator = getattr(manager, "gen", None) if type(manager).__module__ == "contextlib" else None
    if generator is None:
        return may_leave(manager)
    code = getattr(generator, "gi_code", None) or getattr(generator, "ag_code", None)
    frame = getattr(generator, "gi_frame", None) or getattr(generator, "ag_frame", None)
    return code is not None and not is_twin_code(code) and not is_user_module(frame and frame.f_globals.get("__name__"))


def site_of(path: Path, value: Any, passes: tuple[object, ...], made_here: bool) -> Path:
    """The site that ``value`` belongs to: the call that made it right here, else its own type."""
    last = current.get()
    if made_here and last is not None and last.parent is path and last.passes == passes:
        return last
    kind = type(value)
    at = Path(path, passes, segment(kind.__qualname__), path.execution)
    at.callee = (kind, ())
    return at


class CarriedIterator:
    """A foreign iterator; each item is part of the call that made it."""

    __slots__ = ("_iterator", "_path")

    def __init__(self, path: Path, iterable: Any) -> None:
        self._path = path
        current.set(path)
        self._iterator = iter(iterable)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        current.set(self._path)
        return next(self._iterator)


class CarriedAsyncIterator:
    """The same for ``async for``."""

    __slots__ = ("_iterator", "_path")

    def __init__(self, path: Path, iterable: Any) -> None:
        self._path = path
        current.set(path)
        self._iterator = aiter(iterable)

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        current.set(self._path)
        return await anext(self._iterator)


class CarriedManager:
    """A foreign context manager; entering and leaving it are part of the call that made it."""

    __slots__ = ("_manager", "_path")

    def __init__(self, path: Path, manager: Any) -> None:
        self._path = path
        self._manager = manager

    def __enter__(self) -> Any:
        current.set(self._path)
        return type(self._manager).__enter__(self._manager)

    def __exit__(self, *error: Any) -> Any:
        current.set(self._path)
        return type(self._manager).__exit__(self._manager, *error)


class CarriedAsyncManager:
    """The same for ``async with``."""

    __slots__ = ("_manager", "_path")

    def __init__(self, path: Path, manager: Any) -> None:
        self._path = path
        self._manager = manager

    async def __aenter__(self) -> Any:
        current.set(self._path)
        return await type(self._manager).__aenter__(self._manager)

    async def __aexit__(self, *error: Any) -> Any:
        current.set(self._path)
        return await type(self._manager).__aexit__(self._manager, *error)


def carried(path: Path, function: Any) -> Callable[..., Any]:
    """A foreign function that a pool or a thread calls: it runs as the call at ``path``."""
    inner = function.__func__ if type(function) is MethodType else function
    if type(inner) is FunctionType and inner.__code__.co_flags & CO_COROUTINE:
        return function  # type: ignore[no-any-return]
    context = copy_context()

    def call(*args: Any, **kwargs: Any) -> Any:
        return context.copy().run(_run_at, path, function, args, kwargs)

    return call


def carried_here(path: Path, function: Any) -> Callable[..., Any]:
    """A foreign function that is called later, or in another context, but in turn: it runs as the call at ``path``."""

    def call(*args: Any, **kwargs: Any) -> Any:
        before = current.get()
        try:
            return _run_at(path, function, args, kwargs)
        finally:
            current.set(before)

    return call


def _run_at(path: Path, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    current.set(path)
    return path.execution.run_callback(function, args, kwargs)


for _method in (
    *(CarriedIterator.__init__, CarriedIterator.__next__),
    *(CarriedAsyncIterator.__init__, CarriedAsyncIterator.__anext__),
    *(CarriedManager.__enter__, CarriedManager.__exit__),
    *(CarriedAsyncManager.__aenter__, CarriedAsyncManager.__aexit__, _run_at),
):
    carrier(_method.__code__)
