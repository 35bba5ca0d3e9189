"""From a claimed run of an entity workflow to the delivery of what is next for its row."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from semel.codec import Codec
from semel.engine.body import Body
from semel.engine.drive import Ended, Steps, deliver, end
from semel.engine.endings import encoded
from semel.engine.execution import Execution
from semel.engine.frames import told_briefly, user_traceback
from semel.engine.parks import Parked, parked_executions
from semel.engine.waiting import Waiting
from semel.errors import StoreError
from semel.store.interface import Claim, Note, Outcome, Record, Run, Ticket
from semel.worker.delivery import RunJournal, RunKeys
from semel.worker.lease import Lease
from semel.worker.outside import RunOutside
from semel.workflow.definition import EntityDefinition

from .choosing import Next, Situation, choose
from .commit import JoinedCommit, OwnCommit
from .endings import Delivery, EntityEndings, resting
from .flow import Flow, flow_of, text_of
from .joined import Joined
from .rows import Row

if TYPE_CHECKING:
    from semel.app import App

#: Ends the path of what is recorded with the first step of an execution: its payload, and when it began (rule V7).
BEGUN = "!begun"


class BegunJournal(RunJournal):
    """The journal of one execution, whose beginning is recorded with its first step."""

    __slots__ = ("begun",)

    def __init__(self, app: App, claim: Claim, lease: Lease, begun: Record | None) -> None:
        super().__init__(app.store, claim, lease)
        self.begun = begun

    def append(self, records: list[Record], notes: list[Note], retracted: list[str]) -> Ticket[bool]:
        begun, self.begun = self.begun, None
        return super().append([begun, *records] if begun is not None and records else records, notes, retracted)


def situation_of(app: App, claim: Claim) -> tuple[Situation, list[Run]]:
    """All that the choice of what is next depends on; and the children of the run."""
    run = claim.run
    assert run.flow is not None
    flow = flow_of(run.flow)
    if run.fault is None:
        flow = flow.with_faulted_again()
    children = app.store.children(run.uid) if run.parked != "{}" else []
    ended = frozenset(child.uid for child in children if child.finished_at is not None)
    events = app.store.events(run.uid)
    return Situation(flow, run.visits, parked_executions(run.parked), events, ended, app.now()), children


def prepare(
    app: App, definition: EntityDefinition, claim: Claim, lease: Lease, doubtful: bool
) -> tuple[Execution, Steps] | None:
    """What a worker does next for the run; None if there was no body to run, and the run was let go.

    Raises:
        EntityStateChanged: the program has no such state or body any more.
    """
    situation, children = situation_of(app, claim)
    if claim.run.ending is not None:
        return _prepare_end(app, definition, claim, lease, situation, children, doubtful)
    following = choose(definition, situation)
    if following is not None and following.event and not following.opened:
        following = _of_this_payload(app, definition, claim.run, following)
    delivery = Delivery(definition, claim, following or Next("end"), situation, children, by_caller=False)
    if following is None or following.kind in ("drop", "end"):
        _without_a_body(app, delivery)
        return None
    prepared = Prepared(app, delivery, lease, doubtful)
    return prepared.execution, prepared.undo() if following.kind == "undo" else prepared.deliver()


def _of_this_payload(app: App, definition: EntityDefinition, run: Run, following: Next) -> Next:
    """The execution of a durable event: not one that has done steps for another payload, in a caller that failed (V7).

    Nobody is there to be refused, as a caller would be, so it is new work.
    """
    while True:
        path = begun_at(definition, following.execution)
        records = app.store.records(run.uid, following.execution)
        begun = next((record for record in records if record.path == path), None)
        if begun is None or begun.data == following.payload:
            return following
        following = replace(following, execution=f"{following.body}@{following.visit + 1}")


def _without_a_body(app: App, delivery: Delivery) -> None:
    """Commits what needs no body: an event that nothing takes, the end of the run, or that it goes on waiting."""
    run, of, following = delivery.claim.run, delivery.situation, delivery.next
    notes = []
    taken: tuple[int, ...] = ()
    events = of.events
    if following.kind == "drop":
        dropped = next(event for event in events if event.seq == following.event)
        text = f"the event {dropped.name[1:]!r} was raised, and the state {of.flow.state} does not take it"
        notes = [Note(run.uid, "", "event dropped", text, app.now())]
        taken = (dropped.seq,)
        events = [event for event in events if event.seq != dropped.seq]
    outcome = Outcome("parked", run.visits, None, None, of.flow.fault, run.started_at or app.now(), app.now())
    outcome = replace(outcome, flow=text_of(of.flow), parked=run.parked, taken=taken)
    outcome = resting(delivery, of.flow, run.visits, dict(of.parked), events, outcome, app.codec)
    app.store.finish(delivery.claim, outcome, notes).wait()


def _prepare_end(
    app: App,
    definition: EntityDefinition,
    claim: Claim,
    lease: Lease,
    situation: Situation,
    children: list[Run],
    doubtful: bool,
) -> tuple[Execution, Steps] | None:
    """The undos of one open execution of a run that is to end; or its end, if there is none."""
    open_ = [name for name, each in situation.flow.open.items() if each.undos]
    outcome = Outcome("cancelled", claim.run.visits, None, None, None, claim.run.started_at or app.now(), app.now())
    outcome = replace(outcome, flow=text_of(situation.flow))
    if not open_:
        app.store.finish(claim, outcome).wait()
        return None
    delivery = Delivery(definition, claim, Next("undo", open_[0], opened=True), situation, children, by_caller=False)
    prepared = Prepared(app, delivery, lease, doubtful, ending=True)
    return prepared.execution, prepared.undo(outcome if len(open_) == 1 else None)


class Prepared:
    """One delivery of a body, ready to be driven. ``flow`` afterwards is what the run knows of its row then."""

    def __init__(
        self,
        app: App,
        delivery: Delivery,
        lease: Lease,
        doubtful: bool,
        *,
        joined: Joined | None = None,
        ending: bool = False,
    ) -> None:
        definition, claim, following = delivery.definition, delivery.claim, delivery.next
        run = claim.run
        assert run.entity is not None
        self._app = app
        self._definition = definition
        self._next = following
        row = Row(app.codec, definition, run.entity)
        recorded = {record.path: record for record in app.store.records(run.uid, following.execution)}
        begun_path = begun_at(definition, following.execution)
        begun = recorded.pop(begun_path, None)
        opened = delivery.situation.flow.open.get(following.execution)
        began = begun.started_at if begun is not None else opened.began if opened is not None else app.now()
        first = None
        if begun is None and following.kind == "body":
            data = following.payload or app.codec.encode(None)
            first = Record(
                run.uid, following.execution, begun_path, "result", data, False, began, began, claim.delivery
            )
        self.execution = Execution(
            run=run.uid,
            workflow=definition.name,
            body=following.execution,
            delivery=claim.delivery,
            doubtful=doubtful,
            records=recorded,
            codec=app.codec,
            keys=RunKeys(app, run.seed),
            journal=BegunJournal(app, claim, lease, first),
            now=app.now,
            began_at=began,
            parked=delivery.situation.parked.get(following.execution, Parked()),
            outside=RunOutside(app, claim),
            ending=ending,
        )
        if joined is None:
            self._commit: OwnCommit | JoinedCommit = OwnCommit(app.store, claim, app.engines, row)
        else:
            self._commit = JoinedCommit(app.store, claim, joined, row)
        self.execution.transaction = self._commit
        hook = definition.bodies.get(following.body)
        self._body = Body(hook.function if hook else _no_body, definition.name, following.body, following.visit, ())
        self.endings = EntityEndings(delivery, self._body, self.execution, app.store, app.codec)
        self._commit.endings = self.endings
        self._run_id = run.id
        self._claim = claim
        self._by_caller = delivery.by_caller

    @property
    def flow(self) -> Flow:
        """What the run knows of its row now."""
        return self.endings.flow

    def deliver(self) -> Generator[Waiting, Any, Ended]:
        """Loads the row and runs the body."""
        execution, commit, hook = self.execution, self._commit, self.endings.hook
        args: tuple[Any, ...] = ()
        try:
            item = yield commit.load(self._definition.is_async)
            args = (self._instance(item), *payload_of(self._app.codec, self._next, hook.takes_payload))
        except BaseException as error:
            accident = commit.is_accident(error)
            yield commit.discard()
            if self._by_caller or not isinstance(error, Exception):
                raise
            if accident:
                return Ended("again", StoreError(f"the app's own database: {told_briefly(error)}"))
            yield from self._fault(error)
            return Ended("faulted", error)
        body = replace(self._body, args=args)
        strict = self._definition.strict
        return (yield from deliver(body, execution, commit, self.endings, strict=strict, pause=None))

    def _fault(self, error: Exception) -> Generator[Waiting, Any, None]:
        """The run cannot go on: its row is not to be had, or an operator has to see to it."""
        run, codec = self._claim.run, self._app.codec
        now = self._app.now()
        outcome = Outcome("faulted", run.visits, None, None, user_traceback(error), run.started_at or now, now)
        yield self._app.store.finish(self._claim, replace(outcome, error=encoded(codec, error), parked=run.parked))

    def undo(self, outcome: Outcome | None = None) -> Steps:
        """Undoes what the sagas of an execution that is over have left."""
        return end(self._body, self.execution, self._commit, self.endings, outcome or self.endings.undone())

    def _instance(self, item: Any) -> Any:
        """What the body has for ``self``."""
        cls: Any = self._definition.cls
        instance = cls.__new__(cls)
        instance._item = item
        instance._run_id = self._run_id
        instance._sessions = self._commit
        return instance


def begun_at(definition: EntityDefinition, execution: str) -> str:
    """The path of the record that says how an execution began."""
    return f"{definition.name}/{execution}{BEGUN}"


def payload_of(codec: Codec, following: Next, takes_payload: bool) -> tuple[Any, ...]:
    """The argument of an arm."""
    if not takes_payload:
        return ()
    return (codec.decode(following.payload),) if following.payload else (None,)


def _no_body() -> None:
    """Stands for a body that the program has no more, where only its undos run."""
