"""``Run``: a handle on one run, from any process that has the database."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from .codec import MAIL, Answer, Exchange, NotEncodable
from .engine.nested import forgotten_with
from .errors import (
    NotAllowedHere,
    OutcomeRefused,
    RecordUnreadable,
    ResultTimeout,
    RunCancelled,
    RunEnded,
    RunFaulted,
    RunNotFound,
    RunTimedOut,
    StepNotFound,
    WorkflowUnknown,
)
from .signals import loop_wake
from .store.interface import ENDED, Note, Record, Status, Ticket
from .store.interface import Run as Row
from .workflow.event import Event, event_name

if TYPE_CHECKING:
    from .app import App

R_co = TypeVar("R_co", covariant=True)

_FIRST_POLL, _LAST_POLL = 0.005, 0.25  # seconds between two looks at a run that another process drives


class Run(Generic[R_co]):
    """One run of a workflow. ``id`` is the user's own name for it, ``uid`` the random identity of its records.

    Holds nothing of the run: each question reads the database.
    """

    __slots__ = ("_app", "id", "uid")

    def __init__(self, app: App, id: str, uid: str) -> None:
        self._app = app
        self.id = id
        self.uid = uid

    def __repr__(self) -> str:
        return f"<Run {self.id!r}>"

    # ----------------------------------------------------------------------------------------------------------- status

    @property
    def status(self) -> Status:
        """``pending``, ``running`` (a live worker has it), ``parked`` (it waits for a clock, an event or a child),
        ``completed``, ``faulted`` or ``cancelled``.

        Raises:
            RunNotFound: the run was purged meanwhile.
        """
        return self._row().status

    async def status_async(self) -> Status:
        """``status`` for a coroutine. It is one quick read of the local database, made where it stands."""
        return self.status

    # ----------------------------------------------------------------------------------------------------------- result

    def result(self, timeout: float | timedelta | None = None) -> R_co:
        """Waits until the run has ended, and gives its result.

        Args:
            timeout: seconds, or a timedelta; None waits for ever.

        Raises:
            ResultTimeout: it had not ended by then. The run goes on.
            RunFaulted: it ended in a fault that cannot be raised as itself. Any other exception is the fault itself.
            WorkflowUnknown: this app has no workflow of the run's name, so that it would wait for ever.
        """
        end = _deadline(timeout)
        woken = threading.Event()
        wake = woken.set
        pause = _FIRST_POLL
        self._app.signals.when_ended(self.uid, wake)
        try:
            while True:
                row = self._row()
                if row.status in ENDED:
                    return self._outcome(row)
                self._can_end(row)
                left = _left(end, self.id, timeout)
                woken.wait(pause if left is None else min(pause, left))
                woken.clear()  # a run that parks has woken it, too
                pause = min(pause * 1.5, _LAST_POLL)
        finally:
            self._app.signals.forget(self.uid, wake)

    async def result_async(self, timeout: float | timedelta | None = None) -> R_co:
        """``result`` for a coroutine."""
        end = _deadline(timeout)
        woken = asyncio.Event()
        wake = loop_wake(asyncio.get_running_loop(), woken)
        pause = _FIRST_POLL
        self._app.signals.when_ended(self.uid, wake)
        try:
            while True:
                row = self._row()
                if row.status in ENDED:
                    return self._outcome(row)
                self._can_end(row)
                left = _left(end, self.id, timeout)
                try:
                    await asyncio.wait_for(woken.wait(), pause if left is None else min(pause, left))
                    woken.clear()  # a run that parks has woken it, too
                except TimeoutError:
                    pause = min(pause * 1.5, _LAST_POLL)
        finally:
            self._app.signals.forget(self.uid, wake)

    # --------------------------------------------------------------------------------------------------------- operator

    def retry(self) -> bool:
        """Delivers a faulted run's execution again: its steps are found, what failed runs again (rule R11).

        False if the run is not faulted.
        """
        done = self._app.store.redeliver(self.uid, self._app.now()).wait()
        self._app.signals.started()
        return done

    def send(self, event: str | Event[Any], payload: object = None) -> None:
        """Sends the run an event, which a ``wait_for`` of its body takes (rule W6). Durable when this returns.

        Events of one name are taken in the order in which they were sent; one that nobody waits for yet is kept.

        Raises:
            RunEnded: the run has ended, so nobody would take it.
            TypeError: the payload cannot be recorded, or is not of the type that the event was declared with.
        """
        name, data = self._event(event, payload)
        if not self._app.store.send(self.uid, name, data, self._app.now()).wait():
            self._refuse_event(name)
        self._app.signals.started()

    async def send_async(self, event: str | Event[Any], payload: object = None) -> None:
        """``send`` for a coroutine."""
        name, data = self._event(event, payload)
        sent: Ticket[bool] = self._app.store.send(self.uid, name, data, self._app.now())
        if not await sent.future(asyncio.get_running_loop()):
            self._refuse_event(name)
        self._app.signals.started()

    def cancel(self) -> bool:
        """Cancels the run, and its children (rule W8): a parked one at once, a running one at its next step.

        The undos of its open sagas run first. False if it came too late: the run has ended.
        """
        done = self._app.store.cancel(self.uid, self._app.now()).wait()
        self._app.signals.started()
        return done

    def steps(self) -> list[Record]:
        """The run's records, in the order in which they were made."""
        return self._app.store.records(self.uid)

    def notes(self) -> list[Note]:
        """What an operator should know: possibly doubled steps, unreached ones, records stated by hand, …"""
        return self._app.store.notes(self.uid)

    def forget(self, path: str) -> None:
        """Deletes the record of a step, so that the next delivery runs it again (rule O25).

        The records of what ran inside it go first, and those of all exchanges of its call. Each is noted. A part of a
        call (``…#auto:httpx.get~1``) goes alone.

        Raises:
            StepNotFound: the run has no record of that path.
            NotAllowedHere: a worker has the run at this moment.
        """
        gone: list[str] = []
        for each in forgotten_with(path, self.steps()) or [path]:
            text = "its record was deleted by hand; the next delivery runs the step again"
            if not self._app.store.forget(self.uid, each, self._note(each, "forgotten", text)).wait():
                self._refuse(each, gone)
            gone.append(each)

    def record(self, path: str, value: object) -> None:
        """States the outcome of a step, as if it had returned ``value`` (rule O25).

        The outcome of a call that a library made over HTTP is an ``Answer``: ``Answer.of(json={"id": "ch_1"})``.

        Where the call is not directly awaited (``asyncio.gather(once(…), …)``), the step is given an awaitable if the
        record that this one replaces was of an async step, or if the step is one by its own look: a coroutine function,
        or a lambda that only calls one. Where that does not tell, a call in an ``async def`` gets an awaitable.

        Raises:
            OutcomeRefused: ``value`` cannot be recorded, or is no ``Answer`` for a call over HTTP. It is a TypeError.
            StepNotFound: the path is none of a step of the run's workflow.
            NotAllowedHere: a worker has the run at this moment.
        """
        row = self._row()
        known = next((record for record in self.steps() if record.path == path), None)
        if isinstance(value, Answer):
            value = Exchange("", b"", b"", False, answer=value)
        elif known is not None and self._is_over_http(known):
            raise OutcomeRefused(
                f"{path} is a call over HTTP: its outcome is the answer that the library reads, not a "
                f'{type(value).__qualname__}. State it with run.record("{path}", Answer.of(json=…))'
            )
        try:
            data = self._app.codec.encode(value)
        except NotEncodable as error:
            raise OutcomeRefused(f"the value given for {path} cannot be recorded: {error}") from None
        prefix = f"{row.workflow}/"
        execution = path.removeprefix(prefix).split("/")[0].split("[")[0].split("#")[0]
        if not path.startswith(prefix) or "@" not in execution or "#" not in path:
            raise StepNotFound(f"{path!r} is no step of {self!r}; a path looks like {row.workflow}/start@1#label")
        now = self._app.now()
        awaited = known is not None and known.awaited
        stated = Record(self.uid, execution, path, "result", data, awaited, now, now, 0)
        note = self._note(path, "recorded by hand", "its outcome was stated by hand")
        if not self._app.store.record(stated, note).wait():
            self._refuse(path)

    # ---------------------------------------------------------------------------------------------------------- insides

    def _event(self, event: str | Event[Any], payload: object) -> tuple[str, bytes]:
        name = event_name(event)
        if isinstance(event, Event):
            event.check(payload)
        try:
            return name, self._app.codec.encode(payload)
        except NotEncodable as error:
            raise TypeError(f"the payload of the event {name!r} cannot be recorded: {error}") from None

    def _refuse_event(self, name: str) -> NoReturn:
        row = self._row()
        how = f"has ended ({row.status})" if row.status in ENDED else f"is to end ({row.ending})"
        raise RunEnded(f"the event {name!r} was not sent: the run {self.id!r} {how}, and nobody would take it")

    def _note(self, path: str, kind: Any, text: str) -> Note:
        return Note(self.uid, path, kind, text, self._app.now())

    def _is_over_http(self, record: Record) -> bool:
        """Whether the record surely is of a call over HTTP; of an answer stated by hand that is not known."""
        if record.kind != "result":
            return False
        try:
            value = self._app.codec.decode(record.data)
        except RecordUnreadable:
            return False
        return isinstance(value, Exchange) and value.value is None and value.method not in ("", MAIL)

    def _refuse(self, path: str, gone: Sequence[str] = ()) -> None:
        done = f". Deleted before that: {', '.join(gone)}" if gone else ""
        if self._row().status == "running":
            raise NotAllowedHere(
                f"a worker has the run {self.id!r} at this moment, so the record of {path} stays as it is; try again "
                f"when it has let it go{done}"
            )
        known = ", ".join(record.path for record in self.steps()) or "none"
        raise StepNotFound(f"the run {self.id!r} has no record of {path!r}; its records: {known}{done}")

    def _row(self) -> Row:
        row = self._app.store.get(self.id)
        if row is None or row.uid != self.uid:
            raise RunNotFound(f"there is no run {self.id!r} any more; it was purged")
        return row

    def _can_end(self, row: Row) -> None:
        if row.workflow not in self._app.workflows and row.workflow not in self._app.entities:
            raise WorkflowUnknown(
                f"the run {self.id!r} is of the workflow {row.workflow!r}, which the app {self._app.name!r} does not "
                f"register; it waits for a worker that does"
            )

    def _outcome(self, row: Row) -> R_co:
        if row.status == "completed" and row.error is None:
            value: Any = self._app.codec.decode(row.result) if row.result is not None else None
            return value  # type: ignore[no-any-return]
        raise self.failure(row)

    def failure(self, row: Row, *, of_child: bool = False) -> BaseException:
        """What a run that has not completed ended with.

        To a parent the text that is recorded of it is not told: it would be in the parent's own, and so on upwards.
        """
        if row.ending == "timed out":
            return RunTimedOut(f"the run {self.id!r} had not ended within the timeout of {row.workflow}")
        if row.status == "cancelled":
            return RunCancelled(f"the run {self.id!r} was cancelled")
        text = row.fault or "no more is known"
        if row.error is not None:
            try:
                error = self._app.codec.decode_failure(row.error)
            except RecordUnreadable:
                pass
            else:
                if not isinstance(error, Exception):
                    return RunFaulted(f"the run {self.id!r} {row.status}:\n{text}")
                error.add_note(f"the run {self.id!r} {row.status}" + ("" if of_child else f"; recorded there:\n{text}"))
                return error
        return RunFaulted(f"the run {self.id!r} {row.status}:\n{text}")


def _deadline(timeout: float | timedelta | None) -> float | None:
    if timeout is None:
        return None
    return time.monotonic() + (timeout.total_seconds() if isinstance(timeout, timedelta) else timeout)


def _left(end: float | None, id: str, timeout: float | timedelta | None) -> float | None:
    if end is None:
        return None
    left = end - time.monotonic()
    if left <= 0:
        told = timeout if isinstance(timeout, timedelta) else f"{timeout} s"
        raise ResultTimeout(f"the run {id!r} had not ended after {told}; it goes on")
    return left
