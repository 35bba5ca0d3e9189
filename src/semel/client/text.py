"""Values as text in a path, a query or a header: which types can, and how each is written."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from types import NoneType
from typing import Any, Literal, get_args, get_origin
from uuid import UUID

from .hints import members, plain

_SCALARS = (str, int, float, Decimal, date, time, UUID, Enum)
_LISTS = (list, tuple, Sequence)

SCALAR_NAMES = "str, int, bool, float, Decimal, date, datetime, time, UUID, an Enum or a Literal"


def is_text(hint: Any) -> bool:
    """Whether every value of this type, besides None, is written as one text."""
    return all(_is_scalar(member) for member in members(hint) if member is not NoneType)


def is_texts(hint: Any) -> bool:
    """Whether it is a list (or tuple, or Sequence) of such values, or one value, or None."""
    return all(_is_scalar(member) or _is_list(member) for member in members(hint) if member is not NoneType)


def text_of(value: Any) -> str:
    """The text of a scalar: exact for a Decimal, ISO 8601 for dates and times, ``true`` and ``false``.

    Raises:
        ValueError: it is no scalar, or a number that is not finite.
    """
    if isinstance(value, Enum):
        return text_of(value.value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} is not a finite number")
        return float.__repr__(value)
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise ValueError(f"{value} is not a finite number")
        return str(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, int | UUID):
        return str(value)
    raise ValueError(f"a {type(value).__qualname__} has no text; give it {SCALAR_NAMES}")


def texts_of(value: Any) -> list[str]:
    """The texts of a scalar, or of the items of a list. Raises ValueError."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return [text_of(value)]
    return [text_of(item) for item in value]


def _is_scalar(hint: Any) -> bool:
    if get_origin(hint) is Literal:
        return all(isinstance(value, _SCALARS) for value in get_args(hint))
    return isinstance(hint, type) and get_origin(hint) is None and issubclass(hint, _SCALARS)


def _is_list(hint: Any) -> bool:
    if get_origin(hint) not in _LISTS:
        return False
    return all(_is_scalar(member) for item in get_args(hint) if item is not ... for member in members(plain(item)))
