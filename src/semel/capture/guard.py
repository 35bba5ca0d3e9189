"""Refuses what leaves the process and cannot be recorded, in a body outside a step: processes, connections, data sent.

The functions of the standard library are replaced, so foreign code is seen as well. A hook for audit events would see
hardly more of it, and would cost each ``id()`` and each frame look-up of the whole process 150 ns or more, which
doubles the time of ``copy.deepcopy``. Local sockets (socket pairs, unix sockets) pass, and so does looking up a name.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from semel.compiler.path import current

from . import _transports
from ._leaving import Address, Leaving, admit, is_admitted, leaving
from ._patching import Patch, replace

MODULES = (
    *("socket", "ssl", "os", "subprocess", "multiprocessing.process"),
    *_transports.MODULES,
)

_INTERNET = (socket.AF_INET, socket.AF_INET6)

_in_run = current.get


def install(module: ModuleType) -> None:
    """Patches the functions of ``module`` that make something leave. Idempotent."""
    if module.__name__ in _transports.MODULES:
        _transports.install(module)
        return
    owner, patches = _PATCHES[module.__name__]
    for name, patch in patches.items():
        if hasattr(owner(module), name):
            replace(owner(module), name, patch)


# ------------------------------------------------------------------------------------------------------------- sockets


def _sending(sock: Any) -> None:
    if sock.family in _INTERNET and not is_admitted(sock):
        leaving(Leaving("data is sent on a network connection", lambda: _peer(sock)))


def _peer(sock: Any) -> Address | None:
    try:
        return _address(sock.getpeername())
    except OSError:
        return None


def _address(given: Any) -> Address | None:
    if isinstance(given, tuple) and len(given) >= 2 and isinstance(given[0], str):
        return given[0], given[1]
    return None


def _send(original: Callable[..., Any]) -> Callable[..., Any]:
    # With the parameters of the original, because passing on *args costs twice as much.
    def send(self: Any, data: Any, flags: int = 0) -> Any:
        if _in_run() is not None:
            _sending(self)
        return original(self, data, flags)

    return send


def _write(original: Callable[..., Any]) -> Callable[..., Any]:
    def write(self: Any, data: Any) -> Any:
        if _in_run() is not None:
            _sending(self)
        return original(self, data)

    return write


def _send_message(original: Callable[..., Any]) -> Callable[..., Any]:
    def sendmsg(self: Any, *args: Any, **kwargs: Any) -> Any:
        if _in_run() is not None:
            _sending(self)
        return original(self, *args, **kwargs)

    return sendmsg


def _send_to(original: Callable[..., Any]) -> Callable[..., Any]:
    def sendto(self: Any, data: Any, flags: Any, address: Any = None) -> Any:
        # The second is the address where it is the last.
        if _in_run() is not None and self.family in _INTERNET:
            leaving(Leaving("data is sent to an address", lambda: _address(flags if address is None else address)))
        return original(self, data, flags) if address is None else original(self, data, flags, address)

    return sendto


def _connect(original: Callable[..., Any]) -> Callable[..., Any]:
    def connect(self: Any, address: Any) -> Any:
        # A datagram socket sends nothing by this: programs find out their own address in this way.
        if _in_run() is not None and self.family in _INTERNET and self.type == socket.SOCK_STREAM:
            try:
                leaving(Leaving("a network connection is opened", lambda: _address(address)))
            except BaseException:
                if sys._getframe(1).f_code is socket.create_connection.__code__:
                    self.close()  # it does so only where the network fails
                raise
            admit(self)
        return original(self, address)

    return connect


# ----------------------------------------------------------------------------------------------------------- processes


_STARTED = Leaving("a process is started", starts=True)


def _start(original: Callable[..., Any]) -> Callable[..., Any]:
    def start(*args: Any, **kwargs: Any) -> Any:
        if _in_run() is not None:
            leaving(_STARTED)
        return original(*args, **kwargs)

    return start


_STARTING_OF_OS = (
    *("system", "posix_spawn", "posix_spawnp", "spawnv", "spawnve", "spawnvp", "spawnvpe", "startfile"),
    *("execv", "execve", "fork", "forkpty"),
)

_PATCHES: dict[str, tuple[Callable[[Any], Any], dict[str, Patch]]] = {
    "socket": (
        lambda module: module.socket,
        {
            "send": _send,
            "sendall": _send,
            "sendto": _send_to,
            "sendmsg": _send_message,
            "sendfile": _send_message,
            "connect": _connect,
            "connect_ex": _connect,
        },
    ),
    # Not sendall, which is made of send; what is not encrypted goes on to the methods of the plain socket.
    "ssl": (lambda module: module.SSLSocket, {"send": _send, "write": _write}),
    "subprocess": (lambda module: module.Popen, {"__init__": _start}),
    "multiprocessing.process": (lambda module: module.BaseProcess, {"start": _start}),
    "os": (lambda module: os, dict.fromkeys(_STARTING_OF_OS, _start)),
}
