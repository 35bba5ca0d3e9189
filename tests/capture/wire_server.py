"""An HTTP server that writes its answers as bytes, so that it can also break the rules of the protocol.

``with WireServer() as server``: ``server.url`` is where, ``server.requests`` what came, as ``(method, path)``, and
``server.sessions`` how often somebody connected. The first segment of a path names the answer; answers that change
are counted by the whole path.
"""

from __future__ import annotations

import contextlib
import gzip
import socket
import ssl
import struct
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

JSON = b'{"name": "Zo\\u00eb", "items": [1, 2, 3]}'
CHUNKS = (b"one\n", b"two\n", b"three\n")
BOMB_OF_ZEROS = 300 * 2**20


class Request:
    """What came: ``head`` lines by name in lower case, and the body."""

    def __init__(self, file: Any) -> None:
        line = file.readline().decode("latin-1").split()
        if not line:
            raise EOFError
        self.method, self.path = line[0], line[1]
        self.headers: dict[str, str] = {}
        while (header := file.readline().decode("latin-1").rstrip("\r\n")) != "":
            name, _, value = header.partition(":")
            self.headers[name.lower()] = value.strip()
        if self.headers.get("transfer-encoding") == "chunked":
            self.body = b"".join(self._chunks(file))
        else:
            self.body = file.read(int(self.headers.get("content-length", 0)))

    def _chunks(self, file: Any) -> Iterator[bytes]:
        while size := int(file.readline(), 16):
            yield file.read(size)
            file.readline()
        file.readline()

    @property
    def name(self) -> str:
        path = self.path.partition("://")[2].partition("/")[2] if "://" in self.path else self.path.lstrip("/")
        return path.partition("?")[0].partition("/")[0]


def answer(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """An answer with its length."""
    head = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(head).encode("latin-1") + body


class WireServer:
    """The server; ``certificate`` makes it one of TLS."""

    def __init__(self, certificate: tuple[Path, Path] | None = None) -> None:
        self.requests: list[tuple[str, str]] = []
        self.bodies: list[bytes] = []
        self.counts: Counter[str] = Counter()
        self.sessions = 0
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._tls: ssl.SSLContext | None = None
        if certificate is not None:
            self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._tls.load_cert_chain(*certificate)
        self.port: int = self._socket.getsockname()[1]
        self.url = f"{'http' if certificate is None else 'https'}://127.0.0.1:{self.port}"

    def __enter__(self) -> WireServer:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        with self._lock:
            for connection in [*self._open]:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def asked(self, name: str) -> int:
        """How many requests for paths that begin so came."""
        return sum(path.startswith(f"/{name}") for _, path in self.requests)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.sessions += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError, EOFError, ValueError), contextlib.ExitStack() as stack:
            stack.enter_context(connection)
            with self._lock:
                self._open.add(connection)
            stack.callback(self._open.discard, connection)
            if self._tls is not None:
                connection = stack.enter_context(self._tls.wrap_socket(connection, server_side=True))
            file = stack.enter_context(connection.makefile("rb"))
            while True:
                request = Request(file)
                with self._lock:
                    self.requests.append((request.method, request.path))
                    self.bodies.append(request.body)
                    self.counts[request.path] += 1
                if not getattr(self, f"give_{request.name.replace('-', '_')}")(request, connection):
                    return

    # ---------------------------------------------- the answers; one that is true keeps the connection for the next one

    def give_json(self, request: Request, connection: socket.socket) -> bool:
        connection.sendall(
            answer(JSON, "Content-Type: application/json", "X-Secret: not recorded", "Link: </2>; rel=next")
        )
        return True

    def give_echo(self, request: Request, connection: socket.socket) -> bool:
        told = f"{request.method} {request.headers.get('cookie', '-')} ".encode() + request.body
        connection.sendall(answer(told, "Content-Type: text/plain; charset=utf-8"))
        return True

    def give_head(self, request: Request, connection: socket.socket) -> bool:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1234\r\n\r\n")
        return True

    def give_empty(self, request: Request, connection: socket.socket) -> bool:
        connection.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
        return True

    def give_until_closed(self, request: Request, connection: socket.socket) -> bool:
        connection.sendall(b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nto the end\nof the connection")
        return False

    def give_chunked(self, request: Request, connection: socket.socket) -> bool:
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/plain\r\n\r\n")
        for chunk in CHUNKS:
            connection.sendall(b"%x\r\n%b\r\n" % (len(chunk), chunk))
        connection.sendall(b"0\r\n\r\n")
        return True

    def give_gzip(self, request: Request, connection: socket.socket) -> bool:
        body = gzip.compress(JSON * 50, mtime=0)
        connection.sendall(answer(body, "Content-Encoding: gzip", "Content-Type: text/plain"))
        return True

    def give_cookies(self, request: Request, connection: socket.socket) -> bool:
        connection.sendall(answer(b"set", "Set-Cookie: a=1; Path=/", "Set-Cookie: b=2; Path=/; HttpOnly"))
        return True

    def give_redirect(self, request: Request, connection: socket.socket) -> bool:
        left = int(request.path.rpartition("/")[2])
        target = f"/redirect/{left - 1}" if left > 1 else "/echo"
        headers = (f"Location: {target}", f"Set-Cookie: hop{left}=yes; Path=/")
        connection.sendall(answer(b"", *headers, status="302 Found"))
        return True

    def give_status(self, request: Request, connection: socket.socket) -> bool:
        code = request.path.partition("?")[0].rpartition("/")[2]
        connection.sendall(answer(b'{"error": "no"}', "Content-Type: application/json", status=f"{code} As Asked"))
        return True

    def give_login(self, request: Request, connection: socket.socket) -> bool:
        if "authorization" in request.headers:
            connection.sendall(answer(b"welcome"))
        else:
            connection.sendall(answer(b"who?", 'WWW-Authenticate: Basic realm="here"', status="401 Unauthorized"))
        return True

    def give_flaky(self, request: Request, connection: socket.socket) -> bool:
        if self.counts[request.path] < 3:
            connection.sendall(answer(b"busy", "Retry-After: 0", status="503 Busy"))
        else:
            connection.sendall(answer(b"at last"))
        return True

    def give_half(self, request: Request, connection: socket.socket) -> bool:
        connection.sendall(answer(JSON * 10)[:-100])
        return False

    def give_half_chunked(self, request: Request, connection: socket.socket) -> bool:
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nwhole\r\n20\r\nhalf of")
        return False

    def give_reset(self, request: Request, connection: socket.socket) -> bool:
        connection.sendall(answer(JSON * 10)[:-100])
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return False

    def give_nothing(self, request: Request, connection: socket.socket) -> bool:
        return False

    def give_garbage(self, request: Request, connection: socket.socket) -> bool:
        connection.sendall(b"this is not HTTP\r\n\r\n")
        return False

    def give_silence(self, request: Request, connection: socket.socket) -> bool:
        connection.recv(1)  # until the client gives up
        return False

    def give_endless(self, request: Request, connection: socket.socket) -> bool:
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        chunk = b"10000\r\n" + bytes(2**16) + b"\r\n"
        while True:
            connection.sendall(chunk)

    def give_large(self, request: Request, connection: socket.socket) -> bool:
        size = 200 * 2**20
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        for _ in range(size // 2**20):
            connection.sendall(bytes(2**20))
        return True

    def give_bomb(self, request: Request, connection: socket.socket) -> bool:
        connection.sendall(answer(gzip.compress(bytes(BOMB_OF_ZEROS), 9), "Content-Encoding: gzip"))
        return True

    def give_RPC2(self, request: Request, connection: socket.socket) -> bool:
        body = "<params><param><value><int>42</int></value></param></params>"
        connection.sendall(answer(f"<methodResponse>{body}</methodResponse>".encode(), "Content-Type: text/xml"))
        return True
