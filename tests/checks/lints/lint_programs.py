"""Programs for the lints, and the lines on which a lint must speak.

In a program the line of a finding's place ends in ``#!`` and the lines of its other places end in ``#~``. A program
without marks is right, and nothing may be told of it.
"""

from __future__ import annotations

import textwrap

from semel.checks import Problem, refusals
from semel.checks.lints import lints
from semel.compiler.model import Model, Source, build

HEAD = """\
import asyncio, contextlib, collections, functools, io, os, shutil, socket, subprocess, sys, tempfile, threading, time
import datetime as dt, random, secrets, uuid
import httpx, sqlalchemy
from collections.abc import Callable, Iterator, Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, NoReturn, TextIO, TypedDict
from sqlalchemy import insert, select, text, update
from sqlalchemy.orm import DeclarativeBase, Session
from semel import App, Backoff, Child, each, once, run_child, sleep, sleep_async, wait_all, wait_for
app = App("shop")
POLICY = Backoff.exponential(dt.timedelta(seconds=2)).max_attempts(4)
def pay(amount: int = 0) -> str: ...
def ask(question: str = "") -> str: ...
async def aask(question: str = "") -> str: ...
def notify(x: str) -> None: once("send", lambda: pay(1))
def stop() -> NoReturn: sys.exit(1)
"""


def program(source: str) -> str:
    """The source with the usual head; one that is no module by its looks is the body of a workflow."""
    source = textwrap.dedent(source).strip("\n")
    if "@app.workflow" not in source:
        kind = "async def" if "await " in source or "async " in source else "def"
        source = f"@app.workflow\n{kind} fulfil(order: str, path: Path, xs: list[str]):\n" + textwrap.indent(
            source, "    "
        )
    return HEAD + source + "\n"


def model_of(text: str, **others: str) -> Model:
    """The model of a program; ``others`` are further modules by name."""
    sources = [Source("shop", "shop.py", text)]
    sources += [Source(name, f"{name}.py", textwrap.dedent(source)) for name, source in others.items()]
    return build(sources)


def marked(text: str, mark: str) -> list[int]:
    return [number for number, line in enumerate(text.split("\n"), 1) if line.rstrip().endswith(mark)]


def assert_told(source: str, rule: str, **others: str) -> Problem:
    """Of the program this lint tells, and no other one, just the marked lines; semel itself does not refuse it."""
    whole = program(source)
    model = model_of(whole, **others)
    assert refusals(model) == [], whole
    problems = lints(model)
    assert {problem.rule for problem in problems} == {rule}, f"{problems}\n{whole}"
    assert [problem.place.line for problem in problems] == marked(whole, "#!"), f"{problems}\n{whole}"
    expected = marked(whole, "#~")
    if expected:
        told = {place.line for problem in problems for place in problem.others if place.file == "shop.py"}
        assert sorted(told) == expected, f"{problems}\n{whole}"
    for problem in problems:
        assert problem.message
        assert problem.fix
    return problems[0]


def assert_right(source: str, **others: str) -> None:
    """Neither is the program refused nor is anything told of it."""
    model = model_of(program(source), **others)
    assert refusals(model) == []
    assert lints(model) == [], program(source)
