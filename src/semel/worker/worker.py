"""A worker: claims runs and drives them, sync bodies on threads and async bodies on one event loop.

One thread claims; it is woken by this process's own starts and otherwise looks for the changes of other processes. In
``async with`` the async bodies run on the caller's loop, so that they may share its clients; else on a loop of the
worker's own.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING

from semel.compiler import preload
from semel.engine import points
from semel.engine.execution import Execution
from semel.engine.halt import Halt
from semel.engine.waiting import on_loop, on_thread
from semel.errors import StoreError
from semel.store.interface import Claim

from .attempts import Attempts
from .lease import Lease
from .suspects import Suspects
from .tracked import tracked

if TYPE_CHECKING:
    from semel.app import App

log = logging.getLogger("semel")

_LOOK = 0.05  # seconds between two looks for what other processes have started
_TAKE_OVER = 0.5  # seconds between two looks for runs of dead workers
_BATCH = 256  # runs whose clocks are due that are woken at once
_DRAIN = 5.0  # seconds that a stopping worker gives its bodies to end, and then to unwind


async def _apart(function: Callable[..., object], *args: object) -> None:
    """Calls it in a thread of its own: the loop's executor may be full of the user's own work."""
    with ThreadPoolExecutor(1) as pool:
        await asyncio.get_running_loop().run_in_executor(pool, function, *args)


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    while True:
        try:
            loop.run_forever()
            return
        except (SystemExit, KeyboardInterrupt):  # of a step or a task: asyncio lets them through
            log.exception("an exit in a task does not end the worker")


class Worker:
    """Runs an app's workflows: ``with app.worker():``, ``async with app.worker():``, or ``start`` and ``stop``."""

    def __init__(self, app: App, *, threads: int, tasks: int, lease: timedelta) -> None:
        if threads < 1 or tasks < 1 or lease < timedelta(milliseconds=100):
            raise ValueError("a worker needs threads and tasks of 1 or more, and a lease of at least 100 ms")
        self._app = app
        self._limits = {False: threads, True: tasks}  # by is_async
        self._lease_seconds = lease.total_seconds()
        self._lease: Lease | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._own_loop: threading.Thread | None = None
        self._claimer: threading.Thread | None = None
        self._stopping = threading.Event()
        self._wake = threading.Event()
        self._lock = threading.Lock()
        self._idle = threading.Condition(self._lock)
        self._more = {False: False, True: False}  # whether there was more to claim than there was room for
        self._busy = {False: 0, True: 0}
        self._due: float | None = None  # when the next clock is
        self._executions: set[Execution] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._suspects: Suspects[tuple[Attempts, Claim, bool]] = Suspects()

    # ------------------------------------------------------------------------------------------------------- life cycle

    def start(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        """Checks the program, opens the database, and begins to claim; async bodies run on ``loop`` if it is given."""
        if self._lease is not None:
            raise RuntimeError("a worker is started once; make another one with app.worker()")
        app = self._app
        app.check()
        preload()
        self._lease = Lease(app.store, self._lease_seconds, self._lost)
        self._lease.start()
        self._pool = ThreadPoolExecutor(self._limits[False], thread_name_prefix="semel-body")
        if loop is None:
            loop = asyncio.new_event_loop()
            self._own_loop = threading.Thread(target=_serve, args=(loop,), name="semel-loop", daemon=True)
            self._own_loop.start()
        self._loop = loop
        app.signals.join(self._wake.set)
        self._claimer = threading.Thread(target=self._claim_runs, name="semel-claim", daemon=True)
        self._claimer.start()

    def stop(self) -> None:
        """Claims no more, lets running bodies end or unwind at their next step, and gives the rest back."""
        self._stop_claiming()
        self._wait_idle(_DRAIN)
        self._halt_all(Halt("stopping"))
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._cancel_tasks)
        self._wait_idle(_DRAIN)
        self._close()

    async def stop_async(self) -> None:
        """``stop`` for a coroutine of the loop that the bodies run on."""
        await _apart(self._stop_claiming)
        await _apart(self._wait_idle, _DRAIN)
        self._halt_all(Halt("stopping"))
        self._cancel_tasks()
        await _apart(self._wait_idle, _DRAIN)
        await _apart(self._close)

    def __enter__(self) -> Worker:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.stop()

    async def __aenter__(self) -> Worker:
        await _apart(self.start, asyncio.get_running_loop())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        await self.stop_async()

    @property
    def idle(self) -> bool:
        """Whether no body runs here at this moment."""
        return not any(self._busy.values())

    # --------------------------------------------------------------------------------------------------------- claiming

    def _claim_runs(self) -> None:
        seen: object = None
        looked = 0.0
        while not self._stopping.is_set():
            self._wake.wait(self._pause())
            woken = self._wake.is_set()
            self._wake.clear()
            try:
                self._drive_next_suspect()
                changed = self._app.store.changed()
                due = time.monotonic() - looked > _TAKE_OVER
                if changed != seen:
                    self._end_cancelled()
                if self._wake_due() or woken or changed != seen or due or any(self._more.values()):
                    seen = changed
                    looked = time.monotonic()
                    self._claim_all()
            except StoreError as error:
                log.warning("no runs can be claimed: %s", error)
                self._stopping.wait(_TAKE_OVER)
            except Exception:
                log.exception("claiming failed")
                self._stopping.wait(_TAKE_OVER)

    def _pause(self) -> float:
        """Seconds until the next look, which is no later than the next clock."""
        due = self._due
        return _LOOK if due is None else min(_LOOK, max(due - self._app.now(), 0.0))

    def _wake_due(self) -> int:
        """Makes runs claimable whose clock is due: so many that what is fresh does not wait long behind them."""
        self._due = self._app.store.next_due()
        now = self._app.now()
        if self._due is None or self._due > now or any(self._more.values()):
            return 0
        return self._app.store.wake_due(now, _BATCH).wait()

    def _end_cancelled(self) -> None:
        """Halts what runs here and was cancelled, or is out of time: it is claimed again, to be ended."""
        running = {execution.run: execution for execution in tuple(self._executions) if not execution.ending}
        for uid in self._app.store.ending(list(running)) if running else ():
            running[uid].halt(Halt("cancelled"))

    def _claim_all(self) -> None:
        """Claims as long as there is something to claim and room for it."""
        lease = self._lease
        assert lease is not None
        for is_async in (False, True):
            names = [w.name for w in self._app.registered() if w.is_async is is_async]
            while names and not self._stopping.is_set() and lease.may_start():
                # No more than can run now: a run that waited here for a thread could not run anywhere else.
                room = self._limits[is_async] - self._busy[is_async]
                if room <= 0:
                    break
                claims = self._app.store.claim(lease.owner, names, room, time.time(), self._app.now()).wait()
                if points.armed and claims:
                    points.hit("run.claimed")
                self._begin(claims, lease, is_async)
                self._more[is_async] = len(claims) == room
                if not self._more[is_async]:
                    break

    def _begin(self, claims: list[Claim], lease: Lease, is_async: bool) -> None:
        assert self._pool is not None
        assert self._loop is not None
        with self._lock:
            self._busy[is_async] += len(claims)
        registered = {workflow.name: workflow for workflow in self._app.registered()}
        drives = [(Attempts(self._app, registered[c.run.workflow], c, lease), c, is_async) for c in claims]
        self._drive([drive for drive in drives if not self._suspects.must_wait(drive[1], drive)])

    def _drive(self, drives: list[tuple[Attempts, Claim, bool]]) -> None:
        assert self._pool is not None
        assert self._loop is not None
        for attempts, claim, is_async in drives:
            if not is_async:
                self._pool.submit(self._drive_sync, attempts, claim)
        spawned = [(attempts, claim) for attempts, claim, is_async in drives if is_async]
        if spawned:
            self._loop.call_soon_threadsafe(self._spawn, spawned)

    def _drive_next_suspect(self, ended: Claim | None = None) -> None:
        drive = self._suspects.next(ended)
        if drive is not None:
            self._drive([drive])

    def _spawn(self, drives: list[tuple[Attempts, Claim]]) -> None:
        assert self._loop is not None
        for attempts, claim in drives:
            task = self._loop.create_task(self._drive_async(attempts, claim))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    # ---------------------------------------------------------------------------------------------------------- driving

    def _drive_sync(self, attempts: Attempts, claim: Claim) -> None:
        pause: float | None = 0.0
        try:
            while pause is not None:
                if self._stopping.wait(pause) if pause else self._stopping.is_set():
                    attempts.release()
                    return
                try:
                    delivery = attempts.prepare()
                    if delivery is None:
                        return
                    execution, steps = delivery
                    with tracked(execution, self._executions):
                        ended = on_thread(steps)
                    pause = attempts.after(ended)
                except Exception as error:
                    pause = attempts.failed(error)
        finally:
            self._end(claim, False)

    async def _drive_async(self, attempts: Attempts, claim: Claim) -> None:
        pause: float | None = 0.0
        try:
            while pause is not None:
                if pause:
                    await asyncio.sleep(pause)
                if self._stopping.is_set():
                    attempts.release()
                    return
                try:
                    delivery = attempts.prepare()
                    if delivery is None:
                        return
                    execution, steps = delivery
                    with tracked(execution, self._executions):
                        ended = await on_loop(steps)
                    pause = attempts.after(ended)
                except Exception as error:
                    pause = attempts.failed(error)
        finally:
            self._end(claim, True)

    def _end(self, claim: Claim, is_async: bool) -> None:
        with self._lock:
            self._busy[is_async] -= 1
            if not any(self._busy.values()):
                self._idle.notify_all()
            # One claim for several free threads; the rest are found at the next look.
            hungry = self._more[is_async] and self._busy[is_async] <= self._limits[is_async] * 3 // 4
        self._app.signals.ended(claim.run.uid)
        self._drive_next_suspect(claim)
        if hungry or claim.run.parent is not None or claim.run.flow is not None:  # its parent, or its row, may go on
            self._wake.set()

    # --------------------------------------------------------------------------------------------------------- stopping

    def _lost(self) -> None:
        """Another worker has taken over what this one had: nothing more is recorded or committed here."""
        self._halt_all(Halt("lease lost"))

    def _halt_all(self, halt: Halt) -> None:
        for execution in tuple(self._executions):
            execution.halt(halt)

    def _cancel_tasks(self) -> None:
        for task in tuple(self._tasks):
            task.cancel()

    def _wait_idle(self, seconds: float | None) -> None:
        with self._lock:
            self._idle.wait_for(lambda: not any(self._busy.values()), seconds)

    def _stop_claiming(self) -> None:
        self._stopping.set()
        self._wake.set()
        self._app.signals.part(self._wake.set)
        if self._claimer is not None:
            self._claimer.join()
        self._drive(self._suspects.rest())  # as this worker stops, they are given back

    def _close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False)
        if not self.idle:
            # What still runs keeps its run, so that nobody runs the same step beside it; each gives it back as it ends.
            log.warning("%d bodies are still in a step; they keep their runs until it ends", sum(self._busy.values()))
            threading.Thread(target=self._close_when_idle, name="semel-close", daemon=True).start()
            return
        self._let_go()

    def _close_when_idle(self) -> None:
        self._wait_idle(None)
        self._let_go()

    def _let_go(self) -> None:
        if self._own_loop is not None and self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._own_loop.join()
            self._loop.close()
        if self._lease is not None:
            self._lease.stop()
