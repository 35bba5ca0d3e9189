"""What the guard lets pass: logging, drivers, what the settings add, and TLS connections that end."""

from __future__ import annotations

import asyncio
import logging
import logging.handlers
import socket
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any

import guard_server
import pytest
from guard_runs import refused, returned
from guard_server import AsyncStore, Lines, Store

from semel import App, once
from semel.capture import passthrough
from semel.errors import CallNotRecordable

#: What the bodies use: a workflow has no variables of a function round it.
server: Lines
store: Store
streams: AsyncStore
library: Any
connection: Any
writer: asyncio.StreamWriter
kept: list[Callable[[], str]] = []
log = logging.getLogger("guarded")


@pytest.fixture(autouse=True)
def _world() -> Iterator[None]:
    global server, store, streams
    with guard_server.serving() as server:
        store, streams = Store(server.port), AsyncStore(server.port)
        yield
        store.close()


def helper(line: str) -> str:
    return store.ask(line)


async def write(line: bytes) -> None:
    writer.write(line)
    await writer.drain()


def test_logging_to_a_socket_passes(app: App) -> None:
    handler = logging.handlers.SocketHandler("127.0.0.1", server.port)
    handler.makePickle = lambda record: record.getMessage().encode() + b"\n"  # type: ignore[method-assign]
    log.addHandler(handler)

    def body() -> str:
        log.warning("told")
        return once("wait", lambda: "done")

    try:
        assert returned(app, body) == "done"
    finally:
        log.removeHandler(handler)
        handler.close()


def test_the_recorder_can_ask_whether_it_is_logging_that_makes_a_call(
    program: Callable[..., ModuleType], app: App
) -> None:
    global library
    library = program(
        """
        import logging
        from semel.capture._leaving import passes_through
        asked = []
        def ask():
            asked.append(passes_through())
        class Handler(logging.Handler):
            def emit(self, record):
                ask()
        """
    )
    handler = library.Handler()
    log.addHandler(handler)

    def body() -> None:
        log.warning("told")
        library.ask()

    try:
        returned(app, body)
    finally:
        log.removeHandler(handler)
    assert library.asked == [True, False]


def test_a_handler_of_the_users_own_passes(app: App) -> None:
    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            store.ask(record.getMessage())

    handler = Handler()
    log.addHandler(handler)

    def body() -> None:
        log.warning("told")

    try:
        returned(app, body)
    finally:
        log.removeHandler(handler)
    assert server.lines == ["told"]


def test_a_database_driver_passes(program: Callable[..., ModuleType], app: App) -> None:
    global library
    library = program(
        """
        from guard_server import Store
        def connect(port):
            store = Store(port)
            try:
                return store.ask("select 1")
            finally:
                store.close()
        """,
        "pymysql",
    )

    def body(port: int) -> str:
        return library.connect(port)

    try:
        assert returned(app, body, server.port) == "+select 1"
    finally:
        sys.modules.pop("pymysql", None)


def test_what_the_users_own_listener_of_a_driver_sends_is_refused(program: Callable[..., ModuleType], app: App) -> None:
    global library
    library = program(
        """
        listeners = []
        def commit():
            for listener in listeners:
                listener("published")
        """,
        "pymysql",
    )
    library.listeners.append(helper)

    def body() -> None:
        library.commit()

    try:
        assert "leaves the process" in refused(app, body)
    finally:
        sys.modules.pop("pymysql", None)
    assert server.lines == []


@pytest.mark.parametrize("pattern", ["guard_server.*", "guard_server", "guard_server.Store.ask", "127.0.0.1"])
def test_what_the_settings_let_pass_passes(pattern: str, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passthrough, "_patterns", ())

    def body(pattern: str) -> str:
        passthrough.configure([pattern])
        return store.ask("let through")

    assert returned(app, body, pattern) == "+let through"


def test_a_run_that_is_over_is_guarded_no_more(app: App) -> None:
    kept.clear()

    def body() -> None:
        kept.append(lambda: store.ask("later"))

    run = app.start(app.workflow(body))
    with app.worker():
        run.result(timeout=10)
    assert kept[0]() == "+later"


@pytest.fixture(scope="module")
def contexts(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A server's and a client's, with a certificate made for this."""
    folder = tmp_path_factory.mktemp("tls")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=localhost"),
        ],
        check=True,
        capture_output=True,
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate, key)
    client = ssl.create_default_context()
    client.check_hostname = False
    client.verify_mode = ssl.CERT_NONE
    return server, client


async def test_an_encrypted_connection_is_guarded_and_may_be_closed(
    app: App, contexts: tuple[ssl.SSLContext, ssl.SSLContext]
) -> None:
    global writer
    got: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        got.extend([line async for line in reader])
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=contexts[0])
    port = server.sockets[0].getsockname()[1]
    _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=contexts[1])

    async def sends() -> None:
        writer.write(b"in the body\n")

    async def closes() -> None:
        await once("send", lambda: write(b"in a step\n"))
        writer.close()
        await writer.wait_closed()

    async with app.worker():
        refused = await app.start_async(app.workflow(sends))
        with pytest.raises(CallNotRecordable, match="data is sent"):
            await refused.result_async(timeout=10)
        closed = await app.start_async(app.workflow(closes))
        await closed.result_async(timeout=10)
    server.close()
    await server.wait_closed()
    assert got == [b"in a step\n"]


def test_an_encrypted_socket_is_guarded(contexts: tuple[ssl.SSLContext, ssl.SSLContext], app: App) -> None:
    global connection

    def body(how: str) -> None:
        getattr(connection, how)(b"in the body")

    def in_step() -> int:
        return once("send", lambda: connection.write(b"in a step"))

    with socket.create_server(("127.0.0.1", 0)) as listening, ThreadPoolExecutor(1) as other:
        accepting = other.submit(lambda: contexts[0].wrap_socket(listening.accept()[0], server_side=True))
        connection = contexts[1].wrap_socket(socket.create_connection(listening.getsockname()))
        with connection, accepting.result() as accepted:
            for how in ("send", "sendall", "write"):
                assert "data is sent on a network connection (127.0.0.1:" in refused(app, body, how)
            assert returned(app, in_step) == 9
            assert accepted.recv(100) == b"in a step"


def test_an_asyncio_driver_that_writes_in_callbacks_of_the_loop_passes(
    program: Callable[..., ModuleType], app: App
) -> None:
    global library
    library = program(
        """
        import asyncio

        class Protocol(asyncio.Protocol):
            def __init__(self):
                self.answer = asyncio.get_running_loop().create_future()
            def connection_made(self, transport):
                self.transport = transport
                loop = asyncio.get_running_loop()
                loop.call_soon(write, transport)  # nothing of the driver's own calls is on the stack then
            def data_received(self, data):
                if not self.answer.done():
                    self.answer.set_result(data.decode().strip())

        def write(transport):
            transport.write(b"select 1\\n")

        async def connect(port):
            transport, protocol = await asyncio.get_running_loop().create_connection(Protocol, "127.0.0.1", port)
            try:
                return await protocol.answer
            finally:
                transport.close()
        """,
        "asyncpg",
    )

    async def body(port: int) -> str:
        return await library.connect(port)

    try:
        assert returned(app, body, server.port) == "+select 1"
    finally:
        sys.modules.pop("asyncpg", None)
