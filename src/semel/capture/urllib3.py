"""Records the calls of urllib3, and so of requests, boto3, Stripe's default client and all else that is built on it.

The seam is ``HTTPConnectionPool._make_request``, through which each exchange on the wire goes once: retries, redirects
and sleeps of ``urlopen`` are above it, so that each try is a part of its own. On a replay a connection object is taken
from the pool and never connected. The tunnel through a proxy is made by ``urlopen`` before the exchange, so in a run it
is put off until the exchange is known to be live. Versions 1.26 and 2 are served: the former wants the answer of
``http.client`` from the seam, the latter its own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from http.client import HTTPResponse
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from semel.capture import recorder
from semel.capture._http_response import BrokenAnswer, answer_of, breaking_off, standing_in
from semel.capture.exchange import Answer, Failures, Request
from semel.capture.recorder import begin, gathered
from semel.compiler.path import current

MODULES = ("urllib3",)

_TUNNEL = "_semel_tunnel"


def install(module: ModuleType) -> None:
    """Patches the connection pools. Idempotent."""
    from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

    from ._urllib3_failures import Failures as failures  # noqa: N813 (it is given on as what makes them)

    plain: Any = HTTPConnectionPool
    secure: Any = HTTPSConnectionPool
    if hasattr(plain._make_request, "_semel_records"):
        return
    seam = _Seam(plain._make_request, secure._prepare_proxy, failures)
    plain._make_request = seam.make_request()
    secure._prepare_proxy = seam.prepare_proxy()


class _Seam:
    """The two methods as the library has them, and what takes their places."""

    def __init__(
        self,
        make_request: Callable[..., Any],
        prepare_proxy: Callable[..., Any],
        failures: Callable[[Any, Any], Failures],
    ) -> None:
        self._make_request = make_request
        self._prepare_proxy = prepare_proxy
        self._failures = failures
        #: Names of the parameters after pool, connection, method and url.
        self._names = [*inspect.signature(make_request).parameters][4:]
        #: Whether the seam gives the library's own answers (version 2), not those of http.client.
        self._wraps = "preload_content" in self._names
        self._response = _response_of_version_2() if self._wraps else None

    def make_request(self) -> Callable[..., Any]:
        original = self._make_request

        @wraps(original)
        def _make_request(pool: Any, conn: Any, method: str, url: str, *args: Any, **kwargs: Any) -> Any:
            if _is_elsewhere():
                return original(pool, conn, method, url, *args, **kwargs)
            kwargs.update(zip(self._names, args, strict=False))
            return self._exchange(pool, conn, method, url, kwargs)

        _make_request.__dict__["_semel_records"] = True
        return _make_request

    def prepare_proxy(self) -> Callable[..., Any]:
        original = self._prepare_proxy

        @wraps(original)
        def _prepare_proxy(pool: Any, conn: Any) -> None:
            if _is_elsewhere():
                original(pool, conn)
            else:
                conn.__dict__[_TUNNEL] = True

        return _prepare_proxy

    def _exchange(self, pool: Any, conn: Any, method: str, url: str, options: dict[str, Any]) -> Any:
        put_off = conn.__dict__.pop(_TUNNEL, False)
        call = begin(_request(pool, method, url, options), self._failures(pool, conn))
        if call is None:
            if put_off:
                self._tunnel(pool, conn)
            return self._make_request(pool, conn, method, url, **options)

        def send() -> Answer:
            if put_off:
                self._tunnel(pool, conn)
            return self._sent(pool, conn, method, url, options)

        try:
            response = standing_in(call.perform(send), method)
        except BrokenAnswer as broken:
            response = breaking_off(broken, method)
        return self._response(pool, conn, response, url, method, options) if self._response else response

    def _sent(self, pool: Any, conn: Any, method: str, url: str, options: dict[str, Any]) -> Answer:
        """The exchange as the library makes it, and the answer to its end."""
        if self._wraps:
            options = {**options, "preload_content": False, "decode_content": False, "response_conn": None}
        response = self._make_request(pool, conn, method, url, **options)
        # Its own answer is held on to: it closes the other one when it is let go of.
        original = response._original_response if self._wraps else response
        try:
            return answer_of(original, gathered)
        except BrokenAnswer:
            conn.close()
            raise

    def _tunnel(self, pool: Any, conn: Any) -> None:
        try:
            self._prepare_proxy(pool, conn)
        except OSError as error:
            if self._wraps:  # as its urlopen does
                pool._raise_timeout(err=error, url=pool.proxy.url, timeout_value=conn.timeout)
            raise


def _response_of_version_2() -> Callable[..., Any]:
    """Makes urllib3's answer of one of http.client, as its connection does."""
    from urllib3 import HTTPHeaderDict
    from urllib3 import HTTPResponse as Response

    known = inspect.signature(Response.__init__).parameters

    def make(pool: Any, conn: Any, original: HTTPResponse, url: str, method: str, options: dict[str, Any]) -> Any:
        later: dict[str, Any] = {
            "version_string": getattr(conn, "_http_vsn_str", "HTTP/?"),
            "sock_shutdown": lambda how: None,
        }
        response: Any = Response(
            body=original,
            headers=HTTPHeaderDict(original.msg.items()),
            status=original.status,
            version=original.version,
            reason=original.reason,
            preload_content=options.get("preload_content", True),
            decode_content=options.get("decode_content", True),
            original_response=original,
            enforce_content_length=options.get("enforce_content_length", True),
            request_method=method,
            request_url=url,
            **{name: value for name, value in later.items() if name in known},
        )
        response.retries = options.get("retries")
        response._connection = options.get("response_conn")
        response._pool = pool
        return response

    return make


def _is_elsewhere() -> bool:
    """Whether nothing is recorded here for sure: outside of a run, and of a test that answers by a script."""
    return current.get() is None and recorder.answering is None


def _request(pool: Any, method: str, url: str, options: dict[str, Any]) -> Request:
    if not urlsplit(url).scheme:
        host = f"[{pool.host}]" if ":" in pool.host else pool.host
        url = f"{pool.scheme}://{host}:{pool.port}{url}" if pool.port else f"{pool.scheme}://{host}{url}"
    body = options.get("body")
    if isinstance(body, str):
        body = body.encode("utf-8")
    # A file or an iterator stays unread: it could be read only once.
    at_hand = bytes(body) if isinstance(body, (bytes, bytearray, memoryview)) else None
    return Request(method, url, at_hand, _about(options.get("headers") or {}))


def _about(headers: Any) -> str:
    """What tells requests to one address apart: the pieces of a file, the operations of AWS's JSON protocols."""
    told = [headers.get(name) or "" for name in ("Range", "X-Amz-Target")]
    return " ".join([part.decode("latin-1") if isinstance(part, bytes) else part for part in told]).strip()
