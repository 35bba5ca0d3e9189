"""One writer per database file: a queue of operations, many per commit, each resolved when the commit is on the disk.

Nobody hops threads without need. A thread that waits commits the queue itself when nobody else is committing
(leader/follower). A coroutine's loop commits at the end of its tick while commits are quick and few, which is cheaper
than waking a thread; on a slow or busy disk, or for many operations, the writer's own thread does it. The thread also
commits what nobody waits for.

Invariants: only the holder of ``_committing`` touches ``connection`` or removes from the queue; who lets go of it
looks at the queue afterwards, and who enqueues tries to get it afterwards, so that no operation is left behind.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from semel.engine import points
from semel.errors import StoreError

from . import faults
from .backlog import LARGE, Backlog
from .ticket import Operation, Refusal, resolve, run_in_order

_BLOCK_LOOP = 300e-6  # a loop commits itself while a small commit takes less than this, in seconds
_INLINE_OPERATIONS = 24  # and while there are no more than this
_ALONE = 8  # a loop's task is alone after so many commits of one operation
_TURN = 1e-3  # how long such a task may keep the loop, in seconds
_TICK = 0.05  # the longest that an operation lies in the queue which nobody waits for, in seconds


class Writer:
    """The one connection of this process that writes to ``path``."""

    def __init__(self, name: str, path: Path, connect: Callable[[], sqlite3.Connection], timeout: float) -> None:
        self.path = path
        self._in_batch, self._after_commit = f"{name}.in_batch", f"{name}.after_commit"
        self._connect = connect
        self._timeout = timeout
        self.connection = connect()
        self._queue = Backlog()
        self._committing = threading.Lock()
        self._committer: int | None = None  # the thread that is in a batch
        self._lent = False  # whether a fork has frozen this in the midst of its own thread's batch
        self._lost = False  # whether the connection is a closed one
        self._flushing: set[asyncio.AbstractEventLoop] = set()
        self._pace: float | None = None  # seconds for a small commit, lately
        self._landed = False
        self._alone = 0  # commits in a row that a loop made for one operation
        self._turn: tuple[asyncio.AbstractEventLoop, asyncio.Task[Any] | None, float] | None = None
        self._wake = threading.Lock()
        self._wake.acquire()
        self._urgent = False
        self._dozing = True
        self._closing = False
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    # ------------------------------------------------------------------------------------------------------- callers

    def submit(self, operation: Operation[Any]) -> None:
        """Queues it. It is committed when somebody waits for it, or with the next one, or a tick later."""
        if self._closing:
            raise StoreError(f"{self.path}: the store was closed; open it again")
        self._queue.append(operation)
        if self._dozing:
            self._rouse()

    def lead(self, operation: Operation[Any]) -> None:
        """Returns when the operation is done: commits it here, or waits for the one who does."""
        if self._committing.acquire(False):
            try:
                if not operation.done and not self._single():
                    self._batch(patient=True)
            finally:
                self._committing.release()
                if self._queue:
                    self.kick()
        if not operation.done:
            operation.block()

    def soon(self, loop: asyncio.AbstractEventLoop) -> None:
        """Sees to a commit: at once for a task that is alone, else after this tick of the loop.

        By then all tasks that are ready have queued what they have. Whether a task is alone is known from the last
        commits, and unlearnt as soon as two write in one tick. A task may go on at once for a millisecond, then the
        loop has its turn.
        """
        if self._alone >= _ALONE and self._at_once(loop):
            return
        if loop not in self._flushing:
            self._flushing.add(loop)
            loop.call_soon(self._flush, loop)

    def kick(self) -> None:
        """Lets the writer's thread commit the queue now."""
        if not self._urgent:
            self._urgent = True
            self._rouse()

    def drain(self) -> bool:
        """Commits what is queued; whether there was anything."""
        with self._committing:
            found = bool(self._queue)
            while self._queue:
                self._batch(patient=True)
        return found

    def close(self) -> None:
        """Disconnects; the queue was drained before."""
        self._closing = True
        if self._thread is not None:
            self._rouse()
            self._thread.join()
        with self._committing:
            self.connection.close()

    # ----------------------------------------------------------------------------------------------------------- forks

    def freeze(self, deadline: float) -> bool:
        """Before a fork: disconnects, and nobody commits until ``thaw``. False, and nothing done, if it cannot.

        The thread that forks may itself be in a batch, behind the commit: in a callback of an operation.
        """
        mine = self._committer == threading.get_ident()
        if mine:
            if self.connection.in_transaction:
                return False
        elif not self._committing.acquire(timeout=max(deadline - time.monotonic(), 0.0)):
            return False
        self._lent, self._lost = mine, True
        self.connection.close()
        return True

    def thaw(self) -> None:
        """After the fork, in the parent. Should it not connect, the next batch tries again, and reports."""
        with suppress(sqlite3.Error, StoreError):
            self._reconnect()
        if not self._lent:
            self._committing.release()
        if self._queue:
            self.kick()

    def abandon(self) -> None:
        """In a forked child: what is queued is the parent's, and nothing is written here any more."""
        self._closing = True
        self._queue = Backlog()

    def _reconnect(self) -> None:
        fresh = self._connect()
        self.connection.close()
        self.connection, self._lost = fresh, False

    # ------------------------------------------------------------------------------------------------ loop and thread

    def _at_once(self, loop: asyncio.AbstractEventLoop) -> bool:
        task, now, turn = asyncio.current_task(loop), time.perf_counter(), self._turn
        if turn is None or turn[0] is not loop:
            self._turn = (loop, task, now)
            loop.call_soon(self._end_turn)
        elif turn[1] is not task:
            self._alone = 0
            return False
        elif now - turn[2] > _TURN:
            return False
        if not self._quick() or not self._committing.acquire(False):
            return False
        try:
            done = self._single(loop)
        finally:
            self._committing.release()
        if done and self._queue:
            self.kick()
        return done

    def _end_turn(self) -> None:
        self._turn = None

    def _quick(self) -> bool:
        return self._pace is not None and self._pace < _BLOCK_LOOP

    def _flush(self, loop: asyncio.AbstractEventLoop) -> None:
        self._flushing.discard(loop)
        if not self._queue:
            return
        number = len(self._queue)
        self._alone = self._alone + 1 if number == 1 else 0
        if number <= _INLINE_OPERATIONS and self._quick() and self._committing.acquire(False):
            try:
                if not self._single(loop):
                    self._batch(patient=False, home=loop)
            finally:
                self._committing.release()
        if self._queue:
            self.kick()

    def _rouse(self) -> None:
        if self._thread is None:
            with self._starting:
                if self._thread is None and not self._closing:
                    name = f"semel-{self.path.name}"
                    self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
                    self._thread.start()
        try:
            self._wake.release()
        except RuntimeError:  # it is awake
            return

    def _serve(self) -> None:
        seen: Operation[Any] | None = None
        roused = True
        self._dozing = False
        while not self._closing:
            if roused or seen is not None:
                roused = self._wake.acquire(timeout=_TICK)
            else:  # a whole tick without work: sleep until there is some
                self._dozing = True
                roused = bool(self._queue or self._urgent) or self._wake.acquire()
                self._dozing = False
            head = self._queue.head()
            if self._urgent or (head is not None and head is seen and not roused):
                self._urgent = False
                while self._queue:
                    with self._committing:
                        self._batch(patient=True)
            seen = self._queue.head()

    # --------------------------------------------------------------------------------------------------- one commit

    def _single(self, home: asyncio.AbstractEventLoop | None = None) -> bool:
        """The short way of a lone run: one operation, of one statement, in a queue of one. Whether it was that."""
        operation = self._queue.only()
        if operation is None or points.armed:
            return False
        started = time.perf_counter()
        try:
            if not operation.run_alone(self.connection):
                return False
        except Exception:  # still queued: the long way runs it again, and knows what to do
            return False
        self._queue.drop()
        operation.done = True
        if operation.latch is not None or operation.future_ is not None:
            resolve((operation,), home)
        self._measure(time.perf_counter() - started, 1, operation.weight)
        return True

    def _batch(self, *, patient: bool, home: asyncio.AbstractEventLoop | None = None) -> None:
        """Commits one batch; the caller holds ``_committing``. One that is not patient leaves a busy file alone."""
        self._committer = threading.get_ident()
        try:
            self._one_batch(patient, home)
        finally:
            self._committer = None

    def _one_batch(self, patient: bool, home: asyncio.AbstractEventLoop | None) -> None:
        started = time.perf_counter()
        self._landed = False
        try:
            operations = self._queue.take(light=not patient)
            if operations and self._commit(operations, patient):
                self._landed = True
        finally:  # also after an interrupt in a leader's thread: what others have queued must not be lost
            operations = self._queue.taken
            if self._landed:
                resolve(operations, home)
                self._queue.clear()
            elif operations:
                self._queue.put_back()
        if self._landed:
            self._measure(time.perf_counter() - started, len(operations), sum([one.weight for one in operations]))
            for operation in operations:
                if operation.after is not None:
                    operation.after(operation)

    def _commit(self, operations: list[Operation[Any]], patient: bool) -> bool:
        """Whether the operations are done with, well or badly; False if the file was busy and this is not patient."""
        careful = False
        deadline: float | None = None
        delay = 50e-6
        while True:
            try:
                self._attempt(operations, careful)
                return True
            except Exception as error:
                if faults.is_busy(error):
                    if not patient:
                        return False
                    now = time.perf_counter()
                    deadline = now + self._timeout if deadline is None else deadline
                    if now < deadline:
                        time.sleep(delay)
                        delay = min(delay * 2, 10e-3)
                        continue
                elif not careful and not faults.is_general(error):
                    careful = True  # one operation is at fault: find out which, and commit the others
                    continue
                self._fail(operations, error)
                return True

    def _attempt(self, operations: list[Operation[Any]], careful: bool) -> None:
        if self._lost:
            self._reconnect()
        connection = self.connection
        began = False
        try:
            connection.execute("BEGIN IMMEDIATE")
            began = True
            if careful:
                self._run_apart(operations)
            else:
                run_in_order(connection, operations)
            if points.armed:
                points.hit(self._in_batch)
            connection.execute("COMMIT")
        except BaseException as error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            elif began and not isinstance(error, Exception):
                self._landed = True  # interrupted just after the commit
            raise
        if points.armed:
            points.hit(self._after_commit)

    def _run_apart(self, operations: list[Operation[Any]]) -> None:
        """Each operation in a savepoint of its own, so that one that fails leaves no trace and disturbs no other."""
        connection = self.connection
        for operation in operations:
            connection.execute("SAVEPOINT semel_one")
            try:
                operation.run(connection)
            except Exception as error:
                if faults.is_busy(error) or faults.is_general(error):
                    raise
                connection.execute("ROLLBACK TO semel_one")
                operation.keep(Refusal(faults.of_operation(error, self.path)))
            connection.execute("RELEASE semel_one")

    def _fail(self, operations: list[Operation[Any]], error: Exception) -> None:
        for operation in operations:
            operation.keep(Refusal(faults.translate(error, self.path)))
        if faults.needs_new_connection(error):
            with suppress(sqlite3.Error, StoreError):
                self._reconnect()

    def _measure(self, seconds: float, number: int, size: int) -> None:
        self._queue.account(seconds, size)
        if size < LARGE:
            seconds -= 10e-6 * number
            pace = self._pace
            self._pace = seconds if pace is None or seconds > _BLOCK_LOOP else pace + (seconds - pace) * 0.25
