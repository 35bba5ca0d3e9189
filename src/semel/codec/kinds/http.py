"""HTTP responses as results, of httpx, httpx2 and requests (rule O22), and what failures hold of HTTP.

A response is recorded whatever module of the process imports its library: the app meets responses of libraries that it
never names. Reading one never imports the library.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, Final

from semel.codec import format as f
from semel.codec.errors import Misfit, NotEncodable
from semel.codec.namespaces import loaded
from semel.errors import RecordUnreadable

from . import httpx, requests
from .http_parts import Data, NotRead, chain, unchain
from .shape import Fields

_LIBRARIES: Final[dict[str, ModuleType]] = {
    **dict.fromkeys(httpx.NAMES, httpx),
    **dict.fromkeys(requests.NAMES, requests),
}
_REQUESTS: Final = ("Request", "PreparedRequest")


class HttpResponse:
    code = f.HTTP_RESPONSE
    kind = "HTTP response"

    def matches(self, cls: type) -> bool:
        return any(response_class(name) in cls.__mro__ for name in _LIBRARIES)

    def tag(self, cls: type) -> str:
        """The recorded name: the library's public one. Raises NotEncodable for a subclass."""
        for name in _LIBRARIES:
            if response_class(name) is cls:
                return f"{name}:Response"
        raise NotEncodable(
            f"{cls.__module__}.{cls.__qualname__}",
            "it is a subclass of an HTTP library's response and would come back as one; return its status, headers and "
            "content, or what the body needs of them",
        )

    def find(self, tag: str) -> type:
        """The class of a recorded name. Raises RecordUnreadable if its library is not loaded."""
        name = tag.partition(":")[0]
        if name not in _LIBRARIES:
            raise RecordUnreadable(f"it holds an HTTP response of {name}, which this semel does not know")
        cls = response_class(name)
        if cls is None:
            raise RecordUnreadable(
                f"it holds an HTTP response of {name}, which is not imported; "
                f"add `import {name}` where the app is defined"
            )
        return cls

    def shape(self, cls: type) -> ResponseShape:
        return ResponseShape(cls, self.tag(cls).partition(":")[0])


class ResponseShape:
    def __init__(self, cls: type, name: str) -> None:
        self.type = cls
        self._name = name

    def take(self, value: Any) -> tuple[Fields, Fields]:
        try:
            _LIBRARIES[self._name].read(loaded(self._name), value)
        except NotRead as problem:
            raise NotEncodable(f"{self._name}.Response", str(problem)) from None
        return {"chain": response_told(self._name, value)}, {}

    def make(self, fields: Fields, side: Fields) -> object:
        return response_made(self._name, fields["chain"])


def response_class(name: str) -> type | None:
    """The response class of a library; None if it is not loaded."""
    cls: type | None = (loaded(name) or {}).get("Response")
    return cls


def response_told(name: str, response: Any) -> list[Data]:
    """A response and its history as plain data; a body that was not read is left out."""
    cls = response_class(name)

    def told(held: Any) -> Data:
        if type(held) is not cls:
            raise NotEncodable(type(held).__qualname__, f"it stands in the history of a response of {name}")
        data: Data = _LIBRARIES[name].response_told(loaded(name), held)
        return data

    return chain(response, told)


def response_made(name: str, told: list[Data]) -> Any:
    """The response of these data."""
    return unchain(told, lambda data: _LIBRARIES[name].response_made(loaded(name), data))


def is_message(value: object) -> bool:
    """Whether it is a request or a response of a known library."""
    names = [loaded(name) or {} for name in _LIBRARIES]
    return any(type(value) is each.get(cls) for each in names for cls in ("Response", *_REQUESTS))


def message_told(value: object) -> list[Any] | None:
    """The request or response that a failure holds, as plain data; None of anything else."""
    for name in _LIBRARIES:
        names = loaded(name) or {}
        if type(value) is names.get("Response"):
            return [name, "response", response_told(name, value)]
        if any(type(value) is names.get(request) for request in _REQUESTS):
            return [name, "request", _LIBRARIES[name].request_told(value)]
    return None


def message_made(told: list[Any]) -> Any:
    """The request or response of these data. Raises Misfit if its library is not loaded."""
    name, what, data = told
    names = loaded(name) if name in _LIBRARIES else None
    if names is None:
        raise Misfit(
            f"it holds an HTTP {what} of {name}, which is not imported; add `import {name}` where the app is defined"
        )
    return response_made(name, data) if what == "response" else _LIBRARIES[name].request_made(names, data)
