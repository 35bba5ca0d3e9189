"""What httpx and httpx2 have in common: transports of one shape, patched at ``handle_request`` and its async twin.

A client calls its transport once for each exchange: redirects, authentication, cookies and the retries of an SDK happen
above it and are parts of one call. Transports that do not leave the process (mock, ASGI, WSGI) are classes of their
own and stay as they are. The answer is read to its end, still encoded as it came, and the response that the caller gets
is built from it, live as on a replay; so there is no ``network_stream`` among its extensions, and what reads an answer
piece by piece gets the pieces of a body that has come whole.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from functools import wraps
from types import ModuleType
from typing import Any

from msgspec import structs

from semel.capture import recorder
from semel.capture._httpx_failures import BrokenOff, Failures
from semel.capture.exchange import MAX_BYTES, Answer, Request
from semel.capture.headers import recorded
from semel.capture.recorder import begin, gathered, gathered_async
from semel.capture.unpacked import refuse_bomb
from semel.compiler import current

#: Bytes in a piece of a rebuilt body: what the library reads from a socket at a time, so that a decoder is given no
#: more of a compressed body at once than it would be otherwise.
PIECE = 65_536

#: Bytes of an answer that broke off that are kept with its failure. Of a longer one the failure alone is.
LARGEST_PART = MAX_BYTES // 4


def install(module: ModuleType) -> None:
    """Patches the network transports of ``module``, which is httpx or looks like it. Idempotent."""
    library = _Library(module)
    _patch(module.HTTPTransport, "handle_request", library.synchronous)
    _patch(module.AsyncHTTPTransport, "handle_async_request", library.asynchronous)


def _patch(transport: type, name: str, wrapped: Callable[[Any], Any]) -> None:
    original = getattr(transport, name)
    if not hasattr(original, "_semel_records"):
        patched = wrapped(original)
        patched._semel_records = True
        setattr(transport, name, patched)


class _Library:
    """The module, and what is built from its classes."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._body: Callable[[bytes, BaseException | None], Any] = _body_class(module)
        self._failures = Failures(module)

    def synchronous(self, original: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        @wraps(original)
        def handle_request(self: Any, request: Any) -> Any:
            if _goes_out():
                return original(self, request)
            call = begin(_request(request), library._failures)
            if call is None:
                return original(self, request)

            def send() -> Answer:
                response = original(self, request)
                pieces: list[bytes] = []
                try:
                    return _answer(response, gathered(_kept(response.stream, pieces)))
                except library._module.TransportError as failure:
                    raise library._broken_off(response, pieces, failure) from failure
                finally:
                    response.close()

            try:
                return library._response(call.perform(send))
            except BrokenOff as broken:
                return library._response(broken.answer, broken.failure)

        library = self
        return handle_request

    def asynchronous(self, original: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        @wraps(original)
        async def handle_async_request(self: Any, request: Any) -> Any:
            if _goes_out():
                return await original(self, request)
            call = begin(_request(request), library._failures)
            if call is None:
                return await original(self, request)

            async def send() -> Answer:
                response = await original(self, request)
                pieces: list[bytes] = []
                try:
                    return _answer(response, await gathered_async(_kept_async(response.stream, pieces)))
                except library._module.TransportError as failure:
                    raise library._broken_off(response, pieces, failure) from failure
                finally:
                    await response.aclose()

            try:
                return library._response(await call.perform_async(send))
            except BrokenOff as broken:
                return library._response(broken.answer, broken.failure)

        library = self
        return handle_async_request

    def _response(self, answer: Answer, failure: BaseException | None = None) -> Any:
        extensions = {"http_version": answer.version.encode("ascii")}
        if answer.version.startswith("HTTP/1"):  # later versions have no reason phrase
            extensions["reason_phrase"] = answer.reason.encode("latin-1")
        return self._module.Response(
            answer.status,
            headers=[(name.encode("latin-1"), value.encode("latin-1")) for name, value in answer.headers],
            stream=self._body(answer.body, failure),
            extensions=extensions,
        )

    def _broken_off(self, response: Any, pieces: list[bytes], failure: BaseException) -> BaseException:
        body = b"".join(pieces)
        if not self._failures.is_one(failure) or len(body) > LARGEST_PART:
            return failure
        answer = _answer(response, body)
        answer = structs.replace(answer, headers=recorded(answer.headers))  # of an answer, the recorder does it
        refuse_bomb(answer)
        return BrokenOff(answer, failure)


def _goes_out() -> bool:
    """The short way outside of a run."""
    return current.get() is None and recorder.answering is None


def _request(request: Any) -> Request:
    url = request.url
    if url.userinfo:  # the client has made a header of it
        url = url.copy_with(userinfo=b"")
    # A body that comes from an iterator or from files stays unread: it could be read only once.
    websocket = request.headers.get("upgrade", "").lower() == "websocket"
    return Request(request.method, str(url), getattr(request, "_content", None), websocket=websocket)


def _answer(response: Any, body: bytes) -> Answer:
    extensions = response.extensions
    return Answer(
        response.status_code,
        tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers.raw),
        body,
        extensions.get("reason_phrase", b"").decode("latin-1"),
        extensions.get("http_version", b"HTTP/1.1").decode("ascii"),
    )


def _kept(stream: Iterable[bytes], pieces: list[bytes]) -> Iterator[bytes]:
    for piece in stream:
        pieces.append(piece)
        yield piece


async def _kept_async(stream: AsyncIterable[bytes], pieces: list[bytes]) -> AsyncIterator[bytes]:
    async for piece in stream:
        pieces.append(piece)
        yield piece


def _body_class(module: Any) -> Callable[[bytes, BaseException | None], Any]:
    class Body(module.SyncByteStream, module.AsyncByteStream):  # type: ignore[misc]  # the module comes at run time
        """A body that has come whole, in pieces as the network gives them; or what came of it, and then the failure."""

        def __init__(self, body: bytes, failure: BaseException | None) -> None:
            self._body = body
            self._failure = failure

        def __iter__(self) -> Iterator[bytes]:
            for start in range(0, len(self._body), PIECE):
                yield self._body[start : start + PIECE]
            if self._failure is not None:
                raise self._failure

        async def __aiter__(self) -> AsyncIterator[bytes]:
            for piece in self:
                yield piece

    return Body
