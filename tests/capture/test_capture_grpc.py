"""gRPC calls: refused in a body, because its core makes them unseen; made in a step, and outside a run."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest

import semel
from semel import App, once
from semel.errors import CallNotRecordable

asked: list[bytes] = []
#: The calls of one channel by name: what a stub holds.
stub: dict[str, Any] = {}
aio: dict[str, Any] = {}


def answer(request: bytes, context: object) -> bytes:
    asked.append(request)
    return b"+" + request


def answers(request: bytes, context: object) -> Iterator[bytes]:
    asked.append(request)
    yield b"+" + request
    yield b"++" + request


def answer_all(requests: Iterator[bytes], context: object) -> bytes:
    asked.extend(requests)
    return b"+".join(asked)


def answers_all(requests: Iterator[bytes], context: object) -> Iterator[bytes]:
    for request in requests:
        asked.append(request)
        yield b"+" + request


HANDLERS = grpc.method_handlers_generic_handler(
    "guard.Echo",
    {
        "Ask": grpc.unary_unary_rpc_method_handler(answer),
        "List": grpc.unary_stream_rpc_method_handler(answers),
        "Add": grpc.stream_unary_rpc_method_handler(answer_all),
        "Talk": grpc.stream_stream_rpc_method_handler(answers_all),
    },
)


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with ThreadPoolExecutor(4) as pool:
        server = grpc.server(pool)
        server.add_generic_rpc_handlers((HANDLERS,))
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        yield port
        server.stop(None).wait()


@pytest.fixture(autouse=True)
def _stub(port: int) -> Iterator[None]:
    asked.clear()
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        stub.update(calls_of(channel))
        yield
        stub.clear()


@pytest.fixture
async def _aio(port: int) -> AsyncIterator[None]:
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        aio.update(calls_of(channel))
        yield
        aio.clear()


def calls_of(channel: Any) -> dict[str, Any]:
    return {
        "Ask": channel.unary_unary("/guard.Echo/Ask"),
        "List": channel.unary_stream("/guard.Echo/List"),
        "Add": channel.stream_unary("/guard.Echo/Add"),
        "Talk": channel.stream_stream("/guard.Echo/Talk"),
    }


CALLS: dict[str, Callable[[], object]] = {
    "call": lambda: stub["Ask"](b"a"),
    "with_call": lambda: stub["Ask"].with_call(b"a")[0],
    "future": lambda: stub["Ask"].future(b"a").result(),
    "answers streamed": lambda: b"".join(stub["List"](b"a")),
    "requests streamed": lambda: stub["Add"](iter([b"a"])),
    "requests streamed, with_call": lambda: stub["Add"].with_call(iter([b"a"]))[0],
    "requests streamed, future": lambda: stub["Add"].future(iter([b"a"])).result(),
    "both streamed": lambda: b"".join(stub["Talk"](iter([b"a"]))),
}


@pytest.mark.rule("A3")
def test_a_call_in_a_body_is_refused_with_the_line_and_the_fix(app: App, port: int) -> None:
    @app.workflow
    def body() -> bytes:
        return stub["Ask"](b"a")

    text = refused(app, body)
    assert text.startswith(f"{__file__}:")
    assert f"the gRPC call /guard.Echo/Ask (127.0.0.1:{port})" in text
    assert 'return once("ask", lambda: stub["Ask"](b"a"))' in text
    assert "MessageToDict" in text
    assert "MultiCallable.*" not in text
    assert asked == []


@pytest.mark.parametrize("how", CALLS)
def test_every_kind_of_call_is_refused_in_a_body(how: str, app: App) -> None:
    @app.workflow
    def body(how: str) -> object:
        with suppress(Exception):
            return CALLS[how]()
        return "hidden"

    assert "the gRPC call /guard.Echo/" in refused(app, body, how)
    assert asked == []


@pytest.mark.parametrize("how", CALLS)
def test_every_kind_of_call_is_made_in_a_step_and_outside_a_run(how: str, app: App) -> None:
    @app.workflow
    def body(how: str) -> object:
        return once("ask", lambda: CALLS[how]())

    run = app.start(body, how)
    with app.worker():
        in_step = run.result(timeout=10)
    assert asked == [b"a"]
    asked.clear()
    assert CALLS[how]() == in_step


def test_a_call_through_an_interceptor_is_refused_in_a_body(app: App, port: int) -> None:
    class Passing(grpc.UnaryUnaryClientInterceptor):
        def intercept_unary_unary(self, continuation: Any, details: Any, request: Any) -> Any:
            return continuation(details, request)

    @app.workflow
    def body() -> bytes:
        return stub["Ask"](b"a")

    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        stub.update(calls_of(grpc.intercept_channel(channel, Passing())))
        assert "/guard.Echo/Ask" in refused(app, body)
    assert asked == []


def test_a_call_on_a_thread_of_the_body_is_refused(app: App) -> None:
    @app.workflow
    def body() -> bytes:
        with ThreadPoolExecutor() as pool:
            return pool.submit(stub["Ask"], b"a").result()

    assert "/guard.Echo/Ask" in refused(app, body)
    assert asked == []


@pytest.mark.usefixtures("_aio")
async def test_an_async_call_is_refused_in_a_body(app: App) -> None:
    @app.workflow
    async def body(kind: str) -> object:
        with suppress(Exception):
            if kind == "Ask":
                return await aio["Ask"](b"a")
            if kind == "Add":
                return await aio["Add"](iter([b"a"]))
            return [part async for part in aio["List"](b"a")]
        return "hidden"

    async with app.worker():
        for kind in ("Ask", "Add", "List"):
            run = await app.start_async(body, kind)
            with pytest.raises(CallNotRecordable, match=f"the gRPC call /guard.Echo/{kind}"):
                await run.result_async(timeout=10)
    assert asked == []


@pytest.mark.usefixtures("_aio")
async def test_an_async_call_is_made_in_a_step_and_outside_a_run(app: App) -> None:
    @app.workflow
    async def body() -> object:
        one = await once("ask", lambda: aio["Ask"](b"a"))
        return [one, await once("list", collect)]

    async with app.worker():
        run = await app.start_async(body)
        assert await run.result_async(timeout=10) == [b"+a", [b"+b", b"++b"]]
    assert await aio["Ask"](b"c") == b"+c"
    assert asked == [b"a", b"b", b"c"]


async def collect() -> list[bytes]:
    return [part async for part in aio["List"](b"b")]


def test_grpc_that_is_imported_after_the_app_is_made_is_guarded(port: int, tmp_path: Path) -> None:
    program = tmp_path / "late.py"
    program.write_text(
        textwrap.dedent(
            f"""
            import sys
            from semel import App
            app = App("late", database="sqlite:///late.db")

            @app.workflow
            def body():
                import grpc
                with grpc.insecure_channel("127.0.0.1:{port}") as channel:
                    return channel.unary_unary("/guard.Echo/Ask")(b"late")

            if __name__ == "__main__":
                run = app.start(body)
                assert "grpc" not in sys.modules
                with app.worker():
                    try:
                        run.result(timeout=10)
                    except Exception as error:
                        print(type(error).__name__, error)
            """
        )
    )
    done = subprocess.run(
        [sys.executable, str(program)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(semel.__file__).parent.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "CallNotRecordable" in done.stdout, done.stdout + done.stderr
    assert "the gRPC call /guard.Echo/Ask" in done.stdout
    assert asked == []


def refused(app: App, body: Any, *args: object) -> str:
    run = app.start(body, *args)
    with app.worker(), pytest.raises(CallNotRecordable) as error:
        run.result(timeout=10)
    return str(error.value)
