"""The classes met so far, each with its kind, its name in records and its shape: found once, and checked when read.

A class found for a name is good for as long as the name still leads to it: a module may be reloaded or replaced under
the process (a test does it), and a cache must not bring back the old class.
"""

from __future__ import annotations

import enum
from typing import Any

from semel.errors import RecordUnreadable

from .errors import Misfit, NotEncodable
from .kinds.attrs import Attrs
from .kinds.dataclass import Dataclass
from .kinds.enum import EnumMember
from .kinds.namedtuple import NamedTuple
from .kinds.pydantic import PydanticModel
from .kinds.shape import Kind, Shape
from .kinds.struct import Struct
from .namespaces import find_class, loaded
from .registry import TypeRegistry, Wanted

#: The first that matches is the class's kind.
KINDS: tuple[Kind, ...] = (PydanticModel(), Struct(), Attrs(), Dataclass(), NamedTuple())
BY_CODE = {kind.code: kind for kind in KINDS}

_ENUM = EnumMember()
_BUILTIN = (str, int, float, bytes, bytearray, list, tuple, dict, set, frozenset)


class Types:
    """Shapes by class and by recorded name, over one registry."""

    def __init__(self, registry: TypeRegistry) -> None:
        self.registry = registry
        self._shapes: dict[type, Shape] = {}
        self._to_write: dict[type, tuple[int, str, Shape]] = {}
        self._enum_tags: dict[type, str] = {}
        self._to_read: dict[tuple[str, str], type] = {}

    def to_write(self, cls: type) -> tuple[int, str, Shape]:
        """Code, recorded name and shape of a class.

        Raises:
            NotEncodable: it is of no kind, or could not be found again.
        """
        known = self._to_write.get(cls)
        if known is None:
            kind = _kind_of(cls)
            tag = self.registry.tag(cls, kind)
            try:
                shape = self._shape(cls, kind)
            except Misfit as misfit:
                raise NotEncodable(_name(cls), str(misfit)) from None
            known = self._to_write[cls] = (kind.code, tag, shape)
        return known

    def enum_tag(self, cls: type) -> str:
        """The recorded name of an enum."""
        tag = self._enum_tags.get(cls)
        if tag is None:
            tag = self._enum_tags[cls] = self.registry.tag(cls, _ENUM)
        return tag

    def to_read(self, tag: str, code: int) -> Shape:
        """The shape that a recorded name and code lead to. Raises RecordUnreadable."""
        kind = BY_CODE[code]
        cls = self._find(tag, kind)
        try:
            return self._shapes.get(cls) or self._shape(cls, kind)
        except Misfit as misfit:
            raise RecordUnreadable(f"{_name(cls)}: {misfit}") from None

    def enum(self, tag: str) -> Any:
        """The enum of a recorded name. Raises RecordUnreadable."""
        return self._find(tag, _ENUM)

    def _find(self, tag: str, wanted: Wanted) -> type:
        cls = self._to_read.get((tag, wanted.kind))
        if cls is None or not _still_leads(tag, cls):
            cls = self._to_read[tag, wanted.kind] = self.registry.find(tag, wanted)
        return cls

    def _shape(self, cls: type, kind: Kind) -> Shape:
        shape = self._shapes[cls] = kind.shape(cls)
        return shape


def _still_leads(tag: str, cls: type) -> bool:
    """Whether a name that led to ``cls`` does so now: directly, or because its own module has no such class."""
    module, _, qualname = tag.partition(":")
    direct = find_class(loaded(module) or {}, qualname)
    if direct is None:
        return find_class(loaded(cls.__module__) or {}, cls.__qualname__) is cls
    return direct is cls


def is_enum(cls: type) -> bool:
    """Whether objects of ``cls`` are enum members."""
    return enum.Enum in cls.__mro__


def _kind_of(cls: type) -> Kind:
    if BaseException in cls.__mro__:
        raise NotEncodable(_name(cls), "an exception is recorded when it is raised, not as a value; return its text")
    if hasattr(cls, "__mapper__"):
        raise NotEncodable(_name(cls), "it is a row of the database; return its key and load it where it is needed")
    for kind in KINDS:
        if kind.matches(cls):
            return kind
    for builtin in _BUILTIN:
        if builtin in cls.__mro__ and cls is not builtin:
            raise NotEncodable(
                _name(cls),
                f"it is a subclass of {builtin.__name__} and would come back as one; "
                f"return {builtin.__name__}(…) of it, or a dataclass",
            )
    raise NotEncodable(
        _name(cls), "return plain data (numbers, text, list, dict, …) or a dataclass, or only what the body needs of it"
    )


def _name(cls: type) -> str:
    return cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"
