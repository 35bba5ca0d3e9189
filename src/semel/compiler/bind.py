"""User functions, bound to the path of their call."""

from __future__ import annotations

from functools import partial
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR, CO_ITERABLE_COROUTINE
from types import FunctionType, MethodType
from typing import Any

from .chain import called_from, told_apart
from .path import Path
from .twins import Template, segment


class Known:
    """A function that is called often: its twin, segment and what it wraps, found by the function itself.

    ``twin`` is None for a leaf, which is called as it is. ``later`` says that a call of it may run when its caller has
    gone on.
    """

    __slots__ = ("defaults", "later", "name", "twin", "wrapped")

    def __init__(self, function: FunctionType, template: Template) -> None:
        self.twin = template.twin(function) if template.code is not None else None
        self.name = segment(function.__qualname__)
        self.wrapped: object = function.__dict__.get("__wrapped__")
        self.defaults = function.__defaults__
        self.later = may_run_later(function)


def may_run_later(function: FunctionType) -> bool:
    """Whether it is a coroutine function or a generator function, whose calls run when somebody lets them."""
    return bool(function.__code__.co_flags & _LATER)


_LATER = CO_COROUTINE | CO_GENERATOR | CO_ASYNC_GENERATOR | CO_ITERABLE_COROUTINE

#: Functions of modules and classes, which live as long as the process. Those made by functions are not kept.
known: dict[object, Known] = {}


def bound(
    parent: Path, function: FunctionType, passes: tuple[object, ...], template: Template, awaited: bool = True
) -> Any:
    """A user function as it is called from ``parent``; ``awaited`` says that nothing goes on beside it."""
    twin = _twin(function, template)
    return function if twin is None else MethodType(twin, _called(parent, function, passes, awaited))


def bound_method(
    parent: Path,
    function: FunctionType,
    owner: object,
    passes: tuple[object, ...],
    template: Template,
    awaited: bool = True,
) -> Any:
    """A user function with its first argument, as it is called from ``parent``."""
    twin = _twin(function, template)
    if twin is None:
        return MethodType(function, owner)
    return partial(twin, _called(parent, function, passes, awaited), owner)


def _called(parent: Path, function: FunctionType, passes: tuple[object, ...], awaited: bool) -> Path:
    made = child(parent, function, passes)
    if not awaited and may_run_later(function):
        told_apart(made)
    return made


def _twin(function: FunctionType, template: Template) -> FunctionType | None:
    if function.__closure__ is None and "<locals>" not in function.__qualname__:
        entry = known.get(function)
        if entry is None or entry.defaults is not function.__defaults__:
            entry = known[function] = Known(function, template)
        return entry.twin
    return None if template.code is None else template.twin(function)


def child(parent: Path, function: FunctionType, passes: tuple[object, ...]) -> Path:
    """The path of a user function called from ``parent``: a wrapper and what it wraps are one segment."""
    wrapped = function.__dict__.get("__wrapped__")
    name = "" if parent.wrapped is not None and _in_chain(function, parent.wrapped) else segment(function.__qualname__)
    made = Path(parent, passes, name, parent.execution, wrapped)
    called_from(made, parent)
    return made


def _in_chain(function: FunctionType, wrapped: object) -> bool:
    while wrapped is not None:
        if wrapped is function:
            return True
        wrapped = getattr(wrapped, "__wrapped__", None)
    return False
