"""Enum members, by name; and combinations of flags, which have no name of their own, by value."""

from __future__ import annotations

import enum
from typing import Any

from msgspec.msgpack import Ext

from semel.codec import format as f
from semel.codec.errors import Misfit, NotEncodable


class EnumMember:
    kind = "enum"

    def matches(self, cls: type) -> bool:
        return enum.Enum in cls.__mro__


def write_member(cls: Any, tag: str, member: Any) -> Ext:
    """``tag NUL name``, or ``tag NUL number``."""
    if cls.__members__.get(member._name_) is member:
        return Ext(f.ENUM, f"{tag}\0{member._name_}".encode())
    if enum.Flag in cls.__mro__ and type(member._value_) is int:
        return Ext(f.FLAG, f"{tag}\0{member._value_:x}".encode())
    raise NotEncodable(tag.replace(":", "."), f"{member!r} is not one of its members")


def read_member(cls: Any, name: str) -> object:
    try:
        return cls.__members__[name]
    except KeyError:
        raise Misfit(
            f"it has no member {name!r} any more; give it back (a second name for another member will do)"
        ) from None


def read_flags(cls: Any, number: str) -> object:
    if enum.Flag not in cls.__mro__:
        raise Misfit("it is no Flag any more")
    value = int(number, 16)
    member = cls(value)
    if type(member) is not cls or member._value_ != value:
        raise Misfit(f"{value:#x} is not a combination of its flags")
    return member
