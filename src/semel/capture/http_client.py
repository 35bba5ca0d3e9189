"""Records the exchanges of ``http.client``: of urllib.request, xmlrpc.client, and of programs that use it directly.

In a run a stand-in takes the place of a connection's socket before anything is sent. It gathers the request, and as
soon as that is complete the exchange is made, or its record read; the library then reads the answer from the stand-in
as it would from the socket, so that the response is its own. Relies on ``HTTPConnection`` writing to and reading from
its ``sock`` alone. Connections of urllib3 have a seam of their own and stay as they are.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import re
from collections.abc import Callable
from functools import wraps
from http.client import HTTPConnection, HTTPException, HTTPResponse
from types import ModuleType
from typing import Any, cast

import msgspec

from semel.capture._deferral import is_recorded
from semel.capture._flat import SYSTEM, Kinds
from semel.capture._http_response import BrokenAnswer, answer_of, socket_of
from semel.capture.exchange import Answer, Flat, Request
from semel.capture.headers import recorded
from semel.capture.recorder import begin, gathered
from semel.compiler import unrecorded

MODULES = ("http.client",)

_PROMISES_BODY = re.compile(rb"\r\n(?:transfer-encoding:|content-length:[ \t]*0*[1-9])", re.IGNORECASE)
_UPGRADE = re.compile(rb"\r\nupgrade:[ \t]*websocket", re.IGNORECASE)
_WAITED = "_semel_waited"
_METHODS_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})


def install(module: ModuleType) -> None:
    """Patches the connections. Idempotent."""
    _patch(HTTPConnection, "connect", _connect)
    _patch(HTTPConnection, "endheaders", _endheaders)
    _patch(HTTPConnection, "send", _send)
    _patch(HTTPConnection, "getresponse", _getresponse)
    secure = getattr(module, "HTTPSConnection", None)  # not there where Python was built without TLS
    if secure is not None:
        _patch(secure, "connect", _connect)


def _patch(owner: type, name: str, wrapped: Callable[[Any], Any]) -> None:
    original = getattr(owner, name)
    if not hasattr(original, "_semel_records"):
        patched = wrapped(original)
        patched._semel_records = True
        setattr(owner, name, patched)


def _connect(original: Callable[[Any], None]) -> Callable[[Any], None]:
    @wraps(original)
    def connect(self: HTTPConnection) -> None:
        if is_recorded() and not _is_of_urllib3(self):
            self.sock = StandIn(self, None)
        else:
            original(self)

    return connect


def _send(original: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
    @wraps(original)
    def send(self: HTTPConnection, data: Any) -> None:
        sock = self.sock
        if is_recorded() and not _is_of_urllib3(self):
            if not isinstance(sock, StandIn) and (sock is not None or self.auto_open):
                self.sock = StandIn(self, sock)
        elif isinstance(sock, StandIn):
            sock.step_aside()
        original(self, data)

    return send


def _endheaders(original: Callable[..., None]) -> Callable[..., None]:
    @wraps(original)
    def endheaders(self: HTTPConnection, message_body: Any = None, **kwargs: Any) -> None:
        original(self, message_body, **kwargs)
        sock = self.sock
        if isinstance(sock, StandIn) and is_recorded() and (message_body is not None or sock.is_whole()):
            sock.exchange()

    return endheaders


def _getresponse(original: Callable[[Any], HTTPResponse]) -> Callable[[Any], HTTPResponse]:
    @wraps(original)
    def getresponse(self: HTTPConnection) -> HTTPResponse:
        sock = self.sock
        if isinstance(sock, StandIn) and sock.sent:
            if is_recorded():
                sock.exchange()
            else:
                sock.step_aside()
        return original(self)

    return getresponse


def _is_of_urllib3(connection: HTTPConnection) -> bool:
    return any(kind.__module__.partition(".")[0] == "urllib3" for kind in type(connection).__mro__)


class StandIn:
    """In the place of a connection's socket: gathers a request, and gives the answer to it.

    ``real`` is the socket of the connection, None before the first exchange that is live; it is kept for the next one.
    """

    def __init__(self, connection: HTTPConnection, real: Any) -> None:
        self._connection: Any = connection
        self.real: Any = real
        self.sent = bytearray()
        self._answer: Any = None

    def sendall(self, data: Any, flags: int = 0) -> None:
        self.sent += memoryview(data).cast("B")

    def makefile(self, mode: str, *args: Any, **kwargs: Any) -> Any:
        return self._answer.makefile(mode)

    def close(self) -> None:
        real, self.real = self.real, None
        if real is not None:
            real.close()

    def settimeout(self, timeout: float | None) -> None:
        if self.real is not None:
            self.real.settimeout(timeout)

    def setsockopt(self, *option: Any) -> None:
        if self.real is not None:
            self.real.setsockopt(*option)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"the socket of an http.client connection has no {name!r} in a run, because a later attempt has no "
            f'connection. Use the connection in one step: once("ask", lambda: …)'
        )

    def is_whole(self) -> bool:
        """Whether the head, which has been sent, promises no body."""
        if _PROMISES_BODY.search(self.sent):
            return False
        return b"\r\ncontent-length:" in self.sent.lower() or self._connection._method not in _METHODS_WITH_BODY

    def exchange(self) -> None:
        """Makes the exchange of the gathered request, or reads its record.

        A failure to connect or to send is raised here; one of the answer waits until the answer is read.
        """
        call = begin(self._request(), _FAILURES)
        if call is None:
            with unrecorded():
                self.step_aside()
            return
        data, self.sent = bytes(self.sent), bytearray()
        try:
            self._answer = socket_of(call.perform(lambda: self._made(data)))
        except BrokenAnswer as broken:
            self._answer = socket_of(broken)
        except (OSError, HTTPException) as error:
            if not hasattr(error, _WAITED):
                raise
            self._answer = _Failing(error)

    def step_aside(self) -> None:
        """Gives the connection its own socket back, and sends there what was gathered."""
        connection, data = self._connection, bytes(self.sent)
        connection.sock, self.real = self.real, None
        if data:
            self._open().sendall(data)

    def _open(self) -> Any:
        """The connection's own socket, connected."""
        if self._connection.sock is None:
            self._connection.connect()
        return self._connection.sock

    def _made(self, data: bytes) -> Answer:
        connection = self._connection
        connection.sock = self.real
        waiting = False
        try:
            self.real = self._open()
            self.real.sendall(data)
            waiting = True
            return self._read()
        except BrokenAnswer as broken:
            self.close()
            answer = msgspec.structs.replace(broken.answer, headers=recorded(broken.answer.headers))
            raise BrokenAnswer(answer, broken.ending) from broken.ending
        except BaseException as error:
            self.close()
            if waiting and isinstance(error, (OSError, HTTPException)):
                vars(error)[_WAITED] = True
            raise
        finally:
            connection.sock = self

    def _read(self) -> Answer:
        response = HTTPResponse(cast(Any, self.real), method=self._connection._method)
        with contextlib.closing(response):
            response.begin()
            answer = answer_of(response, gathered)
            if response.will_close:
                self.close()
            return answer

    def _request(self) -> Request:
        connection = self._connection
        head, _, body = bytes(self.sent).partition(b"\r\n\r\n")
        target = head.split(b"\r\n", 1)[0].split(b" ")[1].decode("latin-1")
        if not re.match("[a-zA-Z][a-zA-Z0-9+.-]*://", target):  # a proxy is asked by whole URLs
            scheme = "https" if connection.default_port == http.client.HTTPS_PORT else "http"
            host, port = connection.host, connection.port
            if connection._tunnel_host:
                host, port = connection._tunnel_host, connection._tunnel_port or connection.default_port
            target = f"{scheme}://[{host}]:{port}{target}" if ":" in host else f"{scheme}://{host}:{port}{target}"
        return Request(connection._method, target, body, websocket=_UPGRADE.search(self.sent) is not None)


class _Failing:
    """A connection whose answer did not come."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def makefile(self, mode: str) -> Any:
        return self

    def readline(self, *limit: int) -> bytes:
        raise self._error

    def flush(self) -> None:
        """What is written to stays as it is."""

    def close(self) -> None:
        """There is nothing to close."""


_KINDS = Kinds(
    {
        *SYSTEM,
        *(kind for kind in vars(http.client).values() if isinstance(kind, type) and issubclass(kind, HTTPException)),
    }
)


class _Failures:
    """The failures of an exchange. One that came while the answer was waited for is marked, and waits to be raised."""

    def flatten(self, error: BaseException) -> Flat | None:
        return _flat_broken(error) if isinstance(error, BrokenAnswer) else _KINDS.flatten(error)

    def restore(self, data: Flat, request: Request) -> BaseException:
        return _broken(data) if "body" in data else _KINDS.restore(data)


_FAILURES = _Failures()


def _flat_broken(broken: BrokenAnswer) -> Flat:
    answer = broken.answer
    ending = _KINDS.flatten(broken.ending) if broken.ending is not None else None
    return {
        "class": "http.client.IncompleteRead" if broken.ending is None else type(broken.ending).__name__,
        "message": str(broken),
        "status": answer.status,
        "reason": answer.reason,
        "version": answer.version,
        "headers": json.dumps(answer.headers),
        "body": answer.body.decode("latin-1"),
        "ending": None if ending is None else json.dumps(ending),
    }


def _broken(data: Any) -> BrokenAnswer:
    headers = tuple((name, value) for name, value in json.loads(data["headers"]))
    answer = Answer(data["status"], headers, data["body"].encode("latin-1"), data["reason"], data["version"])
    ending = _KINDS.restore(json.loads(data["ending"])) if data["ending"] is not None else None
    return BrokenAnswer(answer, ending)
