"""Loops and ``with`` in a twin: passes by number or by element, and user-made iterators and context managers as twins.

A stand-in holds the twins in slots named like the special methods: the interpreter finds them on the type, as slot
descriptors, and no Python frame stands between the user's code and the twin.
"""

from __future__ import annotations

import builtins
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from types import FunctionType, GeneratorType
from typing import Any

from . import hidden
from .bind import bound_method
from .carried import (
    CarriedAsyncIterator,
    CarriedAsyncManager,
    CarriedIterator,
    CarriedManager,
    draws_on_foreign,
    may_leave,
    may_leave_managed,
    site_of,
)
from .naming import Key
from .path import Path
from .targets import here
from .twins import cells, is_twin_code, template_of

_PLAIN = frozenset({list, tuple, dict, str, range, enumerate, zip, type({}.items()), type({}.values())})
_DRAWING = frozenset({enumerate, zip})


def numbered(path: Path, items: Any, *passes: object, made_here: bool = True) -> Any:
    """The items of a loop with their passes: numbers, or the elements of a set, or the keys of ``each``.

    ``made_here``, here as below, says that a call makes the items right there: what using them does belongs to it.
    """
    kind = type(items)
    if kind in _PLAIN:
        if kind in _DRAWING and draws_on_foreign(items):
            items = CarriedIterator(site_of(path, items, passes, made_here), items)
        return enumerate(items)
    if issubclass(kind, set | frozenset):
        return zip(map(Key, items), items, strict=False)
    named = getattr(kind, "__semel_passes__", None)
    if named is not None:
        return named(items)
    return enumerate(iterated(path, items, *passes, made_here=made_here))


def iterated(path: Path, items: Any, *passes: object, made_here: bool = True) -> Any:
    """The items of a loop; a user-made iterator runs as a twin."""
    kind = type(items)
    if kind in _PLAIN:
        if kind in _DRAWING and draws_on_foreign(items):
            return CarriedIterator(site_of(path, items, passes, made_here), items)
        return items
    if kind is GeneratorType and is_twin_code(items.gi_code):
        return items
    made = _special(path, items, "__iter__", passes)
    iterator = items if made is None else made()
    if made is None and not hasattr(kind, "__next__"):
        if type(getattr(kind, "__iter__", None)) is not FunctionType:
            return items
        if may_leave(items):
            return CarriedIterator(site_of(path, items, passes, made_here), items)
        iterator = iter(items)
    if _has_twin(iterator, "__next__"):
        return _Twins(path, iterator, "__next__", passes)
    return CarriedIterator(site_of(path, iterator, passes, made_here), iterator) if may_leave(iterator) else iterator


class _Twins:
    """An iterator whose ``__next__`` is user code; each item is a pass of the loop."""

    def __init__(self, path: Path, iterator: Any, name: str, passes: tuple[object, ...]) -> None:
        self._path = path
        self._iterator = iterator
        self._name = name
        self._passes = passes
        self._count = 0

    def _next(self) -> Any:
        number = self._count
        self._count += 1
        made = _special(self._path, self._iterator, self._name, (*self._passes, number))
        assert made is not None
        return made()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return self._next()

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    def __anext__(self) -> Any:
        return self._next()


def numbered_async(path: Path, items: Any, *passes: object, made_here: bool = True) -> Any:
    """The items of an ``async for`` with their passes."""
    return _AsyncNumbered(aiter(iterated_async(path, items, *passes, made_here=made_here)))


def iterated_async(path: Path, items: Any, *passes: object, made_here: bool = True) -> Any:
    """The items of an ``async for``; a user-made iterator runs as a twin."""
    made = _special(path, items, "__aiter__", passes)
    iterator = items if made is None else made()
    if made is None and may_leave(items):
        return CarriedAsyncIterator(site_of(path, items, passes, made_here), items)
    if made is None and type(getattr(type(items), "__aiter__", None)) is FunctionType:
        iterator = aiter(items)
    if _has_twin(iterator, "__anext__"):
        return _Twins(path, iterator, "__anext__", passes)
    return iterator


class _AsyncNumbered:
    """``enumerate`` for ``async for``."""

    def __init__(self, iterator: Any) -> None:
        self._iterator = iterator
        self._count = -1

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> tuple[int, Any]:
        value = await self._iterator.__anext__()
        self._count += 1
        return self._count, value


class _Manager:
    __slots__ = ("__enter__", "__exit__")


class _AsyncManager:
    __slots__ = ("__aenter__", "__aexit__")


class OnStack:
    """A stand-in for ``ExitStack``, which calls the special methods as functions of the class."""

    def __init__(self, managed: Any) -> None:
        self._managed = managed

    @classmethod
    def of(cls, managed: Any, manager: Any) -> Any:
        """The manager itself where it has no twin."""
        return manager if managed is manager else cls(managed)

    def __enter__(self) -> Any:
        return self._managed.__enter__()

    def __exit__(self, *error: object) -> Any:
        return self._managed.__exit__(*error)

    def __aenter__(self) -> Any:
        return self._managed.__aenter__()

    def __aexit__(self, *error: object) -> Any:
        return self._managed.__aexit__(*error)


def entered(path: Path, manager: Any, *passes: object, made_here: bool = True) -> Any:
    """The context manager of a ``with``; a user-made one runs as a twin."""
    managed = _managed(path, manager, passes, _Manager, "__enter__", "__exit__")
    if managed is manager and may_leave_managed(manager) and hasattr(type(manager), "__enter__"):
        return CarriedManager(site_of(path, manager, passes, made_here), manager)
    return managed


def entered_async(path: Path, manager: Any, *passes: object, made_here: bool = True) -> Any:
    """The context manager of an ``async with``; a user-made one runs as a twin."""
    managed = _managed(path, manager, passes, _AsyncManager, "__aenter__", "__aexit__")
    if managed is manager and may_leave_managed(manager) and hasattr(type(manager), "__aenter__"):
        return CarriedAsyncManager(site_of(path, manager, passes, made_here), manager)
    return managed


def _managed(
    path: Path, manager: Any, passes: tuple[object, ...], stand_in: Callable[[], Any], enter: str, leave: str
) -> Any:
    if not (_has_twin(manager, enter) or _has_twin(manager, leave)):
        return manager
    made = stand_in()
    for name in (enter, leave):
        setattr(made, name, _special(path, manager, name, passes) or getattr(manager, name))
    return made


def _has_twin(value: Any, name: str) -> bool:
    method = getattr(type(value), name, None)
    if type(method) is not FunctionType:
        return False
    template = template_of(method)
    return template is not None and template.code is not None


def _special(path: Path, value: Any, name: str, passes: tuple[object, ...]) -> Callable[..., Any] | None:
    """The twin of a special method that is user code."""
    method = getattr(type(value), name, None)
    if type(method) is not FunctionType:
        return None
    template = template_of(method)
    if template is None:
        return None
    origin = here()
    if origin is not None:
        path.at = origin
    twin: Callable[..., Any] = bound_method(path, method, value, passes, template)
    return twin


def unhidden(names: Any) -> Any:
    """What ``locals()`` or ``dir()`` gave, without the hidden variables; ``.0`` is the interpreter's own."""
    if isinstance(names, builtins.dict):
        return {name: value for name, value in names.items() if not _is_hidden(name)}
    return [name for name in names if not _is_hidden(name)]


def _is_hidden(name: object) -> bool:
    return isinstance(name, str) and name.startswith(".") and name != ".0"


cells[hidden.NUMBERED].cell_contents = numbered
cells[hidden.NUMBERED_ASYNC].cell_contents = numbered_async
cells[hidden.ITERATED].cell_contents = iterated
cells[hidden.ITERATED_ASYNC].cell_contents = iterated_async
cells[hidden.ENTERED].cell_contents = entered
cells[hidden.ENTERED_ASYNC].cell_contents = entered_async
cells[hidden.UNHIDDEN].cell_contents = unhidden
for _name, _kept in hidden.KEPT.items():
    cells[_kept].cell_contents = partial(cells[_name].cell_contents, made_here=False)
