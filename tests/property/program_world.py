"""What the generated programs meet outside of themselves: fakes that log each call, and a state that changes.

A call fails as the program's plan says, and the plan goes by the step and by how often it was come to: a call that is
made again only because its delivery was cut off has the same outcome as the first one. So a disturbed run sees what an
undisturbed one sees.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import text

from semel.compiler import current

At = tuple[Any, ...]


class Broken(Exception):
    """What a fake fails with."""


@dataclass(frozen=True)
class Effect:
    """One call of a fake. ``path`` is that of its step with the number of the attempt, ``faults`` how often the run had
    faulted before; the same call again has the same two."""

    run: str
    name: str
    at: At
    path: str
    faults: int
    index: int
    key: str | None
    failed: bool
    delivery: int

    @property
    def identity(self) -> tuple[str, str, int]:
        return (self.run, self.path, self.faults)

    @property
    def value(self) -> str:
        return f"{self.name}{list(self.at)}:{self.index}"


@dataclass
class Delivery:
    """One delivery of a run, while it is driven. ``run`` is the run's id."""

    number: int
    run: str
    uid: str
    is_async: bool
    execution: Any
    faults: int  # of the run before it
    latest: str = ""  # path of the step that has begun last
    begun: list[Effect] = field(default_factory=list)
    is_zombie: bool = False
    is_unaware: bool = False  # a zombie that makes its next call, because nothing has told it yet


class World:
    """All that happened to the runs of one story. ``fails`` says how often a step fails before it does not."""

    def __init__(self, fails: dict[str, int], flips: dict[str, int]) -> None:
        self.fails = fails
        self.flips = flips
        self.now = 1_750_000_000.0
        self.effects: list[Effect] = []
        self.allowed: Counter[tuple[str, str, int]] = Counter()  # calls that may have been made once more
        self.unnoted: set[tuple[str, str]] = set()  # called by one that had lost its lease before it could say so
        self.faults: Counter[str] = Counter()
        self.asked: Counter[tuple[str, str]] = Counter()
        self.answers: defaultdict[tuple[str, str], set[bool]] = defaultdict(set)
        self.taken: defaultdict[tuple[str, str], dict[At, set[int]]] = defaultdict(dict)  # payloads by who took them
        self.faulted: list[str] = []  # the failures that the root has ended with
        self.visits: Counter[str] = Counter()
        self.told: list[str] = []  # what the schedule did, in order
        self.counts: Counter[str] = Counter()
        self.deliveries: list[Delivery] = []
        self._stack: list[Delivery] = []
        self._ranks: defaultdict[tuple[str, str, At], list[tuple[str, int]]] = defaultdict(list)

    @property
    def delivery(self) -> Delivery | None:
        return self._stack[-1] if self._stack else None

    @contextmanager
    def delivering(self, delivery: Delivery) -> Iterator[None]:
        self.deliveries.append(delivery)
        self._stack.append(delivery)
        try:
            yield
        finally:
            self._stack.pop()

    def clock(self) -> float:
        return self.now

    def call(self, name: str, at: At, key: str | None) -> Effect:
        delivery = self.delivery
        assert delivery is not None, f"{name} was called outside of a delivery"
        path, faults = path_of_step(), delivery.faults
        ranks = self._ranks[delivery.run, name, at]
        if (path, faults) not in ranks:
            ranks.append((path, faults))
        index = ranks.index((path, faults))
        failed = index < self.fails.get(name, 0)
        made = Effect(delivery.run, name, at, path, faults, index, key, failed, delivery.number)
        self.effects.append(made)
        delivery.begun.append(made)
        delivery.is_unaware = False
        self.now += 0.01
        return made


world: World = World({}, {})


def enter(new: World) -> World:
    """From now on the programs live in this world."""
    global world
    world = new
    return new


# --------------------------------------------------------------------------------------------- what the programs call


def act(name: str, at: At, key: str | None = None) -> str:
    """A call that leaves the process."""
    return _outcome(world.call(name, at, key))


def act_async(name: str, at: At, key: str | None = None, ticks: int = 1) -> Any:
    """The same, of a coroutine that takes some turns of the loop."""
    return _later(world.call(name, at, key), ticks)


async def _later(effect: Effect, ticks: int) -> str:
    for _ in range(ticks):
        await asyncio.sleep(0)
    return _outcome(effect)


def _outcome(effect: Effect) -> str:
    if effect.failed:
        raise Broken(effect.value)
    return effect.value


def undone(name: str, value: object) -> None:
    """What an undo does."""
    _outcome(world.call(f"undo {name}", (base_of(path_of_step()),), None))


def path_of_step() -> str:
    """The path of the step that the caller is in, with the number of its attempt."""
    path = current.get()
    while path is not None and not path.execution.is_step(path):  # type: ignore[attr-defined]
        path = path.parent
    assert path is not None, "a fake was called outside of a step"
    return path.step()


def base_of(path: str) -> str:
    """The path of a step without the number of its attempt."""
    head, _, tail = path.rpartition("#")
    return f"{head}#{tail.partition('~')[0]}"


def enlist(session: Any, name: str, at: At) -> str:
    """A row in the app's own database."""
    effect = world.call(name, at, None)
    session.execute(text("INSERT INTO ledger VALUES (:name)"), {"name": f"{effect.run} {effect.path}"})
    return _outcome(effect)


async def enlist_async(session: Any, name: str, at: At) -> str:
    effect = world.call(name, at, None)
    await session.execute(text("INSERT INTO ledger VALUES (:name)"), {"name": f"{effect.run} {effect.path}"})
    return _outcome(effect)


def switch(name: str, at: At) -> bool:
    """A state outside, which is another one from the n-th look on."""
    delivery = world.delivery
    assert delivery is not None
    site = (delivery.run, f"{name}{at}")
    if _is_left_behind(delivery):
        return world.asked[site] > world.flips.get(name, 0)
    world.asked[site] += 1
    answer = world.asked[site] > world.flips.get(name, 0)
    world.answers[site].add(answer)
    return answer


def _is_left_behind(delivery: Delivery) -> bool:
    """Whether the caller is a task of a dead delivery: what it does is nobody's."""
    path = current.get()
    return path is not None and path.execution is not delivery.execution


def turned(name: str, number: int) -> list[int]:
    """Items whose order is another one in each delivery."""
    delivery = world.delivery
    assert delivery is not None
    start = delivery.number % number
    return [*range(start, number), *range(start)]


def visit(number: int) -> None:
    """The body has begun this visit of its run."""
    delivery = world.delivery
    assert delivery is not None
    world.visits[delivery.run] = max(world.visits[delivery.run], number + 1)


def took(name: str, at: At, payload: int) -> int:
    """The body has this event."""
    delivery = world.delivery
    assert delivery is not None
    if not _is_left_behind(delivery):
        world.taken[delivery.run, name].setdefault(at, set()).add(payload)
    return payload
