"""The pools of one client: made at the first call, one for threads and one for each event loop.

A pool belongs to the process that made it: a child of a fork makes its own, or both would write to one socket.
"""

from __future__ import annotations

import asyncio
import os
import threading
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any

from semel.errors import ConfigurationError

from .auth import Env
from .operation import Request
from .settings import Ready, Settings

if TYPE_CHECKING:
    import httpx


class Connection:
    """Sends the requests of one client. Safe to use from any thread."""

    def __init__(self, client: str, settings: Settings, transport: Any) -> None:
        self._client = client
        self._settings = settings
        self._transport = transport
        self._lock = threading.Lock()
        self._ready: Ready | None = None
        self._process = os.getpid()
        self._pool: httpx.Client | None = None
        self._pools: dict[asyncio.AbstractEventLoop, httpx.AsyncClient] = {}

    @property
    def shown_url(self) -> str:
        """The base URL, or the variable that it is in."""
        url = self._settings.base_url
        return f"${url.variable}" if isinstance(url, Env) else str(url)

    @property
    def decisions(self) -> frozenset[int]:
        """The statuses whose errors are decisions."""
        return self._settings.decisions

    @property
    def secrets(self) -> tuple[str, ...]:
        """The texts that no message may show."""
        return self._ready.secrets if self._ready is not None else ()

    def send(self, request: Request) -> httpx.Response:
        """The answer, its body read."""
        pool = self._threads_pool()
        return pool.send(self._built(pool, request))

    async def send_async(self, request: Request) -> httpx.Response:
        """The answer, its body read."""
        pool = self._loops_pool(asyncio.get_running_loop())
        return await pool.send(self._built(pool, request))

    def close(self) -> None:
        """Closes the threads' pool. A later call makes another one."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    async def aclose(self) -> None:
        """Closes the threads' pool and that of the running loop."""
        self.close()
        with self._lock:
            pool = self._pools.pop(asyncio.get_running_loop(), None)
        if pool is not None:
            await pool.aclose()

    def _forget_before_fork(self) -> None:
        if self._process != os.getpid():
            self._process, self._pool, self._pools = os.getpid(), None, {}

    def _threads_pool(self) -> httpx.Client:
        pool = self._pool
        if pool is not None and self._process == os.getpid():
            return pool
        httpx: Any = self._httpx()
        self._check_transport(httpx.BaseTransport, "def")
        with self._lock:
            self._forget_before_fork()
            pool = self._pool
            if pool is None:
                pool = self._pool = httpx.Client(**self._options(httpx))
            return pool

    def _loops_pool(self, loop: asyncio.AbstractEventLoop) -> httpx.AsyncClient:
        with self._lock:
            self._forget_before_fork()
            pool = self._pools.get(loop)
            if pool is None:
                httpx = self._httpx()
                self._check_transport(httpx.AsyncBaseTransport, "async def")
                # The pool of a loop that has ended can be neither used nor closed any more.
                self._pools = {other: kept for other, kept in self._pools.items() if not other.is_closed()}
                pool = self._pools[loop] = httpx.AsyncClient(**self._options(httpx))
            return pool

    def _options(self, httpx: Any) -> dict[str, Any]:
        ready = self._ready
        if ready is None:
            ready = self._ready = Ready(self._settings, self._client)
        return {
            "auth": ready.auth,
            "headers": ready.headers,
            # Waiting for a free connection of the pool is not the other side's slowness.
            "timeout": httpx.Timeout(ready.timeout, pool=None),
            "transport": self._transport,
            # One call's answer must not change another call's request, which may be of another run.
            "cookies": CookieJar(DefaultCookiePolicy(allowed_domains=())),
        }

    def _built(self, pool: Any, request: Request) -> Any:
        assert self._ready is not None
        return pool.build_request(
            request.method, self._ready.base_url + request.path, headers=request.headers, content=request.body
        )

    def _check_transport(self, base: type, written: str) -> None:
        if self._transport is not None and not isinstance(self._transport, base):
            raise ConfigurationError(
                f"the transport of {self._client} is a {type(self._transport).__name__}, which cannot send what is "
                f"declared with `{written}`; give it one that is an httpx.{base.__name__}"
            )

    def _httpx(self) -> Any:
        try:
            import httpx
        except ImportError as error:
            raise ConfigurationError(
                f"{self._client} needs httpx, which is not installed: pip install 'semel[client]'"
            ) from error
        return httpx
