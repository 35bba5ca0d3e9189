"""The recorder: where an exchange of a library belongs in the run, and its record in place of the exchange.

Each library's file calls ``begin`` at its transport. Outside of a run, and directly in a ``once``, that gives None and
the exchange goes out as ever. Else it is a part of the automatic step of the call that the user's code makes.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable, Iterable
from contextvars import ContextVar
from typing import Any, Protocol
from urllib.parse import urlsplit

import msgspec

from semel.codec import Answer
from semel.compiler import Path, current, leads, operation_name, place, unrecorded
from semel.errors import CallWithoutName, ProgramError

from ._leaving import passes_through
from ._refusing import websocket_refused
from .digest import content, identity
from .exchange import MAX_BYTES, AnswerTooLarge, Failures, Request
from .headers import recorded
from .passthrough import is_passthrough_url
from .unpacked import refuse_bomb


class Recorded(Protocol):
    """One exchange that is recorded, replayed, or answered from a script."""

    def perform(self, send: Callable[[], Any]) -> Any:
        """The answer: recorded, or that of ``send``, which makes the exchange and reads the answer whole."""
        ...

    async def perform_async(self, send: Callable[[], Awaitable[Any]]) -> Any:
        """The same for a coroutine; the exchange runs in a task of its own, which cancelling does not reach."""
        ...


#: Whether this context is of work that foreign code gave to a pool of threads: its exchanges come in no order.
in_pool: ContextVar[bool] = ContextVar("semel_in_pool", default=False)

#: In a test: answers a request in place of the network, or raises. None: the network.
answering: Callable[[Request], Any] | None = None


def begin(request: Request, failures: Failures) -> Recorded | None:
    """The exchange's place in the run; None if there is no run, or it belongs to the ``once`` right round it.

    Raises:
        CallNotRecordable: it opens a websocket.
        CallWithoutName: it is made where no path leads; it was not made (rule A8).
        Unwind: the execution was halted, also by this exchange: a path that another call has (A8), a request that its
            call's record does not know.
    """
    path = current.get()
    if path is None or path.execution.over:
        return None if answering is None else Scripted(request, failures)
    if request.websocket:
        if path.in_step:
            return None
        raise websocket_refused(urlsplit(request.url).hostname)
    if is_passthrough_url(request.url) or passes_through():
        return Passing() if answering is None else Scripted(request, failures)
    if not leads(path):
        raise _condemned(path, _without_name(request))
    execution: Any = path.execution
    if path.parent is not None and execution.is_step(path.parent):
        execution.called_out.add(path.parent)
        return None if answering is None else Scripted(request, failures)
    callee, owner = getattr(path, "callee", (None, ()))
    operation = path.name if callee is None else operation_name(callee, *owner)
    asked = execution.automatic.asked(request.method, identity(request), content(request), _told(request))
    part = execution.automatic.part(path, operation, asked, in_pool.get())
    return Exchanged(execution, part, request, failures)


class Exchanged:
    """An exchange of a run."""

    __slots__ = ("_execution", "_failures", "_part", "_request")

    def __init__(self, execution: Any, part: Any, request: Request, failures: Failures) -> None:
        self._execution = execution
        self._part = part
        self._request = request
        self._failures = failures
        part.flatten = failures.flatten
        part.restore = self._restore

    def perform(self, send: Callable[[], Any]) -> Any:
        part = self._part
        if answering is not None:
            send = self._scripted
        part.step = lambda: _kept(_sent(send))
        return self._execution.automatic.here(part)

    async def perform_async(self, send: Callable[[], Awaitable[Any]]) -> Any:
        part = self._part
        if answering is not None:
            part.step = lambda: _kept(_sent(self._scripted))
        else:
            part.step = lambda: _sent_async(send)
        return await self._execution.automatic.awaited(part)

    def _restore(self, data: Any) -> BaseException:
        return self._failures.restore(data, self._request)

    def _scripted(self) -> Any:
        assert answering is not None
        return answering(self._request)


class Passing:
    """An exchange that passes through: telemetry, or one for credentials. Nothing that it does is refused either."""

    __slots__ = ()

    def perform(self, send: Callable[[], Any]) -> Any:
        with unrecorded():
            return send()

    async def perform_async(self, send: Callable[[], Awaitable[Any]]) -> Any:
        with unrecorded():
            return await send()


class Scripted:
    """An exchange outside of a run, or directly in a step, that a test answers."""

    __slots__ = ("_failures", "_request")

    def __init__(self, request: Request, failures: Failures) -> None:
        self._request = request
        self._failures = failures

    def perform(self, send: Callable[[], Any]) -> Any:
        assert answering is not None
        return answering(self._request)

    async def perform_async(self, send: Callable[[], Awaitable[Any]]) -> Any:
        return self.perform(lambda: None)


def _sent(send: Callable[[], Any]) -> Any:
    """Makes the exchange."""
    with unrecorded():
        try:
            return send()
        except AnswerTooLarge as error:
            return error


async def _sent_async(send: Callable[[], Awaitable[Any]]) -> Any:
    current.set(None)  # of the task that this runs in
    try:
        answer = await send()
    except AnswerTooLarge as error:
        answer = error
    return _kept(answer)


def _kept(answer: Any) -> Any:
    """What is recorded of what came, and seen of it at every attempt, the first one included."""
    if not isinstance(answer, Answer):
        return answer
    answer = msgspec.structs.replace(answer, headers=recorded(answer.headers))
    try:
        refuse_bomb(answer)
    except AnswerTooLarge as error:
        return error
    return answer


def gathered(chunks: Iterable[bytes]) -> bytes:
    """The whole body of an answer. Raises AnswerTooLarge as soon as it is over the limit."""
    parts: list[bytes] = []
    size = 0
    for chunk in chunks:
        size += len(chunk)
        parts.append(chunk)
        if size > MAX_BYTES:
            raise AnswerTooLarge(_over_limit())
    return b"".join(parts)


async def gathered_async(chunks: AsyncIterable[bytes]) -> bytes:
    """The same for a coroutine."""
    parts: list[bytes] = []
    size = 0
    async for chunk in chunks:
        size += len(chunk)
        parts.append(chunk)
        if size > MAX_BYTES:
            raise AnswerTooLarge(_over_limit())
    return b"".join(parts)


def _over_limit() -> str:
    return f"gave an answer of more than {MAX_BYTES // 2**20} MiB"


def _told(request: Request) -> str:
    """The request for a message: without its path and query, which may hold secrets (webhooks, bots)."""
    return f"{request.method} {urlsplit(request.url).hostname or ''}"


def _condemned(path: Path, error: ProgramError) -> BaseException:
    """Faults the run with this error, also where the body, or an SDK, handles it."""
    condemned: BaseException = path.execution.condemned(error)  # type: ignore[attr-defined]
    return condemned


def _without_name(request: Request) -> CallWithoutName:
    here, line = place(), place(compiled=True)
    where = f"{here}, in {here.part!r}:" if here is not None else ""
    put = f'\n    {line}: once("ask", lambda: {line.part})' if line is not None else ""
    return CallWithoutName(
        f"{where} {_told(request)} would leave the process, but not by a call that has a name: a property, an "
        f"operator, a special method or an import makes it, and a later attempt could not find it again. It was not "
        f"made. Make it in a function that is called, or put a once round what makes it:{put}"
    )
