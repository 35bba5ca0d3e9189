"""Stands in for a payment provider and a mail server, both on 127.0.0.1. They keep what they were asked."""

from __future__ import annotations

import json
import socketserver
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Bank(ThreadingHTTPServer):
    """Charges once for each idempotency key. While ``answers`` is not set, it charges and does not say so."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Charge)
        self.requests: list[str] = []
        self.charges: dict[str, int] = {}
        self.charged = threading.Event()
        self.answers = threading.Event()
        self.answers.set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Charge(BaseHTTPRequestHandler):
    server: Bank

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        key = self.headers["Idempotency-Key"]
        self.server.requests.append(key)
        self.server.charges.setdefault(key, body["amount"])
        self.server.charged.set()
        self.server.answers.wait(60)
        answer = json.dumps({"receipt": f"receipt-{body['order']}"}).encode()
        with suppress(BrokenPipeError):  # who asked is dead
            self.send_response(201)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        pass


class Post(socketserver.ThreadingTCPServer):
    """As much of SMTP as it takes to get a letter."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Letter)
        self.letters: list[str] = []
        self.came = threading.Event()

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class _Letter(socketserver.StreamRequestHandler):
    server: Post

    def handle(self) -> None:
        self._say("220 ready")
        while line := self.rfile.readline().decode().strip():
            word = line[:4].upper()
            if word == "DATA":
                self._say("354 go on")
                text = ""
                while (part := self.rfile.readline().decode()) != ".\r\n":
                    text += part
                self.server.letters.append(text)
                self.server.came.set()
            self._say("221 bye" if word == "QUIT" else "250 ok")
            if word == "QUIT":
                return

    def _say(self, text: str) -> None:
        self.wfile.write(f"{text}\r\n".encode())


def started(server: socketserver.BaseServer) -> None:
    """Serves in a thread of its own."""
    threading.Thread(target=server.serve_forever, daemon=True).start()
