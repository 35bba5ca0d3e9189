"""The classes met so far, each with its kind, its name in records and its shape: found once, and checked when read.

A class found for a name is good for as long as the name still leads to it: a module may be reloaded or replaced under
the process (a test does it), and a cache must not bring back the old class.
"""

from __future__ import annotations

import enum
import sys
from typing import Any

from semel.errors import RecordUnreadable

from .errors import Misfit, NotEncodable
from .kinds.attrs import Attrs
from .kinds.dataclass import Dataclass
from .kinds.enum import EnumMember
from .kinds.http import HttpResponse
from .kinds.namedtuple import NamedTuple
from .kinds.pydantic import PydanticModel
from .kinds.shape import Kind, Shape
from .kinds.struct import Struct
from .kinds.url import PydanticUrl
from .namespaces import find_class, loaded
from .registry import TypeRegistry

#: The first that matches is the class's kind.
KINDS: tuple[Kind, ...] = (PydanticModel(), Struct(), Attrs(), Dataclass(), NamedTuple(), PydanticUrl(), HttpResponse())
BY_CODE = {kind.code: kind for kind in KINDS}

_ENUM = EnumMember()
_BUILTIN = (str, int, float, bytes, bytearray, list, tuple, dict, set, frozenset)


class Types:
    """Shapes by class and by recorded name, over one registry."""

    def __init__(self, registry: TypeRegistry) -> None:
        self.registry = registry
        self._to_write: dict[type, tuple[int, str, Shape]] = {}
        self._enum_tags: dict[type, str] = {}
        self._to_read: dict[tuple[str, int], tuple[_Lead, Shape]] = {}
        self._enums: dict[str, tuple[_Lead, type]] = {}

    def to_write(self, cls: type) -> tuple[int, str, Shape]:
        """Code, recorded name and shape of a class.

        Raises:
            NotEncodable: it is of no kind, or could not be found again.
        """
        known = self._to_write.get(cls)
        if known is None:
            kind = _kind_of(cls)
            tag = kind.tag(cls) if isinstance(kind, HttpResponse) else self.registry.tag(cls, kind)
            try:
                known = self._to_write[cls] = (kind.code, tag, kind.shape(cls))
            except Misfit as misfit:
                raise NotEncodable(_name(cls), str(misfit)) from None
        return known

    def enum_tag(self, cls: type) -> str:
        """The recorded name of an enum."""
        tag = self._enum_tags.get(cls)
        if tag is None:
            tag = self._enum_tags[cls] = self.registry.tag(cls, _ENUM)
        return tag

    def to_read(self, tag: str, code: int) -> Shape:
        """The shape that a recorded name and code lead to. Raises RecordUnreadable."""
        known = self._to_read.get((tag, code))
        if known is not None and known[0].holds():
            return known[1]
        kind = BY_CODE[code]
        cls = kind.find(tag) if isinstance(kind, HttpResponse) else self.registry.find(tag, kind)
        try:
            shape = kind.shape(cls)
        except Misfit as misfit:
            raise RecordUnreadable(f"{_name(cls)}: {misfit}") from None
        self._to_read[tag, code] = (_Lead(tag, cls), shape)
        return shape

    def enum(self, tag: str) -> Any:
        """The enum of a recorded name. Raises RecordUnreadable."""
        known = self._enums.get(tag)
        if known is not None and known[0].holds():
            return known[1]
        cls = self.registry.find(tag, _ENUM)
        self._enums[tag] = (_Lead(tag, cls), cls)
        return cls


class _Lead:
    """How a recorded name led to a class: the binding that it was found through."""

    __slots__ = ("_first", "_home", "_module", "_moved_from", "_names", "_outermost")

    def __init__(self, tag: str, cls: type) -> None:
        module, _, qualname = tag.partition(":")
        direct = find_class(loaded(module) or {}, qualname) is cls
        self._moved_from = None if direct else (module, qualname)
        self._home = module if direct else cls.__module__
        self._module = sys.modules.get(self._home)
        self._names = loaded(self._home) or {}
        name = qualname if direct else cls.__qualname__
        self._first = name if name in self._names else name.partition(".")[0]
        self._outermost = self._names.get(self._first)

    def holds(self) -> bool:
        """Whether the name leads here now: through the same binding, or because its own module has no such class."""
        if sys.modules.get(self._home) is not self._module or self._outermost is None:
            return False
        if self._names.get(self._first) is not self._outermost:
            return False
        if self._moved_from is None:
            return True
        module, qualname = self._moved_from
        return find_class(loaded(module) or {}, qualname) is None


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
    if _is_secret(cls):
        raise NotEncodable(
            _name(cls),
            "a record must not hold secrets; leave it out of what the step returns, and fetch it where it is used",
        )
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


def _is_secret(cls: type) -> bool:
    """Whether it is pydantic's SecretStr, SecretBytes or Secret[…]."""
    names = loaded("pydantic.types") or {}
    return any(names.get(name) in cls.__mro__ for name in ("Secret", "SecretStr", "SecretBytes"))


def _name(cls: type) -> str:
    return cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"
