"""Where in the user's program a declaration stands, for a message."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from semel.errors import RegistrationError

#: Modules between a declaration and what it calls: ``Event[Payment]()`` comes by typing, a class by its metaclass.
_BETWEEN = frozenset({"abc", "typing"})


def caller_frame() -> FrameType:
    """The nearest frame that is not semel's own."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_between(frame):
        frame = frame.f_back
    return frame


def _is_between(frame: FrameType) -> bool:
    module = str(frame.f_globals.get("__name__", ""))
    return module in _BETWEEN or module.startswith("semel.") or frame.f_code.co_name == "__init_subclass__"


def caller_place() -> str:
    """``file:line`` of the nearest code that is not semel's own."""
    frame = caller_frame()
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def place_of(function: Callable[..., Any]) -> str:
    """``file:line`` of a function."""
    code = function.__code__
    return f"{code.co_filename}:{code.co_firstlineno}"


def refused(place: str, name: str, problem: str) -> RegistrationError:
    """The error of one declaration, with its place."""
    return RegistrationError(f"{place}: {name}: {problem}")
