"""Small programs for the checks, and the lines on which a check must speak.

In a program the line of a problem's place ends in ``#!`` and the lines of its other places end in ``#~``. A program
without marks is right and must not be refused.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from semel.checks import Problem, refusals
from semel.compiler.model import Model, Source, build

HEAD = """\
import asyncio, contextlib, functools, os, sys, threading
from functools import partial
from typing import NoReturn, Never, Protocol
from semel import App, each, once
app = App("shop")
class Down(Exception): ...
def pay(amount=0): ...
def ask(question=""): ...
def notify(x=None): once("send", lambda: pay(x))
async def anotify(x=None): await once("send", lambda: pay(x))
def plain(x=None): ...
def stop() -> NoReturn: sys.exit(1)
"""


@dataclass(frozen=True)
class Marks:
    place: list[int]
    others: list[int]


def marks(text: str) -> Marks:
    lines = text.split("\n")
    places = [number for number, line in enumerate(lines, 1) if line.rstrip().endswith("#!")]
    others = [number for number, line in enumerate(lines, 1) if line.rstrip().endswith("#~")]
    return Marks(places, others)


def program(text: str) -> str:
    """The text with the usual head; one that is no module by its looks is the body of a workflow."""
    text = textwrap.dedent(text).strip("\n")
    if "@app.workflow" not in text and not text.startswith(("class ", "@", "def script")):
        kind = "async def" if "await " in text or "async " in text else "def"
        text = f"@app.workflow\n{kind} fulfil(a, b=None, xs=()):\n" + textwrap.indent(text, "    ")
    return HEAD + text + "\n"


def model_of(text: str, **others: str) -> Model:
    """The model of a program; ``others`` are further modules by name (``__`` for a dot)."""
    sources = [Source("shop", "shop.py", text)]
    for name, source in others.items():
        module = name.replace("__", ".")
        sources.append(Source(module, module.replace(".", "/") + ".py", textwrap.dedent(source)))
    return build(sources)


def found(text: str, rule: str) -> list[Problem]:
    return [problem for problem in refusals(model_of(text)) if problem.rule == rule]


def assert_refused(text: str, rule: str) -> Problem:
    """The program is refused by this rule, and by no other, at its marked lines."""
    whole = program(text)
    problems = refusals(model_of(whole))
    assert [problem.rule for problem in problems] == [rule] * len(problems), f"{problems}\n{whole}"
    expected = marks(whole)
    assert sorted({problem.place.line for problem in problems}) == expected.place, f"{problems}\n{whole}"
    others = sorted({place.line for problem in problems for place in problem.others})
    assert others == sorted(expected.others), f"{problems}\n{whole}"
    for problem in problems:
        assert problem.message
        assert problem.fix
    return problems[0]


def assert_right(text: str) -> None:
    whole = program(text)
    assert refusals(model_of(whole)) == [], whole
