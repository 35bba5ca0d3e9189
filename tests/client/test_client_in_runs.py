"""Operations of a client in a run: steps by themselves, whose answers are found when the server is gone."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from semel import App, Client, get, post
from semel.errors import ErrorStatus

asked: list[str] = []
seen: list[object] = []


@dataclass
class Receipt:
    id: str
    amount: Decimal


class Payments(Client, base_url_env="SEMEL_TEST_PAYMENTS"):
    @post("/charges")
    def charge(self, reference: str, amount: Decimal) -> Receipt: ...

    @get("/charges/{reference}")
    async def charge_of(self, reference: str) -> Receipt: ...

    @get("/missing")
    def missing(self) -> Receipt: ...

    @get("/charges/{reference}")
    def item(self, reference: str) -> Receipt: ...


payments = Payments()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked.append(self.path)
        sent = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.answer(201, {"id": f"ch_{len(asked)}", "amount": sent["amount"]})

    def do_GET(self) -> None:
        asked.append(self.path)
        if self.path == "/missing":
            self.answer(404, {"error": "missing"})
        else:
            self.answer(200, {"id": f"ch_{len(asked)}", "amount": "1.50"})

    def answer(self, status: int, told: dict[str, str]) -> None:
        body = json.dumps(told).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ThreadingHTTPServer]:
    asked.clear()
    seen.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setenv("SEMEL_TEST_PAYMENTS", f"http://127.0.0.1:{server.server_port}")
        yield server
        server.shutdown()
        thread.join()
    payments.close()
    payments.__init__()  # type: ignore[misc]  # the next test's server has another port


def selling() -> Receipt:
    receipt = payments.charge("A-1", Decimal("19.50"))
    try:
        payments.missing()
    except ErrorStatus as error:
        seen.append((str(error), vars(error)))
    seen.extend([payments.item(reference) for reference in ["a", "b"]])
    if len(seen) < 4:
        raise RuntimeError("broken")
    return receipt


async def selling_async() -> Receipt:
    receipt = await payments.charge_of("A-1")
    await payments.aclose()
    seen.append(receipt)
    if len(seen) < 2:
        raise RuntimeError("broken")
    return receipt


@pytest.mark.rule("A1")
@pytest.mark.rule("A8")
@pytest.mark.rule("A10")
def test_what_was_answered_is_found_when_the_server_is_gone(app: App, server) -> None:
    app.workflow(selling)
    with app.worker():
        run = app.start(selling)
        with pytest.raises(RuntimeError, match="broken"):
            run.result(timeout=20)
        server.shutdown()
        run.retry()
        assert run.result(timeout=20) == Receipt("ch_1", Decimal("19.50"))
    assert asked == ["/charges", "/missing", "/charges/a", "/charges/b"]
    assert seen[:3] == seen[3:]
    assert [record.path for record in run.steps()] == [
        "selling/start@1#auto:Payments.charge",
        "selling/start@1#auto:Payments.missing",
        "selling/start@1[0]#auto:Payments.item",
        "selling/start@1[1]#auto:Payments.item",
    ]


@pytest.mark.rule("A1")
async def test_an_async_operation_is_a_step_too(app: App, server) -> None:
    app.workflow(selling_async)
    async with app.worker():
        run = await app.start_async(selling_async)
        with pytest.raises(RuntimeError, match="broken"):
            await run.result_async(timeout=20)
        run.retry()
        assert await run.result_async(timeout=20) == Receipt("ch_1", Decimal("1.50"))
    assert asked == ["/charges/A-1"]
    assert [record.path for record in run.steps()] == ["selling_async/start@1#auto:Payments.charge_of"]
