"""Models of pydantic 2: restored without validation, with their set fields, extras and private attributes."""

from __future__ import annotations

from typing import Any

from semel.codec import format as f
from semel.codec.errors import Misfit
from semel.codec.format import ABSENT
from semel.codec.namespaces import loaded

from .shape import Fields, Layout, complete, empty


class PydanticModel:
    code = f.PYDANTIC
    kind = "pydantic model"

    def matches(self, cls: type) -> bool:
        base = (loaded("pydantic.main") or {}).get("BaseModel")
        return base is not None and base in cls.__mro__

    def shape(self, cls: type) -> PydanticShape:
        return PydanticShape(cls)


class PydanticShape:
    """Besides the fields: ``set`` (names given by the caller, left out if all), ``extra``, ``private``, ``more``."""

    def __init__(self, cls: Any) -> None:
        self.type = cls
        self._empty = empty(cls)
        self._fields: dict[str, Any] = dict(cls.model_fields)
        self._private: dict[str, Any] = dict(cls.__private_attributes__)
        self._layout = Layout(cls, tuple(self._fields))

    def take(self, value: Any) -> tuple[Fields, Fields]:
        held = value.__dict__
        fields = {name: held.get(name, ABSENT) for name in self._fields}
        side: Fields = {}
        if value.__pydantic_fields_set__ != fields.keys():
            side["set"] = sorted(value.__pydantic_fields_set__)
        if value.__pydantic_extra__ is not None:
            side["extra"] = value.__pydantic_extra__
        if value.__pydantic_private__ is not None:
            side["private"] = value.__pydantic_private__
        more = {name: item for name, item in held.items() if name not in fields and name not in self._layout.cached}
        if more:
            side["more"] = more
        return fields, side

    def make(self, fields: Fields, side: Fields) -> object:
        were_set = set(side["set"]) if "set" in side else set(fields)
        if fields.keys() != self._layout.names:
            fields = complete(fields, self._fields, self._default)
        fields = {name: item for name, item in fields.items() if item is not ABSENT}
        fields.update(side.get("more", {}))
        value = self._empty()
        object.__setattr__(value, "__dict__", fields)
        object.__setattr__(value, "__pydantic_fields_set__", were_set)
        object.__setattr__(value, "__pydantic_extra__", side.get("extra"))
        object.__setattr__(value, "__pydantic_private__", self._privates(side.get("private")))
        return value

    def _default(self, name: str) -> Any:
        field = self._fields[name]
        if field.is_required():
            raise KeyError(name)
        if getattr(field, "default_factory_takes_validated_data", False):
            raise KeyError(name)
        return field.get_default(call_default_factory=True)

    def _privates(self, recorded: Fields | None) -> Fields | None:
        if recorded is None and not self._private:
            return None
        recorded = recorded or {}
        lost = recorded.keys() - self._private.keys()
        if lost:
            raise Misfit(f"the record has the private attribute {min(lost)!r}, which the class has lost; give it back")
        for name, private in self._private.items():
            if name not in recorded and (private.default_factory is not None or not _undefined(private.default)):
                recorded[name] = private.get_default()
        return recorded


def _undefined(default: object) -> bool:
    return type(default).__name__ == "PydanticUndefinedType"
