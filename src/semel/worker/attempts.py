"""The deliveries of one claimed run, one after the other, until it has ended, is lost, or is given back."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from semel.engine.drive import Ended, Steps
from semel.engine.execution import Execution
from semel.engine.frames import told_briefly, user_traceback
from semel.errors import SemelError, StoreError, WorkerKilled
from semel.store.interface import Claim, Outcome, Status
from semel.workflow.definition import EntityDefinition
from semel.workflow.function import FunctionWorkflow

from .delivery import DEADLY, prepare, prepare_end
from .lease import Lease

if TYPE_CHECKING:
    from semel.app import App

log = logging.getLogger("semel")

_FIRST_PAUSE, _LAST_PAUSE = 0.05, 5.0  # seconds, after a store error; doubled each time


class Attempts:
    """Prepares the next delivery and judges how the last one ended."""

    def __init__(self, app: App, workflow: FunctionWorkflow | EntityDefinition, claim: Claim, lease: Lease) -> None:
        self._app = app
        self._workflow = workflow
        self._claim = claim
        self._lease = lease
        self._pause = _FIRST_PAUSE
        self._redelivered: int | None = None
        self._doubtful = claim.blind
        self._first = True

    def prepare(self) -> tuple[Execution, Steps] | None:
        """The next delivery; None if the run cannot be delivered, and was faulted."""
        claim = self._claim
        try:
            if claim.takeover and claim.delivery > DEADLY and claim.run.ending is None:
                raise WorkerKilled(self._killed())
            if isinstance(self._workflow, EntityDefinition):
                from semel.entities.delivery import prepare as prepare_for_row  # it needs this room

                return prepare_for_row(self._app, self._workflow, claim, self._lease, self._doubtful)
            if claim.run.ending is not None:
                return prepare_end(
                    self._app, self._workflow, claim, self._lease, self._end(claim.run.ending), self._doubtful
                )
            first, self._first = self._first, False
            redelivered = self._already_redelivered()
            return prepare(self._app, self._workflow, claim, self._lease, redelivered, self._doubtful, first=first)
        except StoreError:
            raise
        except SemelError as error:
            self._fault(error)
            return None

    def _already_redelivered(self) -> int:
        """How often the policy has delivered this execution again, by earlier workers too."""
        if self._redelivered is None:
            notes = self._app.store.notes(self._claim.run.uid) if self._workflow.redeliver else []
            self._redelivered = sum(note.kind == "redelivered" and note.text.startswith("after ") for note in notes)
        return self._redelivered

    def after(self, ended: Ended) -> float | None:
        """Seconds until the next delivery, or None if there is none."""
        if ended.how == "again":
            if isinstance(ended.error, StoreError):
                log.warning("run %s: %s; its execution is delivered again", self._claim.run.id, ended.error)
                self._doubtful = True  # what ran when the store failed has left no record
                pause, self._pause = self._pause, min(self._pause * 2, _LAST_PAUSE)
                return pause
            self._redelivered = self._already_redelivered() + 1
            return 0.0
        if ended.how == "released":
            self.release()
        elif ended.how == "lost":
            log.warning("run %s: the lease was lost; who claims the run next goes on with it", self._claim.run.id)
            self.release()
        elif ended.how == "completed":
            log.info("run %s of %s completed", self._claim.run.id, self._workflow.name)
        elif ended.how == "ended":
            log.info("run %s of %s: %s", self._claim.run.id, self._workflow.name, self._claim.run.ending)
        elif ended.how == "parked":
            log.debug("run %s of %s waits", self._claim.run.id, self._workflow.name)
        elif ended.how == "faulted":
            log.error("run %s of %s faulted: %s", self._claim.run.id, self._workflow.name, told_briefly(ended.error))
        return None

    def failed(self, error: BaseException) -> float | None:
        """What to do when the delivery itself could not be made or ended: the store is asked again later."""
        if isinstance(error, StoreError):
            return self.after(Ended("again", error))
        log.error("driving the run %s failed; it is given back", self._claim.run.id, exc_info=error)
        self.release()
        return None

    def release(self) -> None:
        """Gives the run back as it is; if even that fails, it is free again when this worker stops."""
        try:
            self._app.store.release(self._claim).wait()
        except StoreError as error:
            log.warning("run %s could not be given back: %s", self._claim.run.id, error)

    def _fault(self, error: SemelError) -> None:
        claim = self._claim
        now = self._app.now()
        outcome = Outcome(
            status="faulted",
            visits=claim.run.visits,
            result=None,
            error=self._app.codec.encode_failure(error),
            fault=user_traceback(error),
            started_at=claim.run.started_at or now,
            finished_at=now,
            parked=claim.run.parked,
        )
        self._app.store.finish(claim, outcome).wait()
        log.error("run %s of %s faulted: %s", claim.run.id, self._workflow.name, error)

    def _end(self, ending: str) -> Outcome:
        """The outcome of a run that was cancelled, or is out of time."""
        run = self._claim.run
        now = self._app.now()
        status: Status = "cancelled" if ending == "cancelled" else "faulted"
        return Outcome(status, run.visits, None, None, None, run.started_at or now, now, parked=run.parked)

    def _killed(self) -> str:
        records = self._app.store.records(self._claim.run.uid)
        where = f"after the step {records[-1].path}" if records else "before its first step was recorded"
        return (
            f"the run {self._claim.run.id!r} has killed its worker {self._claim.delivery - 1} times, the last time "
            f"{where}; it is not delivered again by itself. Mend what kills the process there, then run.retry()"
        )
