"""Records the exchanges of aiohttp's client.

The seam is a client middleware that a call in a run gets as its innermost one: each exchange goes through it once, so
that redirects, cookies, retries and the user's own middlewares are above it, and each hop is a part of the call. Trace
signals of connecting and sending come only where that happens, when the exchange is live. An answer is read whole, in
the time that the call has, before the call returns.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable, Coroutine
from contextvars import Context, copy_context
from functools import wraps
from types import ModuleType
from typing import Any

from msgspec.structs import replace

from semel.capture._aiohttp_response import check, response_over
from semel.capture._deferral import is_recorded
from semel.capture.exchange import Answer, Flat, Request
from semel.capture.headers import recorded
from semel.capture.recorder import Recorded, begin, gathered_async
from semel.compiler import unrecorded
from semel.compiler.path import current
from semel.compiler.where import carrier, leads

MODULES = ("aiohttp",)

Handler = Callable[[Any], Awaitable[Any]]


def install(module: ModuleType) -> None:
    """Patches the session. Idempotent.

    Raises:
        ConfigurationError: this version of the library is not built as the recorder needs it.
    """
    session = module.ClientSession
    if hasattr(session._request, "_semel_records"):
        return
    check(module)
    session._request = _recording(session._request)


def _recording(original: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Coroutine[Any, Any, Any]]:
    @wraps(original)
    def _request(session: Any, method: str, str_or_url: Any, **options: Any) -> Coroutine[Any, Any, Any]:
        if not is_recorded():
            return original(session, method, str_or_url, **options)
        path = current.get()
        if path is not None and not leads(path):
            begin(Request(method, str(session._build_url(str_or_url))), _NotMade())  # refuses it
        return original(session, method, str_or_url, **_Call(session, options, copy_context()).options())

    _request.__dict__["_semel_records"] = True
    return _request


class _Call:
    """One call of a session, in a run. ``context`` is that of the user's call; the exchanges may be made in another."""

    def __init__(self, session: Any, options: dict[str, Any], context: Context) -> None:
        self._session = session
        self._options = options
        self._context = context
        self._timeout = self._timeout_of_call()
        self._deadline: float | None = None

    def options(self) -> dict[str, Any]:
        """The call's options, with the recorder in them, and without what is done below it."""
        given = self._options.get("middlewares")
        middlewares = self._session._middlewares if given is None else given
        timeout = self._timeout
        untimed = type(timeout)(
            total=None,
            connect=timeout.connect,
            sock_read=timeout.sock_read,
            sock_connect=timeout.sock_connect,
            ceil_threshold=timeout.ceil_threshold,
        )
        return {
            **self._options,
            "middlewares": (*middlewares, self._exchange),
            "timeout": untimed,
            "auto_decompress": False,
        }

    def _timeout_of_call(self) -> Any:
        timeout = self._options.get("timeout", self._session.timeout)
        kind = type(self._session.timeout)
        if isinstance(timeout, kind):
            return timeout
        return kind(total=timeout) if timeout is None or isinstance(timeout, (int, float)) else self._session.timeout

    def _option(self, name: str, otherwise: Any) -> Any:
        value = self._options.get(name)
        return otherwise if value is None else value

    async def _exchange(self, request: Any, handler: Handler) -> Any:
        from semel.capture._aiohttp_failures import FailuresOf

        info = _frozen(request.request_info)
        failures = FailuresOf(request, info)
        call = _begun(self._context, await _request_of(request), failures)
        failure = None
        try:
            if call is None:
                with unrecorded():
                    answer = await self._made(request, handler, failures, _joined)
            else:
                answer = await self._performed(call, request, handler, failures)
        except failures.broken_off as broken:
            answer, failure = broken.answer, broken.failure
        response = await response_over(
            answer,
            request,
            info,
            auto_decompress=self._option("auto_decompress", self._session.auto_decompress),
            read_bufsize=self._option("read_bufsize", self._session._read_bufsize),
        )
        if failure is not None:
            response.content.set_exception(failure)
        return response

    async def _performed(self, call: Recorded, request: Any, handler: Handler, failures: Any) -> Answer:
        sent = False

        def send() -> Awaitable[Answer]:
            nonlocal sent
            sent = True
            return self._made(request, handler, failures, gathered_async)

        try:
            answer: Answer = await call.perform_async(send)
        except Exception:
            if not sent:
                await _consume(request.body)
            raise
        if not sent:
            await _consume(request.body)
        return answer

    async def _made(
        self, request: Any, handler: Handler, failures: Any, whole: Callable[[Any], Awaitable[bytes]]
    ) -> Answer:
        """The exchange, and its answer to the end, in the time that the call has."""
        response, body = None, b""
        try:
            async with asyncio.timeout_at(self._due()):
                response = await handler(request)
                body = await whole(response.content.iter_any())
        except failures.malformed as error:
            failures.keep_info(error)
            raise
        except failures.of_transport as error:
            if response is None:
                raise
            response.close()
            answer = _answer(response, b"")
            raise failures.broken_off(replace(answer, headers=recorded(answer.headers)), error) from error
        except BaseException:
            if response is not None:
                response.close()
            raise
        response.release()
        return _answer(response, body)

    def _due(self) -> float | None:
        """When the call's time is over; it counts from its first live exchange."""
        total = self._timeout.total
        if not total or total <= 0:
            return None
        if self._deadline is None:
            self._deadline = asyncio.get_running_loop().time() + total
        return self._deadline


class _NotMade:
    """The failures of an exchange that is refused."""

    def flatten(self, error: BaseException) -> Flat | None:
        return None

    def restore(self, data: Flat, request: Request) -> BaseException:
        raise AssertionError("it has no record")


def _begun(context: Context, request: Request, failures: Any) -> Recorded | None:
    """The place in the run of an exchange of a call that was made in this context."""
    return context.run(begin, request, failures)


carrier(_begun.__code__)


def _frozen(info: Any) -> Any:
    """The request's info as it is now: sending adds headers to it, which a replay does not."""
    from multidict import CIMultiDict, CIMultiDictProxy

    return type(info)(info.url, info.method, CIMultiDictProxy(CIMultiDict(info.headers)), info.real_url)


async def _request_of(request: Any) -> Request:
    from aiohttp.payload import BytesPayload

    body = request.body
    if isinstance(body, BytesPayload):  # what is in files or comes from an iterator stays unread
        body = await body.as_bytes()
    websocket = request.headers.get("Upgrade", "").lower() == "websocket"
    return Request(request.method, str(request.url), body if isinstance(body, bytes) else None, websocket=websocket)


def _answer(response: Any, body: bytes) -> Answer:
    version = response.version
    return Answer(
        response.status,
        tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in response.raw_headers),
        body,
        (response.reason or "").encode("utf-8", "surrogateescape").decode("latin-1"),
        f"HTTP/{version.major}.{version.minor}",
    )


async def _joined(chunks: AsyncIterable[bytes]) -> bytes:
    """The whole body of an answer that is not recorded, of any size."""
    return b"".join([chunk async for chunk in chunks])


async def _consume(body: Any) -> None:
    """Reads a request's body as sending it does: what can be read only once is then known to be used up."""
    if hasattr(body, "write"):
        await body.write(_Nowhere())


class _Nowhere:
    """A stream writer that keeps nothing."""

    async def write(self, chunk: bytes) -> None:
        """Takes it."""

    async def drain(self) -> None:
        """Has nothing to wait for."""

    async def write_eof(self, chunk: bytes = b"") -> None:
        """Has nothing to end."""
