"""semel in a FastAPI server: answers, sessions, and a server that is killed in the middle of a charge."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest


@pytest.fixture
def serve(tmp_path: Path) -> Callable[..., object]:
    """Starts the server in a process, on one database, as often as it is asked."""

    @contextmanager
    def server(**environment: str) -> Iterator[tuple[httpx.Client, subprocess.Popen[bytes]]]:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        told = [sys.executable, "-m", "uvicorn", "fastapi_shop:api", "--port", str(port), "--log-level", "critical"]
        given = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), str(Path(__file__).parents[2] / "src")]),
            "SHOP_DB": f"sqlite:///{tmp_path / 'shop.db'}",
            "SHOP_LOG": str(tmp_path / "log"),
            **environment,
        }
        process = subprocess.Popen(told, env=given)
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30, trust_env=False) as client:
                while True:
                    assert process.poll() is None, "the server did not start"
                    with suppress(httpx.ConnectError):
                        client.get("/docs")
                        break
                yield client, process
        finally:
            process.terminate()
            process.wait(30)

    return server


def done(tmp_path: Path) -> list[str]:
    return (tmp_path / "log").read_text().split() if (tmp_path / "log").exists() else []


@pytest.mark.rule("W4")
def test_rows_events_and_errors_are_what_a_client_sees(serve: Callable[..., object], tmp_path: Path) -> None:
    with serve() as (shop, _):  # type: ignore[attr-defined]
        assert shop.post("/orders").json() == 1
        assert shop.post("/orders", params={"fails": True}).status_code == 418
        assert shop.get("/orders/1").json() == "placed"
        assert shop.post("/orders/1/pay").json() == "charged"
        again = shop.post("/orders/1/pay")
        assert (again.status_code, again.json()["error"]) == (409, "SEMEL-EVENT-NOT-TAKEN")
        assert "Order 1" in again.json()["message"]
        missing = shop.get("/status/nobody")
        assert (missing.status_code, missing.json()["error"]) == (404, "SEMEL-RUN-NOT-FOUND")
        assert shop.post("/orders").json() == 2  # the one that failed was rolled back, its run too
        assert shop.post("/orders/2/pay", params={"later": True}).json() == "later"
        while shop.get("/orders/2").json() != "charged" or done(tmp_path).count("mail") < 2:
            pass
    assert sorted(done(tmp_path)) == sorted(["reserve", "charge", "mail"] * 2)


@pytest.mark.rule("W4")
@pytest.mark.rule("O8")
def test_a_server_that_is_killed_in_a_charge_goes_on_when_it_is_started_again(
    serve: Callable[..., object], tmp_path: Path
) -> None:
    with serve(SHOP_STOPS_AT="charge") as (shop, process):  # type: ignore[attr-defined]
        shop.post("/orders")
        shop.post("/orders/1/pay", params={"later": True})
        while "charge" not in done(tmp_path):
            pass
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    with serve() as (shop, _):  # type: ignore[attr-defined]
        while "mail" not in done(tmp_path):
            pass
        assert shop.get("/orders/1").json() == "charged"
    # The charge was in the window: it had begun and was not recorded, so it is made again; nothing else is.
    assert done(tmp_path) == ["reserve", "charge", "charge", "mail"]
