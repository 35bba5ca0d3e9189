"""Responses and requests of httpx, and of httpx2, which continues it under another name.

A response is made anew with its decoded content and given its headers afterwards, so that a Content-Encoding which it
still names is not decoded a second time. Of a request only method and URL are kept.
"""

from __future__ import annotations

from typing import Any, Final

from semel.codec.format import BARE

from .http_parts import Data, NotRead, cookies_told, fill_jar, without_userinfo


def read(library: Data, response: Any) -> None:
    """Reads the body, if it has not been. Raises NotRead."""
    if _is_read(response):
        return
    if not isinstance(response.stream, library["SyncByteStream"]):
        raise NotRead("its body has not been read; read it in the step, while it is open: `await response.aread()`")
    try:
        response.read()
    except Exception as error:
        raise NotRead(
            f"its body has not been read and cannot be any more ({error}); "
            "read it in the step, while it is open: `response.read()`"
        ) from error


def response_told(library: Data, response: Any) -> Data:
    """All that a caller can see of a response. A body that was not read is left out."""
    told: Data = {
        "status": int(response.status_code),
        "headers": [list(pair) for pair in response.headers.raw],
        "headers_encoding": response.headers.encoding,
        "extensions": {name: value for name, value in response.extensions.items() if type(value) in BARE},
        "downloaded": response.num_bytes_downloaded,
    }
    if isinstance(response.default_encoding, str):
        told["default_encoding"] = response.default_encoding
    if _is_read(response):
        told["content"] = response.content
        told["encoding"] = response.encoding
    held = vars(response)
    if held.get("_elapsed") is not None:
        told["elapsed"] = response.elapsed
    if held.get("_request") is not None:
        told["request"] = request_told(response.request)
        told["cookies"] = cookies_told(response.cookies.jar)
    if response.next_request is not None:
        told["next"] = request_told(response.next_request)
    return told


def response_made(library: Data, told: Data) -> Any:
    """The response of what was told."""
    known = "content" in told
    response = library["Response"](
        told["status"],
        **({"content": told["content"]} if known else {"stream": _no_stream(library)}),
        request=request_made(library, told["request"]) if "request" in told else None,
        extensions=told["extensions"],
        default_encoding=told.get("default_encoding", "utf-8"),
    )
    pairs = [(name, value) for name, value in told["headers"]]
    response.headers = library["Headers"](pairs)
    if response.headers.encoding != told["headers_encoding"]:
        response.headers = library["Headers"](pairs, encoding=told["headers_encoding"])
    if known:
        response.encoding = told["encoding"]
    response.is_closed, response.is_stream_consumed = True, known
    # These have no setter: a response counts and reads for itself.
    vars(response)["_num_bytes_downloaded"] = told["downloaded"]
    if "elapsed" in told:
        response.elapsed = told["elapsed"]
    if "cookies" in told:
        cookies = library["Cookies"]()
        fill_jar(cookies.jar, told["cookies"])
        vars(response)["_cookies"] = cookies
    if "next" in told:
        response.next_request = request_made(library, told["next"])
    return response


def request_told(request: Any) -> Data:
    """Method and URL. Headers and body often hold secrets."""
    return {"method": request.method, "url": without_userinfo(str(request.url))}


def request_made(library: Data, told: Data) -> Any:
    """A request without headers, whose body raises RequestNotRead."""
    return library["Request"](told["method"], told["url"], stream=_no_stream(library))


def _is_read(response: Any) -> bool:
    return "_content" in vars(response)


def _no_stream(library: Data) -> Any:
    """The stream of a body that is not there any more, for both ways of reading."""
    closed = library["StreamClosed"]

    def iterate(self: Any) -> Any:
        raise closed()

    bases = (library["AsyncByteStream"], library["SyncByteStream"])
    return type("NotRecorded", bases, {"__iter__": iterate, "__aiter__": iterate})()


NAMES: Final = ("httpx", "httpx2")
