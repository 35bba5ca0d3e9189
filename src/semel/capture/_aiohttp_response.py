"""``aiohttp.ClientResponse`` objects over recorded answers.

The library makes them: its response reads from a protocol of its own, to which a stand-in for the transport gives the
answer's bytes as fast as they are read. What is private to aiohttp is here and in the seam, and is looked at when the
library is installed, so that a version that differs is refused by name.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

from semel.capture._http_response import as_sent
from semel.capture.exchange import Answer
from semel.errors import ConfigurationError

#: Bytes of an answer that are given at a time: no more of a compressed body is unpacked at once than from a socket.
PIECE = 65_536
#: Lines and headers have been found good when the answer came.
_ANY_SIZE = 2**30

_OF_RESPONSE = frozenset({"writer", "continue100", "timer", "request_info", "traces", "loop", "session"})
_OF_PROTOCOL = frozenset({"timer", "skip_payload", "read_until_eof", "auto_decompress", "read_timeout", "read_bufsize"})
_OF_REQUEST = frozenset({"middlewares", "timeout", "auto_decompress", "read_bufsize", "params", "allow_redirects"})


def check(aiohttp: ModuleType) -> None:
    """Raises ConfigurationError if this version of the library is not built as the recorder needs it."""
    from aiohttp.client_proto import ResponseHandler

    needs: tuple[tuple[str, Any, frozenset[str]], ...] = (
        ("ClientSession._request", getattr(aiohttp.ClientSession, "_request", None), _OF_REQUEST),
        ("ClientResponse", aiohttp.ClientResponse.__init__, _OF_RESPONSE),
        ("ResponseHandler.set_response_params", getattr(ResponseHandler, "set_response_params", None), _OF_PROTOCOL),
    )
    for name, function, parameters in needs:
        missing = parameters - _parameters(function)
        if missing:
            raise ConfigurationError(
                f"aiohttp {aiohttp.__version__} cannot be recorded: its {name} does not take "
                f"{', '.join(sorted(missing))}. "
                f"Without the recorder a run would repeat its calls after a crash. Install a version that can, "
                f"aiohttp>=3.12,<4, or make the calls of this one in steps: "
                f'answer = await once("ask", lambda: ask(session))'
            )


def _parameters(function: Callable[..., Any] | None) -> frozenset[str]:
    return frozenset(inspect.signature(function).parameters) if function is not None else frozenset()


async def response_over(answer: Answer, request: Any, info: Any, *, auto_decompress: bool, read_bufsize: int) -> Any:
    """The response to ``request``, an ``aiohttp.ClientRequest``, begun; ``info`` is its request info."""
    from aiohttp.client_proto import ResponseHandler

    loop = asyncio.get_running_loop()
    protocol = ResponseHandler(loop)
    known = _parameters(ResponseHandler.set_response_params)
    limits = {"max_line_size": _ANY_SIZE, "max_field_size": _ANY_SIZE, "max_headers": _ANY_SIZE}
    transport = _Transport(protocol, as_sent(answer))
    protocol.connection_made(transport)
    protocol.set_response_params(
        timer=None,
        skip_payload=request.method == "HEAD",
        read_until_eof=True,
        auto_decompress=auto_decompress,
        read_timeout=None,
        read_bufsize=read_bufsize,
        **{name: limit for name, limit in limits.items() if name in known},
    )
    arguments = {
        "writer": None,
        "continue100": None,
        "timer": None,
        "request_info": info,
        "traces": request._traces,
        "loop": loop,
        "session": request.session,
        "stream_writer": SimpleNamespace(output_size=0),
    }
    known = _parameters(request.response_class.__init__)
    response = request.response_class(
        request.method,
        request.original_url,
        **{name: value for name, value in arguments.items() if name in known or name in _OF_RESPONSE},
    )
    transport.resume_reading()
    await response.start(_Connection(protocol))
    return response


class _Transport(asyncio.Transport):
    """Gives bytes to a protocol, as long as it reads, and then the end of the connection."""

    def __init__(self, protocol: Any, data: bytes) -> None:
        super().__init__()
        self._protocol = protocol
        self._data = memoryview(data)
        self._at = 0
        self._paused = True
        self._closing = False
        self._giving = False

    def pause_reading(self) -> None:
        self._paused = True

    def resume_reading(self) -> None:
        self._paused = False
        if self._giving:  # the protocol pauses and resumes while it is given a piece
            return
        self._giving = True
        try:
            self._give()
        finally:
            self._giving = False

    def _give(self) -> None:
        while not self._paused and not self._closing:
            if self._at >= len(self._data):
                self._closing = True
                self._protocol.connection_lost(None)
                return
            piece = bytes(self._data[self._at : self._at + PIECE])
            self._at += len(piece)
            self._protocol.data_received(piece)

    def is_reading(self) -> bool:
        return not self._paused

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        self._closing = True

    def abort(self) -> None:
        self._closing = True

    def write(self, data: Any) -> None:
        """There is nobody to write to."""

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return default


class _Connection:
    """In the place of a connection of the library's pool."""

    def __init__(self, protocol: Any) -> None:
        self.protocol: Any = protocol
        self._callbacks: list[Callable[[], None]] = []

    @property
    def transport(self) -> Any:
        return self.protocol.transport if self.protocol is not None else None

    @property
    def closed(self) -> bool:
        return self.protocol is None

    def add_callback(self, callback: Callable[[], None]) -> None:
        self._callbacks.append(callback)

    def release(self) -> None:
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()
        protocol, self.protocol = self.protocol, None
        if protocol is not None:
            protocol.close()

    close = release
