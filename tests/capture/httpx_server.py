"""A local server with a path for each way in which an answer can be, or fail to be; it remembers what it was asked."""

from __future__ import annotations

import gzip
import threading
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

REALM = 'Digest realm="r", nonce="n0", qop="auth", algorithm=MD5, opaque="o"'


class OddServer(ThreadingHTTPServer):
    """``asked`` holds method and path of each request, in order of arrival. ``released`` lets ``/slow`` answer."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[str] = []
        self.released = threading.Event()
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def stop(self) -> None:
        self.released.set()
        self.shutdown()
        self.server_close()

    def forget(self) -> None:
        """As if it had not been asked yet."""
        self.asked.clear()

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a caller that went away is what some tests are about


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: OddServer
    number: int
    body: bytes

    def do_GET(self) -> None:
        self.body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        path = urlsplit(self.path).path
        with self.server.lock:
            self.server.asked.append(f"{self.command} {path}")
            self.number = len(self.server.asked)
        head, _, rest = path.strip("/").partition("/")
        getattr(self, f"_{head}")(rest)

    do_POST = do_PUT = do_DELETE = do_HEAD = do_GET

    def _send(self, status: int, body: bytes = b"", *headers: tuple[str, str], length: int | None = None) -> None:
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("X-Request-Id", f"r{self.number}")
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    # ------------------------------------------------------------------------------------------------ whole answers

    def _plain(self, rest: str) -> None:
        self._send(200, f"number {self.number}".encode(), ("Content-Type", "text/plain"), ("ETag", '"e"'))

    def _echo(self, rest: str) -> None:
        self._send(200, self.body, ("Content-Type", self.headers.get("Content-Type", "text/plain")))

    def _gzip(self, rest: str) -> None:
        body = gzip.compress(b'{"number": %d}' % self.number, mtime=0)
        self._send(200, body, ("Content-Type", "application/json"), ("Content-Encoding", "gzip"))

    def _latin(self, rest: str) -> None:
        self._send(200, "naïve".encode("latin-1"), ("Content-Type", "text/plain; charset=iso-8859-1"))

    def _status(self, rest: str) -> None:
        if rest == "204":
            self._send(204)
            return
        self._send(
            int(rest), f"no, number {self.number}".encode(), ("Content-Type", "text/plain"), ("Retry-After", "7")
        )

    def _redirect(self, rest: str) -> None:
        left = int(rest)
        target = f"/redirect/{left - 1}" if left > 1 else "/plain"
        cookie = ("Set-Cookie", f"hop{left}=c{self.number}; Path=/; HttpOnly")
        self._send(302, b"elsewhere", ("Location", target), cookie, ("Set-Cookie", f"kept=k{left}; Path=/"))

    def _page(self, rest: str) -> None:
        following = f"<{self.server.url}/page/{int(rest) + 1}>; rel=next"
        self._send(200, f"page {rest}".encode(), *([("Link", following)] if int(rest) < 3 else []))

    def _basic(self, rest: str) -> None:
        known = self.headers.get("Authorization") == "Basic YW5uOnNlY3JldA=="
        self._send(200, b"hello ann") if known else self._send(401, b"", ("WWW-Authenticate", "Basic"))

    def _digest(self, rest: str) -> None:
        given = self.headers.get("Authorization", "")
        self._send(200, b"hello ann") if "response=" in given else self._send(401, b"", ("WWW-Authenticate", REALM))

    def _token(self, rest: str) -> None:
        self._send(200, b'{"access_token": "t%d"}' % self.number, ("Content-Type", "application/json"))

    def _guarded(self, rest: str) -> None:
        given = self.headers.get("Authorization", "")
        self._send(200, f"number {self.number}".encode()) if given.startswith("Bearer t") else self._send(401)

    # ------------------------------------------------------------------------------------------------ in pieces, or bad

    def _chunked(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def _stream(self, rest: str) -> None:
        self._chunked()
        for line in range(5):
            self._chunk(f"line {line} of {self.number}\n".encode())
        self._chunk(b"")

    def _endless(self, rest: str) -> None:
        self._chunked()
        while True:
            self._chunk(b"x" * 1_000_000)

    def _large(self, rest: str) -> None:
        megabytes = int(rest)
        self.send_response(200)
        self.send_header("Content-Length", str(megabytes << 20))
        self.end_headers()
        for _ in range(megabytes):
            self.wfile.write(b"x" * (1 << 20))

    def _bomb(self, rest: str) -> None:
        """So many megabytes of zeros, which are sent as a thousandth of it."""
        packer = zlib.compressobj(level=1, wbits=31)
        body = b"".join([packer.compress(bytes(1 << 20)) for _ in range(int(rest))]) + packer.flush()
        self._send(200, body, ("Content-Encoding", "gzip"))

    def _garbage(self, rest: str) -> None:
        self._send(200, b"this is no gzip", ("Content-Encoding", "gzip"))

    def _drop(self, rest: str) -> None:
        self.close_connection = True

    def _cut(self, rest: str) -> None:
        self._send(200, b"half of it", length=20)
        self.close_connection = True

    def _longer(self, rest: str) -> None:
        """More than it says that it sends. It says that it closes: a client may else ask again before it sees that."""
        self._send(200, b"the answer, and what nobody asked for", ("Connection", "close"), length=10)
        self.close_connection = True

    def _cutstream(self, rest: str) -> None:
        self._chunked()
        self._chunk(b"half of it")
        self.close_connection = True

    def _nonsense(self, rest: str) -> None:
        self.wfile.write(b"this is no HTTP\r\n\r\n")
        self.close_connection = True

    def _slow(self, rest: str) -> None:
        self.server.released.wait(60)
        self.close_connection = True

    def date_time_string(self, timestamp: float | None = None) -> str:
        return "Mon, 30 Nov 2026 12:00:00 GMT"  # so that two answers are alike

    def log_message(self, format: str, *args: Any) -> None:
        pass
