"""Raising an event on a row: its arm runs in the caller, in a transaction of its own or in the caller's (rule W4).

``later`` hands it to a worker, durably. Inside a body both take effect when that body commits.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from semel.compiler import current
from semel.engine.drive import Ended
from semel.engine.waiting import Waiting, on_loop, on_thread
from semel.errors import (
    EntityGone,
    EntityNotFollowed,
    EventNotTaken,
    NotAllowedHere,
    PayloadChanged,
    RegistrationError,
    RunBusy,
)
from semel.run import Run
from semel.store.interface import ENDED, Claim, Sending
from semel.store.interface import Run as Row
from semel.workflow.definition import EntityDefinition, HookBody
from semel.workflow.raiser import Raised
from semel.workflow.session import begin

from .choosing import RAISED, Next, Situation, fresh, parked_before, state_of
from .delivery import Prepared, begun_at, situation_of
from .driver import driver_of
from .endings import Delivery
from .flow import Flow, body_and_visit, flow_of
from .identity import identity_of, key_of, told
from .joined import Joined
from .listening import refuse_own_lock, start

if TYPE_CHECKING:
    from semel.app import App

_PATIENCE = 10.0  # seconds that a caller waits for another one to let go of the run
_LOOK = 0.02  # seconds between two looks whether it has
_MOST = 10  # deliveries of one arm, while others change what it has read

Act = Generator[Waiting, Any, Any]


class Pause:
    """Waits a moment, on a thread or on a loop."""

    def wait(self) -> None:
        threading.Event().wait(_LOOK)

    async def future(self, loop: asyncio.AbstractEventLoop) -> None:
        await asyncio.sleep(_LOOK)


def raise_event(workflow: Any, event: str, item: Any, payload: Any, session: Any, again: bool) -> Raised:
    """``OrderFlow.pay(order, …)``."""
    call = Call(workflow, event, item, payload, session)
    if call.body is not None:
        return call.at_the_commit()
    if call.definition.is_async:
        raise NotAllowedHere(
            f"the bodies of {call.definition.name} are async: await {call.definition.name}.{event}.call_async(…)"
        )
    if call.joined is not None and call.joined.is_async:
        raise NotAllowedHere(
            f"session= is an AsyncSession: await {call.definition.name}.{event}.call_async(…, session=session)"
        )
    return on_thread(call.raised(again))


async def raise_event_async(workflow: Any, event: str, item: Any, payload: Any, session: Any, again: bool) -> Raised:
    """``raise_event`` for a coroutine. A plain function that is a body runs in a thread; with an ``AsyncSession``, on
    the loop's own, which it holds up meanwhile.
    """
    call = Call(workflow, event, item, payload, session)
    if call.body is not None:
        return call.at_the_commit()
    if call.definition.is_async:
        return await on_loop(call.raised(again))
    if session is None:
        return await asyncio.to_thread(raise_event, workflow, event, item, payload, None, again)
    if call.joined is not None and not call.joined.is_async:
        raise NotAllowedHere(
            f"session= is a sync Session in a coroutine: call {call.definition.name}.{event}(…, session=session) in "
            f"the session's own thread"
        )
    assert call.joined is not None
    raised: Raised = await call.joined.session.run_sync(
        lambda sync: raise_event(workflow, event, item, payload, sync, again)
    )
    return raised


def raise_later(workflow: Any, event: str, item: Any, payload: Any, session: Any) -> None:
    """``OrderFlow.pay.later(order, …)``."""
    call = Call(workflow, event, item, payload, session)
    if call.body is not None:
        call.at_the_commit()
    else:
        on_thread(call.sent())


async def raise_later_async(workflow: Any, event: str, item: Any, payload: Any, session: Any) -> None:
    """``raise_later`` for a coroutine."""
    call = Call(workflow, event, item, payload, session)
    if call.body is not None:
        call.at_the_commit()
    else:
        await on_loop(call.sent())


def run_of(workflow: Any, item: Any, session: Any = None) -> Run[Any] | None:
    """The run that follows the row, or the last one that did; None if there was none."""
    call = Call(workflow, "", item, None, session)
    row = on_thread(call.row())
    return None if row is None else Run(call.app, row.id, row.uid)


def adopt(workflow: Any, item: Any, session: Any = None) -> Run[Any]:
    """The run that follows the row; one is started, in the state that it is in, if there is none."""
    call = Call(workflow, "", item, None, session)
    if call.joined is not None and call.joined.is_async:
        raise NotAllowedHere(f"session= is an AsyncSession: await {call.definition.name}.adopt_async(…)")
    if call.joined is not None:
        return on_thread(call.adopted(call.joined))
    with call.app.engines().session() as own, own.begin():
        return on_thread(call.adopted(Joined(own, call._over)))


async def adopt_async(workflow: Any, item: Any, session: Any = None) -> Run[Any]:
    """``adopt`` for a coroutine."""
    call = Call(workflow, "", item, None, session)
    if call.joined is not None:
        return await on_loop(call.adopted(call.joined))
    async with call.app.engines().async_session() as own, own.begin():
        return await on_loop(call.adopted(Joined(own, call._over)))


async def run_of_async(workflow: Any, item: Any, session: Any = None) -> Run[Any] | None:
    """``run_of`` for a coroutine."""
    call = Call(workflow, "", item, None, session)
    row = await on_loop(call.row())
    return None if row is None else Run(call.app, row.id, row.uid)


def app_of(workflow: Any) -> tuple[App, EntityDefinition]:
    """The app that the class is registered with.

    Raises:
        RegistrationError: it is not.
    """
    definition: EntityDefinition | None = getattr(workflow, "__definition__", None)
    app: App | None = getattr(workflow, "__app__", None)
    if definition is None or app is None:
        raise RegistrationError(f"{workflow.__qualname__} is registered with no app: put @app.workflow above the class")
    return app, definition


class Call:
    """One event, or question, for one row."""

    def __init__(self, workflow: Any, event: str, item: Any, payload: Any, session: Any) -> None:
        self.app, self.definition = app_of(workflow)
        self.event = event
        path = current.get()
        self.body: Any = None if path is None or path.execution.over or path.in_step else path.execution
        self.in_step = path is not None and not path.execution.over and path.in_step
        self.joined = None if session is None or self.body is not None else Joined(session, self._over)
        if self.joined is not None and not self.joined.is_async:
            self.joined.sync_session().flush()  # a new item gets its key, and its run
        self._item = item
        self._payload = self.app.codec.encode(payload)
        self._key = ""

    @property
    def key(self) -> str:
        if not self._key:
            self._key = key_of(self.app.codec, self.definition, self._item)
        return self._key

    @property
    def told(self) -> str:
        return told(self.definition, identity_of(self.app.codec, self.key))

    def _over(self, claim: Claim) -> None:
        """The transaction in which the run was driven is over: others may have it."""
        self.app.store.release(claim)
        self.app.signals.ended(claim.run.uid)
        self.app.signals.started()

    # ------------------------------------------------------------------------------------------------------- the run

    def row(self) -> Generator[Waiting, Any, Row | None]:
        """The run's row, as the caller's transaction sees it."""
        if self.joined is None:
            return self.app.store.of_entity(self.definition.name, self.key)

        def look(session: Any) -> Row | None:
            session.flush()
            connection = session.connection().connection.dbapi_connection
            return self.app.store.of_entity(self.definition.name, self.key, connection)

        found: Row | None = yield self.joined.act(look)
        return found

    def _open_row(self) -> Generator[Waiting, Any, Row]:
        row = yield from self.row()
        if row is None:
            raise EntityNotFollowed(
                f"no run of {self.definition.name} follows {self.told}: it was inserted by something that semel does "
                f"not see, or before {self.definition.name} was there. {self.definition.name}.adopt(item) makes one"
            )
        if row.status in ENDED or row.ending is not None:
            state = flow_of(row.flow).state if row.flow is not None else "?"
            how = f"has ended ({row.status})" if row.status in ENDED else f"is to end ({row.ending})"
            if row.status == "faulted":
                how = f"has faulted ({(row.fault or '').strip().rpartition(chr(10))[2]}; mend it, then run.retry())"
            raise EventNotTaken(
                f"{self.definition.name}.{self.event} on {self.told}: its run {row.id!r}, in the state {state}, {how}, "
                f"and takes no event any more"
            )
        return row

    def adopted(self, joined: Joined) -> Generator[Waiting, Any, Run[Any]]:
        """The run that follows the row, in this transaction."""
        definition = self.definition

        def start_in(session: Any) -> Row:
            item = session.get(definition.entity, identity_of(self.app.codec, self.key))
            if item is None:
                raise EntityGone(f"there is no {self.told} in the database")
            begin(session.connection())
            state = getattr(item, definition.attribute)
            return start(self.app, definition, session.connection(), item, state, new=False)

        row: Row = yield joined.act(start_in)
        self.app.signals.started()
        return Run(self.app, row.id, row.uid)

    # --------------------------------------------------------------------------------------------------------- later

    def sent(self) -> Act:
        """The event is durable, and a worker delivers it."""
        row = yield from self._open_row()
        name, now = RAISED + self.event, self.app.now()
        if self.joined is None:
            refuse_own_lock(self._item, f"{self.definition.name}.{self.event}.later")
            kept = yield self.app.store.send(row.uid, name, self._payload, now)
        else:

            def send(session: Any) -> bool:
                connection = session.connection().connection.dbapi_connection
                return self.app.store.send_in(connection, row.uid, name, self._payload, now)

            kept = yield self.joined.act(send)
        if not kept:
            raise EventNotTaken(f"{self.definition.name}.{self.event} on {self.told}: its run {row.id!r} has ended")
        self.app.signals.started()

    def at_the_commit(self) -> Raised:
        """In a body: the event is sent by the body's own commit."""
        row = on_thread(self._open_row())
        self.body.sends.append(Sending(row.uid, RAISED + self.event, self._payload, self.app.now()))
        state = flow_of(row.flow or "").state
        return Raised(state=self.definition.enum[state], parked=True, run=Run(self.app, row.id, row.uid))

    # ------------------------------------------------------------------------------------------------------------ now

    def raised(self, again: bool) -> Generator[Waiting, Any, Raised]:
        """Runs the arm; before it the ``enter`` of the state, if that is still to run."""
        if self.in_step:
            raise NotAllowedHere(
                f"{self.definition.name}.{self.event}(…) inside a step would run an arm inside it; write "
                f"{self.definition.name}.{self.event}.later(…), which a worker delivers"
            )
        if self.joined is None and self.key:
            refuse_own_lock(self._item, f"{self.definition.name}.{self.event}")
        self.app.check()
        for _ in range(_MOST):
            claim = yield from self._claimed()
            kept = False
            try:
                situation, children = situation_of(self.app, claim)
                following = self._next(claim, situation, again)
                delivery = Delivery(self.definition, claim, following, situation, children, by_caller=True)
                is_arm = self.definition.bodies[following.body].kind == "event"
                lease = driver_of(self.app).lease()
                prepared = Prepared(self.app, delivery, lease, claim.blind, joined=self.joined)
                with driver_of(self.app).drives(prepared.execution):
                    ended: Ended = yield from prepared.deliver()
                kept = ended.how in ("completed", "parked") or (ended.how == "faulted" and not is_arm)
            except BaseException:
                yield from self._after(claim, False)
                raise
            yield from self._after(claim, kept)
            if ended.how in ("completed", "parked") and is_arm:
                return self._told(claim, prepared.flow, parked=ended.how == "parked")
            if ended.error is not None and (is_arm or ended.how != "faulted"):
                raise ended.error
            if ended.how == "lost" and self.joined is not None:
                break
        raise RunBusy(f"{self.told} was changed again and again while {self.event} was raised on it; try again")

    def _next(self, claim: Claim, of: Situation, again: bool) -> Next:
        """The ``enter`` of the state if it is still to run; else the arm.

        Raises:
            EventNotTaken, PayloadChanged
        """
        state = state_of(self.definition, of.flow.state)
        arm = state.arms.get(self.event)
        if arm is None:
            takers = [name for name, each in self.definition.states.items() if self.event in each.arms]
            raise EventNotTaken(
                f"{self.definition.name}.{self.event} on {self.told}: it is in the state {of.flow.state}, which does "
                f"not take it; {', '.join(takers) or 'no state'} would"
            )
        if of.flow.entering and state.enter is not None:
            return fresh(state.enter, of)
        waiting = parked_before(arm, of)
        if waiting is not None:
            raise EventNotTaken(
                f"{self.definition.name}.{self.event} on {self.told}: the arm waits ({waiting}), and goes on by "
                f"itself; a second one beside it would do its work twice. To have this event wait its turn write "
                f"{self.definition.name}.{self.event}.later(…)"
            )
        return self._same_or_new(claim, of, arm, again)

    def _same_or_new(self, claim: Claim, of: Situation, arm: HookBody, again: bool) -> Next:
        """The execution that has failed before is delivered again if the payload is the same (rules V4, V7)."""
        following = fresh(arm, of, self._payload)
        names = [f"{arm.name}@{of.visits.get(arm.name, 0) + 1}", *of.flow.open]
        for name in dict.fromkeys(names):
            if body_and_visit(name)[0] != arm.name:
                continue
            steps = self.app.store.records(claim.run.uid, name)
            begun = next((each for each in steps if each.path == begun_at(self.definition, name)), None)
            opened = of.flow.open.get(name)
            before = begun.data if begun is not None else opened.payload if opened is not None else None
            if before is None:
                continue
            if before == self._payload:
                return Next("body", name, self._payload, opened=opened is not None)
            done = [each.path for each in steps if each is not begun]
            if done and not again:
                raise PayloadChanged(
                    f"{self.definition.name}.{self.event} on {self.told} was raised before with another payload, and "
                    f"its arm had done {', '.join(done)} when it failed. Raise it with the same payload, and it goes "
                    f"on from there; or with again=True, and all of it is done anew, as a new visit"
                )
            if following.execution == name:
                following = Next("body", f"{arm.name}@{following.visit + 1}", self._payload)
        return following

    def _claimed(self) -> Generator[Waiting, Any, Claim]:
        """Claims the run; waits a while for whoever has it.

        Raises:
            RunBusy: they did not let go of it.
        """
        lease = driver_of(self.app).lease()
        for _ in range(int(_PATIENCE / _LOOK)):
            row = yield from self._open_row()
            if self.joined is not None:
                held = self.joined.claim_of(row.uid)
                if held is not None:
                    return _anew(held, row)
            now = self.app.now()
            claim: Claim | None = yield self.app.store.claim_run(lease.owner, row, lease.now(), now)
            if claim is None:
                yield Pause()
                continue
            fresh_row = yield from self.row()  # it may have been driven between the look and the claim
            if fresh_row is not None and fresh_row.status not in ENDED:
                return _anew(claim, fresh_row)
            self.app.store.release(claim)
        raise RunBusy(
            f"{self.definition.name}.{self.event} on {self.told}: another process or thread has its run in hand since "
            f"{_PATIENCE:g} s, or this thread has it in a transaction that is still open. Try again, or write "
            f"{self.definition.name}.{self.event}.later(…)"
        )

    def _after(self, claim: Claim, kept: bool) -> Act:
        """Gives the claim back, and waits until it is: who looks next sees the run as it is."""
        if self.joined is not None and (kept or self.joined.claim_of(claim.run.uid) is not None):
            return  # the claim is held until the transaction is over
        yield self.app.store.release(claim)
        self.app.signals.ended(claim.run.uid)
        self.app.signals.started()

    def _told(self, claim: Claim, flow: Flow, *, parked: bool) -> Raised:
        return Raised(
            state=self.definition.enum[flow.state], parked=parked, run=Run(self.app, claim.run.id, claim.run.uid)
        )


def _anew(claim: Claim, row: Row) -> Claim:
    return Claim(row, claim.owner, claim.epoch, claim.delivery, claim.takeover, claim.blind, claim.began_at)
