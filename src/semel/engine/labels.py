"""Labels and steps as the user wrote them: checked, and made part of a path."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import lru_cache
from types import FunctionType, MethodType
from typing import Any

from semel.errors import InvalidLabel

_SPECIAL = str.maketrans({char: f"%{ord(char):02X}" for char in "%/#[]~!"})


@lru_cache(maxsize=4096)
def _escaped(label: str) -> str:
    return label.translate(_SPECIAL)


def segment_of_label(label: object) -> str:
    """A label as a segment; characters that have a meaning in a path are escaped, so that no two labels share one.

    Raises:
        InvalidLabel: not a str, or empty (rule O13).
    """
    if type(label) is not str or not label:
        raise InvalidLabel(
            f"the label of a once must be a string literal that names the step, not {label!r}: "
            f'write once("charge", lambda: …)'
        )
    return _escaped(label)


def scope_and_step(label: object, rest: tuple[Any, ...]) -> tuple[Any, Any]:
    """What ``once(label, …)`` was given after its label; the scope is None where there is none."""
    if len(rest) == 1:
        return None, rest[0]
    if len(rest) == 2:
        return rest[0], rest[1]
    raise TypeError(f"once({label!r}, …) takes a label, perhaps a scope, and a step; {len(rest) + 1} were given")


_SEGMENT = re.compile(r"/([^/\[#~]+)")


def enclosing_steps(path: str) -> Iterator[str]:
    """The paths of the steps that may enclose a step: a label is a segment of what its step runs."""
    for segment in _SEGMENT.finditer(path):
        yield f"{path[: segment.start()]}#{segment.group(1)}"


def wants_key(step: object, label: str, *, scoped: bool) -> bool:
    """Whether the step takes an idempotency key: it has one positional parameter without a default.

    Raises:
        TypeError: the step is not callable, or takes something else.
    """
    required = _required(step, label)
    if required > 1:
        raise TypeError(
            f"the step of once({label!r}, …) takes {required} arguments; a step takes none, or the idempotency key: "
            f"write once({label!r}, lambda: …) or once({label!r}, lambda key: …)"
        )
    if scoped and required == 0:
        raise TypeError(
            f"once({label!r}, scope, step): the scope is for the idempotency key, so the step must take it: "
            f"write once({label!r}, scope, lambda key: …)"
        )
    return required == 1


def _required(step: object, label: str) -> int:
    if type(step) is FunctionType:
        return step.__code__.co_argcount - len(step.__defaults__ or ())
    if type(step) is MethodType and type(step.__func__) is FunctionType:
        return step.__func__.__code__.co_argcount - len(step.__func__.__defaults__ or ()) - 1
    if not callable(step):
        raise TypeError(
            f"the step of once({label!r}, …) is a {type(step).__qualname__} and not a function: it was computed before "
            f"once could look for its record. Write once({label!r}, lambda: …)"
        )
    try:
        parameters = inspect.signature(step).parameters.values()
    except (TypeError, ValueError):
        return 0
    return sum(
        1
        for parameter in parameters
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    )
