"""Programs made at random: a tree of statements, and its text, which is compiled as a user's module is."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass
class Node:
    """One statement. ``n`` makes its labels unique; ``with_`` is what its kind needs to know."""

    kind: str
    n: int
    with_: dict[str, Any] = field(default_factory=dict)
    blocks: list[list[Node]] = field(default_factory=list)

    def walk(self) -> Iterator[Node]:
        yield self
        for block in self.blocks:
            for node in block:
                yield from node.walk()


@dataclass(frozen=True)
class Where:
    """What surrounds a block that is being made."""

    is_async: bool
    depth: int = 0
    waits: bool = True  # a wait may stand here
    events: bool = True  # one for an event, too
    fails: bool = True  # a failure may leave the block
    loop: bool = False
    saga: bool = False  # directly in the block of a saga
    retried: bool = False
    late: bool = True  # each wait here is come to once
    task: bool = False  # in one of several tasks


@dataclass
class Program:
    """A program and its plan: which steps fail, which events come, how often the run is retried."""

    seed: int
    is_async: bool
    body: list[Node]
    visits: int
    retries: int

    def nodes(self) -> list[Node]:
        return [node for top in self.body for node in top.walk()]


class Maker:
    """Makes one program of a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.seed = seed
        self.n = 0

    def program(self) -> Program:
        rng = self.random
        is_async = rng.random() < 0.4
        visits = 2 if rng.random() < 0.12 else 1
        where = Where(is_async, late=visits == 1)
        body = self.block(where, rng.choice([1, 2, 2, 3, 4]))
        return Program(self.seed, is_async, body, visits, rng.choice([0, 1, 2, 2, 3]))

    def block(self, where: Where, length: int | None = None) -> list[Node]:
        length = length or self.random.choice([1, 1, 1, 2, 2])
        return [self.statement(where) for _ in range(length)]

    def node(self, kind: str, blocks: list[list[Node]] | None = None, **with_: Any) -> Node:
        self.n += 1
        return Node(kind, self.n, with_, blocks or [])

    def statement(self, where: Where) -> Node:
        weights: dict[str, float] = {"step": 5, "handled": 2, "retried": 2, "ledger": 0.6, "switch": 0.8}
        if where.fails:
            weights["failing"] = 0.7
        if where.saga:
            weights |= {"saga_step": 9, "keep": 0.3}
        if where.waits:
            weights |= {"sleep": 2, "child": 0.8} | ({"event": 6 if where.loop else 2} if where.events else {})
        if where.is_async and not where.task:
            weights |= {"gather": 2, "failing_gather": 1.5, "failing_group": 1.5}
        if where.depth < 3:
            weights |= {"helper": 1, "for": 1.5, "each": 0.6, "if": 0.6, "finally": 1.2, "saga": 3}
            weights["try_saga"] = 1.5
            if not where.retried:
                weights["retried_helper"] = 1.2
            if where.waits:
                weights["once_waits"] = 1.5
        (kind,) = self.random.choices([*weights], [*weights.values()])
        make = getattr(self, f"a_{kind}", None)
        return make(where) if make is not None else self.node(kind)

    # ---------------------------------------------------------------------------------------------------- single steps

    def a_step(self, where: Where) -> Node:
        form = self.random.choice(["plain", "key", "key", "scope"])
        return self.node("step", form=form, sync=self.random.random() < 0.3, ticks=self.random.randint(0, 3))

    def a_handled(self, where: Where) -> Node:
        return self.node("handled", then=self.random.random() < 0.7, fails=self.random.choice([1, 9]))

    def a_failing(self, where: Where) -> Node:
        return self.node("failing", fails=self.random.randint(1, 2))

    def a_retried(self, where: Where) -> Node:
        attempts = self.random.randint(2, 4)
        fails = self.random.choice([0, 1, 1, 2, attempts])
        if fails >= attempts and not where.fails:
            fails = attempts - 1
        return self.node("retried", attempts=attempts, fails=fails, delay=self.random.randint(1, 9))

    def a_saga_step(self, where: Where) -> Node:
        fails = 1 if where.fails and self.random.random() < 0.35 else 0
        return self.node("saga_step", fails=fails, undo=self.undo(where))

    def undo(self, where: Where) -> dict[str, Any]:
        rng = self.random
        fails = rng.choice([0, 0, 0, 0, 1, 2, 3])
        return {"none": rng.random() < 0.1, "fails": fails, "is_async": where.is_async and rng.random() < 0.5}

    def a_switch(self, where: Where) -> Node:
        return self.node("switch", flips=self.random.randint(0, 3), saga=where.saga, undo=self.undo(where))

    # ------------------------------------------------------------------------------------------------------------ waits

    def a_sleep(self, where: Where) -> Node:
        return self.node("sleep", seconds=self.random.randint(0, 40))

    def a_event(self, where: Where) -> Node:
        kind = self.random.choice(["sent", "sent", "sent in time", "sent in time", "never", "late"])
        if kind == "late" and (where.loop or not where.late):
            kind = "never"
        return self.node("event", sent=kind, timeout=None if kind == "sent" else self.random.randint(50, 90))

    def a_child(self, where: Where) -> Node:
        rng = self.random
        how = rng.choice(["result", "result", "all", "first"])
        fails = rng.random() < 0.3
        inner = Where(rng.random() < 0.4, depth=2, fails=False, late=False)
        return self.node("child", [self.block(inner)], how=how, fails=fails, is_async=inner.is_async)

    # -------------------------------------------------------------------------------------------------- round blocks

    def _in(self, where: Where, **changes: Any) -> Where:
        changes.setdefault("saga", False)
        return replace(where, depth=where.depth + 1, **changes)

    def a_helper(self, where: Where) -> Node:
        return self.node("helper", [self.block(self._in(where))])

    def a_once_waits(self, where: Where) -> Node:
        return self.node("once_waits", [self.block(self._in(where, late=False))])

    def a_retried_helper(self, where: Where) -> Node:
        attempts = self.random.randint(2, 3)
        last = attempts - (1 if where.fails and self.random.random() < 0.3 else 0)
        inside = self.block(self._in(where, waits=False, fails=False, retried=True, late=False))
        fails = self.random.randint(0, attempts) if last < attempts else 1
        inside.append(self.node("failing", fails=fails, in_retry=True))
        return self.node("retried_helper", [inside], attempts=attempts, delay=self.random.randint(1, 9))

    def a_for(self, where: Where) -> Node:
        return self.node("for", [self.block(self._in(where, loop=True, late=False))], passes=self.random.randint(1, 3))

    def a_each(self, where: Where) -> Node:
        inside = replace(self._in(where, loop=True, late=False, fails=False, events=False), depth=2)
        return self.node("each", [self.block(inside)], passes=self.random.randint(2, 3))

    def a_if(self, where: Where) -> Node:
        inside = self._in(where)
        return self.node("if", [self.block(inside), self.block(inside)])

    def a_finally(self, where: Where) -> Node:
        return self.node("finally", [self.block(self._in(where)), [self.a_step(where)]])

    def a_saga(self, where: Where) -> Node:
        inside = self._in(where, saga=True, late=False)
        block = self.block(inside, self.random.randint(1, 3))
        if where.fails and self.random.random() < 0.4:
            block.append(self.a_failing(inside))
        return self.node("saga", [block])

    def a_try_saga(self, where: Where) -> Node:
        inside = self._in(where, saga=True, fails=True, late=False)
        block = self.block(inside, self.random.randint(1, 3))
        if self.random.random() < 0.8:
            block.append(self.a_failing(inside))
        return self.node("try_saga", [block])

    # ------------------------------------------------------------------------------------------------------------ tasks

    def a_gather(self, where: Where) -> Node:
        inside = self._in(where, task=True, fails=False, late=False)
        return self.node("gather", [self.block(inside) for _ in range(self.random.randint(2, 3))])

    def a_failing_gather(self, where: Where) -> Node:
        order = [0, 1, 2][: self.random.randint(2, 3)]
        ticks = [self.random.randint(0, 3) for _ in order]
        both = self.random.random() < 0.4
        return self.node("failing_gather", ticks=ticks, failing=self.random.choice(order), both=both)

    def a_failing_group(self, where: Where) -> Node:
        order = [0, 1, 2][: self.random.randint(2, 3)]
        return self.node(
            "failing_group", ticks=[self.random.randint(0, 3) for _ in order], failing=self.random.choice(order)
        )
