"""Call sites of foreign code: where the call stands in the path, and the user functions that it calls back.

A site is the callee itself in a ``functools.partial``: no Python frame stands between the user's code and the callee,
so that tracebacks, log records and ``stacklevel`` of warnings are those of the user's program. User functions among
the arguments are replaced by callbacks, each of whose runs is a pass of the site.
"""

from __future__ import annotations

import contextvars
import functools
import threading
from collections.abc import Callable
from functools import partial
from inspect import CO_COROUTINE
from types import FunctionType, MethodType
from typing import Any

from ..errors import NotAllowedHere
from .naming import NamedPass
from .path import Path, current
from .twins import Template, segment, template_of

_ORIGINAL = ".original"


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
                f"{self.passes.name} calls a function of yours on several threads at once, so the order of its calls is "
                f"not the same at each attempt and the steps in it would not be found again. Use Executor.submit for "
                f"each item in a loop, Executor.map, or asyncio.gather"
            )
        return str(self.number)


class Site(partial):  # type: ignore[type-arg]
    """A foreign callee with the path of its call; ``callback`` makes what takes a user function's place, if anything."""

    __slots__ = ("callback", "path")
    path: Path
    callback: Callable[[Any, Path], Any] | None


def site(callee: Any, path: Path, callback: Callable[[Any, Path], Any] | None) -> Site:
    """A call of ``callee`` at ``path``."""
    made = Site(callee)
    made.path = path
    made.callback = callback
    current.set(path)
    return made


class Framed:
    """A site where arguments cannot be looked at as they are evaluated: they are looked at when the call is made."""

    __slots__ = ("site",)

    def __init__(self, made: Site) -> None:
        self.site = made

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        made = self.site
        return made(*starred(made, args), **keywords(made, kwargs))


def argument(callee: Any, value: Any) -> Any:
    """A direct argument of a call; at a site, a user function's callback in its place."""
    if type(callee) is Site:
        current.set(callee.path)
        if callee.callback is not None and type(value) in _FUNCTIONS:
            return _substitute(callee, value)
    return value


def starred(callee: Any, values: Any) -> Any:
    """``*values``."""
    if type(callee) is not Site:
        return values
    listed = [*values]
    return [argument(callee, value) for value in listed]


def keywords(callee: Any, values: Any) -> Any:
    """``**values``."""
    if type(callee) is not Site:
        return values
    return {name: argument(callee, values[name]) for name in values.keys()}  # noqa: SIM118 -- any mapping


_FUNCTIONS = frozenset({FunctionType, MethodType, partial})


def _substitute(callee: Site, value: Any) -> Any:
    if type(value) is partial:
        inner = _substitute(callee, value.func) if type(value.func) in _FUNCTIONS else value.func
        return value if inner is value.func else partial(inner, *value.args, **value.keywords)
    function = value.__func__ if type(value) is MethodType else value
    if type(function) is not FunctionType:
        return value
    value = original_of(value)
    function = original_of(function)
    template = template_of(value.__func__ if type(value) is MethodType else value) if function is not value or type(value) is FunctionType else None
    if template is None or template.code is None:
        return value
    assert callee.callback is not None
    return callee.callback(value, callee.path)


def original_of(function: Any) -> Any:
    """The user's function that a callback stands for; anything else is itself."""
    if type(function) is FunctionType and function.__module__ == __name__:
        return function.__dict__.get(_ORIGINAL, function)
    return function
