"""Turning what msgspec read back into the value. The bytes may be anything: whatever is wrong with them is one error.

msgspec makes the leaves while it reads. Only if it met a mark is the tree walked, and containers and objects made from
the inside out; a plain value is done when msgspec is.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any, Final

from semel.errors import RecordUnreadable

from . import format as f
from .errors import Misfit
from .format import ABSENT, MAX_DEPTH, READ_MARKS, Mark
from .kinds.enum import read_flags, read_member
from .registry import EXCEPTIONS
from .scalars import READERS
from .types import BY_CODE, Types

_NESTED: Final = frozenset({list, dict, Mark})
_MAY_LACK_FIELDS: Final = frozenset({f.DATACLASS, f.ATTRS, f.PYDANTIC})


class Reader:
    """One decoding."""

    __slots__ = ("marked", "types")

    def __init__(self, types: Types) -> None:
        self.types = types
        self.marked = False

    def ext(self, code: int, data: memoryview) -> object:
        """What msgspec calls for an ext: a leaf, or a mark."""
        leaf = READERS.get(code)
        if leaf is not None:
            return leaf(bytes(data))
        if code in (f.ENUM, f.FLAG):
            return self._member(code, str(data, "utf-8"))
        if code == f.EXCEPTION_CLASS:
            return self.types.registry.find(str(data, "utf-8"), EXCEPTIONS)
        mark = READ_MARKS.get(code)
        if mark is None or data:
            raise RecordUnreadable(f"it has the unknown tag {code}; was it written by a newer semel?")
        self.marked = True
        return mark

    def _member(self, code: int, said: str) -> object:
        tag, _, name = said.partition("\0")
        cls = self.types.enum(tag)
        try:
            return read_member(cls, name) if code == f.ENUM else read_flags(cls, name)
        except (Misfit, ValueError, TypeError) as error:
            raise RecordUnreadable(f"{tag.replace(':', '.')}: {error}") from None

    def whole(self, tree: Any) -> Any:
        """The value of a whole record's tree."""
        return self.value(tree, 0) if self.marked else tree

    def value(self, tree: Any, depth: int) -> Any:
        """The value of a tree, which is used up."""
        cls = type(tree)
        if cls is list:
            if tree and type(tree[0]) is Mark:
                return self._marked(tree, depth)
            if not _NESTED.isdisjoint(map(type, tree)):
                self._items(tree, depth)
        elif cls is dict:
            if not _NESTED.isdisjoint(map(type, tree.values())):
                self._entries(tree, depth)
        elif cls is Mark:
            raise Misfit("a mark stands where a value should")
        return tree

    def _items(self, tree: list[Any], depth: int) -> None:
        _check(depth)
        for index, item in enumerate(tree):
            if type(item) in _NESTED:
                tree[index] = self.value(item, depth + 1)

    def _entries(self, tree: dict[str, Any], depth: int, *, allowed: Mark | None = None) -> None:
        _check(depth)
        for key, item in tree.items():
            if type(item) in _NESTED and item is not allowed:
                tree[key] = self.value(item, depth + 1)

    def _marked(self, tree: list[Any], depth: int) -> Any:
        code = tree.pop(0).code
        if code in BY_CODE:
            return self._object(code, tree, depth)
        container = _CONTAINERS.get(code)
        if container is None:
            raise Misfit("it is a failure, not a value" if code == f.FAILURE else "a mark stands where a value should")
        self._items(tree, depth)
        return container(tree)

    def _object(self, code: int, tree: list[Any], depth: int) -> object:
        _check(depth)
        tag, fields, side = tree if len(tree) == 3 else (*tree, {})
        if type(tag) is not str or type(fields) is not dict or type(side) is not dict:
            raise Misfit("an object is not of a name and its fields")
        shape = self.types.to_read(tag, code)
        self._entries(fields, depth, allowed=ABSENT if code in _MAY_LACK_FIELDS else None)
        self._entries(side, depth)
        try:
            return shape.make(fields, side)
        except Exception as error:
            raise RecordUnreadable(f"{tag.replace(':', '.')}: {error}") from error


def _check(depth: int) -> None:
    if depth >= MAX_DEPTH:
        raise Misfit(f"it is nested more than {MAX_DEPTH} deep")


def _pairs(tree: list[Any]) -> dict[Any, Any]:
    return dict(zip(tree[::2], tree[1::2], strict=True))


_CONTAINERS: Final[dict[int, Callable[[list[Any]], Any]]] = {
    f.TUPLE: tuple,
    f.SET: set,
    f.FROZENSET: frozenset,
    f.PAIRS: _pairs,
    f.ORDERED_PAIRS: lambda tree: collections.OrderedDict(_pairs(tree)),
}
