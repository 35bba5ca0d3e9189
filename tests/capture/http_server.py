"""A server on a free port of 127.0.0.1 that answers in every way a transport has to cope with.

``Server().requests`` is the list of ``(method, path)`` that came. Answers that change from one request to the next are
counted by the whole path, with its query.
"""

from __future__ import annotations

import gzip
import socket
import ssl
import struct
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

JSON = b'{"name": "Zo\\u00eb", "items": [1, 2, 3]}'
CHUNKS = (b"one\n", b"two\n", b"three\n")


class Server:
    """``with Server() as server``: answers until the end of the block; ``server.url`` is where.

    ``certificate`` is a file of a certificate and its key, for TLS.
    """

    def __init__(self, certificate: str | None = None) -> None:
        self.requests: list[tuple[str, str]] = []
        self.bodies: list[bytes] = []
        self.counts: Counter[str] = Counter()
        self.stopping = threading.Event()
        self._http = _Listening(("127.0.0.1", 0), _Handler)
        self._http.owner = self  # type: ignore[attr-defined]
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._http.socket = context.wrap_socket(self._http.socket, server_side=True, do_handshake_on_connect=False)
        self.address = ("127.0.0.1", self._http.server_address[1])
        self.url = f"{'https' if certificate else 'http'}://127.0.0.1:{self.address[1]}"

    def __enter__(self) -> Server:
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stopping.set()
        self._http.shutdown()
        self._http.server_close()

    def asked(self, path: str) -> int:
        """How many requests for a path that begins so came."""
        return sum(1 for _, asked in self.requests if asked.startswith(path))


class _Listening(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a client that goes away in the middle is meant

    def shutdown_request(self, request: Any) -> None:
        self.close_request(request)  # without a shutdown, which would send an end of file before a reset


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "local", ""

    def do_GET(self) -> None:
        owner: Server = self.server.owner  # type: ignore[attr-defined]
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = self._chunks_sent()
        owner.requests.append((self.command, self.path))
        owner.bodies.append(body)
        owner.counts[self.path] += 1
        name = urlsplit(self.path).path.strip("/")  # a proxy is asked for whole addresses
        getattr(self, f"give_{name}")(owner, body)

    do_POST = do_PUT = do_DELETE = do_HEAD = do_PATCH = do_OPTIONS = do_GET

    def _chunks_sent(self) -> bytes:
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def answer(self, status: int, body: bytes, *headers: tuple[str, str], length: int | None = None) -> None:
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if not any(name == "Transfer-Encoding" for name, _ in headers):
            self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
            self.wfile.flush()

    def give_json(self, owner: Server, body: bytes) -> None:
        self.answer(
            200,
            JSON,
            ("Content-Type", "application/json; charset=utf-8"),
            ("Set-Cookie", "session=abc; Path=/; HttpOnly"),
            ("Set-Cookie", "theme=dark; Path=/"),
            ("Link", '</json?page=2>; rel="next"'),
            ("ETag", '"v1"'),
            ("X-Request-Id", f"request-{owner.counts[self.path]}"),
        )

    def give_echo(self, owner: Server, body: bytes) -> None:
        self.answer(201, body, ("Content-Type", self.headers.get("Content-Type") or "text/plain"))

    def give_text(self, owner: Server, body: bytes) -> None:
        self.answer(200, "naïve café".encode("latin-1"), ("Content-Type", "text/plain"))

    def give_empty(self, owner: Server, body: bytes) -> None:
        self.send_response(204, "Nothing Here")
        self.end_headers()

    def give_gzip(self, owner: Server, body: bytes) -> None:
        self.answer(
            200, gzip.compress(JSON, mtime=0), ("Content-Type", "application/json"), ("Content-Encoding", "gzip")
        )

    def give_garbled(self, owner: Server, body: bytes) -> None:
        self.answer(200, b"this is no gzip", ("Content-Encoding", "gzip"))

    def give_chunked(self, owner: Server, body: bytes) -> None:
        self.answer(200, _chunked(*CHUNKS), ("Transfer-Encoding", "chunked"), ("Content-Type", "text/plain"))

    def give_old(self, owner: Server, body: bytes) -> None:
        self._raw(b"HTTP/1.0 200 Fine\r\nContent-Type: text/plain\r\n\r\nuntil the end")

    def give_missing(self, owner: Server, body: bytes) -> None:
        self.answer(404, b'{"error": "missing"}', ("Content-Type", "application/json"))

    def give_redirect(self, owner: Server, body: bytes) -> None:
        self.answer(302, b"over there", ("Location", "/json"), ("Set-Cookie", "seen=yes; Path=/"))

    def give_see_other(self, owner: Server, body: bytes) -> None:
        self.answer(303, b"", ("Location", "/redirect"))

    def give_loop(self, owner: Server, body: bytes) -> None:
        self.answer(302, b"", ("Location", self.path))

    def give_busy(self, owner: Server, body: bytes) -> None:
        """503 twice, then the answer."""
        if owner.counts[self.path] <= 2:
            self.answer(503, b"busy", ("Retry-After", "0"))
        else:
            self.give_json(owner, body)

    def give_down(self, owner: Server, body: bytes) -> None:
        self.answer(503, b"down")

    def give_shy(self, owner: Server, body: bytes) -> None:
        """Closes without an answer once, then answers."""
        if owner.counts[self.path] <= 1:
            self.close_connection = True
        else:
            self.give_json(owner, body)

    def give_silence(self, owner: Server, body: bytes) -> None:
        self.close_connection = True

    def give_reset(self, owner: Server, body: bytes) -> None:
        self._reset()

    def give_slow(self, owner: Server, body: bytes) -> None:
        owner.stopping.wait()
        self.close_connection = True

    def give_no_http(self, owner: Server, body: bytes) -> None:
        self._raw(b"220 mail.example ESMTP\r\n")

    def give_lying(self, owner: Server, body: bytes) -> None:
        self.answer(200, b"x" * 50, ("Content-Type", "text/plain"), length=100)
        self.close_connection = True

    def give_halfway(self, owner: Server, body: bytes) -> None:
        self.answer(200, b"4\r\none\n\r\n8\r\ntw", ("Transfer-Encoding", "chunked"))
        self.close_connection = True

    def give_between(self, owner: Server, body: bytes) -> None:
        """Closes between two chunks."""
        self.answer(200, b"4\r\none\n\r\n", ("Transfer-Encoding", "chunked"))
        self.close_connection = True

    def give_no_size(self, owner: Server, body: bytes) -> None:
        self.answer(200, b"4\r\none\n\r\nzz\r\n", ("Transfer-Encoding", "chunked"))
        self.close_connection = True

    def give_torn(self, owner: Server, body: bytes) -> None:
        """A reset in the middle of the body."""
        self.answer(200, b"x" * 50, length=100)
        self._reset()

    def give_stalled(self, owner: Server, body: bytes) -> None:
        self.answer(200, b"x" * 50, length=100)
        owner.stopping.wait()
        self.close_connection = True

    def give_endless(self, owner: Server, body: bytes) -> None:
        self._without_end((("Content-Type", "text/plain"),), b"x" * 65_536)

    def give_endless_chunks(self, owner: Server, body: bytes) -> None:
        self._without_end((("Transfer-Encoding", "chunked"),), _chunked(b"x" * 65_536)[:-5])

    def give_big(self, owner: Server, body: bytes) -> None:
        """200 MB."""
        self._without_end((("Content-Length", str(200_000_000)),), b"x" * 100_000, 2000)

    def give_bomb(self, owner: Server, body: bytes) -> None:
        bomb = gzip.compress(bytes(2**29), mtime=0)  # 512 MiB in half a megabyte
        self.answer(200, bomb, ("Content-Encoding", "gzip"))

    def _without_end(self, headers: tuple[tuple[str, str], ...], piece: bytes, times: int = 10**9) -> None:
        self.send_response(200)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = True
        try:
            for _ in range(times):
                self.wfile.write(piece)
        except OSError:
            pass  # the client has had enough

    def _raw(self, data: bytes) -> None:
        self.wfile.write(data)
        self.close_connection = True

    def _reset(self) -> None:
        """Makes the close of the connection a reset."""
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _chunked(*chunks: bytes) -> bytes:
    return b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"


class Proxy:
    """A proxy that makes CONNECT tunnels to ``target``, whatever host is asked for; without one it refuses them."""

    def __init__(self, target: tuple[str, int] | None = None) -> None:
        self.tunnels = 0
        self._target = target
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def __enter__(self) -> Proxy:
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._listening.close()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._tunnel, args=(client,), daemon=True).start()

    def _tunnel(self, client: socket.socket) -> None:
        with client:
            asked = b""
            while not asked.endswith(b"\r\n\r\n"):
                asked += client.recv(65_536)
            self.tunnels += 1
            if self._target is None:
                client.sendall(b"HTTP/1.1 502 Bad Gateway\r\n\r\n")
                return
            with socket.create_connection(self._target) as server:
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                out = threading.Thread(target=_copy, args=(client, server), daemon=True)
                out.start()
                _copy(server, client)
                out.join()


def _copy(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(65_536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # one side has gone away
