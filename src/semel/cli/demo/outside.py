"""The world outside: an HTTP server that charges, ships and mails, and writes down every request that it gets.

It knows nothing of semel. Its log is the judge of the demo: one line of JSON per request, written before the answer.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType

#: What can be asked for, and how the ids of what was done begin.
CALLS = {"/charges": "ch", "/shipments": "parcel", "/mails": "mail"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One request as the server saw it."""

    at: float
    path: str
    body: str
    answer: str


class Outside:
    """The server, on a free port of 127.0.0.1, while in ``with``."""

    def __init__(self, log: Path, now: Callable[[], float]) -> None:
        self._log = log
        self._now = now
        self._lock = threading.Lock()
        self._count = 0
        outside = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                status, answer = outside.serve(self.path, body)
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:
                """Nothing on the terminal: the log is a file."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self.address = f"127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Outside:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def serve(self, path: str, body: bytes) -> tuple[int, dict[str, str]]:
        """Does what is asked, every time it is asked, and writes it down first."""
        kind = CALLS.get(path)
        with self._lock:
            self._count += 1
            answer = f"{kind}_{100 + self._count}" if kind else "no such thing"
            line = {"at": self._now(), "path": path, "body": body.decode(), "answer": answer}
            with self._log.open("a", encoding="utf-8") as log:
                log.write(json.dumps(line) + "\n")
        return (201, {"id": answer}) if kind else (404, {"error": answer})

    def entries(self) -> list[Entry]:
        """The log, read back from its file."""
        if not self._log.exists():
            return []
        return [Entry(**json.loads(line)) for line in self._log.read_text("utf-8").splitlines()]
