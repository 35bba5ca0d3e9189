"""msgspec structs. Restored through an empty object of the class, so that ``__post_init__`` does not run again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from semel.codec import format as f
from semel.codec.errors import Misfit

from .shape import Fields, complete

_copy: Callable[[msgspec.Struct], msgspec.Struct] = msgspec.Struct.__copy__  # type: ignore[attr-defined]


class Struct:
    code = f.STRUCT
    kind = "msgspec Struct"

    def matches(self, cls: type) -> bool:
        return msgspec.Struct in cls.__mro__

    def shape(self, cls: type) -> StructShape:
        return StructShape(cls)


class StructShape:
    def __init__(self, cls: Any) -> None:
        self.type = cls
        self._names: tuple[str, ...] = cls.__struct_fields__
        defaults: tuple[Any, ...] = cls.__struct_defaults__
        self._defaults = dict(zip(self._names[len(self._names) - len(defaults) :], defaults, strict=True))
        self._has_dict = cls.__dictoffset__ != 0
        self._template = _template(cls)

    def take(self, value: Any) -> tuple[Fields, Fields]:
        fields = {name: getattr(value, name) for name in self._names}
        return fields, dict(vars(value)) if self._has_dict else {}

    def make(self, fields: Fields, side: Fields) -> object:
        if len(fields) != len(self._names) or fields.keys() != set(self._names):
            fields = complete(fields, self._names, self._default)
        value = _copy(self._template)
        for name, item in fields.items():
            msgspec.structs.force_setattr(value, name, item)
        if side:
            vars(value).update(side)
        return value

    def _default(self, name: str) -> Any:
        default = self._defaults[name]
        if default is msgspec.NODEFAULT:
            raise KeyError(name)
        return default.factory() if type(default).__name__ == "Factory" else default


def _template(cls: Any) -> msgspec.Struct:
    """An object of ``cls`` to be copied. msgspec makes none without ``__post_init__``, but a subclass can be without.

    The subclass adds no field, so its object may become one of ``cls`` itself.
    """
    nothing = dict.fromkeys(cls.__struct_fields__)
    try:
        if not hasattr(cls, "__post_init__"):
            plain: msgspec.Struct = cls(**nothing)
            return plain
        namespace = {"__post_init__": lambda self: None, "__module__": cls.__module__}
        without: Any = type(cls)(cls.__name__, (cls,), namespace)
        template: msgspec.Struct = without(**nothing)
        msgspec.structs.force_setattr(template, "__class__", cls)
    except (TypeError, ValueError, AttributeError) as error:
        raise Misfit(f"an object of it cannot be made without its constructor ({error}); return a dict") from None
    return template
