"""One writer per database file: a queue of operations, many per commit, each resolved when the commit is on the disk.

Nobody hops threads without need. A thread that waits commits the queue itself when nobody else is committing
(leader/follower). A coroutine's loop commits at the end of its tick while commits are quick and few, which is cheaper
than waking a thread; on a slow or busy disk, or for many operations, the writer's own thread does it. That thread also
commits what nobody waits for, and copies the write-ahead log back into the database, off everybody's way.

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
from .backlog import Backlog
from .ticket import Operation, Refusal, resolve, run_in_order

_BLOCK_LOOP = 300e-6  # a loop commits itself while a small commit takes less than this, in seconds
_INLINE_OPERATIONS = 24  # and while there are no more than this
_TICK = 0.05  # the longest that an operation lies in the queue which nobody waits for, in seconds
_CHECKPOINT_BYTES = 4 << 20  # of log; below the automatic limit of ``connect``, so that commits need not do it
_ROW_BYTES = 8 << 10  # what an operation adds to the log beside its own bytes, about


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
        self._flushing: set[asyncio.AbstractEventLoop] = set()
        self._pace: float | None = None  # seconds for a small commit, lately
        self._landed = False
        self._logged = 0
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
        if self._committing.acquire(blocking=False):
            try:
                if not operation.done:
                    self._batch(patient=True)
            finally:
                self._committing.release()
                if self._queue:
                    self.kick()
        if not operation.done:
            operation.block()

    def soon(self, loop: asyncio.AbstractEventLoop) -> None:
        """Sees to a commit after this tick of the loop, when all that is ready has queued what it has."""
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

    # ------------------------------------------------------------------------------------------------ loop and thread

    def _flush(self, loop: asyncio.AbstractEventLoop) -> None:
        self._flushing.discard(loop)
        if not self._queue:
            return
        quick = self._pace is not None and self._pace < _BLOCK_LOOP and len(self._queue) <= _INLINE_OPERATIONS
        if quick and self._committing.acquire(blocking=False):
            try:
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
        seen: object = None
        while not self._closing:
            self._dozing = seen is None and not self._queue
            if self._dozing and not self._queue and not self._urgent:
                self._wake.acquire()
            else:
                self._wake.acquire(timeout=_TICK)
            self._dozing = False
            head = self._queue.head()
            if self._urgent or (head is not None and head is seen):
                self._urgent = False
                while self._queue:
                    with self._committing:
                        self._batch(patient=True)
            seen = self._queue.head()
            if self._logged > _CHECKPOINT_BYTES:
                self._checkpoint()

    def _checkpoint(self) -> None:
        """Copies the log into the database: most of it beside the writers, the rest with them held up shortly."""
        self._logged = 0
        try:
            helper = self._connect()
            try:
                helper.execute("PRAGMA wal_checkpoint(PASSIVE)")
                with self._committing:
                    helper.execute("PRAGMA wal_checkpoint(PASSIVE)")
            finally:
                helper.close()
        except (sqlite3.Error, StoreError):  # the automatic checkpoint of the writing connection reports what is wrong
            return

    # --------------------------------------------------------------------------------------------------- one commit

    def _batch(self, *, patient: bool, home: asyncio.AbstractEventLoop | None = None) -> None:
        """Commits one batch; the caller holds ``_committing``. One that is not patient leaves a busy file alone."""
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
            self._measure(time.perf_counter() - started, operations)
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
        connection = self.connection
        if len(operations) == 1 and not careful and not points.armed and operations[0].run_alone(connection):
            return
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
        failure = faults.translate(error, self.path)
        for operation in operations:
            operation.keep(Refusal(failure))
        if faults.needs_new_connection(error):
            with suppress(sqlite3.Error, StoreError):
                fresh = self._connect()
                self.connection.close()
                self.connection = fresh

    def _measure(self, seconds: float, operations: list[Operation[Any]]) -> None:
        size = sum([operation.weight for operation in operations])
        self._logged += size + _ROW_BYTES * len(operations)
        self._queue.account(seconds, size)
        if size < _ROW_BYTES * len(operations):
            seconds -= 10e-6 * len(operations)
            pace = self._pace
            self._pace = seconds if pace is None or seconds > _BLOCK_LOOP else pace + (seconds - pace) * 0.25
        if self._logged > _CHECKPOINT_BYTES:
            self._rouse()
