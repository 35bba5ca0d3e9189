"""One operation: where each argument goes, the request that they make, and the result of the answer.

Sync and async share all of it; only who sends the request differs (``connection.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any
from urllib.parse import quote, urlencode

from semel.errors import RequestNotSent

from .answers import Result
from .shapes import Json, written
from .template import Template
from .text import text_of, texts_of


class Place(Enum):
    """Where in the request an argument goes."""

    PATH = "path"
    QUERY = "query"
    HEADER = "header"
    FIELD = "field of the body"
    BODY = "body"


@dataclass(frozen=True, slots=True)
class Argument:
    """One parameter of an operation. ``name`` is the author's, ``wire`` the other side's; ``json`` is for bodies, None
    where the body is bytes as they are."""

    name: str
    wire: str
    place: Place
    json: Json | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """A request without its base URL."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes | None


@dataclass(frozen=True, slots=True)
class Operation:
    """A declared operation. ``name`` is its qualified name."""

    name: str
    method: str
    template: Template
    arguments: tuple[Argument, ...]
    result: Result

    def request(self, values: tuple[Any, ...]) -> Request:
        """The request that these arguments make.

        Raises:
            RequestNotSent: one of them cannot stand in it.
        """
        by_place: dict[Place, list[tuple[Argument, Any]]] = {place: [] for place in Place}
        for argument, value in zip(self.arguments, values, strict=True):
            if value is not None or argument.place in (Place.PATH, Place.BODY):
                by_place[argument.place].append((argument, value))
        in_path = {argument.name: self._text(argument, value) for argument, value in by_place[Place.PATH]}
        path = self.template.path(in_path, self._refusal)
        query = [
            (argument.wire, text) for argument, value in by_place[Place.QUERY] for text in self._texts(argument, value)
        ]
        if query:
            path = f"{path}?{self._encoded(query)}"
        headers = {"accept": self.result.accept}
        body = self._body(by_place[Place.BODY], by_place[Place.FIELD], headers)
        for argument, value in by_place[Place.HEADER]:
            headers[argument.wire.lower()] = self._header(argument, value)
        return Request(self.method, path, headers, body)

    def _body(
        self, whole: list[tuple[Argument, Any]], fields: list[tuple[Argument, Any]], headers: dict[str, str]
    ) -> bytes | None:
        if whole:
            ((argument, value),) = whole
            if value is None:
                return None
            if argument.json is None:
                if not isinstance(value, bytes | bytearray | memoryview):
                    raise self._refusal(argument.name, f"it is a {type(value).__qualname__}, and the body is bytes")
                headers["content-type"] = "application/octet-stream"
                return bytes(value)
            body = self._json(argument, value)
        elif any(argument.place is Place.FIELD for argument in self.arguments):
            pairs = [written(argument.wire) + b":" + self._json(argument, value) for argument, value in fields]
            body = b"{" + b",".join(pairs) + b"}"
        else:
            return None
        headers["content-type"] = "application/json"
        return body

    def _json(self, argument: Argument, value: Any) -> bytes:
        assert argument.json is not None
        try:
            return written(argument.json.told(value))
        except (TypeError, ValueError, RecursionError) as error:
            raise self._refusal(argument.name, f"it cannot be written as JSON ({error})") from error

    def _text(self, argument: Argument, value: Any) -> str:
        if value is None:
            raise self._refusal(argument.name, "it is None, and a path has no place for that")
        try:
            return text_of(value)
        except ValueError as error:
            raise self._refusal(argument.name, str(error)) from None

    def _texts(self, argument: Argument, value: Any) -> list[str]:
        try:
            return texts_of(value)
        except ValueError as error:
            raise self._refusal(argument.name, str(error)) from None

    def _encoded(self, query: list[tuple[str, str]]) -> str:
        try:
            return urlencode(query, quote_via=quote, safe="")
        except UnicodeEncodeError:
            raise RequestNotSent(
                f"{self.name}: a query value holds half of a surrogate pair; nothing was sent"
            ) from None

    def _header(self, argument: Argument, value: Any) -> str:
        text = self._text(argument, value)
        if not text.isascii() or not text.isprintable() or text != text.strip():
            raise self._refusal(argument.name, "a header is printable ASCII on one line, without spaces at its ends")
        return text

    def _refusal(self, name: str, why: str) -> RequestNotSent:
        """The value itself is not shown: it may be a credential."""
        return RequestNotSent(f"{self.name}({name}=…): {why}; nothing was sent")
