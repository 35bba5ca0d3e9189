"""FastAPI: a worker while the server runs, errors as HTTP answers, and a session for each request.

Needs ``semel[fastapi]``. Nothing here keeps state: an App is made in the user's module, and given.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any

from fastapi import Depends, FastAPI, Request
from fastapi.responses import JSONResponse

from semel.app import App
from semel.errors import (
    EntityGone,
    EntityNotFollowed,
    EventNotTaken,
    PayloadChanged,
    ResultTimeout,
    RunBusy,
    RunEnded,
    RunIdConflict,
    RunNotFound,
    RunPurged,
    SemelError,
    StepNotFound,
    StoreError,
)

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[Any]]

#: The first class that the error is of counts. What is none of these is a defect of the program: 500, without its text.
_STATUS: tuple[tuple[type[SemelError], int], ...] = (
    (RunPurged, 410),
    (RunNotFound, 404),
    (StepNotFound, 404),
    (EntityNotFollowed, 404),
    (EntityGone, 404),
    (RunIdConflict, 409),
    (RunEnded, 409),
    (EventNotTaken, 409),
    (PayloadChanged, 409),
    (RunBusy, 503),
    (ResultTimeout, 504),
    (StoreError, 503),
)
_RETRY_AFTER = "1"  # seconds


def lifespan(
    app: App, *, worker: bool = True, threads: int = 32, tasks: int = 1000, then: Lifespan | None = None
) -> Lifespan:
    """A lifespan for ``FastAPI(lifespan=lifespan(app))``: the app is checked and a worker runs while the server does.

    The worker's async bodies run on the server's own loop. When the server stops, no more runs are claimed, running
    bodies end or unwind at their next step, and the app is closed.

    Args:
        worker: False where workers are processes of their own (``semel worker``).
        threads, tasks: how many sync and async bodies run at once.
        then: a lifespan of the user's own, which begins after the app and ends before it.

    Raises:
        Refused: the program cannot run safely; the server does not start.
        StoreError: the database cannot be opened.
    """

    @asynccontextmanager
    async def run(api: FastAPI) -> AsyncIterator[Any]:
        await asyncio.to_thread(_open, app)
        try:
            async with AsyncExitStack() as stack:
                if worker:
                    await stack.enter_async_context(app.worker(threads=threads, tasks=tasks))
                yield await stack.enter_async_context(then(api)) if then is not None else None
        finally:
            await asyncio.to_thread(app.close)

    return run


def install(api: FastAPI) -> None:
    """Answers semel's errors with their status and a JSON body: ``{"error": "SEMEL-RUN-NOT-FOUND", "message": …}``.

    404 where there is no such run, step or row, 409 where an id is taken or a state does not take an event, 503 with
    Retry-After where the database or a run is busy. Errors of the workflow's own, which ``run.result()`` and an arm
    raise, are not semel's, and go on.
    """
    api.add_exception_handler(SemelError, _answer)


def session_of(app: App) -> Any:
    """A dependency, a SQLAlchemy ``Session`` for one request: ``session: Annotated[Session, session_of(app)]``.

    It is committed when the endpoint has returned, before the answer is sent, and rolled back where it raises.
    """

    def session() -> Iterator[Any]:
        with app.session() as opened:
            yield opened
            opened.commit()

    return Depends(session, scope="function")


def async_session_of(app: App) -> Any:
    """``session_of`` for async endpoints: an ``AsyncSession``."""

    async def session() -> AsyncIterator[Any]:
        async with app.async_session() as opened:
            yield opened
            await opened.commit()

    return Depends(session, scope="function")


def _open(app: App) -> None:
    app.check()
    assert app.store


async def _answer(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, SemelError)
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
    headers = {"Retry-After": _RETRY_AFTER} if status == 503 else None
    message = str(error) if status < 500 else "the request could not be answered; the server's log says why"
    return JSONResponse({"error": error.code, "message": message}, status_code=status, headers=headers)
