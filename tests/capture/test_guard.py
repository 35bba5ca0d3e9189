"""The guard: connections that a body opens or uses outside a step are refused, with the fix."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import guard_server
import pytest
from guard_runs import refused, returned
from guard_server import AsyncStore, Lines, Store

from semel import App, once

HERE = __file__


#: What the bodies use: a workflow has no variables of a function round it.
server: Lines
store: Store
streams: AsyncStore
connection: Any
kept: list[Callable[[], str]] = []


@pytest.fixture(autouse=True)
def _world() -> Iterator[None]:
    global server, store, streams
    with guard_server.serving() as server:
        store, streams = Store(server.port), AsyncStore(server.port)
        yield
        store.close()


def helper(line: str) -> str:
    return store.ask(line)


def line_of(text: str) -> str:
    """``file:line`` of the line of this file that ends so."""
    with open(HERE) as file:
        (number,) = [number for number, line in enumerate(file, 1) if line.rstrip().endswith(text)]
    return f"{HERE}:{number}"


def test_a_connection_opened_in_a_body_is_refused_with_the_operation_that_opens_it(app: App) -> None:
    def body() -> str:
        return store.ask("get a")  # opens

    text = refused(app, body)
    assert text.startswith(line_of('return store.ask("get a")  # opens'))
    assert "guard_server.Store.ask leaves the process, outside of a once: a network connection is opened" in text
    assert f"(127.0.0.1:{server.port})" in text
    assert 'return once("ask", lambda: store.ask("get a"))  # opens' in text
    assert 'external = ["guard_server.Store.ask"]' in text
    assert server.lines == []


def test_what_a_body_sends_on_a_connection_opened_before_it_is_refused(app: App) -> None:
    assert store.ask("before") == "+before"

    def body() -> str:
        return store.ask("in the body")

    assert "data is sent on a network connection" in refused(app, body)
    assert server.lines == ["before"]
    assert store.ask("after") == "+after"


def test_a_connection_is_used_in_a_step(app: App) -> None:
    def body() -> list[str]:
        return [once("first", lambda: store.ask("1")), once("second", lambda: helper("2"))]

    assert returned(app, body) == ["+1", "+2"]
    assert server.lines == ["1", "2"]


def test_a_method_given_to_once_directly_is_used_in_a_step(app: App) -> None:
    global connection
    connection = socket.create_connection(("127.0.0.1", server.port))

    def body() -> str:
        once("send", partial(connection.sendall, b"a\n"))
        once("ask", store.close)
        return once("read", lambda: connection.recv(10)).decode()

    with connection:
        assert returned(app, body) == "+a\n"


def test_what_is_sent_after_a_step_is_refused(app: App) -> None:
    def body() -> None:
        once("first", lambda: store.ask("1"))
        store.ask("2")

    assert "data is sent" in refused(app, body)
    assert server.lines == ["1"]


def test_a_handler_in_the_body_does_not_hide_the_refusal(app: App) -> None:
    def body() -> str:
        with suppress(Exception):
            store.ask("hidden")
        return "as if nothing was"

    assert "leaves the process" in refused(app, body)
    assert server.lines == []


def test_a_connection_of_the_standard_library_itself_is_advised_to_be_one_step(app: App) -> None:
    def body() -> None:
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(b"x\n")

    text = refused(app, body)
    assert "Open the connection, use it and close it in one step" in text
    assert 'once("create_connection", that_function)' in text


@pytest.mark.parametrize("send", ["send", "sendall", "sendmsg", "write"])
def test_every_way_to_send_on_a_socket_is_refused(send: str, app: App) -> None:
    global connection
    connection = socket.create_connection(("127.0.0.1", server.port))

    def body(send: str) -> None:
        if send == "sendmsg":
            connection.sendmsg([b"x\n"])
        elif send == "write":
            connection.makefile("wb", buffering=0).write(b"x\n")
        else:
            getattr(connection, send)(b"x\n")

    with connection:
        assert "data is sent" in refused(app, body, send)
    assert server.lines == []


def test_a_datagram_is_refused_and_asking_for_the_own_address_is_not(app: App) -> None:
    global connection

    def body(port: int) -> None:
        connection.sendto(b"x", ("127.0.0.1", port))

    def own_address(port: int) -> str:
        connection.connect(("127.0.0.1", port))
        return connection.getsockname()[0]

    connection = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver, connection:
        receiver.bind(("127.0.0.1", 0))
        receiver.setblocking(False)
        port = receiver.getsockname()[1]
        assert "data is sent to an address (127.0.0.1:" in refused(app, body, port)
        with pytest.raises(BlockingIOError):
            receiver.recv(10)
        assert returned(app, own_address, port) == "127.0.0.1"


def test_local_sockets_and_name_lookups_pass(app: App) -> None:
    def body() -> bytes:
        socket.getaddrinfo("localhost", 80)
        one, other = socket.socketpair()
        with one, other:
            one.sendall(b"local")
            return other.recv(10)

    assert returned(app, body) == b"local"


def test_outside_a_run_everything_works_as_ever(app: App) -> None:
    app.check()
    assert store.ask("outside") == "+outside"
    assert socket.socket.send.__name__ == "send"
    assert socket.socket.sendall.__doc__
    assert os.system.__wrapped__.__name__ == "system"  # type: ignore[attr-defined]
