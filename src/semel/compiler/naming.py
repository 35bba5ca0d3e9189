"""The text of a pass: the number of a loop's pass, or the name of an element or key (rule O16).

A key's name must be the same in every process and differ from that of every other key, so only values whose text is
their identity are accepted; what has a meaning in a path is escaped.
"""

from __future__ import annotations

import dataclasses
import json
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from uuid import UUID

_SPECIAL = str.maketrans({char: f"%{ord(char):02X}" for char in "%/#[]~!"})


class Key:
    """Names a pass by its element instead of its number."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"Key({self.value!r})"


class NamedPass:
    """A pass that names itself; ``name`` may refuse."""

    __slots__ = ()

    def name(self) -> str:
        raise NotImplementedError


def pass_name(number: object) -> str:
    """The text of one pass: ``3`` for a number, ``="A-1"`` for ``Key("A-1")``.

    Raises:
        TypeError: the key is of a type whose text is not its identity.
    """
    if type(number) is int:
        return str(number)
    if isinstance(number, Key):
        return "=" + _name(number.value).translate(_SPECIAL)
    if isinstance(number, NamedPass):
        return number.name()
    raise TypeError(f"a pass is a number or a Key, not a {type(number).__qualname__}")


def _name(value: object) -> str:
    if isinstance(value, Enum):
        member = value.name if value.name is not None else _name(value.value)
        return f"{type(value).__qualname__}.{member}"
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, str):
        return json.dumps(str.__str__(value), ensure_ascii=False)
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, bytes):
        return f"bytes({value.hex()})"
    if isinstance(value, UUID):
        return f"UUID({value})"
    if isinstance(value, datetime):
        return f"datetime({value.isoformat()})"
    if isinstance(value, date):
        return f"date({value.isoformat()})"
    if isinstance(value, Decimal):
        return f"Decimal({value})"
    if isinstance(value, tuple):
        kind = "" if type(value) is tuple else type(value).__qualname__
        return f"{kind}({','.join([_name(part) for part in value])})"
    if _is_frozen_dataclass(value):
        fields = dataclasses.fields(value)  # type: ignore[arg-type]
        parts = [f"{field.name}={_name(getattr(value, field.name))}" for field in fields]
        return f"{type(value).__qualname__}({','.join(parts)})"
    raise TypeError(
        f"a {type(value).__qualname__} cannot name a pass of a loop, because its text is not the same in every "
        f"process. Name the passes by a str, int, UUID, date, Decimal, Enum, bytes, or a tuple or frozen dataclass of "
        f"these: for item in each(items, key=lambda item: item.id)"
    )


def _is_frozen_dataclass(value: object) -> bool:
    parameters = getattr(type(value), "__dataclass_params__", None)
    return parameters is not None and bool(parameters.frozen)
