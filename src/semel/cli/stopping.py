"""SIGINT and SIGTERM as something to wait for, so that a command can end what it does in order."""

from __future__ import annotations

import select
import signal
import socket
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Any

_NUMBERS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class StopSignals:
    """Within ``with``, on the main thread: stop signals are kept, and ``wait`` gives them one by one."""

    def __init__(self) -> None:
        self._reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)
        self._before: dict[int, Any] = {}

    def __enter__(self) -> StopSignals:
        for number in _NUMBERS:
            self._before[number] = signal.signal(number, self._keep)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._reader.close()
        self._writer.close()

    def wait(self, seconds: float | None = None) -> str | None:
        """The name of the next stop signal; None if none has come within the time."""
        ready, _, _ = select.select([self._reader], [], [], seconds)
        return signal.Signals(self._reader.recv(1)[0]).name if ready else None

    def let_go(self) -> None:
        """From now on a stop signal ends this process at once."""
        for number in self._before:
            signal.signal(number, signal.SIG_DFL)

    def _keep(self, number: int, frame: FrameType | None) -> None:
        with suppress(BlockingIOError):  # so many are waiting already
            self._writer.send(bytes([number]))
