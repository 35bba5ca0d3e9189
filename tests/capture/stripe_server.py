"""As much of Stripe's API as the tests of its SDK ask for, on a free local port."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

DECLINED = {
    "error": {
        "type": "card_error",
        "code": "card_declined",
        "decline_code": "insufficient_funds",
        "message": "Your card has insufficient funds.",
        "param": "source",
        "charge": "ch_declined",
        "payment_intent": {"id": "pi_declined", "object": "payment_intent", "status": "requires_payment_method"},
    }
}


class StripeServer:
    """``with StripeServer() as server``. ``asked`` holds what came; the first ``failing`` are answered by 500."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.telemetry: list[str] = []
        self.failing = 0
        self.lock = threading.Lock()
        self._http = _Listening(("127.0.0.1", 0), _Handler)
        self._http.owner = self  # type: ignore[attr-defined]
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> StripeServer:
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._http.shutdown()
        self._http.server_close()


class _Listening(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "local", ""

    def do_GET(self) -> None:
        server: StripeServer = self.server.owner  # type: ignore[attr-defined]
        self.form = parse_qs(self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode())
        parts = urlsplit(self.path)
        self.query = parse_qs(parts.query)
        with server.lock:
            server.asked.append(f"{self.command} {parts.path}")
            server.telemetry += filter(None, [self.headers.get("X-Stripe-Client-Telemetry")])
            self.number = len(server.asked)
            failing, server.failing = server.failing > 0, max(0, server.failing - 1)
        if failing:
            self._answer(500, {"error": {"type": "api_error", "message": "try again"}})
        else:
            getattr(self, parts.path.removeprefix("/v1/").split("/")[0])(parts.path.split("/")[3:])

    do_POST = do_DELETE = do_GET

    def _answer(self, status: int, told: Any) -> None:
        self._bytes(status, json.dumps(told).encode(), "application/json")

    def _bytes(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Request-Id", f"req_{self.number}")
        self.send_header("Stripe-Version", "2024-06-20")
        if "Idempotency-Key" in self.headers:
            self.send_header("Idempotency-Key", self.headers["Idempotency-Key"])
        self.end_headers()
        self.wfile.write(body)

    def charges(self, rest: list[str]) -> None:
        if self.command == "GET":
            self._list("charge", "/v1/charges")
        elif self.form.get("source") == ["tok_declined"]:
            self._answer(402, DECLINED)
        else:
            amount = int(self.form["amount"][0])
            source = {"id": "card_1", "object": "card", "last4": "4242", "metadata": {}}
            self._answer(
                200, {"id": f"ch_{self.number}", "object": "charge", "amount": amount, "paid": True, "source": source}
            )

    def payment_intents(self, rest: list[str]) -> None:
        found = {
            "id": f"pi_{self.number}",
            "object": "payment_intent",
            "status": "succeeded",
            "metadata": {"order": "A"},
        }
        self._answer(200, found)

    def customers(self, rest: list[str]) -> None:
        told = f"No such customer: '{rest[0]}'"
        error = {"type": "invalid_request_error", "code": "resource_missing", "param": "id", "message": told}
        self._answer(404, {"error": error})

    def _list(self, kind: str, url: str) -> None:
        """Three pages of two."""
        after = int(self.query["starting_after"][0].removeprefix("ch_")) if "starting_after" in self.query else 0
        data = [{"id": f"ch_{number}", "object": kind} for number in (after + 1, after + 2)]
        self._answer(200, {"object": "list", "url": url, "has_more": after < 4, "data": data})

    def quotes(self, rest: list[str]) -> None:
        self._bytes(200, b"%PDF-1.7 a quote", "application/pdf")

    def log_message(self, format: str, *args: Any) -> None:
        pass
