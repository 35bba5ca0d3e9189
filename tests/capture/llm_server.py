"""A local server that speaks enough of the OpenAI and the Anthropic API for their SDKs, and counts what it is asked.

What it does is chosen by the request's ``model``: a plain name answers at once; ``429-then-200``, ``500-then-200`` and
``dies-then-200`` fail the first time that they are asked (``…-twice-…``: the first two times); ``status-NNN`` always
answers so; ``cut`` closes a stream half-way; ``tools`` asks for the tool first and speaks when it has its result.
No two answers are alike, so that one that was asked for again can be told from one that was read back.
"""

from __future__ import annotations

import gzip
import json
import re
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

Json = dict[str, Any]
WORDS = ("Once", " upon", " a", " time")


class LlmServer(ThreadingHTTPServer):
    """``asked`` holds method, path and model of each request, ``seen`` its headers, in order of arrival."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[str] = []
        self.seen: list[dict[str, str]] = []
        self.lock = threading.Lock()
        self._times: Counter[str] = Counter()
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def stop(self) -> None:
        self.shutdown()
        self.server_close()

    def forget(self) -> None:
        """As if it had not been asked yet."""
        self.asked.clear()
        self.seen.clear()
        self._times.clear()

    def note(self, asked: str, headers: dict[str, str]) -> tuple[int, int]:
        """The number of this request, and how often the same was asked."""
        with self.lock:
            self.asked.append(asked)
            self.seen.append(headers)
            self._times[asked] += 1
            return len(self.asked), self._times[asked]

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a caller that went away is what some tests are about


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: LlmServer
    number: int

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        kind = self.headers.get("Content-Type", "")
        self._answer(json.loads(raw) if kind.startswith("application/json") and raw else {})

    def _answer(self, asked: Json) -> None:
        url = urlsplit(self.path)
        path = url.path.removeprefix("/v1")
        model = str(asked.get("model", ""))
        query = parse_qs(url.query)
        said = " ".join(filter(None, (self.command, path, model, query.get("after", query.get("after_id", [""]))[0])))
        self.number, times = self.server.note(said, {name.lower(): value for name, value in self.headers.items()})
        if self._failed(model, times, anthropic=path.startswith("/messages")):
            return
        if path.endswith("/chat/completions"):
            self._give(asked, chat_events(asked, self.number), lambda: chat_completion(asked, self.number))
        elif path == "/responses":
            self._give(asked, response_events(asked, self.number), lambda: response(asked, self.number))
        elif path == "/messages":
            self._give(asked, message_events(asked, self.number), lambda: message(asked, self.number))
        elif path == "/models":
            anthropic = "anthropic-version" in self.headers
            self._json(200, anthropic_models(query) if anthropic else openai_models())
        elif path == "/fine_tuning/jobs":
            self._json(200, jobs(query))
        elif path.endswith(("/token", "/oauth/token")):
            self._json(200, {"access_token": f"token-{self.number}", "token_type": "Bearer", "expires_in": 3600})
        else:
            self._json(404, {"error": {"message": f"no {path} here", "type": "invalid_request_error"}})

    def _failed(self, model: str, times: int, *, anthropic: bool) -> bool:
        if always := re.fullmatch(r"status-(\d+)", model):
            self._error(int(always[1]), anthropic=anthropic)
        elif (then := re.fullmatch(r"(\d+|dies)(-twice)?-then-200", model)) and times <= (2 if then[2] else 1):
            if then[1] == "dies":
                self.close_connection = True
            else:
                self._error(int(then[1]), anthropic=anthropic)
        else:
            return False
        return True

    def _error(self, status: int, *, anthropic: bool) -> None:
        kind = "rate_limit_error" if status == 429 else "invalid_request_error" if status < 500 else "api_error"
        error: Json = {"type": kind, "message": f"refused, number {self.number}"}
        body = {"type": "error", "error": error} if anthropic else {"error": {**error, "param": "model", "code": "c"}}
        self._json(status, body, ("retry-after-ms", "1"), ("retry-after", "0.001"))

    def _give(self, asked: Json, events: Iterator[bytes], whole: Any) -> None:
        if not asked.get("stream"):
            self._json(200, whole())
            return
        self.send_response(200)
        self._common_headers()
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number, event in enumerate(events):
            if asked["model"] == "cut" and number == 3:
                self.close_connection = True
                return
            self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
        self.wfile.write(b"0\r\n\r\n")

    def _json(self, status: int, value: Json, *headers: tuple[str, str]) -> None:
        body = json.dumps(value).encode()
        zipped = "gzip" in self.headers.get("Accept-Encoding", "")
        if zipped:
            body = gzip.compress(body, mtime=0)
        self.send_response(status)
        self._common_headers()
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if zipped:
            self.send_header("Content-Encoding", "gzip")
        for name, text in headers:
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)

    def _common_headers(self) -> None:
        for name, value in (
            ("x-request-id", f"req_{self.number}"),
            ("request-id", f"req_{self.number}"),
            ("openai-organization", "org-1"),
            ("openai-processing-ms", str(self.number)),
            ("openai-version", "2020-10-01"),
            ("anthropic-organization-id", "org-2"),
            ("x-ratelimit-limit-requests", "500"),
            ("x-ratelimit-remaining-requests", str(500 - self.number)),
            ("anthropic-ratelimit-requests-remaining", str(50 - self.number)),
            ("set-cookie", f"__cf_bm=c{self.number}; path=/; HttpOnly"),
        ):
            self.send_header(name, value)

    def date_time_string(self, timestamp: float | None = None) -> str:
        return "Mon, 30 Nov 2026 12:00:00 GMT"  # so that two answers are alike

    def log_message(self, format: str, *args: Any) -> None:
        pass


# ------------------------------------------------------------------------------------------------------------- OpenAI


def _wants_a_tool(asked: Json) -> bool:
    last = asked.get("messages", [{}])[-1]
    results = last.get("role") == "tool" or (
        isinstance(last.get("content"), list) and any(part.get("type") == "tool_result" for part in last["content"])
    )
    return bool(asked.get("tools")) and not results


def _text(asked: Json, number: int) -> str:
    if asked.get("response_format", {}).get("type") == "json_schema" or asked.get("output_config", {}).get("format"):
        return json.dumps({"city": "Turin", "degrees": number})
    return f"Answer {number}"


def chat_completion(asked: Json, number: int) -> Json:
    spoken: Json = {"role": "assistant", "content": _text(asked, number), "refusal": None}
    if _wants_a_tool(asked):
        spoken["content"] = None
        spoken["tool_calls"] = [_tool_call(asked, number)]
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1_700_000_000 + number,
        "model": asked["model"],
        "choices": [
            {
                "index": 0,
                "message": spoken,
                "finish_reason": "tool_calls" if _wants_a_tool(asked) else "stop",
                "logprobs": None,
            }
        ],
        "usage": {"prompt_tokens": 3, "completion_tokens": number, "total_tokens": 3 + number},
        "system_fingerprint": "fp_1",
    }


def _tool_call(asked: Json, number: int) -> Json:
    function = asked["tools"][0]["function"]["name"]
    return {"id": f"call_{number}", "type": "function", "function": {"name": function, "arguments": '{"city":"Turin"}'}}


def chat_events(asked: Json, number: int) -> Iterator[bytes]:
    def chunk(delta: Json, finish: str | None = None) -> bytes:
        value = {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion.chunk",
            "created": 1_700_000_000 + number,
            "model": asked["model"],
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }
        return f"data: {json.dumps(value)}\n\n".encode()

    yield chunk({"role": "assistant", "content": ""})
    if _wants_a_tool(asked):
        call = {"index": 0, **_tool_call(asked, number)}
        whole = call["function"]["arguments"]
        yield chunk({"tool_calls": [{**call, "function": {**call["function"], "arguments": ""}}]})
        for part in (whole[:5], whole[5:]):
            yield chunk({"tool_calls": [{"index": 0, "function": {"arguments": part}}]})
        yield chunk({}, "tool_calls")
    else:
        words = (_text(asked, number),) if asked.get("response_format") else (*WORDS, f" {number}")
        for word in words:
            yield chunk({"content": word})
        yield chunk({}, "stop")
    yield b"data: [DONE]\n\n"


def response(asked: Json, number: int, status: str = "completed") -> Json:
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1_700_000_000 + number,
        "status": status,
        "model": asked["model"],
        "output": [_output(number)] if status == "completed" else [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 3,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": number,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 3 + number,
        },
    }


def _output(number: int) -> Json:
    part = {"type": "output_text", "text": f"Answer {number}", "annotations": []}
    return {"id": f"msg_{number}", "type": "message", "role": "assistant", "status": "completed", "content": [part]}


def response_events(asked: Json, number: int) -> Iterator[bytes]:
    item = {"item_id": f"msg_{number}", "output_index": 0, "content_index": 0}
    part: Json = {"type": "output_text", "text": "", "annotations": []}
    events: list[Json] = [
        {"type": "response.created", "response": response(asked, number, "in_progress")},
        {"type": "response.output_item.added", "output_index": 0, "item": {**_output(number), "content": []}},
        {"type": "response.content_part.added", **item, "part": part},
        {"type": "response.output_text.delta", **item, "delta": "Answer ", "logprobs": []},
        {"type": "response.output_text.delta", **item, "delta": str(number), "logprobs": []},
        {"type": "response.output_text.done", **item, "text": f"Answer {number}", "logprobs": []},
        {"type": "response.output_item.done", "output_index": 0, "item": _output(number)},
        {"type": "response.completed", "response": response(asked, number)},
    ]
    for sequence, event in enumerate(events):
        yield f"event: {event['type']}\ndata: {json.dumps({**event, 'sequence_number': sequence})}\n\n".encode()


def openai_models() -> Json:
    models = [{"id": f"model-{n}", "object": "model", "created": n, "owned_by": "us"} for n in range(3)]
    return {"object": "list", "data": models}


def jobs(query: dict[str, list[str]]) -> Json:
    """Three pages of two fine-tuning jobs."""
    first = int(query["after"][0].rpartition("-")[2]) + 1 if "after" in query else 0
    data = [
        {
            "id": f"ftjob-{n}",
            "object": "fine_tuning.job",
            "created_at": n,
            "model": "m",
            "status": "succeeded",
            "hyperparameters": {},
            "organization_id": "org-1",
            "result_files": [],
            "seed": n,
            "training_file": "file-1",
        }
        for n in range(first, first + 2)
    ]
    return {"object": "list", "data": data, "has_more": first < 4}


# ---------------------------------------------------------------------------------------------------------- Anthropic


def message(asked: Json, number: int) -> Json:
    content: list[Json] = [{"type": "text", "text": _text(asked, number)}]
    if _wants_a_tool(asked):
        content.append(
            {"type": "tool_use", "id": f"toolu_{number}", "name": asked["tools"][0]["name"], "input": {"city": "Turin"}}
        )
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": asked["model"],
        "content": content,
        "stop_reason": "tool_use" if _wants_a_tool(asked) else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 3, "output_tokens": number},
    }


def message_events(asked: Json, number: int) -> Iterator[bytes]:
    whole = message(asked, number)
    begun = {**whole, "content": [], "stop_reason": None, "usage": {"input_tokens": 3, "output_tokens": 0}}
    events: list[Json] = [{"type": "message_start", "message": begun}, {"type": "ping"}]
    for index, block in enumerate(whole["content"]):
        if block["type"] == "text":
            empty: Json = {"type": "text", "text": ""}
            deltas: list[Json] = [{"type": "text_delta", "text": word} for word in re.findall(r"\S+\s*", block["text"])]
        else:
            empty = {**block, "input": {}}
            written = json.dumps(block["input"])
            deltas = [{"type": "input_json_delta", "partial_json": part} for part in ("", written[:4], written[4:])]
        events.append({"type": "content_block_start", "index": index, "content_block": empty})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    ending = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": ending, "usage": {"output_tokens": number}})
    events.append({"type": "message_stop"})
    for event in events:
        yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def anthropic_models(query: dict[str, list[str]]) -> Json:
    """Three pages of two models."""
    first = int(query["after_id"][0].rpartition("-")[2]) + 1 if "after_id" in query else 0
    ids = [f"model-{n}" for n in range(first, first + 2)]
    data = [{"type": "model", "id": id, "display_name": id.title(), "created_at": "2026-01-01T00:00:00Z"} for id in ids]
    return {"data": data, "has_more": first < 4, "first_id": ids[0], "last_id": ids[-1]}
