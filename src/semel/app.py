"""``App``: what is registered, where the data is, and how to start a run.

The constructor does no work: the database is opened at first use. Registering checks what one function shows by
itself; starting checks the whole program, once, before anything runs.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec, TypeVar, TypeVarTuple, overload

from . import config
from .capture.install import capture
from .codec import Codec, TypeRegistry
from .compiler import add_package, current, intrinsic, user_packages
from .engine.keys import scoped_key
from .errors import (
    ConfigurationError,
    NotAllowedHere,
    Refused,
    RunIdConflict,
    RunNotFound,
    WorkflowUnknown,
)
from .forking import forked
from .program import at_start, find_user_code
from .registering import register
from .run import Run
from .signals import Signals
from .starting import check_same_run, new_run
from .store import open_store
from .store.interface import NewRun, RunFilter, Status, Store, Ticket
from .store.interface import Run as Row
from .workflow.again import again_at
from .workflow.backoff import Backoff
from .workflow.definition import EntityDefinition
from .workflow.function import FunctionWorkflow
from .workflow.once import namespaces

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession
    from sqlalchemy.orm import Session

    from .entities.driver import Driver
    from .worker import Worker

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])
Ts = TypeVarTuple("Ts")

_LONGEST_ID = 500  # characters


class App:
    """An application: its workflows, its database, its runs.

    Args:
        name: names the app in messages, and its database where none is given.
        database: a URL such as ``sqlite:///shop.db``, or a SQLAlchemy ``Engine`` or ``AsyncEngine`` of it.
        key_namespace: what scoped idempotency keys are derived from, in place of the random id that the database
            holds (rule O10); 16 characters or more.
        aliases: recorded type names of earlier versions, and the types that stand for them now (rule D4).
        now: the clock that times are recorded by, seconds since the epoch.
    """

    def __init__(
        self,
        name: str,
        *,
        database: Any = None,
        key_namespace: str | None = None,
        aliases: Mapping[str, type] | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        if not name or not isinstance(name, str):
            raise ConfigurationError(f"the name of an App must be a non-empty str, not {name!r}")
        if key_namespace is not None and len(key_namespace) < 16:
            raise ConfigurationError("key_namespace must have 16 characters or more, so that it cannot be guessed")
        self.name = name
        self.now = now
        self.workflows: dict[str, FunctionWorkflow] = {}
        self.entities: dict[str, EntityDefinition] = {}
        self.signals = Signals()
        self._database = database if database is not None else f"sqlite:///{name}.db"
        self._key_namespace = key_namespace.encode() if key_namespace is not None else None
        self._store: Store | None = None
        self._engines: Any = None
        self._driver: Driver | None = None
        self._lock = threading.RLock()
        self._checked = False
        registry = TypeRegistry(user_packages)
        for old, new in (aliases or {}).items():
            registry.alias(old, new)
        self.codec = Codec(registry)
        self._user_code_of_caller(2)
        namespaces[name] = self.namespace

    def __repr__(self) -> str:
        return f"<App {self.name!r}>"

    # ------------------------------------------------------------------------------------------------------ registering

    @overload
    def workflow(self, function: F, /) -> F: ...
    @overload
    def workflow(
        self,
        /,
        *,
        name: str | None = None,
        strict: bool = False,
        redeliver: int | Backoff = 0,
        timeout: timedelta | None = None,
    ) -> Callable[[F], F]: ...
    def workflow(
        self,
        function: Any = None,
        /,
        *,
        name: str | None = None,
        strict: bool = False,
        redeliver: int | Backoff = 0,
        timeout: timedelta | None = None,
    ) -> Any:
        """Registers a function, sync or async, as a workflow, or a class, a ``Workflow``, which says all else itself.

        The function, or the class, stays as it is.

        Args:
            name: the workflow's name in the database; the function's own if not given.
            strict: faults a run that ends without reaching a step that an earlier attempt had done (rule W12).
            redeliver: how often a faulted execution is delivered again by itself, at once; or a ``Backoff``, which says
                how often it is delivered in all, and how long it waits (rule R11).
            timeout: how long a run may take, waits and restarts included; then it is ended as if it were cancelled.

        Raises:
            RegistrationError: the name is taken, or it is nothing that can be a workflow.
            Refused: a step in the function's module can never be found again.
        """
        options = {"name": name, "strict": strict, "redeliver": redeliver, "timeout": timeout}
        if function is None:
            return lambda given: self._register(given, options)
        return self._register(function, options)

    def _register(self, given: F, options: Mapping[str, Any]) -> F:
        register(self, given, options)
        self._checked = False
        return given

    def failure_of(self, row: Row) -> BaseException:
        """What a child that has not completed ended with, as an exception."""
        return Run[Any](self, row.id, row.uid).failure(row, of_child=True)

    def _user_code_of_caller(self, depth: int) -> None:
        module = sys._getframe(depth).f_globals.get("__name__", "")
        if module.partition(".")[0] not in ("", "semel"):
            add_package(module.partition(".")[0])

    def check(self) -> None:
        """Checks the whole program, as starting a run or a worker does by itself, once.

        Raises:
            Refused: a step can never be found again; the message names every place and the corrected code.
        """
        with self._lock:
            if not self._checked:
                settings = config.load()
                for package in settings.packages:
                    add_package(package)
                capture(settings)
                at_start(find_user_code(), external=settings.external, passthrough=settings.passthrough)
                self._checked = True

    # --------------------------------------------------------------------------------------------------------- starting

    @overload
    def start(
        self, workflow: Callable[[*Ts], Coroutine[Any, Any, R]], /, *args: *Ts, id: str | None = None
    ) -> Run[R]: ...
    @overload
    def start(self, workflow: Callable[[*Ts], R], /, *args: *Ts, id: str | None = None) -> Run[R]: ...
    @overload
    def start(self, workflow: Callable[P, Coroutine[Any, Any, R]], /, *args: P.args, **kwargs: P.kwargs) -> Run[R]: ...
    @overload
    def start(self, workflow: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Run[R]: ...
    def start(self, workflow: Any, /, *args: Any, **kwargs: Any) -> Run[Any]:  # type: ignore[misc]
        """Starts a run, or finds the one that this id has already started; returns when it is durable.

        A worker executes it, in this process or in another one.

        Args:
            workflow: a function registered with this app.
            args, kwargs: its arguments; they are recorded.
            id: the user's own name for the run; the same id is the same run, also from another process. A parameter of
                the function that is named ``id`` too can only be given by position.

        Raises:
            TypeError: the arguments do not fit the function, or cannot be recorded.
            RunIdConflict: the id belongs to a run of another workflow, or with other arguments.
            RunPurged: the run of this id has ended and was purged.
            Refused: the program cannot run safely.
        """
        new = new_run(self, workflow, args, kwargs)
        return self._started(new, self.store.start(new).wait())

    @overload
    async def start_async(
        self, workflow: Callable[[*Ts], Coroutine[Any, Any, R]], /, *args: *Ts, id: str | None = None
    ) -> Run[R]: ...
    @overload
    async def start_async(self, workflow: Callable[[*Ts], R], /, *args: *Ts, id: str | None = None) -> Run[R]: ...
    @overload
    async def start_async(
        self, workflow: Callable[P, Coroutine[Any, Any, R]], /, *args: P.args, **kwargs: P.kwargs
    ) -> Run[R]: ...
    @overload
    async def start_async(self, workflow: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Run[R]: ...
    async def start_async(self, workflow: Any, /, *args: Any, **kwargs: Any) -> Run[Any]:  # type: ignore[misc]
        """``start`` for a coroutine."""
        new = new_run(self, workflow, args, kwargs)
        ticket: Ticket[tuple[Row, bool]] = self.store.start(new)
        return self._started(new, await ticket.future(asyncio.get_running_loop()))

    def _started(self, new: NewRun, answer: tuple[Row, bool]) -> Run[Any]:
        row, is_new = answer
        check_same_run(self.codec, new, row)
        if is_new:
            self.signals.started()
        return Run(self, row.id, row.uid)

    def workflow_of(self, function: Any) -> FunctionWorkflow:
        """What the function is registered as.

        Raises:
            WorkflowUnknown: it is not one of this app's workflows.
        """
        inside = getattr(function, "__wrapped__", None)  # what compiled code passes on in its place
        for workflow in self.workflows.values():
            if workflow.function is function or workflow.function is inside:
                return workflow
        name = getattr(function, "__qualname__", repr(function))
        raise WorkflowUnknown(
            f"{name} is not a workflow of the app {self.name!r}; put @{self.name}.workflow above it, or start it with "
            f"the app that registers it (registered here: {', '.join(self.workflows) or 'nothing'})"
        )

    def again(self, /, *args: Any, **kwargs: Any) -> NoReturn:
        """Ends this visit of the body, and starts its next one with these arguments, as a new visit with no records.

        A loop that lives for years stays short by it. What the body has written commits.

        Raises NotAllowedHere in a step, and outside of a run.
        """
        raise NotAllowedHere("app.again(…) ends the visit of a body, and there is none here; call the function instead")

    # ------------------------------------------------------------------------------------------------------------- runs

    def run(self, id: str) -> Run[Any]:
        """The run of this id.

        Raises:
            RunNotFound: there is none.
        """
        row = self.store.get(id)
        if row is None:
            raise RunNotFound(f"there is no run {id!r} in {self.name!r}")
        return Run(self, row.id, row.uid)

    def runs(
        self,
        *,
        workflow: str | None = None,
        status: Status | None = None,
        since: float | None = None,
        until: float | None = None,
        limit: int = 100,
    ) -> list[Row]:
        """Rows of runs, newest first; times are of creation, in seconds since the epoch."""
        return self.store.list(RunFilter(workflow, status, since, until, limit))

    def fork(self, run: Run[R] | str, from_path: str, *, id: str | None = None) -> Run[R]:
        """Starts a new run that takes over the records of this one up to a step, and goes on from there.

        What was recorded before the step at ``from_path`` is not done again; that step, and what comes after it, is
        done by the new run, with idempotency keys of its own. The first run stays as it is.

        Raises:
            StepNotFound: the run has no record of that path.
            RunNotFound, WorkflowUnknown: there is no such run, or this app does not know its workflow.
            RunIdConflict: the id is taken.
        """
        row = self.store.get(run if isinstance(run, str) else run.id)
        if row is None:
            raise RunNotFound(f"there is no run {run!r} in {self.name!r}")
        self.check()
        new, records = forked(self, row, from_path, id)
        found, is_new = self.store.start(new, records).wait()
        if not is_new:
            raise RunIdConflict(f"the run id {new.id!r} is taken; a fork is a new run, so choose another id")
        self.signals.started()
        return Run(self, found.id, found.uid)

    def purge(self, *, older_than: timedelta, batch: int = 500) -> int:
        """Deletes runs that ended longer ago than ``older_than``, with their records; gives their number.

        Their ids stay taken: a purged id is not started anew.
        """
        if older_than < timedelta(0):
            raise ValueError(f"older_than={older_than} is negative")
        before = self.now() - older_than.total_seconds()
        total = 0
        while True:
            purged = self.store.purge(ended_before=before, limit=batch).wait()
            total += purged
            if purged < batch:
                return total

    # ---------------------------------------------------------------------------------------------------------- insides

    @property
    def store(self) -> Store:
        """The app's store, opened at first use."""
        store = self._store
        if store is None:
            with self._lock:
                store = self._store
                if store is None:
                    store = open_store(self._database)
                    store.open()
                    self._store = store
        return store

    def migrate(self) -> None:
        """Makes the database, or brings it up to date, as ``semel migrate`` does."""
        with self._lock:
            if self._store is None:
                store = open_store(self._database)
                store.open(migrate=True)
                self._store = store

    def close(self) -> None:
        """Waits for what is queued and closes the database; the app can be used again and then opens it anew."""
        with self._lock:
            store, self._store = self._store, None
            engines, self._engines = self._engines, None
            driver, self._driver = self._driver, None
        if driver is not None:
            driver.close()
        if engines is not None:
            engines.close()
        if store is not None:
            store.close()

    def namespace(self) -> bytes:
        """The key namespace of this app (rule O10)."""
        return self._key_namespace if self._key_namespace is not None else self.store.namespace()

    def scoped_key(self, label: str, scope: object) -> str:
        """The idempotency key that ``once(label, scope, …)`` presents."""
        return scoped_key(self.namespace(), label, scope)

    def registered(self) -> list[FunctionWorkflow | EntityDefinition]:
        """All workflows, functions and classes."""
        return [*self.workflows.values(), *self.entities.values()]

    def worker(self, *, threads: int = 32, tasks: int = 1000, lease: timedelta = timedelta(seconds=15)) -> Worker:
        """A worker of this app, in this process: ``with app.worker():`` or ``async with app.worker():``.

        Args:
            threads: how many sync bodies run at once.
            tasks: how many async bodies run at once.
            lease: how long a worker that is stopped, but not dead, keeps its runs.
        """
        from .worker import Worker

        return Worker(self, threads=threads, tasks=tasks, lease=lease)

    def session(self) -> Session:
        """The SQLAlchemy session of the body: its writes commit with the run's own state, or not at all (rule W1).

        Outside of a run, a new session on the app's database. Needs ``semel[sqlalchemy]``.
        """
        return self._sessions().session()  # type: ignore[no-any-return]

    def async_session(self) -> AsyncSession:
        """``session`` for an async body."""
        return self._sessions().async_session()  # type: ignore[no-any-return]

    def engines(self) -> Any:
        """The SQLAlchemy engines of the app's database, made at first use."""
        with self._lock:
            if self._engines is None:
                from .workflow.session import Engines

                self._engines = Engines(self._database)
                if self.entities:  # a new database is made now: under a transaction of these engines it cannot be
                    self.store  # noqa: B018
            return self._engines

    def _sessions(self) -> Any:
        path = current.get()
        if path is not None and not path.execution.over:
            return path.execution.transaction  # type: ignore[attr-defined]
        return self.engines()


intrinsic(App.again, again_at)

__all__ = ["App", "Refused"]
