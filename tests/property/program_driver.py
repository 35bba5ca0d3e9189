"""Drives the runs of one generated program in this thread, undisturbed or as a schedule of crashes and moves says."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import random
import re
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import program_world
from program_owners import Owners
from program_world import Delivery, World, base_of

from semel.engine import points
from semel.engine.parks import parked_executions
from semel.engine.waiting import on_loop, on_thread
from semel.run import Run
from semel.store.interface import ENDED, Claim
from semel.store.interface import Run as Row
from semel.testing.crashing import KIT_POINTS, cut, is_dead, kill
from semel.worker.attempts import Attempts
from semel.worker.lease import Lease

_IN_A_ONCE = re.compile(r"/o\d")
MOST = 1000  # deliveries of one story: more are a run that never ends


@dataclass
class Schedule:
    """What disturbs a story: at which of the points that it comes to (counted over all) it is cut off, and how."""

    seed: int
    crashes: dict[int, str] = field(default_factory=dict)  # "crash" or "zombie"
    cancel_after: int | None = None  # deliveries
    is_quiet: bool = False

    @classmethod
    def made(cls, seed: int, points_reached: int, deliveries: int) -> Schedule:
        rng = random.Random(f"schedule {seed}")
        number = rng.choice([1, 1, 2, 2, 3])
        where = [rng.randint(1, max(2, int(points_reached * 1.2))) for _ in range(number)]
        crashes = {at: "zombie" if rng.random() < 0.4 else "crash" for at in where}
        cancel = rng.randint(1, deliveries) if rng.random() < 0.15 else None
        return cls(seed, crashes, cancel)


@dataclass(frozen=True)
class Expected:
    """An event that a parked run waits for, until ``at``."""

    run: str
    uid: str
    name: str
    at: float | None


QUIET = Schedule(0, is_quiet=True)


class Stuck(AssertionError):
    """A run waits for nothing that will come."""


class Driver:
    """One story: the runs of one program in one world."""

    def __init__(
        self, owners: Owners, world: World, schedule: Schedule, events: dict[str, str], names: list[str]
    ) -> None:
        self.owners = owners
        self.app = owners.app
        self.world = world
        self.schedule = schedule
        self.random = random.Random(f"moves {schedule.seed}")
        self.events = events
        self.names = names
        self.sent: Counter[tuple[str, str]] = Counter()
        self.points = 0
        self.root: Run[Any] | None = None
        self.cancelled = False
        self._runner: asyncio.Runner | None = None
        self._retries = 0
        self._found: list[Row] = []
        self._waiting: list[Expected] = []

    # ------------------------------------------------------------------------------------------------------- the story

    def play(self, workflow: Any, id: str, retries: int) -> Run[Any]:
        """Starts the run and drives it until it has ended for good, and all below it."""
        self._retries = retries
        points.watch(self)
        try:
            self.root = self.app.start(workflow, 0, id=id)
            self._send_early()
            self._drive()
        finally:
            points.watch(None)
            if self._runner is not None:
                self._runner.close()
        return self.root

    def rows(self) -> list[Row]:
        """The runs of the story, the root first."""
        assert self.root is not None
        found: list[Row] = []
        root = self.app.store.get(self.root.id)
        left = [root] if root is not None else []
        while left:
            row = left.pop(0)
            found.append(row)
            left += self.app.store.children(row.uid)
        return found

    def _drive(self) -> None:
        for _ in range(MOST):
            self._cancel()
            if not self.schedule.is_quiet and self.random.random() < 0.1:
                self._poke()
            if self._deliver_one():
                continue
            self._look()
            if self._retry() or self._send() or self._move():
                continue
            break
        else:
            raise Stuck(f"the story has not ended after {MOST} deliveries")
        for row in self.rows():
            if row.status not in ENDED:
                raise Stuck(f"{row.id} is {row.status}, and waits for nothing: {row.parked}")

    def _deliver_one(self) -> bool:
        lease = self.owners.lease()
        while self.app.store.wake_due(self.world.now, 100).wait() == 100:
            pass
        claims = self.app.store.claim(lease.owner, self.names, 1, self.owners.wall, self.world.now).wait()
        if not claims:
            return False
        self._deliver(claims[0], lease)
        return True

    def _deliver(self, claim: Claim, lease: Lease) -> None:
        workflow = self.app.workflows[claim.run.workflow]
        attempts = Attempts(self.app, workflow, claim, lease)
        while (prepared := attempts.prepare()) is not None:
            execution, steps = prepared
            number = len(self.world.deliveries)
            row, faults = claim.run, self.world.faults[claim.run.id]
            delivery = Delivery(number, row.id, row.uid, workflow.is_async, execution, faults)
            with self.world.delivering(delivery):
                execution.marks.open()
                made = cut(execution, steps)
                ended = self._loop().run(on_loop(made)) if workflow.is_async else on_thread(made)
            if is_dead(execution):
                self.owners.dies(lease)
                return
            if not delivery.is_zombie:
                execution.marks.close()
            if ended.how == "faulted":
                self.world.faults[claim.run.id] += 1
            if attempts.after(ended) is None:
                return

    # ------------------------------------------------------------------------------------------------- what comes to it

    def _look(self) -> None:
        """Reads what is parked, and for which events."""
        self._found = self.rows()
        self._waiting = []
        parked = [row for row in self._found if row.status == "parked"]
        self.world.counts["two runs parked at once"] += len(parked) > 1
        for row in parked:
            for execution in parked_executions(row.parked).values():
                self.world.counts["two waits of one body"] += len(execution.waits) > 1
                for path, wait in execution.waits.items():
                    inside = _IN_A_ONCE.search(path) is not None and wait.kind != "retry"
                    self.world.counts["wait inside a once"] += inside
                    if wait.kind == "event":
                        self._waiting.append(Expected(row.id, row.uid, wait.name, wait.at))

    def _send_early(self) -> None:
        if self.schedule.is_quiet:
            return
        for name, how in self.events.items():
            if how.startswith("sent") and self.random.random() < 0.3:
                assert self.root is not None
                self._send_event(self.root.id, self.root.uid, name, "early")

    def _poke(self) -> None:
        """Something comes at a moment that nobody has waited for."""
        self._look()
        what = self.random.choice(["event", "worker", "clock", "event"])
        if what == "worker":
            self.owners.retire()
        elif what == "clock":
            self._move_to(self.world.now + self.random.random())
        elif self.events:
            name = self.random.choice([*self.events])
            row = self.random.choice(self._found)
            if self.events[name].startswith("sent") and row.status not in ENDED:
                self._send_event(row.id, row.uid, name, "at random")

    def _send_in_between(self) -> None:
        """An event comes while a delivery goes on."""
        names = [name for name, how in self.events.items() if how.startswith("sent")]
        delivery = self.world.delivery
        if names and delivery is not None:
            self._send_event(delivery.run, delivery.uid, self.random.choice(names), "in a delivery")

    def _send_event(self, id: str, uid: str, name: str, how: str) -> None:
        with contextlib.suppress(Exception):
            number = self.sent[id, name]
            Run[Any](self.app, id, uid).send(name, number)
            self.sent[id, name] += 1
            self.world.told.append(f"event {name} {number} to {id}, {how}")
            self.world.counts[f"event {how}"] += 1

    def _send(self) -> bool:
        """Sends one event that a run waits for, if it is one that comes."""
        waiting = [one for one in self._waiting if self.events[one.name].startswith("sent")]
        if not waiting or (not self.schedule.is_quiet and self.random.random() < 0.3 and self._move()):
            return bool(waiting)
        one = waiting[0] if self.schedule.is_quiet else self.random.choice(waiting)
        twice = not self.schedule.is_quiet and self.random.random() < 0.3
        for _ in range(1 + twice):
            self._send_event(one.run, one.uid, one.name, "while parked")
        return True

    def _retry(self) -> bool:
        """Delivers the root again that has faulted."""
        assert self.root is not None
        if self.cancelled or not self._retries or self.root.status != "faulted":
            return False
        if not self.schedule.is_quiet and self.random.random() < 0.2 and self._move():
            return True
        self._retries -= 1
        self.world.faulted.append(self._failure())
        self.world.told.append("retry")
        assert self.root.retry()
        return True

    def _failure(self) -> str:
        assert self.root is not None
        row = self.app.store.get(self.root.id)
        if row is None or row.error is None:
            return ""
        return repr(self.app.codec.decode_failure(row.error))

    def _cancel(self) -> None:
        if self.schedule.cancel_after is not None and len(self.world.deliveries) >= self.schedule.cancel_after:
            self.schedule.cancel_after = None
            assert self.root is not None
            if self.root.cancel():
                self.cancelled = True
                self.world.told.append("cancel")

    def _move(self) -> bool:
        """Moves the clock to what is due next, or beyond it, or only nearer; False if nothing will be due."""
        due = self.app.store.next_due()
        if due is None:
            return False
        sent = [one for one in self._waiting if self.events[one.name].startswith("sent")]
        limits = [one.at for one in sent if one.at is not None]
        if self.schedule.is_quiet:
            to = due
        else:
            left = max(0.0, due - self.world.now)
            to = self.world.now + left * self.random.choice([0.5, 1, 1, 1]) + self.random.choice([0, 0, 0.5, 30])
        if limits and to >= min(limits):
            if due >= min(limits):
                return False  # the event comes first
            to = due
        self._move_to(to)
        return True

    def _move_to(self, to: float) -> None:
        self.world.now = max(self.world.now, to)
        if self.schedule.is_quiet:
            return
        self.world.told.append(f"clock {self.world.now - 1_750_000_000.0:.2f}")
        for one in self._waiting:
            if self.events[one.name] == "late" and one.at is not None and one.at < self.world.now - 0.001:
                self._send_event(one.run, one.uid, one.name, "too late")

    # ------------------------------------------------------------------------------------------------------ cutting off

    def hit(self, name: str, path: str) -> None:
        """A delivery has come to a point."""
        delivery = self.world.delivery
        if name not in KIT_POINTS or delivery is None or is_dead(delivery.execution):
            return
        if name == "step.before":
            delivery.latest = path
            if delivery.is_unaware:
                self._allow_next(delivery, path)
        self.points += 1
        if not self.schedule.is_quiet and name.startswith("step.") and self.random.random() < 0.01:
            self._send_in_between()
        how = self.schedule.crashes.get(self.points)
        if how is None or delivery.is_zombie:
            return
        if how == "zombie" and name.startswith(("step", "body.before")):
            self._allow(delivery, name, path, zombie=True)
            delivery.is_zombie = True
            self._told("zombie", name, path)
            self._take_over(delivery, name)
            return
        self._allow(delivery, name, path, zombie=False)
        self._told("crash", name, path)
        raise kill(delivery.execution)

    def _told(self, how: str, name: str, path: str) -> None:
        self.world.told.append(f"{how} at {name} {path} (point {self.points})")
        self.world.counts[f"{how} at {name}"] += 1

    def _allow(self, delivery: Delivery, name: str, path: str, *, zombie: bool) -> None:
        """The calls whose record is not durable at this moment may be made once more (rule O8)."""
        world = self.world
        if name == "body.after_commit":
            return
        known = {record.path for record in self.app.store.records(delivery.uid)}
        open_ = [effect for effect in delivery.begun if not {effect.path, base_of(effect.path)} & known]
        if not delivery.is_async:
            open_ = [effect for effect in open_ if base_of(effect.path) == delivery.latest][-1:]
        for identity in {effect.identity for effect in open_}:
            world.allowed[identity] += 1
        if zombie and name == "step.before":
            self._allow_next(delivery, path)

    def _allow_next(self, delivery: Delivery, path: str) -> None:
        """The call that comes next is made by one that has lost its lease, and has not heard of it."""
        wait = delivery.execution.parks.wait_of(path)
        attempt = f"~{wait.attempt}" if wait is not None and wait.attempt else ""
        self.world.allowed[(delivery.run, path + attempt, delivery.faults)] += 1
        self.world.unnoted.add((delivery.run, path + attempt))

    def _take_over(self, delivery: Delivery, point: str) -> None:
        """Another owner takes the runs over, and drives them, while this one is stopped; then that goes on."""
        knows = delivery.is_async or self.random.random() < 0.5
        self.owners.stops(knows)
        # What is durable already tells it nothing, and the record of a transactional step is, when that has returned.
        is_durable = point == "step.recorded" or (point == "step.returned" and "#l" in delivery.latest)
        delivery.is_unaware = not knows and (is_durable or point == "step.before")
        runner, self._runner = self._runner, None
        failed: list[BaseException] = []

        def other() -> None:
            try:
                for _ in range(3):
                    if not self._deliver_one():
                        break
                self.owners.retire()
            except BaseException as error:
                failed.append(error)
            finally:
                if self._runner is not None:
                    self._runner.close()

        thread = threading.Thread(target=contextvars.Context().run, args=(other,))
        thread.start()
        thread.join()
        self._runner = runner
        if failed:
            raise failed[0]

    # ---------------------------------------------------------------------------------------------------------- insides

    def _loop(self) -> asyncio.Runner:
        self._runner = self._runner or asyncio.Runner()
        return self._runner


@contextlib.contextmanager
def in_world(world: World) -> Iterator[World]:
    """The fakes of the programs are those of this world."""
    before = program_world.world
    program_world.enter(world)
    try:
        yield world
    finally:
        program_world.enter(before)
