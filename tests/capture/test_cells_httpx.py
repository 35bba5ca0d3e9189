"""httpx and httpx2: what a transport tries again below the exchange is one part."""

from __future__ import annotations

from pathlib import Path

import pytest
from compared import closed_port
from harness import case
from httpx_server import OddServer


@pytest.mark.rule("A3")
@pytest.mark.parametrize("library", ["httpx", "httpx2"])
def test_the_tries_of_a_transport_are_one_part(tmp_path: Path, library: str) -> None:
    server = OddServer()
    with closed_port() as port:
        environment = {"HTTPX_FLOWS": library, "NOBODY": f"http://127.0.0.1:{port}/"}
        run = case("httpx_flows", "sync_flows", server.url, ["transports_below"], folder=tmp_path, **environment)
        live = run.live()
        server.stop()
        assert run.replayed().shown == live.shown
    operations = [path.partition("#auto:")[2] for path in run.steps()]
    assert operations == [f"{library}.Client.get", f"{library}.Client.post"]
