"""Turning a value into what MessagePack can say, by exact type, before msgspec writes it in one go.

A container that holds only what MessagePack says itself is handed over as it is: a plain value costs one look at the
types in it. The first try takes every int and str to be plain; where that is wrong (an int of more than 64 bits, a lone
surrogate) msgspec says so, and a second, careful writer looks at each.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable
from typing import Any, Final

from msgspec.msgpack import Encoder, Ext

from . import format as f
from .errors import NotEncodable
from .format import ABSENT, MAX_BYTES, MAX_DEPTH, WRITE_MARKS, Mark
from .kinds.enum import write_member
from .registry import EXCEPTIONS
from .scalars import WRITERS, is_clean
from .types import Types, is_enum

ENCODER: Final = Encoder()

_CAREFUL: Final = frozenset({type(None), bool, float, bytes})
ATOMS: Final = _CAREFUL | {int, str}
ONLY_STR: Final = frozenset({str})
#: What a tagged container costs at least, in bytes: array header, mark, and the rest by its length.
_OVERHEAD: Final = 4


class Writer:
    """One encoding. ``atoms`` are the types that are handed over unseen."""

    __slots__ = ("atoms", "left", "types")

    def __init__(self, types: Types, *, careful: bool = False) -> None:
        self.types = types
        self.atoms = _CAREFUL if careful else ATOMS
        self.left = MAX_BYTES

    def value(self, value: Any, depth: int) -> object:
        """What msgspec writes for ``value``; ``depth`` is the number of containers round it."""
        cls = type(value)
        if cls in self.atoms:
            return value
        if cls is dict:
            return self._dict(value, depth)
        if cls is list:
            return self._list(value, depth)
        leaf = WRITERS.get(cls)
        if leaf is not None:
            return leaf(value)
        container = _CONTAINERS.get(cls)
        if container is not None:
            return container(self, value, depth)
        if is_enum(cls):
            return write_member(cls, self.types.enum_tag(cls), value)
        if issubclass(cls, type) and BaseException in value.__mro__:
            return Ext(f.EXCEPTION_CLASS, self.types.registry.tag(value, EXCEPTIONS).encode())
        return self._object(cls, value, depth)

    def enter(self, length: int, depth: int) -> None:
        """Counts a container. Shared parts are written again each time, so a small value may unfold to a huge one."""
        self.left -= length + _OVERHEAD
        if self.left < 0:
            raise NotEncodable("object", f"it unfolds to more than {MAX_BYTES // 2**20} MiB; return a part of it")
        if depth >= MAX_DEPTH:
            raise NotEncodable(
                "object", f"it is nested more than {MAX_DEPTH} deep; return it flat, as a list or a dict", too_deep=True
            )

    def _dict(self, value: dict[Any, Any], depth: int) -> object:
        self.enter(len(value), depth)
        atoms = self.atoms
        if not ONLY_STR.issuperset(map(type, value)) or (str not in atoms and not all(map(is_clean, value))):
            return self._pairs(f.PAIRS, value, depth)
        if atoms.issuperset(map(type, value.values())):
            return value
        written = {}
        key = None
        try:
            for key, item in value.items():
                written[key] = item if type(item) in atoms else self.value(item, depth + 1)
        except NotEncodable as trouble:
            trouble.passed(value, f"[{key!r}]")
            raise
        return written

    def _list(self, value: list[Any], depth: int) -> object:
        self.enter(len(value), depth)
        if self.atoms.issuperset(map(type, value)):
            return value
        return self._items(value, value, [], depth)

    def _items(self, holder: object, items: Iterable[Any], written: list[Any], depth: int) -> list[Any]:
        atoms = self.atoms
        before = len(written)
        try:
            for item in items:
                written.append(item if type(item) in atoms else self.value(item, depth + 1))  # noqa: PERF401
        except NotEncodable as trouble:
            trouble.passed(holder, f"[{len(written) - before}]")
            raise
        return written

    def _tuple(self, value: tuple[Any, ...], depth: int) -> object:
        self.enter(len(value), depth)
        return self._items(value, value, [WRITE_MARKS[f.TUPLE]], depth)

    def _set(self, value: set[Any] | frozenset[Any], depth: int) -> object:
        self.enter(len(value), depth)
        written = []
        item = None
        try:
            for item in value:
                written.append(self.value(item, depth + 1))
        except NotEncodable as trouble:
            trouble.passed(value, f"{{{type(item).__name__}}}")
            raise
        written.sort(key=ENCODER.encode)
        return [WRITE_MARKS[f.SET if type(value) is set else f.FROZENSET], *written]

    def _ordered_dict(self, value: collections.OrderedDict[Any, Any], depth: int) -> object:
        if vars(value):
            raise NotEncodable("OrderedDict", "it has attributes of its own besides its items")
        self.enter(len(value), depth)
        return self._pairs(f.ORDERED_PAIRS, value, depth)

    def _pairs(self, code: int, value: dict[Any, Any], depth: int) -> object:
        written: list[Any] = [WRITE_MARKS[code]]
        segment = ""
        try:
            for key, item in value.items():
                segment = f"{{key {type(key).__name__}}}"
                written.append(self.value(key, depth + 1))
                segment = f"[{key!r}]" if type(key) in (int, str) else f"[{type(key).__name__}]"
                written.append(self.value(item, depth + 1))
        except NotEncodable as trouble:
            trouble.passed(value, segment)
            raise
        return written

    def _absent(self, value: Mark, depth: int) -> object:
        return WRITE_MARKS[ABSENT.code]

    def _object(self, cls: type, value: Any, depth: int) -> object:
        code, tag, shape = self.types.to_write(cls)
        try:
            fields, side = shape.take(value)
        except NotEncodable:
            raise
        except Exception as error:
            raise NotEncodable(tag.replace(":", "."), f"its fields cannot be read ({error})") from error
        self.enter(len(fields) + len(side), depth)
        atoms = self.atoms
        if not atoms.issuperset(map(type, fields.values())):
            fields = self._attributes(value, fields, depth)
        if not side:
            return [WRITE_MARKS[code], tag, fields]
        return [WRITE_MARKS[code], tag, fields, self._attributes(value, side, depth)]

    def _attributes(self, holder: object, items: dict[str, Any], depth: int) -> dict[str, Any]:
        atoms = self.atoms
        written = {}
        name = ""
        try:
            for name, item in items.items():
                written[name] = item if type(item) in atoms else self.value(item, depth + 1)
        except NotEncodable as trouble:
            trouble.passed(holder, f".{name}")
            raise
        return written


_CONTAINERS: Final[dict[type, Callable[[Writer, Any, int], object]]] = {
    tuple: Writer._tuple,
    set: Writer._set,
    frozenset: Writer._set,
    collections.OrderedDict: Writer._ordered_dict,
    Mark: Writer._absent,
}
