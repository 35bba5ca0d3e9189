"""Which states an entity workflow can get into: the initial one, and those that its bodies mention.

A body that may return a state which its source does not show makes every state reachable. So nothing is refused that
could happen.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from types import CodeType
from typing import Any


def unreachable(enum: type[Enum], attribute: str, initial: Enum, bodies: Iterable[Callable[..., Any]]) -> list[Enum]:
    """The states that no body can lead to. ``attribute`` is the tracked one: who sets it may set any state."""
    reached = {initial}
    for body in bodies:
        if not _shows_its_states(body, enum, attribute):
            return []
        for name in _names(body.__code__):
            member = enum.__members__.get(name, body.__globals__.get(name))
            if isinstance(member, enum):
                reached.add(member)
    return [member for member in enum if member not in reached]


def _shows_its_states(function: Any, enum: type[Enum], attribute: str) -> bool:
    """Whether each state that the function can give, or set, is written in it."""
    if hasattr(function, "__wrapped__"):
        return False
    try:
        source = inspect.getsource(function)
        tree = ast.parse(f"if True:\n{source}" if source[:1].isspace() else source)
    except (OSError, TypeError, SyntaxError, ValueError):
        return False
    for node in ast.walk(tree):
        if isinstance(node, ast.Return) and not _is_written(node.value, function, enum):
            return False
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and node.attr == attribute:
            return False
    return True


def _is_written(value: ast.expr | None, function: Any, enum: type[Enum]) -> bool:
    match value:
        case None | ast.Constant(value=None):
            return True
        case ast.Attribute(attr=name):
            return name in enum.__members__
        case ast.Name(id=name):
            return isinstance(function.__globals__.get(name), enum) and name not in function.__code__.co_varnames
        case ast.IfExp(body=one, orelse=other):
            return _is_written(one, function, enum) and _is_written(other, function, enum)
    return False


def _names(code: CodeType) -> Iterator[str]:
    """The names of attributes and globals in a function and in those within it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
