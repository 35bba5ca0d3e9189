"""Generates small bodies that call one helper twice, and runs them in every way that their conditions allow.

Each place where a program may go one way or another asks ``c()``, which answers from a script of bits; ``ways`` tries
all scripts. A call notes the passes of the loops round it, so two calls with equal passes have one path.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

HEAD = """\
import contextlib
from typing import NoReturn
from semel import App, once
app = App("x")
def h(number, passes): once("send", lambda: pay(number))
def c() -> bool: return look_up()
def loop(): return look_up()
def stop() -> NoReturn: raise SystemExit
def limit(number): look_up()
@contextlib.contextmanager
def guard():
    try:
        yield
    except Down:
        if not look_up():
            raise
"""


class Down(Exception):
    pass


class Enough(BaseException):
    """Ends a run that loops on; what it does on its way out is no part of it."""


class Script:
    """Answers from a list of bits; beyond its end the answer is no, and is noted."""

    def __init__(self, bits: tuple[bool, ...]) -> None:
        self.bits = bits
        self.asked = 0

    def __call__(self) -> bool:
        self.asked += 1
        return self.bits[self.asked - 1] if self.asked <= len(self.bits) else False


def ways(run: Callable[[Script], None], most: int) -> tuple[int, bool]:
    """Runs every script of answers that matters; says how many, and whether that was all of them."""
    waiting: list[tuple[bool, ...]] = [()]
    count = 0
    while waiting:
        if count == most:
            return count, False
        bits = waiting.pop()
        script = Script(bits)
        run(script)
        count += 1
        waiting.extend((*bits, *[False] * (n - len(bits)), True) for n in range(len(bits), script.asked))
    return count, True


def both_on_one_path(code: str, failing: bool, most: int = 500) -> tuple[bool, bool]:
    """Whether some way through the body calls the helper twice with equal passes; and whether all ways were tried."""
    compiled = compile(code, "<body>", "exec")
    hit = False

    def run(script: Script) -> None:
        nonlocal hit
        made: list[tuple[int, ...]] = []
        ended = False

        def limit(number: int) -> None:
            nonlocal ended
            ended = ended or number > 2
            if ended:
                raise Enough

        def h(number: int, passes: tuple[int, ...]) -> bool:
            if not ended:
                made.append(passes)
            if failing and script():
                raise Down
            return script()

        def loop() -> Iterator[int]:
            for number in range(2):
                if not script():
                    return
                yield number

        def stop() -> None:
            raise SystemExit

        @contextmanager
        def guard() -> Iterator[None]:
            try:
                yield
            except Down:
                if not script():
                    raise

        space: dict[str, Any] = {"h": h, "c": script, "loop": loop, "stop": stop, "guard": guard, "Down": Down}
        space["limit"] = limit
        exec(compiled, space)
        with suppress(Down, SystemExit, Enough):
            space["body"]()
        if len(set(made)) < len(made):
            hit = True

    _, complete = ways(run, most)
    return hit, complete


class Writer:
    """Writes one body at random; ``trying`` adds ``try`` and ``with``."""

    def __init__(self, seed: int, *, trying: bool) -> None:
        self.random = random.Random(seed)
        self.trying = trying
        self.slots = 0
        self.loops = 0
        self.lines: list[str] = []

    def body(self) -> str:
        lines = [*self.block(3, (), jumps=("return", "raise Down", "stop()")), "return"]
        text = "def body():\n" + "\n".join("    " + line for line in lines)
        chosen = self.random.sample(range(self.slots), min(2, self.slots))
        for slot in range(self.slots):
            start = text.index(f"SLOT{slot}(")
            end = text.index("|", start)
            passes = text[start + len(f"SLOT{slot}(") : end]
            call = f"h({chosen.index(slot) + 1}, {passes})" if slot in chosen else "c()"
            text = text[:start] + call + text[end + 1 :]
        return text

    def slot(self, passes: tuple[str, ...]) -> str:
        self.slots += 1
        inside = "".join(f"{name}, " for name in passes)
        return f"SLOT{self.slots - 1}(({inside})|"

    def block(self, depth: int, passes: tuple[str, ...], jumps: tuple[str, ...]) -> list[str]:
        lines: list[str] = []
        for _ in range(self.random.randint(1, 3)):
            lines += self.statement(depth, passes, jumps)
        if self.random.random() < 0.3:
            lines.append(self.random.choice(jumps))
        return lines

    def inner(self, depth: int, passes: tuple[str, ...], jumps: tuple[str, ...]) -> list[str]:
        return ["    " + line for line in self.block(depth - 1, passes, jumps)]

    def statement(self, depth: int, passes: tuple[str, ...], jumps: tuple[str, ...]) -> list[str]:
        kinds = ["slot", "slot", "choice"]
        if depth > 0:
            kinds += ["if", "if", "elif", "match", "for", "while", "endless"]
            kinds += ["try", "finally", "with", "both"] if self.trying else []
        match self.random.choice(kinds):
            case "slot":
                return [self.slot(passes)]
            case "choice":
                return [f"{self.slot(passes)} if {self.slot(passes)} else {self.slot(passes)}"]
            case "if":
                lines = [f"if {self.slot(passes)}:", *self.inner(depth, passes, jumps)]
                return lines + (["else:", *self.inner(depth, passes, jumps)] if self.random.random() < 0.5 else [])
            case "elif":
                lines = [f"if {self.slot(passes)}:", *self.inner(depth, passes, jumps)]
                lines += [f"elif {self.slot(passes)}:", *self.inner(depth, passes, jumps)]
                return [*lines, "else:", *self.inner(depth, passes, jumps)]
            case "match":
                lines = [f"match {self.slot(passes)}:", f"    case True if {self.slot(passes)}:"]
                lines += ["    " + line for line in self.inner(depth, passes, jumps)]
                lines += ["    case _:", *("    " + line for line in self.inner(depth, passes, jumps))]
                return lines
            case "for" | "while" | "endless" as kind:
                return self.loop(kind, depth, passes, jumps)
            case kind:
                return self.protected(kind, depth, passes, jumps)

    def loop(self, kind: str, depth: int, passes: tuple[str, ...], jumps: tuple[str, ...]) -> list[str]:
        self.loops += 1
        name = f"p{self.loops}"
        inside = (*passes, name)
        more = (*(jump for jump in jumps if jump not in ("break", "continue")), "break", "continue")
        if kind == "for":
            lines = [f"for {name} in loop():", *self.inner(depth, inside, more)]
        elif kind == "while":
            test = f"({name} := {name} + 1) < 2 and {self.slot(inside)}"
            lines = [f"{name} = -1", f"while {test}:", *self.inner(depth, inside, more)]
        else:
            # Real passes end somewhere: an endless loop leaves by a jump of its own.
            lines = [
                f"{name} = -1",
                "while True:",
                f"    {name} += 1",
                f"    limit({name})",
                *self.inner(depth, inside, more),
            ]
            return [*lines, "    " + self.random.choice(["break", "return", "raise Down"])]
        return lines + (["else:", *self.inner(depth, passes, jumps)] if self.random.random() < 0.4 else [])

    def protected(self, kind: str, depth: int, passes: tuple[str, ...], jumps: tuple[str, ...]) -> list[str]:
        safe = tuple(jump for jump in jumps if jump in ("raise Down", "stop()"))
        if kind == "with":
            return ["with guard():", *self.inner(depth, passes, jumps)]
        lines = ["try:", *self.inner(depth, passes, jumps)]
        if kind in ("try", "both"):
            lines += ["except Down:", *self.inner(depth, passes, jumps)]
            if self.random.random() < 0.4:
                lines += ["else:", *self.inner(depth, passes, jumps)]
        if kind in ("finally", "both"):
            lines += ["finally:", *self.inner(depth, passes, safe)]
        return lines
