"""An app on a temporary database and a clock that the test moves, whose runs are driven in the test's own thread.

Nothing sleeps and nothing polls: ``settle`` claims and drives until nothing can go on, as a worker would, and
``advance`` goes from one due clock to the next. So a year of waits is tested in milliseconds, in the order in which it
would happen.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import os
import re
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import msgspec

from semel.engine import points
from semel.engine.execution import Execution
from semel.engine.waiting import Waiting, on_loop, on_thread
from semel.errors import ConfigurationError, ResultTimeout, StoreError
from semel.signals import Signals
from semel.store import open_store
from semel.store.interface import ENDED, Claim, NewRun, Record, RunFilter, Status, Store, Ticket
from semel.store.interface import Run as Row
from semel.worker.attempts import Attempts
from semel.worker.lease import Lease

from .clock import Clock
from .crashing import KIT_POINTS, Crashes, cut, is_dead, kill

if TYPE_CHECKING:
    from semel.app import App
    from semel.run import Run

_BATCH = 1000
_FAR = 10_000.0  # seconds: an owner that has "died" is seen to be dead when the leases' clock jumps that far
_LONGEST = timedelta(days=3660)
_MEMORY = "/dev/shm"  # noqa: S108 (only a folder of a random name is made in it)
_ROOM = 256 << 20  # bytes
_STORE_ERRORS = 5  # in a row: a worker goes on for ever, but the database of a test will not come back
_MADE_UP = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")  # the id of a run that was given none
_NAMESPACE = b"the key namespace of a semel.testing.Kit"

Drive = Generator[Waiting, Any, "Status | None"]


class Kit:
    """``with Kit(app) as kit:`` gives an app, for the time of a test, a database and a clock of its own.

    In the ``with`` the app is used as ever (``app.start(…)``, ``run.send(…)``, ``app.session()``); no worker is
    started, and no run moves but by ``settle``, ``advance``, ``finish`` and ``run.result()``. Runs that are started in
    the same order have the same idempotency keys and the same unrepeatable values in each kit.

    Args:
        app: the app under test, as the program makes it.
        start: where the clock begins, an aware datetime; the start of 2025 if not given.

    Raises:
        ConfigurationError: a worker of the app runs in this process, or another kit is in use.
    """

    def __init__(self, app: App, *, start: datetime | None = None) -> None:
        self.app = app
        self.clock = Clock() if start is None else Clock(start)
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._begin()

    def _begin(self) -> None:
        #: The crashes that have happened, as "step.returned fulfil/start@1#charge".
        self.crashes: list[str] = []
        self._asked = Crashes()
        self._before: dict[str, Any] = {}
        self._wall = time.time()
        self._lease: Lease | None = None
        self._execution: Execution | None = None
        self._runner: asyncio.Runner | None = None
        self._quiet = warnings.catch_warnings()

    @property
    def database(self) -> str:
        """The URL of the temporary database, ``sqlite:////tmp/…/kit.db``."""
        assert self._folder is not None, "with Kit(app) as kit: …"
        return f"sqlite:///{Path(self._folder.name) / 'kit.db'}"

    def __enter__(self) -> Self:
        app = self.app
        self._refuse_workers()
        if points.armed is not None:
            raise ConfigurationError(
                "another Kit is in use, or SEMEL_CRASH_AT is set; one kit has one app, so leave the first one's `with` "
                "before the next one's"
            )
        self._begin()
        self._folder = tempfile.TemporaryDirectory(prefix="semel-kit-", dir=_quick_folder())
        store = open_store(self.database)
        store.open()
        _hurry(store)
        given = {
            "_store": _Repeatable(store),
            "_engines": None,
            "_driver": None,
            "_database": self.database,
            "_key_namespace": app._key_namespace or _NAMESPACE,
            "now": self.clock,
            "signals": _Asked(self._must_have_ended),
        }
        self._before = {name: getattr(app, name) for name in given}
        vars(app).update(given)
        points.watch(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        points.watch(None)
        try:
            if self._runner is not None:
                self._runner.close()
            if self._lease is not None:
                self._lease.stop()
            self.app.close()
        finally:
            vars(self.app).update(self._before)
            assert self._folder is not None
            self._folder.cleanup()
        left = self._asked.left()
        if left and kind is None:
            raise AssertionError(
                f"no run came to where it was to crash: {', '.join(left)}. Look at run.steps() for the paths of its "
                f"steps, and at kit.crashes for the crashes that there were"
            )

    # ---------------------------------------------------------------------------------------------------------- driving

    def settle(self, run: Run[Any] | None = None) -> Status | None:
        """Drives all runs until none can go on at the present time; gives the status of ``run``.

        A fault is no error here: ask the run for its result.
        """
        return on_thread(self._settle(run))

    async def settle_async(self, run: Run[Any] | None = None) -> Status | None:
        """``settle`` for a coroutine; async bodies run on its loop."""
        return await on_loop(self._settle(run))

    def advance(self, delta: timedelta, run: Run[Any] | None = None) -> Status | None:
        """Moves the clock forward, and drives what is due on the way when it is due; gives the status of ``run``.

        Raises:
            ValueError: ``delta`` is negative.
        """
        return on_thread(self._advance(delta, run))

    async def advance_async(self, delta: timedelta, run: Run[Any] | None = None) -> Status | None:
        """``advance`` for a coroutine."""
        return await on_loop(self._advance(delta, run))

    def finish(self, run: Run[Any]) -> Status | None:
        """Drives a run to its end, the clock moved from one wait to the next, for ten years at most.

        Gives the status, "parked" where it waits for what no clock brings.
        """
        return on_thread(self._finish(run))

    async def finish_async(self, run: Run[Any]) -> Status | None:
        """``finish`` for a coroutine."""
        return await on_loop(self._finish(run))

    # ---------------------------------------------------------------------------------------------------------- crashes

    def crash(self, point: str, step: str | None = None, *, hit: int = 1) -> None:
        """Lets the delivery that next comes to a point die there, as its process would; then it is delivered again.

        From there on it records and commits nothing, and the run is taken over as that of a dead worker is. The process
        itself lives on, so what the body has changed in memory stays changed, and its ``finally`` blocks run.

        Args:
            point: ``step.before``, ``step.returned`` (the call was made, its record is not durable), ``step.recorded``,
                ``transaction.before_commit``, ``transaction.after_commit``, ``body.before_commit`` or
                ``body.after_commit``.
            step: the label of the step or its whole path, for the points of steps; None is any.
            hit: how often the point must be come to from now on; 1 is the first time.

        A crash that has not happened at the end of the ``with`` is an AssertionError.
        """
        self._asked.ask(point, step, hit)

    def hit(self, name: str, path: str) -> None:
        """A point was come to."""
        execution = self._execution
        if name not in KIT_POINTS or execution is None or is_dead(execution) or not self._dies(name, path):
            return
        self.crashes.append(f"{name} {path}".strip())
        self._quiet.__enter__()
        # What a body has made and not awaited when it dies is no mistake of the body.
        warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
        raise kill(execution)

    def _dies(self, name: str, path: str) -> bool:
        return self._asked.comes_now(name, path)

    # ---------------------------------------------------------------------------------------------------------- insides

    def _settle(self, run: Run[Any] | None) -> Drive:
        self._refuse_run(run)
        while (claim := self._next()) is not None:
            yield _Delivery(self, claim)
        return None if run is None else run.status

    def _advance(self, delta: timedelta, run: Run[Any] | None) -> Drive:
        self._refuse_run(run)
        end = self.clock.after(delta)
        yield from self._settle(None)
        while self._reach_next(end):
            yield from self._settle(None)
        self.clock.reach(end)
        return (yield from self._settle(run))

    def _finish(self, run: Run[Any]) -> Drive:
        last = self.clock.after(_LONGEST)
        while (status := (yield from self._settle(run))) not in ENDED:
            if not self._reach_next(last):
                break
        return status

    def _reach_next(self, last: float) -> bool:
        """Moves the clock to when the next one of a run is due; False if none is by ``last``."""
        due = self.app.store.next_due()
        if due is None or due > last:
            return False
        self.clock.reach(due)
        return True

    def _next(self) -> Claim | None:
        app = self.app
        if app.now is not self.clock:
            raise ConfigurationError("the kit is not in use: with Kit(app) as kit: …")
        if self._execution is not None:
            raise ConfigurationError("a step or a body cannot drive the kit that drives it; call it in the test")
        self._refuse_workers()
        app.check()
        while app.store.wake_due(self.clock(), _BATCH).wait() == _BATCH:
            pass
        if self._lease is None:
            # No heartbeat, and no time of its own: it is good until a crash makes the wall clock jump.
            self._lease = Lease(app.store, _FAR / 2, _never, wall=lambda: self._wall, monotonic=lambda: 0.0)
            self._lease.start(beats=False)
        names = [workflow.name for workflow in app.registered()]
        claims = app.store.claim(self._lease.owner, names, 1, self._wall, self.clock()).wait()
        return claims[0] if claims else None

    def _die(self) -> None:
        """The owner is no more: its lease is over, and another one takes its runs over."""
        self._quiet.__exit__(None, None, None)
        self._quiet = warnings.catch_warnings()
        self._wall += _FAR
        self._lease = None
        driver, self.app._driver = self.app._driver, None
        if driver is not None:
            driver.close()  # its lease is over by that clock, too

    def _must_have_ended(self, uid: str) -> None:
        """``run.result()`` was called: drives what can go on, and does not wait for what nobody would do."""
        if self._execution is None and not in_a_loop():
            self.settle()
        for status in ("pending", "running", "parked"):
            if any(row.uid == uid for row in self.app.store.list(RunFilter(status=status, limit=1_000_000))):
                raise ResultTimeout(
                    f"the run is {status}, and in a Kit nobody drives it while its result is waited for: call "
                    f"kit.settle(), kit.advance(…) or kit.finish(run) first; in a coroutine, await their _async forms"
                )

    def _refuse_run(self, run: Run[Any] | None) -> None:
        if run is not None and run._app is not self.app:
            raise ValueError(f"{run!r} is of {run._app!r}; this kit drives the runs of {self.app!r}")

    def _refuse_workers(self) -> None:
        if self.app.signals._workers:
            raise ConfigurationError(
                f"a worker of {self.app!r} runs in this process and would drive the same runs; a Kit drives them by "
                f"itself, so leave `with app.worker():` out"
            )


class _Delivery:
    """One claimed run, which is driven until it ends, parks or dies."""

    def __init__(self, kit: Kit, claim: Claim) -> None:
        self._kit = kit
        self._claim = claim
        self._workflow = next(each for each in kit.app.registered() if each.name == claim.run.workflow)

    def wait(self) -> None:
        if not self._workflow.is_async:
            on_thread(self._attempts())
        elif in_a_loop():
            self._kit.app.store.release(self._claim).wait()
            raise ConfigurationError(
                f"{self._workflow.name} is async, and an event loop runs here: await kit.settle_async(), "
                f"kit.advance_async(…) or kit.finish_async(run)"
            )
        else:
            self._kit._runner = self._kit._runner or asyncio.Runner()
            self._kit._runner.run(on_loop(self._attempts()))

    async def future(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._workflow.is_async:
            await on_loop(self._attempts())
        else:
            await asyncio.to_thread(self.wait)

    def _attempts(self) -> Generator[Waiting, Any, None]:
        kit = self._kit
        assert kit._lease is not None
        attempts = Attempts(kit.app, self._workflow, self._claim, kit._lease)
        store_errors = 0
        while (delivery := attempts.prepare()) is not None:
            execution, steps = delivery
            kit._execution = execution
            execution.marks.open()
            try:
                ended = yield from cut(execution, steps)
            finally:
                kit._execution = None
            if is_dead(execution):
                kit._die()
                return
            execution.marks.close()
            if attempts.after(ended) is None:
                return
            store_errors = store_errors + 1 if isinstance(ended.error, StoreError) else 0
            if store_errors == _STORE_ERRORS:
                attempts.release()
                raise ended.error  # type: ignore[misc]


class _Repeatable:
    """The store of a kit, in which a run's identity and secret, and all that is derived of it, are always the same."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._numbers = itertools.count()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def start(self, run: NewRun, records: Sequence[Record] = ()) -> Ticket[tuple[Row, bool]]:
        given = "" if _MADE_UP.fullmatch(run.id) else run.id
        name = f"{run.workflow}\x1f{given}\x1f{'' if given else next(self._numbers)}"
        made = hashlib.blake2b(name.encode()).digest()
        run = replace(run, uid=made[:16].hex(), seed=run.seed if records else made[-32:])  # a fork has its run's
        return self._store.start(run, [msgspec.structs.replace(record, run=run.uid) for record in records])

    def start_in(self, connection: Any, run: NewRun) -> bool:
        made = hashlib.blake2b(f"{run.workflow}\x1f{run.entity}\x1f{next(self._numbers)}".encode()).digest()
        return self._store.start_in(connection, replace(run, uid=made[:16].hex(), seed=made[-32:]))


class _Asked(Signals):
    """The signals of a kit: who asks for a result waits for nobody."""

    def __init__(self, asked: Callable[[str], None]) -> None:
        super().__init__()
        self._asked = asked

    def when_ended(self, uid: str, wake: Callable[[], object]) -> None:
        self._asked(uid)
        super().when_ended(uid, wake)


def in_a_loop() -> bool:
    """Whether an event loop runs in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _hurry(store: Any) -> None:
    """No power cut is survived by the database of a test: to wait for the disk would be most of its time."""
    for writer in (store._session.main, store._session.journal):
        writer.connection.execute("PRAGMA synchronous = OFF")


def _quick_folder() -> str | None:
    """A folder in memory, if there is one with room; None is the usual place for temporary files."""
    try:
        return _MEMORY if shutil.disk_usage(_MEMORY).free > _ROOM and os.access(_MEMORY, os.W_OK) else None
    except OSError:
        return None


def _never() -> None:
    """A lease without a time of its own is lost by nobody."""
