"""Tickets: a write on its way to the disk, waited for by threads or by coroutines.

An ``Operation`` is one write of one transaction; ``Steps`` are a write of several, one after the other, each begun
when the one before is durable. Both are resolved by whichever thread made the commit. No wake-up is lost, because the
waiter first announces itself and then looks at ``done``, and the one who resolves does it the other way round.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
from collections.abc import Callable, Generator, Iterable
from itertools import groupby
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

if TYPE_CHECKING:
    from .writer import Writer

T = TypeVar("T")

_making_latches = threading.Lock()


def _after_fork_in_child() -> None:
    global _making_latches
    _making_latches = threading.Lock()  # another thread of the parent may have held it


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)


class Promise(Generic[T]):
    """A value to come. ``done`` is set last, after ``value`` or ``error``."""

    __slots__ = ("done", "error", "future_", "latch", "loop", "value")

    def __init__(self) -> None:
        self.done = False
        self.value: T | None = None
        self.error: BaseException | None = None
        self.latch: threading.Lock | None = None
        self.future_: asyncio.Future[T] | None = None
        self.loop: asyncio.AbstractEventLoop | None = None

    def outcome(self) -> T:
        if self.error is not None:
            raise self.error
        return cast(T, self.value)

    def block(self) -> None:
        """Waits until somebody resolves this."""
        with _making_latches:
            latch = self.latch
            if latch is None:
                latch = threading.Lock()
                latch.acquire()
                self.latch = latch
        if not self.done:
            with latch:  # held until resolved, then passed on from one waiter to the next
                pass

    def announce(self, loop: asyncio.AbstractEventLoop) -> asyncio.Future[T]:
        """A future that whoever resolves this will settle. All who wait are on one loop."""
        future: asyncio.Future[T] = loop.create_future()
        first = self.future_
        if first is None:
            self.loop = loop
            self.future_ = future
        else:  # one behind both, because the first may be cancelled
            both: asyncio.Future[T] = loop.create_future()
            both.add_done_callback(lambda _: self.settle(first))
            both.add_done_callback(lambda _: self.settle(future))
            both.add_done_callback(asyncio.Future.exception)
            self.future_ = both
        if self.done:
            self.settle(future)
        return future

    def settle(self, future: asyncio.Future[T]) -> None:
        """Completes a future of the running loop, unless it was cancelled or completed already."""
        if future.done():
            return
        if self.error is not None:
            future.set_exception(self.error)
        else:
            future.set_result(cast(T, self.value))


def resolve(promises: Iterable[Promise[Any]], home: asyncio.AbstractEventLoop | None = None) -> None:
    """Wakes all who wait: threads each, and the coroutines of a loop by one call into it.

    ``home`` is the loop whose thread this is, if any. May be called again for the same promises.
    """
    loops: dict[asyncio.AbstractEventLoop, list[Promise[Any]]] | None = None
    for promise in promises:
        promise.done = True
        latch = promise.latch
        if latch is not None and latch.locked():
            _open(latch)
        if promise.future_ is not None:
            loop = promise.loop
            if loop is home:
                promise.settle(promise.future_)
            elif loop is not None:
                if loops is None:
                    loops = {}
                loops.setdefault(loop, []).append(promise)
    if loops is not None:
        for loop, waiting in loops.items():
            try:
                loop.call_soon_threadsafe(_settle_all, waiting)
            except RuntimeError:  # the loop was closed: nobody waits there any more
                continue


def _open(latch: threading.Lock) -> None:
    try:
        latch.release()
    except RuntimeError:  # a waiter held it in passing, so it was open already
        return


def _settle_all(promises: list[Promise[Any]]) -> None:
    for promise in promises:
        if promise.future_ is not None:
            promise.settle(promise.future_)


class Refusal:
    """What an operation returns to make its ticket raise without disturbing the transaction that it shares."""

    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error


class Operation(Promise[T]):
    """One write in a transaction that it shares with others. It may be run more than once; the last run counts.

    ``weight`` is about the bytes that it writes. ``after`` is called once it is durable or has failed, by the thread
    that made the commit: it must not block.
    """

    __slots__ = ("after", "weight", "work", "writer")

    def __init__(
        self,
        writer: Writer,
        work: Callable[[sqlite3.Connection], T | Refusal],
        weight: int = 0,
        after: Callable[[Operation[T]], None] | None = None,
    ) -> None:
        self.done = False
        self.value = None
        self.error = None
        self.latch = None
        self.future_ = None
        self.loop = None
        self.writer = writer
        self.work = work
        self.weight = weight
        self.after = after

    def run(self, connection: sqlite3.Connection) -> None:
        """Runs in the open transaction."""
        self.keep(self.work(connection))

    def run_alone(self, connection: sqlite3.Connection) -> bool:
        """Runs as a transaction of a single statement, which is quicker, if it can; whether it did.

        One that can has no ``after``, and does no harm when it is run again after it had succeeded.
        """
        return False

    def keep(self, value: T | Refusal) -> None:
        """Keeps what the work gave for those who wait."""
        if isinstance(value, Refusal):
            self.value, self.error = None, value.error
        else:
            self.value, self.error = value, None

    def wait(self) -> T:
        if not self.done:
            self.writer.lead(self)
        return self.outcome()

    def future(self, loop: asyncio.AbstractEventLoop) -> asyncio.Future[T]:
        future = self.announce(loop)
        if not self.done:
            self.writer.soon(loop)
        return future


class Together(Operation[T]):
    """An operation of which many, one behind the other in a transaction, are run by fewer statements."""

    __slots__ = ()

    @classmethod
    def run_all(cls, connection: sqlite3.Connection, operations: list[Any]) -> None:
        """Runs all of them in order."""
        raise NotImplementedError


def run_in_order(connection: sqlite3.Connection, operations: list[Operation[Any]]) -> None:
    """Runs operations one after the other, neighbours of one kind together where that pays."""
    for kind, group in groupby(operations, type):
        if issubclass(kind, Together):
            kind.run_all(connection, list(group))
        else:
            for operation in group:
                operation.run(connection)


class Steps(Promise[T]):
    """A write in several transactions: a generator that yields operations and is sent what they gave.

    Whoever waits drives the first operation; the ones after it are driven by their writer's thread. They go on, once
    begun, whether anybody waits or not.
    """

    __slots__ = ("_first", "_steps")

    def __init__(self, steps: Generator[Operation[Any], Any, T]) -> None:
        super().__init__()
        self._steps = steps
        self._first: Operation[Any] | None = None
        self._advance(None)

    def wait(self) -> T:
        if not self.done and self._first is not None:
            self._first.writer.lead(self._first)
        if not self.done:
            self.block()
        return self.outcome()

    def future(self, loop: asyncio.AbstractEventLoop) -> asyncio.Future[T]:
        future = self.announce(loop)
        if not self.done and self._first is not None:
            self._first.writer.soon(loop)
        return future

    def _advance(self, done: Operation[Any] | None) -> None:
        try:
            if done is None:
                following = next(self._steps)
            elif done.error is not None:
                following = self._steps.throw(done.error)
            else:
                following = self._steps.send(done.value)
            following.after = self._advance
            following.writer.submit(following)
        except StopIteration as end:
            self.value = end.value
        except Exception as error:  # it belongs to whoever holds the ticket
            self.error = error
        else:
            if self._first is None:
                self._first = following
            else:
                following.writer.kick()
            return
        resolve((self,))
