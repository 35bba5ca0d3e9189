"""Responses and requests of the library requests.

Its ``raw`` comes back with the HTTP version and the headers as they were sent, each value apart, and nothing to read.
"""

from __future__ import annotations

import io
from typing import Any, Final

from semel.codec.namespaces import loaded

from .http_parts import Data, NotRead, cookies_told, fill_jar, without_userinfo


def read(library: Data, response: Any) -> None:
    """Reads the body, if it has not been. Raises NotRead."""
    try:
        _ = response.content
    except Exception as error:
        raise NotRead(
            f"its body was not kept ({error}); read it in the step: `response.content`, and not `iter_content()`"
        ) from error


def response_told(library: Data, response: Any) -> Data:
    """All that a caller can see of a response. A body that was not read is left out."""
    told: Data = {
        "status": None if response.status_code is None else int(response.status_code),
        "reason": response.reason,
        "url": _url(response.url),
        "headers": [list(pair) for pair in response.headers.items()],
        "encoding": response.encoding,
        "elapsed": response.elapsed,
        "cookies": cookies_told(response.cookies),
    }
    content = vars(response)["_content"]
    if content is not False:
        told["content"] = content
    if response.request is not None:
        told["request"] = request_told(response.request)
    if response.next is not None:
        told["next"] = request_told(response.next)
    raw_headers: Any = getattr(response.raw, "headers", None)
    version = getattr(response.raw, "version", None)
    if type(version) is int and hasattr(raw_headers, "iteritems"):
        told["raw"] = {"version": version, "headers": [list(pair) for pair in raw_headers.iteritems()]}
    return told


def response_made(library: Data, told: Data) -> Any:
    """The response of what was told."""
    response = library["Response"]()
    response.__setstate__(
        {
            "_content": told.get("content", False),
            "status_code": told["status"],
            "reason": told["reason"],
            "url": told["url"],
            "encoding": told["encoding"],
            "elapsed": told["elapsed"],
            "request": request_made(library, told["request"]) if "request" in told else None,
            "_next": request_made(library, told["next"]) if "next" in told else None,
        }
    )
    response.headers.update((name, value) for name, value in told["headers"])
    fill_jar(response.cookies, told["cookies"])
    if "raw" in told:
        response.raw = _raw(told)
    return response


def _raw(told: Data) -> Any:
    urllib3 = loaded("urllib3") or {}
    headers = urllib3["HTTPHeaderDict"]()
    for name, value in told["raw"]["headers"]:
        headers.add(name, value)
    return urllib3["HTTPResponse"](
        body=io.BytesIO(),
        headers=headers,
        status=told["status"],
        reason=told["reason"],
        version=told["raw"]["version"],
        preload_content=False,
        decode_content=False,
    )


def request_told(request: Any) -> Data:
    """Method and URL. Headers and body often hold secrets."""
    return {"method": request.method, "url": _url(request.url), "class": type(request).__name__}


def request_made(library: Data, told: Data) -> Any:
    """A request without headers or body."""
    request = library["Request" if told["class"] == "Request" else "PreparedRequest"]()
    request.method, request.url = told["method"], told["url"]
    if request.headers is None:
        request.headers = type(library["Response"]().headers)()
    return request


def _url(url: object) -> str | None:
    if isinstance(url, bytes):
        url = url.decode("utf-8", "replace")
    return None if url is None else without_userinfo(str(url))


NAMES: Final = ("requests",)
