"""Dataclasses, of every make: frozen, slots, keyword-only, pydantic's own."""

from __future__ import annotations

import dataclasses
from typing import Any

from semel.codec import format as f

from .shape import Fields, Layout, complete, empty


class Dataclass:
    code = f.DATACLASS
    kind = "dataclass"

    def matches(self, cls: type) -> bool:
        return dataclasses.is_dataclass(cls)

    def shape(self, cls: type) -> DataclassShape:
        return DataclassShape(cls)


class DataclassShape:
    def __init__(self, cls: type) -> None:
        self.type = cls
        self._empty = empty(cls)
        self._fields = {field.name: field for field in dataclasses.fields(cls)}
        self._layout = Layout(cls, tuple(self._fields))
        self.take = self._layout.take

    def make(self, fields: Fields, side: Fields) -> object:
        if fields.keys() != self._layout.names:
            fields = complete(fields, self._fields, self._default)
        value = self._empty()
        self._layout.put(value, fields, side)
        return value

    def _default(self, name: str) -> Any:
        field = self._fields[name]
        if field.default_factory is not dataclasses.MISSING:
            return field.default_factory()
        default = field.default
        if default is dataclasses.MISSING:
            raise KeyError(name)
        if type(default).__module__ == "pydantic.fields":
            if default.is_required():
                raise KeyError(name)
            return default.get_default(call_default_factory=True)
        return default
