"""What the end of an execution makes of a row's run: its state, visits and clocks, and what else it has to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import msgspec

from semel.codec import Codec
from semel.engine.body import Body
from semel.engine.execution import Execution
from semel.engine.frames import user_traceback
from semel.engine.parks import Parked, parked_text
from semel.errors import NotAllowedHere, ProgramError, WorkflowFailed
from semel.store.interface import Claim, Event, Outcome, Run, Status, Store
from semel.workflow.backoff import Backoff
from semel.workflow.definition import EntityDefinition, HookBody, MilestoneDefinition

from .choosing import Next, Situation, choose
from .clocks import due_after, due_again
from .flow import Flow, Open, next_due, text_of, without
from .moving import Moved, moved

#: What the end of a run in such a state makes of it.
_STATUS: dict[str, Status] = {"success": "completed", "error": "completed", "cancel": "cancelled"}


@dataclass(frozen=True, slots=True)
class Delivery:
    """One delivery, as its outcome depends on it. ``by_caller`` says that who raised the event runs it.

    ``children`` are the runs that this one has started, ``recorded`` its executions that have records.
    """

    definition: EntityDefinition
    claim: Claim
    next: Next
    situation: Situation
    children: Sequence[Run]
    by_caller: bool


class EntityEndings:
    """The outcomes of one delivery of a body."""

    def __init__(self, delivery: Delivery, body: Body, execution: Execution, store: Store, codec: Codec) -> None:
        self._delivery = delivery
        self._definition = delivery.definition
        self._claim = delivery.claim
        self._next = delivery.next
        self._of = delivery.situation
        self._body = body
        self._execution = execution
        self._store = store
        self._codec = codec
        self._again: float | None = None
        self._target: Enum | None = None
        self.before = delivery.situation.flow
        self.flow = self.before

    @property
    def hook(self) -> HookBody:
        return self._definition.bodies[self._next.body]

    @property
    def target(self) -> Enum | None:
        """The state that the body has returned."""
        return self._target

    def began_with(self, item: Any) -> None:
        """The row, as the body finds it: a clock that runs again takes its next time from it."""
        definition, hook, due = self._definition, self.hook, self._next.due
        what = f"{definition.name}/{hook.name}"
        if due is None:
            return
        if hook.kind == "remind":
            assert hook.state is not None
            every = definition.states[hook.state.name].reminders[hook.method].then_every
            self._again = due_again(every, item, due, self._of.now, definition.calendar, what)
        elif hook.kind == "unfinished":
            self._again = self._milestone_again(hook, item, what)

    def _milestone_again(self, hook: HookBody, item: Any, what: str) -> float | None:
        milestone = self._milestone(hook)
        left = self.before.left.get(milestone.name, 0)
        if left <= 0:
            return None
        failed = milestone.retries - left + 1
        if milestone.backoff is not None:
            key = self._execution.keys.of_value(f"milestone\x1f{milestone.name}\x1f{failed}", 16)
            return self._of.now + milestone.backoff.delay(failed, key)
        assert milestone.within is not None
        return due_after(milestone.within, item, self._of.now, self._definition.calendar, what)

    def _milestone(self, hook: HookBody) -> MilestoneDefinition:
        return self._definition.milestones[hook.name.partition(".")[0]]

    # -------------------------------------------------------------------------------------------- what the drive asks

    def result(self, value: object) -> bytes | None:
        definition = self._definition
        if value is None:
            return None
        if not isinstance(value, definition.enum):
            raise NotAllowedHere(
                f"{definition.name}/{self._body.execution_name} returned {value!r}, and a body returns the next state, "
                f"a member of {definition.enum.__qualname__}, or None to stay"
            )
        if definition.states[self.before.state].terminal is not None:
            raise NotAllowedHere(
                f"{definition.name}/{self._body.execution_name} returned {value!r}, but the run is at its end, in "
                f"{self.before.state}; let it return None"
            )
        self._target = value
        return None

    def completed(self, data: bytes | None) -> Outcome:
        """A draft: what the row's own commit makes of it is ``settled``."""
        return self._outcome("completed", self.before, self._visits(), dict(self._of.parked))

    def settled(self, item: Any) -> Outcome:
        """The outcome, with the row as the body has left it."""
        name = self._body.execution_name
        flow = self._used_up(msgspec.structs.replace(self.before, open=without(self.before.open, name)))
        after = Moved(flow, self._visits(), without(self._of.parked, name))
        cancels: tuple[str, ...] = ()
        if self._target is not None:
            recorded = [each for each in self._store.bodies(self._claim.run.uid) if each != name]
            after = moved(self._definition, after, recorded, item, self._target, self._of.now)
            cancels = self._children_of(after.left)
        outcome = self._resting(after.flow, after.visits, after.parked)
        return replace(outcome, cancels=cancels, sends=tuple(self._execution.sends))

    def parked(self) -> Outcome:
        name = self._body.execution_name
        undos = len(self._execution.sagas.due())
        flow = self.before
        if self._next.kind == "body":
            opened = flow.open.get(name, Open(self._next.payload, self._execution.began_at))
            opened = msgspec.structs.replace(opened, fault="", failed=0, again=False, undos=undos)
            flow = self._used_up(msgspec.structs.replace(flow, open={**flow.open, name: opened}))
        parked = {**self._of.parked, name: self._execution.parks.parked()}
        return self._resting(flow, self._visits(), parked)

    def again(self, args: tuple[tuple[Any, ...], dict[str, Any]]) -> Outcome:
        raise NotAllowedHere(
            f"app.again(…) in {self._definition.name}/{self._body.execution_name}: a body that follows a row goes on "
            f"by the state that it returns; return the state that it is in to enter it anew"
        )

    def redelivered(self, pause: float) -> Outcome:
        raise NotImplementedError  # ``faulted`` sees to it

    def faulted(self, fault: BaseException) -> Outcome | None:
        if self._delivery.by_caller and self.hook.kind == "event":
            return None
        name = self._body.execution_name
        opened = self.before.open.get(name, Open(self._next.payload, self._execution.began_at))
        failed = opened.failed + 1
        pause = self._pause(failed)
        text = user_traceback(fault) if pause is None else ""
        undos = len(self._execution.sagas.due())
        opened = msgspec.structs.replace(opened, fault=text, failed=failed, again=False, undos=undos)
        flow = self._used_up(msgspec.structs.replace(self.before, open={**self.before.open, name: opened}))
        parked = without(self._of.parked, name)
        if pause is not None:
            parked[name] = self._execution.parks.parked_until(self._execution.now() + pause)
        visits = self._visits() if self.hook.kind == "remind" else dict(self._of.visits)
        return replace(self._resting(flow, visits, parked), children=())

    def undone(self) -> Outcome:
        """The outcome of the undos of an abandoned execution."""
        name = self._body.execution_name
        flow = msgspec.structs.replace(
            self.before,
            open=without(self.before.open, name),
            abandoned=tuple(each for each in self.before.abandoned if each != name),
        )
        return self._resting(flow, dict(self._of.visits), without(self._of.parked, name))

    # ---------------------------------------------------------------------------------------------------------- insides

    def _pause(self, failed: int) -> float | None:
        """Seconds until a faulted execution is delivered again by itself; None: it is not."""
        policy = self.hook.redeliver if self.hook.redeliver is not None else self._definition.redeliver
        if isinstance(policy, Backoff):
            if failed >= (policy.attempts or 0):
                return None
            key = self._execution.keys.of_value(f"redelivery\x1f{self._body.execution_name}\x1f{failed}", 16)
            return policy.delay(failed, key)
        return 0.0 if failed <= policy else None

    def _visits(self) -> dict[str, int]:
        visits = dict(self._of.visits)
        visits[self._body.name] = max(visits.get(self._body.name, 0), self._body.visit)
        return visits

    def _used_up(self, flow: Flow) -> Flow:
        """What brought the execution about has been seen to: the entry, a clock, a milestone."""
        if self._next.opened:
            return flow
        hook = self.hook
        if hook.kind == "enter":
            return msgspec.structs.replace(flow, entering=False)
        if hook.kind == "finished":
            return msgspec.structs.replace(flow, hooks=tuple(each for each in flow.hooks if each != hook.name))
        if self._next.due is None:
            return flow
        clocks = without(flow.clocks, hook.name)
        left = flow.left
        if self._again is not None:
            clocks[hook.name] = self._again
        if hook.kind == "unfinished":
            milestone = self._milestone(hook)
            left = {**left, milestone.name: max(left.get(milestone.name, 0) - 1, 0)}
        return msgspec.structs.replace(flow, clocks=clocks, left=left)

    def _resting(self, flow: Flow, visits: dict[str, int], parked: dict[str, Parked]) -> Outcome:
        """The outcome by what is left to do: at once, later, or nothing."""
        self.flow = flow
        taken = {*self._execution.waits.taken, *((self._next.event,) if self._next.event else ())}
        events = [event for event in self._of.events if event.seq not in taken]
        return resting(
            self._delivery, flow, visits, parked, events, self._outcome("parked", flow, visits, parked), self._codec
        )

    def _outcome(self, status: Status, flow: Flow, visits: dict[str, int], parked: dict[str, Parked]) -> Outcome:
        execution = self._execution
        started = self._claim.run.started_at or execution.began_at
        taken = {*execution.waits.taken, *((self._next.event,) if self._next.event else ())}
        outcome = Outcome(status, visits, None, None, flow.fault, started, execution.now())
        return replace(
            outcome,
            parked=parked_text(parked),
            flow=text_of(flow),
            children=execution.waits.new_children,
            taken=tuple(sorted(taken)),
        )

    def _children_of(self, executions: tuple[str, ...]) -> tuple[str, ...]:
        """The children of these executions that have not ended."""
        run = self._claim.run
        heads = tuple(f"{run.id}/{name}{mark}" for name in executions for mark in "#/[")
        return tuple(
            child.uid for child in self._delivery.children if child.finished_at is None and child.id.startswith(heads)
        )


def resting(
    delivery: Delivery,
    flow: Flow,
    visits: dict[str, int],
    parked: dict[str, Parked],
    events: Sequence[Event],
    outcome: Outcome,
    codec: Codec,
) -> Outcome:
    """The outcome of a run that is now like this: it goes on at once, waits, or has come to its end."""
    definition, before = delivery.definition, delivery.situation
    following = choose(definition, replace(before, flow=flow, visits=visits, parked=parked, events=events))
    if following is not None and following.kind == "end":
        return ended(definition, flow, outcome, codec)
    uids = {uid for each in parked.values() for wait in each.waits.values() for uid in wait.children}
    awaited = tuple(sorted(uids - before.ended))
    return replace(
        outcome,
        status="parked" if following is None else "pending",
        due=next_due(flow, parked),
        awaited=awaited,
        need=1 if awaited else 0,
        undos=sum(each.undos for each in flow.open.values()),
    )


def ended(definition: EntityDefinition, flow: Flow, outcome: Outcome, codec: Codec) -> Outcome:
    """The outcome of a run whose row has come to a terminal state."""
    terminal = definition.states[flow.state].terminal
    if terminal is None:
        raise ProgramError(f"{definition.name}: {flow.state} is no terminal state")
    error = codec.encode_failure(WorkflowFailed(terminal.message)) if terminal.kind == "error" else None
    return replace(
        outcome,
        status=_STATUS[terminal.kind],
        result=codec.encode(terminal.message) if terminal.kind == "success" else None,
        error=error,
        fault=terminal.message if terminal.kind == "error" else None,
        parked="{}",
    )
