"""Stands in for Stripe on 127.0.0.1: makes payment intents, and recognises a repeated idempotency key."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs


class PaymentApi(ThreadingHTTPServer):
    """``requests`` holds the key of each call, ``charges`` what was charged. ``answered`` is called after each."""

    daemon_threads = True

    def __init__(self, answered):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answered = answered
        self.requests = []
        self.charges = {}
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        key = self.headers["Idempotency-Key"]
        api = self.server
        with api.lock:
            api.requests.append(key)
            charge = api.charges.setdefault(
                key,
                {
                    "id": f"pi_{len(api.charges) + 1}",
                    "object": "payment_intent",
                    "amount": int(form["amount"][0]),
                    "currency": form["currency"][0],
                    "metadata": {"order": form["metadata[order]"][0]},
                    "status": "succeeded",
                },
            )
        body = json.dumps(charge).encode()
        api.answered(len(api.requests))
        try:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            pass  # the caller was killed before it could read the answer

    def log_message(self, *args):
        pass
