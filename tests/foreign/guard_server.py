"""A server that answers each line it is sent, and a client of it as a library has one: not the user's code."""

from __future__ import annotations

import asyncio
import socket
import socketserver
import threading
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager, suppress


class _Lines(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        server = self.server
        assert isinstance(server, Lines)
        with suppress(ConnectionError):  # a client that leaves without a word
            for line in self.rfile:
                server.lines.append(line.decode().strip())
                self.wfile.write(b"+" + line)


class Lines(socketserver.ThreadingTCPServer):
    """Keeps what it is sent, line by line."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Lines)
        self.lines: list[str] = []

    @property
    def port(self) -> int:
        return int(self.server_address[1])


@contextmanager
def serving() -> Iterator[Lines]:
    with Lines() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class Store:
    """A client that keeps one connection, opened at first use."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._socket: socket.socket | None = None

    def ask(self, line: str) -> str:
        if self._socket is None:
            self._socket = socket.create_connection(("127.0.0.1", self._port))
        self._socket.sendall(line.encode() + b"\n")
        return self._socket.recv(1000).decode().strip()

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()


class AsyncStore:
    """The same for coroutines."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, line: str) -> str:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        writer.write(line.encode() + b"\n")
        await writer.drain()
        return (await reader.readline()).decode().strip()

    def asking(self, line: str) -> Awaitable[str]:
        """A plain function that gives something to await."""
        return self.ask(line)

    async def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            await self._streams[1].wait_closed()
