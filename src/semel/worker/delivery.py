"""From a claimed run to its delivery: the records read, the arguments decoded, the keys and the journal made ready."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semel.engine.body import Body
from semel.engine.commit import BodyCommit
from semel.engine.derive import derived
from semel.engine.drive import Steps, deliver, end
from semel.engine.endings import FunctionEndings
from semel.engine.execution import Execution
from semel.engine.keys import request_digest, run_key, scoped_key
from semel.engine.parks import Parked, parked_executions
from semel.store.interface import Claim, Note, Outcome, Record, Store, Ticket
from semel.workflow.function import FunctionWorkflow

from .lease import Lease
from .outside import RunOutside

if TYPE_CHECKING:
    from semel.app import App

BODY = "start"  # the one body of a function workflow

#: After so many deliveries that ended with the death of their worker, a run is faulted (rule R11).
DEADLY = 5


class RunKeys:
    """The idempotency keys of one run, by the derivation that it started with (rule V6)."""

    def __init__(self, app: App, seed: bytes) -> None:
        self._app = app
        self._seed = seed

    def of_step(self, path: str) -> str:
        return run_key(self._seed, path)

    def of_value(self, name: str, size: int) -> bytes:
        return derived(self._seed, name, size)

    def of_request(self, data: bytes) -> bytes:
        return request_digest(self._seed, data)

    def of_scope(self, label: str, scope: object) -> str:
        return scoped_key(self._app.namespace(), label, scope)


class RunJournal:
    """Where the steps of one claimed run are recorded."""

    __slots__ = ("_claim", "_lease", "_store")

    def __init__(self, store: Store, claim: Claim, lease: Lease) -> None:
        self._store = store
        self._claim = claim
        self._lease = lease

    def may_start(self) -> bool:
        """Whether this worker is still the owner that claimed the run, and surely so for a while."""
        return self._lease.owner == self._claim.owner and self._lease.may_start()

    def append(self, records: list[Record], notes: list[Note], retracted: list[str]) -> Ticket[bool]:
        return self._store.append(self._claim, records, notes, retracted)

    def late(self, note: Note) -> None:
        self._store.note([note])

    def mark(self, path: str) -> object:
        return self._store.mark(self._claim, path)

    def unmark(self, mark: object) -> None:
        self._store.unmark(mark)


def prepare(
    app: App, workflow: FunctionWorkflow, claim: Claim, lease: Lease, redelivered: int, doubtful: bool, *, first: bool
) -> tuple[Execution, Steps]:
    """One delivery of the run, ready to be driven.

    ``redelivered`` counts those that the policy has already added; ``doubtful`` says that steps may have been in
    flight, without a record and without a mark, when an earlier one was cut off; ``first`` that it is the claim's
    first one.

    Raises:
        RecordUnreadable: the arguments no longer fit the program's types.
    """
    args, kwargs = arguments(app, claim)
    body = _body(workflow, claim, args, kwargs)
    execution, commit = _execution(app, workflow, claim, lease, body, doubtful=doubtful, first=first)
    endings = FunctionEndings(claim, body, execution, app.codec, app.now)
    pause = workflow.pause(redelivered, execution.keys)
    return execution, deliver(body, execution, commit, endings, strict=workflow.strict, pause=pause)


def prepare_end(
    app: App, workflow: FunctionWorkflow, claim: Claim, lease: Lease, outcome: Outcome, doubtful: bool
) -> tuple[Execution, Steps]:
    """The end of a run that was cancelled, or is out of time: the undos of its open sagas, then this outcome."""
    body = _body(workflow, claim, (), {})
    execution, commit = _execution(app, workflow, claim, lease, body, doubtful=doubtful, first=False, ending=True)
    endings = FunctionEndings(claim, body, execution, app.codec, app.now)
    return execution, end(body, execution, commit, endings, outcome)


def _body(workflow: FunctionWorkflow, claim: Claim, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Body:
    """The execution that is open: one that is parked, or the next visit."""
    visit = claim.run.visits.get(BODY, 0)
    if f"{BODY}@{visit}" not in parked_executions(claim.run.parked):
        visit += 1
    return Body(workflow.function, workflow.name, BODY, visit, args, kwargs)


def _execution(
    app: App,
    workflow: FunctionWorkflow,
    claim: Claim,
    lease: Lease,
    body: Body,
    *,
    doubtful: bool,
    first: bool,
    ending: bool = False,
) -> tuple[Execution, BodyCommit]:
    run = claim.run
    recorded = app.store.records(run.uid, body.execution_name, transactional=run.transactional > 0 or not first)
    execution = Execution(
        run=run.uid,
        workflow=workflow.name,
        body=body.execution_name,
        delivery=claim.delivery,
        doubtful=doubtful,
        records={record.path: record for record in recorded},
        codec=app.codec,
        keys=RunKeys(app, run.seed),
        journal=RunJournal(app.store, claim, lease),
        now=app.now,
        began_at=claim.began_at,
        parked=parked_executions(run.parked).get(body.execution_name, Parked()),
        outside=RunOutside(app, claim),
        ending=ending,
    )
    commit = BodyCommit(app.store, claim, app.engines)
    execution.transaction = commit
    return execution, commit


def arguments(app: App, claim: Claim) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of the visit that is open: those that the run was started with, or those of ``app.again``."""
    run = claim.run
    decoded: Any = app.codec.decode(run.args if run.visit_args is None else run.visit_args)
    args, kwargs = decoded
    return args, kwargs
