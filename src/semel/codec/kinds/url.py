"""URLs of pydantic: restored from their text, without the checks of their class."""

from __future__ import annotations

from typing import Any

from semel.codec import format as f
from semel.codec.errors import NotEncodable
from semel.codec.namespaces import loaded

from .shape import Fields, empty


class PydanticUrl:
    code = f.PYDANTIC_URL
    kind = "pydantic URL"

    def matches(self, cls: type) -> bool:
        networks = loaded("pydantic.networks") or {}
        bases = [networks.get(name) for name in ("_BaseUrl", "_BaseMultiHostUrl")]
        return any(base is not None and base in cls.__mro__ for base in bases)

    def shape(self, cls: type) -> PydanticUrlShape:
        return PydanticUrlShape(cls)


class PydanticUrlShape:
    """``url`` is the text; ``hosts`` says that it may have several of them."""

    def __init__(self, cls: type) -> None:
        self.type = cls
        self._empty = empty(cls)

    def take(self, value: Any) -> tuple[Fields, Fields]:
        core = value._url
        fields = {"url": str(core), "hosts": type(core).__name__ == "MultiHostUrl"}
        if self._core(fields) != core:
            raise NotEncodable(type(value).__qualname__, "its text does not lead back to it; return str(…) of it")
        return fields, {}

    def make(self, fields: Fields, side: Fields) -> object:
        value = self._empty()
        value._url = self._core(fields)
        return value

    def _core(self, fields: Fields) -> Any:
        core = loaded("pydantic_core") or {}
        return core["MultiHostUrl" if fields["hosts"] else "Url"](fields["url"])
