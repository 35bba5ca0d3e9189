"""Sagas: steps with an undo, and the undos that run in reverse when the block is left by an exception (rule W7)."""

from __future__ import annotations

import asyncio
import inspect
import logging
import uuid
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from types import TracebackType
from typing import Any, Literal, LiteralString, TypeVar, overload

from semel.compiler import Path, intrinsic
from semel.engine.labels import segment_of_label, wants_key
from semel.engine.retry import check_policy
from semel.engine.saga_block import SagaBlock
from semel.engine.undoing import UNKNOWN as UNKNOWN
from semel.engine.undoing import Unknown as Unknown
from semel.engine.undoing import name_of_undo
from semel.engine.waiting import on_loop, on_thread
from semel.errors import NotAllowedHere

from .backoff import Backoff
from .uncompiled import refuse_uncompiled

T = TypeVar("T")

log = logging.getLogger("semel")

_RETRY = Backoff.exponential(timedelta(seconds=1)).cap(timedelta(minutes=5)).max_attempts(8)


def saga(label: LiteralString) -> Saga:
    """Opens a saga: ``with saga("trip") as trip:``, in an async body ``async with saga("trip") as trip:``.

    Where an exception leaves the block, or the run is cancelled or out of time in it, the undos of the steps that were
    completed run, the latest first; then the exception goes on its way. If it ends the body and the run is delivered
    again, the work of the block is done anew. A saga inside another one hands its undos to that when it is left well.

    Args:
        label: a string literal that names the saga; the only one of that name in its function.
    """
    refuse_uncompiled(f"saga({label!r})")
    segment_of_label(label)
    return Saga(label, None)


class Saga:
    """An open saga. Outside of a run it keeps its steps in memory, and undoes them all the same."""

    def __init__(self, label: str, block: SagaBlock | None) -> None:
        self._label = label
        self._block = block
        self._mode: Literal["with", "async with"] | None = None
        self._done: list[tuple[str, Callable[[Any], object], object]] = []

    def __repr__(self) -> str:
        return f"<Saga {self._label!r}>"

    @overload
    def step(
        self,
        label: LiteralString,
        do: Callable[[], T],
        /,
        *,
        undo: Callable[[Any], object] | None = None,
        undo_retry: Backoff = _RETRY,
    ) -> T: ...
    @overload
    def step(
        self,
        label: LiteralString,
        do: Callable[[str], T],
        /,
        *,
        undo: Callable[[Any], object] | None = None,
        undo_retry: Backoff = _RETRY,
    ) -> T: ...
    def step(self, label: str, do: Callable[..., Any], /, *, undo: Any = None, undo_retry: Backoff = _RETRY) -> Any:
        """A step of the saga, as ``once`` makes one; in an ``async with`` it is awaited, whatever ``do`` is.

        Args:
            label: a string literal that names the step; the only one of that name in the saga.
            do: the work: a function or lambda without arguments, or with one, the idempotency key.
            undo: a function at the top level of a module; it is given what ``do`` returned, or ``UNKNOWN`` where a
                crash left that open, and runs as a step of its own. None: there is nothing to undo.
            undo_retry: how often the undo is tried: 8 times, 1 s to 64 s apart, if not given. One that fails for good
                is noted on the run, and the others still run.

        Raises:
            TypeError: the undo could not be found again when the body is gone.
            NotAllowedHere: outside of the saga's block.
            whatever ``do`` raises, and what ``once`` raises.
        """
        self._refuse("step")
        segment_of_label(label)
        check_policy(label, undo_retry, None)
        if undo is not None:
            name_of_undo(undo, label)
        work: Callable[[], Any] = partial(do, uuid.uuid4().hex) if wants_key(do, label, scoped=False) else do
        if self._mode == "async with":
            return self._step_async(label, work, undo)
        return self._did(label, undo, work())

    async def _step_async(self, label: str, work: Callable[[], Any], undo: Any) -> Any:
        made = work()
        return self._did(label, undo, await made if inspect.isawaitable(made) else made)

    def _did(self, label: str, undo: Any, value: object) -> object:
        if undo is not None:
            self._done.append((label, undo, value))
        return value

    def keep(self) -> None:
        """From here on nothing of the saga is undone, neither what it has done nor what it still does."""
        if self._block is not None:
            self._block.keep()
            return
        self._refuse("keep")
        self._done = []
        self._did = lambda label, undo, value: value  # type: ignore[method-assign]

    def _refuse(self, name: str) -> None:
        if self._block is not None or self._mode is None:
            refuse_uncompiled(f"{name}(…) of {self!r}")
            raise NotAllowedHere(f"{name}(…) of {self!r} is for inside of its block: `with saga(…) as trip:`")

    # -------------------------------------------------------------------------------------------------------- the block

    def __enter__(self) -> Saga:
        self._begin("with")
        if self._block is not None:
            if asyncio.events._get_running_loop() is not None:
                raise TypeError(f"in an async body a saga is opened by `async with saga({self._label!r})`")
            on_thread(self._block.enter())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if self._block is not None:
            on_thread(self._block.leave(error))
            return
        for label, undo, value in self._undos(error):
            try:
                undo(value)
            except Exception:
                log.exception("the undo of %s failed", label)

    async def __aenter__(self) -> Saga:
        self._begin("async with")
        if self._block is not None:
            await on_loop(self._block.enter())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        if self._block is not None:
            await on_loop(self._block.leave(error))
            return
        for label, undo, value in self._undos(error):
            try:
                made = undo(value)
                if inspect.isawaitable(made):
                    await made
            except Exception:
                log.exception("the undo of %s failed", label)

    def _begin(self, mode: Literal["with", "async with"]) -> None:
        if self._mode is not None:
            raise NotAllowedHere(f"{self!r} has one block: write saga({self._label!r}) once more for another one")
        self._mode = mode

    def _undos(self, error: BaseException | None) -> list[tuple[str, Callable[[Any], object], object]]:
        done, self._done = self._done, []
        return done[::-1] if error is not None else []


def _saga_at(path: Path, passes: tuple[object, ...], awaited: bool) -> Callable[..., Saga]:
    execution: Any = path.execution
    return lambda label: Saga(label, SagaBlock(execution, path, passes, label))


def _step_at(path: Path, passes: tuple[object, ...], awaited: bool, trip: Any) -> Callable[..., Any]:
    block: SagaBlock | None = trip._block
    if block is None:
        return trip.step  # type: ignore[no-any-return]

    def step(label: str, do: Any, /, *, undo: Any = None, undo_retry: Any = _RETRY) -> Any:
        check_policy(label, undo_retry, None)
        return block.step(path, passes, trip._mode == "async with", label, do, undo, undo_retry or _RETRY)

    return step


intrinsic(saga, _saga_at)
intrinsic(Saga.step, _step_at)
