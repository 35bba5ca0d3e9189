"""Named tuples, of ``typing`` and ``collections``. Recorded by field, so that a field may be added in the middle."""

from __future__ import annotations

from typing import Any

from semel.codec import format as f

from .shape import Fields, complete


class NamedTuple:
    code = f.NAMEDTUPLE
    kind = "named tuple"

    def matches(self, cls: type) -> bool:
        return tuple in cls.__mro__ and isinstance(getattr(cls, "_fields", None), tuple) and hasattr(cls, "_make")

    def shape(self, cls: type) -> NamedTupleShape:
        return NamedTupleShape(cls)


class NamedTupleShape:
    def __init__(self, cls: Any) -> None:
        self.type = cls
        self._names: tuple[str, ...] = cls._fields
        self._defaults: Fields = dict(getattr(cls, "_field_defaults", {}))

    def take(self, value: Any) -> tuple[Fields, Fields]:
        fields = dict(zip(self._names, tuple.__iter__(value), strict=True))
        return fields, dict(getattr(value, "__dict__", ()))

    def make(self, fields: Fields, side: Fields) -> object:
        values = complete(fields, self._names, self._defaults.__getitem__).values()
        value = tuple.__new__(self.type, values)
        if side:
            vars(value).update(side)
        return value
