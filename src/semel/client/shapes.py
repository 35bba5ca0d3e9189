"""JSON and the types that stand for it: what a type is written as, and read from, decided when the class is made.

msgspec does both; a type that names a model of pydantic is pydantic's. A Decimal is written as a JSON string, because
as a number the other side would read it as a binary fraction; msgspec reads it from either, exactly.
"""

from __future__ import annotations

import json
from collections.abc import ValuesView
from decimal import Decimal
from typing import Any, TypeVar

import msgspec

from .hints import ANYTHING, is_pydantic, is_variable, parts, shown

_BOM = b"\xef\xbb\xbf"


class Misfit(Exception):
    """A body does not fit the type: ``where`` in it, and why."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(where, why)
        self.where = where
        self.why = why


class Json:
    """A type as JSON.

    Raises:
        TypeError: it cannot be; the text says what in it, and what to write.
    """

    __slots__ = ("_adapter", "_decoder", "hint")

    def __init__(self, hint: Any) -> None:
        self.hint = hint
        self._adapter: Any = None
        self._decoder: Any = None
        for part in parts(hint):
            if is_variable(part):
                raise TypeError(f"{part} says nothing of the JSON; write the type itself")
        if any(is_pydantic(part) for part in parts(hint)):
            self._adapter = _adapter(hint)
            return
        stranger = _stranger(msgspec.inspect.type_info(hint), set())
        if stranger is not None:
            raise TypeError(
                f"{shown(stranger)} has no form in JSON; make it a dataclass, a msgspec Struct, a TypedDict or a "
                f"pydantic model"
            )
        self._decoder = msgspec.json.Decoder(hint, dec_hook=_read_foreign)

    def told(self, value: Any) -> Any:
        """The value as None, bool, int, float, Decimal, str, list and dict. Raises TypeError or ValueError."""
        if self._adapter is not None:
            _all_finite(self._adapter.dump_python(value, warnings=False))
            return self._adapter.dump_python(value, mode="json", by_alias=True, warnings="error")
        return msgspec.to_builtins(value, builtin_types=(Decimal,), str_keys=True, enc_hook=_tell_foreign)

    def read(self, body: bytes) -> Any:
        """The value of a body. Raises Misfit."""
        body = body.removeprefix(_BOM)
        if self._adapter is not None:
            return _validated(self._adapter, body)
        try:
            return self._decoder.decode(body)
        except msgspec.ValidationError as error:
            why, _, where = str(error).partition(" - at `")
            raise Misfit(where.rstrip("`") or "$", why) from error
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise Misfit("$", f"it is not JSON ({error})") from error


def written(told: Any) -> bytes:
    """The JSON of plain data. Raises ValueError for a number that is not finite, or text that has no UTF-8."""
    return json.dumps(told, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_decimal).encode()


def _decimal(value: Any) -> str:
    if not isinstance(value, Decimal):
        raise TypeError(f"a {type(value).__qualname__} has no form in JSON")
    _all_finite(value)
    return str(value)


def _all_finite(told: Any) -> None:
    """Raises ValueError for a Decimal in it that is none: as text, it would be sent as if it were one."""
    if isinstance(told, Decimal) and not told.is_finite():
        raise ValueError(f"{told} is not a finite number")
    if isinstance(told, dict):
        told = told.values()
    if isinstance(told, list | tuple | set | frozenset | ValuesView):
        for each in told:
            _all_finite(each)


def _adapter(hint: Any) -> Any:
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError

    try:
        return TypeAdapter(hint)
    except (PydanticSchemaGenerationError, PydanticUserError) as error:
        raise TypeError(
            f"{shown(hint)} names a pydantic model beside what pydantic cannot read ({str(error).splitlines()[0]}); "
            f"make all of it pydantic models"
        ) from None


def _validated(adapter: Any, body: bytes) -> Any:
    from pydantic import ValidationError

    try:
        return adapter.validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in first["loc"])
        raise Misfit(f"${where}", first["msg"]) from error


def _stranger(info: Any, seen: set[int]) -> Any:
    """The class in a type that neither msgspec nor this module knows; ``seen`` are the ids of what was looked at."""
    if isinstance(info, list | tuple):
        return next((found for each in info if (found := _stranger(each, seen)) is not None), None)
    if not isinstance(info, msgspec.inspect.Type | msgspec.inspect.Field) or id(info) in seen:
        return None
    seen.add(id(info))
    if isinstance(info, msgspec.inspect.CustomType):
        return None if info.cls in ANYTHING or is_pydantic(info.cls) else info.cls
    inside = [getattr(info, name) for name in info.__struct_fields__ if name not in ("default", "default_factory")]
    return _stranger(inside, seen)


T = TypeVar("T")


def _read_foreign(kind: type[T], value: Any) -> T:
    """A model inside a dataclass or Struct, and ``object``."""
    if kind in ANYTHING:
        return value  # type: ignore[no-any-return]
    return kind.model_validate(value)  # type: ignore[attr-defined, no-any-return]


def _tell_foreign(value: Any) -> Any:
    if is_pydantic(type(value)):
        _all_finite(value.model_dump(warnings=False))
        return value.model_dump(mode="json", by_alias=True, warnings="error")
    raise TypeError(f"a {type(value).__qualname__} has no form in JSON")
