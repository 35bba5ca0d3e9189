"""Stands in for the LLM and for the travel services on 127.0.0.1, and keeps a list of what it was asked."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


class Services(ThreadingHTTPServer):
    """``asked`` holds each request in a few words, in order of arrival."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


def think(messages):
    """What the LLM says: it looks at the weather of both cities, books where it is fine, and tells."""
    results = [message["content"] for message in messages if message["role"] == "tool"]
    if not results:
        return "", [("weather", {"city": "Turin"}), ("weather", {"city": "Oslo"})]
    if len(results) == 2:
        city = "Turin" if "sun" in results[0] else "Oslo"
        return "", [("book", {"city": city, "nights": 2})]
    return f"Done: {results[-1]}.", []


def completion(number, asked):
    text, calls = think(asked["messages"])
    message = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = [
            {
                "id": f"call-{number}-{index}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for index, (name, arguments) in enumerate(calls)
        ]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": asked["model"],
        "choices": [choice],
    }


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        city = parse_qs(urlsplit(self.path).query)["city"][0]
        self._note(f"weather in {city}")
        self._answer("text/plain", "sun" if city == "Turin" else "rain")

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.endswith("/chat/completions"):
            number = self._note(f"LLM with {len(asked['messages'])} messages")
            self._answer("application/json", json.dumps(completion(number, asked)))
        else:
            number = self._note(f"booking in {asked['city']}")
            self._answer("text/plain", f"booking {number} in {asked['city']}, {asked['nights']} nights")

    def _note(self, what):
        self.server.asked.append(what)
        return len(self.server.asked)

    def _answer(self, kind, text):
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass
