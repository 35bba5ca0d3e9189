"""Callbacks: what foreign code is given in place of a user function, and what is the same function to a twin.

A callback looks like its original. While the execution goes on it runs the twin, as a pass of the site, in a flow of
its own; afterwards it runs the original.
"""

from __future__ import annotations

import contextvars
import functools
import threading
from collections.abc import Callable
from inspect import CO_COROUTINE
from types import CellType, FunctionType, MethodType
from typing import Any

from .carried import carried
from .chain import aside, told_apart
from .path import Path, current
from .site import Passes, Site
from .twins import intrinsics, template_of
from .unrepeatable import reader_of

#: ``bind(parent, function, passes)`` gives the twin of a function called from ``parent``.
Bind = Callable[[Path, Any, tuple[object, ...]], Any]

_ORIGINAL = ".original"


def original_of(function: Any) -> Any:
    """The user's function that a callback stands for; anything else is itself."""
    if type(function) is FunctionType and function.__globals__ is globals():
        return function.__dict__.get(_ORIGINAL, function)
    return function


def has_twin(function: Any) -> bool:
    """Whether a function or bound method could reach a step: user code, or a foreign wrapper round user code."""
    if type(function) is MethodType:
        function = function.__func__
    if function in intrinsics:
        return True
    while type(function) is FunctionType:
        template = template_of(function)
        if template is not None:
            return template.code is not None
        function = function.__dict__.get("__wrapped__")
    return False


def counted(bind: Bind, site: Site, function: Any) -> Any:
    """A callback whose runs are passes of the site."""
    function = original_of(function)
    if not has_twin(function):
        return bind(aside(site.path), function, ()) if reader_of(function) is not None else function
    if site.passes is None:
        told_apart(site.path)
        site.passes = Passes(site.path.name)
    return numbered(bind, site.path, site.passes, function)


def numbered(bind: Bind, parent: Path, passes: Passes, function: Any) -> Any:
    """A callback whose runs are counted by ``passes``."""
    execution = parent.execution

    def call(timed: bool) -> Any:
        return bind(parent, function, (passes.enter(timed=timed),))

    if _is_async(function):
        return _async_callback(execution, function, lambda: call(False))
    return _sync_callback(execution, function, lambda: call(True), passes.leave)


def transparent(bind: Bind, site: Site, function: Any) -> Any:
    """A callback that runs with the path as if it were called where the site is."""
    function = original_of(function)
    parent = site.path.parent
    if parent is None:
        return function
    if not has_twin(function):
        if reader_of(function) is not None:
            return bind(aside(site.path), function, ())
        inner = bind(parent, function, site.path.passes)
        return carried(inner.path, inner) if type(inner) is Site else function
    parent = aside(site.path)

    def call() -> Any:
        return bind(parent, function, ())

    if _is_async(function):
        return _async_callback(parent.execution, function, call)
    return _sync_callback(parent.execution, function, call, _nothing)


def by_item(bind: Bind, site: Site, function: Any) -> Any:
    """A callback that takes the number of its pass as its first argument."""
    function = original_of(function)
    parent = site.path
    told_apart(parent)
    if not has_twin(function):

        def foreign(number: int, /, *args: Any) -> Any:
            inner = bind(parent, function, (number,))
            return (carried(inner.path, inner) if type(inner) is Site else inner)(*args)

        return foreign

    def run(number: int, /, *args: Any) -> Any:
        return _sync_callback(parent.execution, function, lambda: bind(parent, function, (number,)), _nothing)(*args)

    context = contextvars.copy_context()
    return lambda number, *args: context.copy().run(run, number, *args)


def _nothing() -> None:
    pass


def _is_async(function: Any) -> bool:
    while type(function) is MethodType:
        function = function.__func__
    return type(function) is FunctionType and bool(function.__code__.co_flags & CO_COROUTINE)


def _sync_callback(execution: Any, function: Any, begin: Callable[[], Any], end: Callable[[], None]) -> Any:
    context = contextvars.copy_context()
    thread = threading.get_ident()

    def callback(*args: Any, **kwargs: Any) -> Any:
        if execution.over:
            return function(*args, **kwargs)
        call = begin()
        try:
            if threading.get_ident() != thread:
                return context.copy().run(execution.run_callback, call, args, kwargs)
            before = current.get()
            try:
                return execution.run_callback(call, args, kwargs)
            finally:
                current.set(before)
        finally:
            end()

    return _like(callback, function)


def _async_callback(execution: Any, function: Any, begin: Callable[[], Any]) -> Any:
    async def callback(*args: Any, **kwargs: Any) -> Any:
        if execution.over:
            return await function(*args, **kwargs)
        before = current.get()
        try:
            return await begin()(*args, **kwargs)
        finally:
            current.set(before)

    return _like(callback, function)


def _like(callback: FunctionType | Callable[..., Any], function: Any) -> Any:
    functools.update_wrapper(callback, function)
    callback.__dict__[_ORIGINAL] = function
    return callback


def rewrapped(wrapper: FunctionType, replace: Callable[[FunctionType], Any]) -> FunctionType | None:
    """A copy of a foreign wrapper that calls something else where it calls the user's function; None if it cannot."""
    inner = wrapper.__dict__.get("__wrapped__")
    if type(inner) is not FunctionType:
        return None
    template = template_of(inner)
    if template is not None:
        other = replace(inner) if template.code is not None else None
    else:
        other = rewrapped(inner, replace)
    if other is None or not wrapper.__closure__:
        return None
    closure = tuple([CellType(other) if _holds(cell, inner) else cell for cell in wrapper.__closure__])
    if closure == wrapper.__closure__:
        return None
    made = FunctionType(wrapper.__code__, wrapper.__globals__, wrapper.__name__, wrapper.__defaults__, closure)
    made.__kwdefaults__ = wrapper.__kwdefaults__
    made.__qualname__ = wrapper.__qualname__
    made.__dict__.update(wrapper.__dict__)
    return made


def _holds(cell: CellType, value: object) -> bool:
    try:
        return cell.cell_contents is value
    except ValueError:
        return False
