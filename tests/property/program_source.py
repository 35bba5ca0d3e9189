"""From the tree of a program to its text, and to what the text does not say: which calls fail, which events come."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field, replace

from program_text import Node, Program

HEAD = """\
import asyncio
from datetime import timedelta

from program_world import Broken, act, act_async, enlist, enlist_async, switch, took, turned, undone, visit
from semel import (
    Backoff, each, once, run_child, saga, sleep, sleep_async, transaction, transaction_async,
    wait_all, wait_all_async, wait_first, wait_first_async, wait_for, wait_for_async,
)
from semel.errors import WaitTimedOut

from {package} import app
"""


@dataclass
class Source:
    """The text of a program, and what is known of its steps by their labels."""

    name: str
    text: str = ""
    workflows: list[str] = field(default_factory=list)
    fails: dict[str, int] = field(default_factory=dict)  # how often, before it does not
    flips: dict[str, int] = field(default_factory=dict)  # from which look on a state is another one
    events: dict[str, str] = field(default_factory=dict)  # how each comes
    undone: set[str] = field(default_factory=set)  # steps of sagas with an undo
    loose: set[str] = field(default_factory=set)  # one story may come to them, and another one not
    unordered: set[str] = field(default_factory=set)  # without a fixed place among the others
    lasting: set[str] = field(default_factory=set)  # a failure is a fact, as a step in a ``finally`` comes after it


@dataclass(frozen=True)
class Place:
    """Where a statement is written: in a function of this kind, with ``at`` as the variable of its passes."""

    is_async: bool
    at: str = "at"
    saga: str = ""
    loose: bool = False
    unordered: bool = False
    final: bool = False  # a step in a `finally` comes after it

    @property
    def wait(self) -> str:
        return "await " if self.is_async else ""


class Writer:
    """Writes one program."""

    def __init__(self, program: Program, name: str, package: str) -> None:
        self.program = program
        self.source = Source(name)
        self.functions: list[str] = []
        self._head = HEAD.format(package=package)

    def write(self) -> Source:
        program, source = self.program, self.source
        body = ["visit(number)", "at = (number,)", "seen = []"]
        body += self.block(program.body, Place(program.is_async))
        if program.visits > 1:
            body += [f"if number < {program.visits - 1}:", "    app.again(number + 1)"]
        self.function(f"flow_{source.name}", "number", [*body, "return seen"], program.is_async, source.name)
        source.text = "\n\n\n".join([self._head, *self.functions]) + "\n"
        return source

    def function(self, name: str, args: str, lines: list[str], is_async: bool, workflow: str | None = None) -> None:
        head = []
        if workflow is not None:
            head.append(f'@app.workflow(name="{workflow}")')
            self.source.workflows.append(workflow)
        text = "\n".join([*head, f"{'async ' if is_async else ''}def {name}({args}):", *indented(lines)])
        self.functions.append(text)

    def helper(self, nodes: list[Node], name: str, place: Place) -> str:
        """A function of its own for a block; gives the call of it."""
        inside = replace(place, at="at", saga="")
        self.function(name, "at", ["seen = []", *self.block(nodes, inside), "return seen"], place.is_async)
        return f"{name}({place.at})"

    def block(self, nodes: list[Node], place: Place) -> list[str]:
        lines: list[str] = []
        for node in nodes:
            lines += getattr(self, node.kind if node.kind not in _WORDS else f"{node.kind}_")(node, place)
        return lines or ["pass"]

    def label(self, letter: str, node: Node, place: Place, fails: int = 0, loose: bool = False) -> str:
        label = f"{letter}{node.n}"
        if fails:
            self.source.fails[label] = fails
        if place.loose or loose:
            self.source.loose.add(label)
        if place.unordered:
            self.source.unordered.add(label)
        if place.final:
            self.source.lasting.add(label)
        return label

    # ---------------------------------------------------------------------------------------------------- single steps

    def step(self, node: Node, place: Place, letter: str = "s") -> list[str]:
        return [f"seen.append({self.once(node, place, self.label(letter, node, place))})"]

    def once(self, node: Node, place: Place, label: str) -> str:
        form = node.with_.get("form", "key")
        key = "" if form == "plain" else "key"
        scope = f'("of {label}", *{place.at}), ' if form == "scope" else ""
        call = self.call(place, label, key, node.with_.get("sync", False), node.with_.get("ticks", 1))
        return f'{place.wait}once("{label}", {scope}lambda{" " + key if key else ""}: {call})'

    def call(self, place: Place, label: str, key: str = "key", sync: bool = False, ticks: int = 1) -> str:
        given = f", {key}" if key else ""
        if place.is_async and not sync:
            return f'act_async("{label}", {place.at}{given}, ticks={ticks})'
        return f'act("{label}", {place.at}{given})'

    def handled(self, node: Node, place: Place) -> list[str]:
        label = self.label("h", node, place, node.with_["fails"])
        lines = [
            "try:",
            f"    seen.append({self.once(node, place, label)})",
            "except Broken as error:",
            "    seen.append(error.args[0])",
        ]
        if node.with_["then"]:
            then = self.label("t", node, place)
            lines.append(f'    seen.append({place.wait}once("{then}", lambda key: {self.call(place, then)}))')
        return lines

    def failing(self, node: Node, place: Place) -> list[str]:
        label = self.label("p" if node.with_.get("in_retry") else "f", node, place, node.with_["fails"])
        return [f"seen.append({self.once(node, place, label)})"]

    def retried(self, node: Node, place: Place) -> list[str]:
        label = self.label("r", node, place, node.with_["fails"])
        policy = f"Backoff.constant(timedelta(seconds={node.with_['delay']})).max_attempts({node.with_['attempts']})"
        work = f"lambda key: {self.call(place, label)}"
        return [f'seen.append({place.wait}once("{label}", {work}, retry={policy}))']

    def ledger(self, node: Node, place: Place) -> list[str]:
        label = self.label("l", node, place)
        suffix = "_async" if place.is_async else ""
        work = f'lambda session: enlist{suffix}(session, "{label}", {place.at})'
        return [f'seen.append({place.wait}transaction{suffix}("{label}", {work}))']

    def switch(self, node: Node, place: Place) -> list[str]:
        name = f"w{node.n}"
        self.source.flips[name] = node.with_["flips"]
        loose = replace(place, loose=True)
        one, other = Node("step", node.n, {}), Node("step", node.n, {})
        lines = [f'if switch("{name}", {place.at}):']
        lines += indented([line.replace("seen.append", "str") for line in self.step(one, loose, "x")])
        lines += ["else:"]
        lines += indented([line.replace("seen.append", "str") for line in self.step(other, loose, "y")])
        if place.saga:
            lines += indented([f"str({self.saga_call(node, loose, self.label('b', node, loose))})"])
        return lines

    def saga_step(self, node: Node, place: Place) -> list[str]:
        return [f"seen.append({self.saga_call(node, place, self.label('b', node, place, node.with_['fails']))})"]

    def saga_call(self, node: Node, place: Place, label: str) -> str:
        undo = node.with_["undo"]
        given = ""
        if not undo["none"]:
            name = self.label("undo b", node, place, undo["fails"])
            self.function(f"undo_{label}", "value", [f'undone("{label}", value)'], undo["is_async"])
            assert name == f"undo {label}"
            self.source.undone.add(label)
            given = f", undo=undo_{label}, undo_retry=Backoff.constant(timedelta(seconds=2)).max_attempts(3)"
        return f'{place.wait}{place.saga}.step("{label}", lambda key: {self.call(place, label)}{given})'

    def keep(self, node: Node, place: Place) -> list[str]:
        return [f"{place.saga}.keep()"]

    # ------------------------------------------------------------------------------------------------------------ waits

    def sleep(self, node: Node, place: Place) -> list[str]:
        suffix = "_async" if place.is_async else ""
        return [f'{place.wait}sleep{suffix}(timedelta(seconds={node.with_["seconds"]}), label="z{node.n}")']

    def event(self, node: Node, place: Place) -> list[str]:
        name, timeout = f"e{node.n}", node.with_["timeout"]
        self.source.events[name] = node.with_["sent"]
        limit = f", timeout=timedelta(seconds={timeout})" if timeout is not None else ""
        suffix = "_async" if place.is_async else ""
        call = f'{place.wait}wait_for{suffix}("{name}"{limit}, label="v{node.n}")'
        return [
            "try:",
            f'    seen.append(took("{name}", {place.at}, {call}))',
            "except WaitTimedOut:",
            '    seen.append("no event")',
        ]

    def child(self, node: Node, place: Place) -> list[str]:
        name, how, is_async = f"{self.source.name}_c{node.n}", node.with_["how"], node.with_["is_async"]
        inside = Place(is_async, loose=place.loose, unordered=place.unordered)
        lines = ["seen = []", *self.block(node.blocks[0], inside)]
        if node.with_["fails"]:
            label = self.label("q", node, inside, 9)
            lines += [f'seen.append({inside.wait}once("{label}", lambda: {self.call(inside, label, "")}))']
        self.function(f"child_{node.n}", "at", [*lines, "return seen"], is_async, name)
        suffix = "_async" if place.is_async else ""
        if how == "result":
            made = f'{place.wait}run_child("c{node.n}", child_{node.n}, {place.at}).result{suffix}()'
            call = [f"seen.append({made})"]
        else:
            many = f'[run_child("c{node.n}", child_{node.n}, (*{place.at}, one)) for one in range(2)]'
            call = [f"children_{node.n} = {many}"]
            if how == "first":
                call += [f'{place.wait}wait_first{suffix}(children_{node.n}, label="d{node.n}")']
            call += [f"seen.append({place.wait}wait_all{suffix}(children_{node.n}))"]
        if not node.with_["fails"]:
            return call
        return ["try:", *indented(call), "except Broken as error:", "    seen.append(error.args[0])"]

    # --------------------------------------------------------------------------------------------------- round blocks

    def helper_(self, node: Node, place: Place) -> list[str]:
        return [f"seen.append({place.wait}{self.helper(node.blocks[0], f'helper_{node.n}', place)})"]

    def once_waits(self, node: Node, place: Place) -> list[str]:
        call = self.helper(node.blocks[0], f"helper_{node.n}", place)
        return [f'seen.append({place.wait}once("o{node.n}", lambda: {call}))']

    def retried_helper(self, node: Node, place: Place) -> list[str]:
        call = self.helper(node.blocks[0], f"helper_{node.n}", place)
        policy = f"Backoff.constant(timedelta(seconds={node.with_['delay']})).max_attempts({node.with_['attempts']})"
        return [f'seen.append({place.wait}once("o{node.n}", lambda: {call}, retry={policy}))']

    def for_(self, node: Node, place: Place) -> list[str]:
        inside = replace(place, at=f"at{node.n}")
        head = [f"for i{node.n} in range({node.with_['passes']}):", f"    at{node.n} = (*{place.at}, i{node.n})"]
        return [*head, *indented(self.block(node.blocks[0], inside))]

    def each(self, node: Node, place: Place) -> list[str]:
        inside = replace(place, at=f"at{node.n}", unordered=True)
        call = self.helper(node.blocks[0], f"helper_{node.n}", inside)
        return [
            f"got{node.n} = {{}}",
            f'for i{node.n} in each(turned("n{node.n}", {node.with_["passes"]})):',
            f"    at{node.n} = (*{place.at}, i{node.n})",
            f"    got{node.n}[i{node.n}] = {place.wait}{call}",
            f"seen.append(sorted(got{node.n}.items()))",
        ]

    def if_(self, node: Node, place: Place) -> list[str]:
        one, other = (indented(self.block(block, place)) for block in node.blocks)
        return [f"if len({place.at}) % 2:", *one, "else:", *other]

    def finally_(self, node: Node, place: Place) -> list[str]:
        (last,) = node.blocks[1]
        lines = indented(self.block(node.blocks[0], replace(place, final=True)))
        return ["try:", *lines, "finally:", *indented(self.step(last, place, "u"))]

    def saga(self, node: Node, place: Place) -> list[str]:
        inside = replace(place, saga=f"g{node.n}")
        head = f'{"async " if place.is_async else ""}with saga("g{node.n}") as g{node.n}:'
        return [head, *indented(self.block(node.blocks[0], inside))]

    def try_saga(self, node: Node, place: Place) -> list[str]:
        # What the block has done in memory is not done again by a delivery that finds it over.
        return [
            f"before{node.n} = [*seen]",
            "try:",
            *indented(self.saga(node, place)),
            "except Broken as error:",
            f"    seen[:] = [*before{node.n}, error.args[0]]",
        ]

    # ------------------------------------------------------------------------------------------------------------ tasks

    def gather(self, node: Node, place: Place) -> list[str]:
        inside = replace(place, unordered=True)
        calls = [self.helper(block, f"task_{node.n}_{i}", inside) for i, block in enumerate(node.blocks)]
        return [f"seen.append(await asyncio.gather({', '.join(calls)}))"]

    def siblings(self, node: Node, place: Place) -> list[str]:
        loose = replace(place, loose=not node.with_.get("both"), unordered=True)
        calls = []
        for i, ticks in enumerate(node.with_["ticks"]):
            fails = 9 if i == node.with_["failing"] or (node.with_.get("both") and i == 0) else 0
            label = self.label(("JKM" if node.kind == "failing_group" else "jkm")[i], node, loose, fails)
            calls.append(f'once("{label}", lambda key: {self.call(place, label, ticks=ticks)})')
        return calls

    def failing_gather(self, node: Node, place: Place) -> list[str]:
        calls = ", ".join(self.siblings(node, place))
        then = self.label("t", node, place)
        after = f'seen.append(await once("{then}", lambda key: {self.call(place, then)}))'
        if node.with_["both"]:
            return [f"seen.append(list(map(repr, await asyncio.gather({calls}, return_exceptions=True))))", after]
        lines = ["try:", f"    await asyncio.gather({calls})", "except Broken as error:"]
        return [*lines, "    seen.append(error.args[0])", f"    {after}"]

    def failing_group(self, node: Node, place: Place) -> list[str]:
        calls = [f"        group.create_task({call})" for call in self.siblings(node, place)]
        then = self.label("t", node, place)
        return [
            "try:",
            "    async with asyncio.TaskGroup() as group:",
            *calls,
            "except ExceptionGroup as errors:",
            "    seen.append([str(error) for error in errors.exceptions])",
            f'    seen.append(await once("{then}", lambda key: {self.call(place, then)}))',
        ]


_WORDS = {"for", "if", "finally", "helper"}


def indented(lines: list[str]) -> list[str]:
    return [textwrap.indent(line, "    ") for line in lines]


def written(program: Program, name: str, package: str) -> Source:
    """The text of a program, and its plan."""
    return Writer(program, name, package).write()
