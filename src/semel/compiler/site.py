"""Call sites of foreign code: where the call stands in the path, and the user functions that it calls back.

A site is the callee itself in a ``functools.partial``: no Python frame stands between the user's code and the callee,
so that tracebacks, log records and ``stacklevel`` of warnings are those of the user's program. User functions among
the arguments are replaced by callbacks, each of whose runs is a pass of the site.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from semel.errors import NotAllowedHere

from .chain import called_from
from .naming import NamedPass
from .path import Path, current
from .unrepeatable import reader_of


class Passes:
    """Counts the callbacks of one site's call. Passes that overlap in time on two threads have no order."""

    __slots__ = ("count", "lock", "name", "overlapped", "running")

    def __init__(self, name: str) -> None:
        self.name = name
        self.count = 0
        self.running: list[int] = []
        self.overlapped = False
        self.lock = threading.Lock()

    def enter(self, *, timed: bool) -> CallbackPass:
        me = threading.get_ident()
        with self.lock:
            if timed:
                if any(thread != me for thread in self.running):
                    self.overlapped = True
                self.running.append(me)
            number = self.count
            self.count += 1
        return CallbackPass(self, number)

    def leave(self) -> None:
        with self.lock:
            self.running.remove(threading.get_ident())


class CallbackPass(NamedPass):
    """The number of one callback, as long as it means something."""

    __slots__ = ("number", "passes")

    def __init__(self, passes: Passes, number: int) -> None:
        self.passes = passes
        self.number = number

    def name(self) -> str:
        if self.passes.overlapped:
            raise NotAllowedHere(
                f"{self.passes.name} calls a function of yours on several threads at once, so the order of its calls "
                f"is not the same at each attempt and the steps in it would not be found again. Use Executor.submit "
                f"for each item in a loop, Executor.map, or asyncio.gather"
            )
        return str(self.number)


class Site(partial):  # type: ignore[type-arg]
    """A foreign callee with the path of its call.

    ``callback(site, function)`` makes what takes a user function's place among the arguments; None where all arguments
    stay as they are.
    """

    __slots__ = ("callback", "passes", "path")
    path: Path
    callback: Callable[[Site, Any], Any] | None
    passes: Passes | None


def site(path: Path, callback: Callable[[Site, Any], Any] | None, callee: Any, *first: Any) -> Site:
    """A call of ``callee`` at ``path``; ``first`` are arguments that it already has."""
    made = Site(callee, *first)
    made.path = path
    made.callback = callback
    made.passes = None
    if path.parent is not None:
        called_from(path, path.parent)
    current.set(path)
    return made


class Framed:
    """A site where arguments cannot be looked at as they are evaluated: they are looked at when the call is made."""

    __slots__ = ("site",)

    def __init__(self, made: Site) -> None:
        self.site = made

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        made = self.site
        current.set(made.path)
        return made(*starred(made, args), **keywords(made, kwargs))


def argument(callee: Any, value: Any, _: None = None) -> Any:
    """A direct argument of a call; at a site, a user function's callback in its place."""
    if type(callee) is Site:
        current.set(callee.path)
        if callee.callback is not None:
            kind = type(value)
            if kind in _FUNCTIONS or (kind is BuiltinFunctionType and reader_of(value) is not None):
                return _substitute(callee, callee.callback, value)
    return value


def starred(callee: Any, values: Any, _: None = None) -> Any:
    """``*values``."""
    if type(callee) is not Site:
        return values
    return [argument(callee, value) for value in [*values]]


def keywords(callee: Any, values: Any, _: None = None) -> Any:
    """``**values``."""
    if type(callee) is not Site:
        return values
    return {name: argument(callee, values[name]) for name in values.keys()}  # noqa: SIM118 (any mapping)


_FUNCTIONS = frozenset({FunctionType, MethodType, partial})


def _substitute(callee: Site, callback: Callable[[Site, Any], Any], value: Any) -> Any:
    if type(value) is partial:
        inner = _substitute(callee, callback, value.func) if type(value.func) in _FUNCTIONS else value.func
        return value if inner is value.func else partial(inner, *value.args, **value.keywords)
    return callback(callee, value)
