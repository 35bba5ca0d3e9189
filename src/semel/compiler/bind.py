"""User functions, bound to the path of their call."""

from __future__ import annotations

from functools import partial
from types import FunctionType, MethodType
from typing import Any

from .path import Path
from .twins import Template, segment


class Known:
    """A function that is called often: its twin, segment and what it wraps, found by the function itself.

    ``twin`` is None for a leaf, which is called as it is.
    """

    __slots__ = ("defaults", "name", "twin", "wrapped")

    def __init__(self, function: FunctionType, template: Template) -> None:
        self.twin = template.twin(function) if template.code is not None else None
        self.name = segment(function.__qualname__)
        self.wrapped: object = function.__dict__.get("__wrapped__")
        self.defaults = function.__defaults__


#: Functions of modules and classes, which live as long as the process. Those made by functions are not kept.
known: dict[object, Known] = {}


def bound(parent: Path, function: FunctionType, passes: tuple[object, ...], template: Template) -> Any:
    """A user function as it is called from ``parent``."""
    twin = _twin(function, template)
    return function if twin is None else MethodType(twin, child(parent, function, passes))


def bound_method(
    parent: Path, function: FunctionType, owner: object, passes: tuple[object, ...], template: Template
) -> Any:
    """A user function with its first argument, as it is called from ``parent``."""
    twin = _twin(function, template)
    return MethodType(function, owner) if twin is None else partial(twin, child(parent, function, passes), owner)


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
    return Path(parent, passes, name, parent.execution, wrapped)


def _in_chain(function: FunctionType, wrapped: object) -> bool:
    while wrapped is not None:
        if wrapped is function:
            return True
        wrapped = getattr(wrapped, "__wrapped__", None)
    return False
