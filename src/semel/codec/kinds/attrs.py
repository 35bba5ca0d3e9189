"""Classes made by attrs."""

from __future__ import annotations

import sys
from typing import Any

from semel.codec import format as f

from .shape import Fields, Layout, complete, empty

#: Where attrs keeps the hash of an object of a class with ``cache_hash``: it does not outlive the process.
_CACHED_HASH = "_attrs_cached_hash"


class Attrs:
    code = f.ATTRS
    kind = "attrs class"

    def matches(self, cls: type) -> bool:
        return "attr" in sys.modules and hasattr(cls, "__attrs_attrs__")

    def shape(self, cls: type) -> AttrsShape:
        return AttrsShape(cls)


class AttrsShape:
    def __init__(self, cls: Any) -> None:
        self.type = cls
        self._empty = empty(cls)
        self._attributes = {attribute.name: attribute for attribute in cls.__attrs_attrs__}
        self._layout = Layout(cls, tuple(self._attributes))

    def take(self, value: Any) -> tuple[Fields, Fields]:
        fields, side = self._layout.take(value)
        if _CACHED_HASH in side:
            side[_CACHED_HASH] = None
        return fields, side

    def make(self, fields: Fields, side: Fields) -> object:
        value = self._empty()
        if fields.keys() != self._layout.names:
            # A default may be computed from the object as recorded (``takes_self``).
            self._layout.put(value, {name: fields[name] for name in self._layout.names & fields.keys()}, {})
            fields = complete(fields, self._attributes, lambda name: self._default(name, value))
        self._layout.put(value, fields, side)
        return value

    def _default(self, name: str, value: object) -> Any:
        default = self._attributes[name].default
        attr: Any = sys.modules["attr"]
        if default is attr.NOTHING:
            raise KeyError(name)
        if isinstance(default, attr.Factory):
            return default.factory(value) if default.takes_self else default.factory()
        return default
