"""The guard's part for event loops: what is written to a transport is refused where it is written.

At the socket, below the transport, it would be seen too, but there a refusal is taken for a broken connection, which
asyncio then closes, though others may share it. The sockets of uvloop are none of Python's, so there the guard stands
at the loop's own methods and at ``asyncio.StreamWriter``; what a protocol writes to a transport of uvloop by itself is
not seen.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from types import ModuleType
from typing import Any

from semel.compiler.path import current

from ._leaving import Address, Leaving, is_admitted, leaving
from ._patching import refusing, replace

MODULES = ("asyncio.selector_events", "asyncio.sslproto", "uvloop")

_INTERNET = (socket.AF_INET, socket.AF_INET6)

_in_run = current.get


def install(module: ModuleType) -> None:
    """Patches the transports of asyncio, or the loop of uvloop."""
    if module.__name__ == "uvloop":
        for name in _OPENING:
            replace(module.Loop, name, refusing(Leaving("a network connection is opened or written to")))
        for name in _STARTING:
            replace(module.Loop, name, refusing(Leaving("a process is started", starts=True)))
        for name in ("write", "writelines"):
            replace(asyncio.StreamWriter, name, _writing)
        return
    for kind, names in _WRITING[module.__name__].items():
        for name in names:
            owner = getattr(module, kind, None)
            if name in getattr(owner, "__dict__", ()):  # private classes: without them the sockets themselves remain
                replace(owner, name, _writing)


_WRITING: dict[str, dict[str, tuple[str, ...]]] = {
    "asyncio.selector_events": {
        "_SelectorSocketTransport": ("write", "writelines"),
        "_SelectorDatagramTransport": ("sendto",),
    },
    "asyncio.sslproto": {"_SSLProtocolTransport": ("write", "writelines")},
}
_OPENING = ("create_connection", "sock_connect", "sock_sendall", "sock_sendto", "create_datagram_endpoint")
_STARTING = ("subprocess_exec", "subprocess_shell")


def _writing(original: Callable[..., Any]) -> Callable[..., Any]:
    def write(self: Any, data: Any, *address: Any) -> Any:
        if _in_run() is not None and _is_internet(self):
            leaving(Leaving("data is sent on a network connection", lambda: _peer(self, *address)))
        return original(self, data, *address)

    return write


def _is_internet(transport: Any) -> bool:
    sock = transport.get_extra_info("socket")
    return sock is None or (sock.family in _INTERNET and not is_admitted(sock))


def _peer(transport: Any, *address: Any) -> Address | None:
    to = address[0] if address and address[0] is not None else transport.get_extra_info("peername")
    return (to[0], to[1]) if isinstance(to, tuple) and len(to) >= 2 else None
