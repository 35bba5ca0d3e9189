"""Where a client's connections and settings come from: made at the first call, for threads and loops, and let go."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import httpx
import pytest

from semel import Bearer, Client, Env, get
from semel.errors import ConfigurationError, ErrorStatus


class Api(Client, base_url_env="SEMEL_TEST_API", auth=Bearer(Env("SEMEL_TEST_TOKEN"))):
    @get("/echo")
    def echo(self, number: int = 0) -> dict[str, str]: ...

    @get("/echo")
    async def echo_async(self, number: int = 0) -> dict[str, str]: ...


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    connections: ClassVar[set[tuple[str, int]]] = set()

    def do_GET(self) -> None:
        self.connections.add(self.client_address)
        text = '{"number": "%s", "auth": "%s", "cookie": "%s"}' % (  # noqa: UP031 (braces)
            self.path.rpartition("=")[2],
            self.headers.get("authorization", ""),
            self.headers.get("cookie", ""),
        )
        self.send_response(302 if self.path.endswith("=302") else 200)
        self.send_header("set-cookie", "session=1")
        self.send_header("location", "/echo?number=1")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server that tells what it was sent."""
    Handler.connections = set()
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setenv("SEMEL_TEST_API", url)
        monkeypatch.setenv("SEMEL_TEST_TOKEN", "token-1")
        yield url
        server.shutdown()
        thread.join()


def test_url_and_token_are_read_at_the_first_call(monkeypatch, url) -> None:
    with Api() as api:
        monkeypatch.setenv("SEMEL_TEST_TOKEN", "token-2")
        assert api.echo(7) == {"number": "7", "auth": "Bearer token-2", "cookie": ""}


@pytest.mark.parametrize("variable", ["SEMEL_TEST_API", "SEMEL_TEST_TOKEN"])
def test_a_variable_that_is_not_set_is_named(monkeypatch, url, variable) -> None:
    monkeypatch.delenv(variable)
    with Api() as api, pytest.raises(ConfigurationError, match=f"Api needs the environment variable {variable}"):
        api.echo()


def test_a_variable_without_a_url_is_named(monkeypatch, url) -> None:
    monkeypatch.setenv("SEMEL_TEST_API", "shop.example")
    with Api() as api, pytest.raises(ConfigurationError, match=r"variable SEMEL_TEST_API of Api: .* absolute"):
        api.echo()


def test_no_secret_is_shown() -> None:
    assert repr(Bearer("hidden")) == "Bearer(…)"
    assert repr(Bearer(Env("TOKEN"))) == "Bearer(Env('TOKEN'))"
    assert "hidden" not in repr(Api(base_url="https://a.example", auth=("u", "hidden"), headers={"x": "hidden"}))
    assert repr(Api()) == "<Api $SEMEL_TEST_API>"


def test_a_client_needs_a_base_url() -> None:
    class Bare(Client):
        @get("/")
        def root(self) -> None: ...

    with pytest.raises(ConfigurationError, match="has no base URL: write class"):
        Bare()
    with pytest.raises(ConfigurationError, match="must be absolute"):
        Bare(base_url="/v1")


def test_an_init_of_the_author_s_own_must_call_the_client_s() -> None:
    class Forgetful(Client, base_url="https://a.example"):
        def __init__(self) -> None:
            pass

        @get("/")
        def root(self) -> None: ...

    with pytest.raises(ConfigurationError, match=r"must begin with super\(\).__init__\(\)"):
        Forgetful().root()


def test_threads_share_one_pool(url) -> None:
    with Api() as api, ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(api.echo, range(64)))
    assert [answer["number"] for answer in answers] == [str(number) for number in range(64)]
    assert len(Handler.connections) <= 8


async def test_tasks_share_one_pool(url) -> None:
    async with Api() as api:
        answers = await asyncio.gather(*[api.echo_async(number) for number in range(32)])
        for number in range(3):
            await api.echo_async(number)
    assert [answer["number"] for answer in answers] == [str(number) for number in range(32)]
    assert len(Handler.connections) <= 32


def test_each_event_loop_has_a_pool_of_its_own(url) -> None:
    api = Api()

    async def ask(number: int) -> str:
        answer = await api.echo_async(number)
        assert api.echo(number) == answer
        await api.aclose()
        return answer["number"]

    assert [asyncio.run(ask(number)) for number in range(3)] == ["0", "1", "2"]


def test_the_pools_of_ended_loops_are_not_kept() -> None:
    api = Api(base_url="https://a.example", auth=Bearer("t"), transport=httpx.MockTransport(lambda request: answer))
    answer = httpx.Response(200, json={})
    loops = []

    async def ask() -> None:
        loops.append(weakref.ref(asyncio.get_running_loop()))
        await api.echo_async()

    for _ in range(5):
        asyncio.run(ask())
    gc.collect()
    assert len([loop for loop in loops if loop() is not None]) <= 1


def test_a_closed_client_opens_anew(url) -> None:
    api = Api()
    api.echo()
    api.close()
    api.close()
    api.echo()
    api.close()
    assert len(Handler.connections) == 2


@pytest.mark.filterwarnings("ignore:.*multi-threaded")
def test_a_pool_is_not_shared_with_a_forked_process(url) -> None:
    with Api() as api:
        api.echo()
        child = os.fork()
        if child == 0:
            try:
                api.echo(1)
                api.close()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        api.echo(2)
    assert len(Handler.connections) == 2


def test_one_call_s_cookie_is_not_in_the_next_call(url) -> None:
    with Api() as api:
        assert api.echo(1)["cookie"] == api.echo(2)["cookie"] == ""


def test_a_redirect_is_an_answer_like_any_other(url) -> None:
    with Api() as api, pytest.raises(ErrorStatus) as raised:
        api.echo(302)
    assert raised.value.headers["location"] == "/echo?number=1"


def test_settings_of_the_object_go_before_those_of_the_class() -> None:
    class Shop(Client, base_url="https://a.example", timeout=2, headers={"x-a": "1", "x-b": "1"}):
        @get("/")
        def root(self) -> None: ...

    requests = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(200)

    transport = httpx.MockTransport(answer)
    Shop(transport=transport).root()
    Shop(base_url="https://b.example/v2", timeout=0.5, headers={"x-b": "2"}, transport=transport).root()
    first, second = requests
    assert [str(request.url) for request in requests] == ["https://a.example/", "https://b.example/v2/"]
    assert [request.extensions["timeout"]["read"] for request in requests] == [2, 0.5]
    assert (first.headers["x-a"], first.headers["x-b"]) == ("1", "1")
    assert (second.headers["x-a"], second.headers["x-b"]) == ("1", "2")


async def test_a_transport_of_the_other_kind_is_told() -> None:
    class Sync(httpx.BaseTransport): ...

    class Async(httpx.AsyncBaseTransport): ...

    with pytest.raises(ConfigurationError, match=r"`async def`; give it one that is an httpx.AsyncBaseTransport"):
        await Api(base_url="https://a.example", transport=Sync()).echo_async()
    with pytest.raises(ConfigurationError, match=r"`def`; give it one that is an httpx.BaseTransport"):
        Api(base_url="https://a.example", transport=Async()).echo()


def test_an_auth_of_httpx_is_used() -> None:
    class Signed(httpx.Auth):
        def auth_flow(self, request):
            request.headers["x-signature"] = "s"
            yield request

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={"signature": request.headers["x-signature"]})

    api = Api(base_url="https://a.example", auth=Signed(), transport=httpx.MockTransport(answer))
    assert api.echo() == {"signature": "s"}


def test_without_httpx_the_first_call_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "httpx.py").write_text("raise ImportError('no httpx')")
    (tmp_path / "main.py").write_text(
        "from semel import Client, get\n"
        "class Shop(Client, base_url='https://shop.example'):\n"
        "    @get('/a')\n"
        "    def a(self) -> list[int]: ...\n"
        "try:\n"
        "    Shop().a()\n"
        "except Exception as error:\n"
        "    print(type(error).__name__, error)\n"
    )
    assert "ConfigurationError Shop needs httpx, which is not installed: pip install 'semel[client]'" in python(
        tmp_path, "main.py"
    )


def test_importing_semel_imports_nothing_of_the_client(tmp_path: Path) -> None:
    program = (
        "import sys, semel; print([name for name in sys.modules if name.startswith(('httpx', 'msgspec', 'semel.c'))])"
    )
    assert python(tmp_path, "-c", program).strip() == "[]"
    program = "import sys; from semel import Client; print([name for name in sys.modules if name.startswith('httpx')])"
    assert python(tmp_path, "-c", program).strip() == "[]"


def python(folder: Path, *arguments: str) -> str:
    source = str(Path(__file__).parents[2] / "src")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), source])}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
