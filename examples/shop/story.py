"""The shop as processes: services in this one, the server in one of its own that can be killed."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx
from services import Bank, Post, started


class Shop:
    """A bank, a mail server, and a web server on a database of its own."""

    def __init__(self, folder: Path) -> None:
        self.bank, self.post = Bank(), Post()
        started(self.bank)
        started(self.post)
        self._folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"
        self._server: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts the web server, and waits until it answers."""
        environment = {
            **os.environ,
            "SHOP_DB": f"sqlite:///{self._folder / 'shop.db'}",
            "BANK_URL": self.bank.url,
            "POST_PORT": str(self.post.port),
            "NO_PROXY": "*",
        }
        command = [sys.executable, "-m", "uvicorn", "web:api", "--port", str(self._port), "--log-level", "critical"]
        self._server = subprocess.Popen(command, cwd=Path(__file__).parent, env=environment)
        while True:
            if self._server.poll() is not None:
                raise RuntimeError("the server did not start")
            with suppress(httpx.TransportError):
                httpx.get(self.url, trust_env=False)
                return

    def kill(self) -> None:
        """As a power cut would."""
        assert self._server is not None
        self._server.send_signal(signal.SIGKILL)
        self._server.wait()

    def close(self) -> None:
        if self._server is not None and self._server.poll() is None:
            self._server.terminate()
            self._server.wait(30)
        self.bank.answers.set()
        for server in (self.bank, self.post):
            server.shutdown()
            server.server_close()


@contextmanager
def opened() -> Iterator[Shop]:
    """A shop in a folder of its own, its server started."""
    with ExitStack() as stack:
        shop = Shop(Path(stack.enter_context(tempfile.TemporaryDirectory())))
        stack.callback(shop.close)
        shop.start()
        yield shop
