"""Unrepeatable values in generated bodies (A5): every later delivery reads what the first one read."""

from __future__ import annotations

import importlib.util
import itertools
import sys
import tempfile
import textwrap
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from semel import App

HEAD = """
import asyncio, datetime, random, secrets, time, uuid
from uuid import uuid4
from semel import now, once

seen = []
deliveries = []

def keep(value):
    seen.append(value)
    return value

def helper():
    value = uuid4()
    return value

def deeper():
    first = helper()
    second = helper()
    return first, second

async def sided(turns):
    value = uuid4(), time.time()
    for _ in range(turns * len(deliveries) % 3):
        await asyncio.sleep(0)
    return value, uuid4(), random.random(), time.time(), [helper() for _ in range(2)]

def numbers():
    for _ in range(2):
        yield random.random()

class Broken(Exception):
    pass
"""

READS = [
    "uuid4()",
    "uuid.uuid1()",
    "str(uuid4())",
    "random.random()",
    "random.sample(range(1000), 3)",
    "secrets.token_hex(4)",
    "time.time()",
    "datetime.datetime.now()",
    "now()",
    "helper()",
    "deeper()",
    "[helper() for _ in range(2)]",
    "[*numbers()]",
    "{'a': uuid4(), 'b': random.random()}",
    "sorted(range(5), key=lambda item: random.random())",
    "[*map(lambda item: uuid4(), 'ab')]",
]

statements = st.deferred(
    lambda: st.one_of(
        st.builds("{} = keep({})".format, st.sampled_from("abc"), st.sampled_from(READS)),
        st.builds("keep({})".format, st.sampled_from(READS)),
        st.builds("if random.random() < {}:\n{}".format, st.sampled_from(["0.3", "0.7"]), blocks),
        st.builds("for item in range({}):\n{}".format, st.integers(1, 3), blocks),
        st.just("STEP"),
        st.just("GATHER"),
    )
)
blocks = st.lists(statements, min_size=1, max_size=3).map(lambda lines: textwrap.indent("\n".join(lines), "    "))


def program(lines: str) -> str:
    """The body in full: steps are numbered, and each may break the first deliveries."""
    labels = itertools.count()
    done = []
    for line in lines.splitlines():
        indent = line[: len(line) - len(line.lstrip())]
        if line.strip() == "STEP":
            label = f"step {next(labels)}"
            done.append(f'{indent}keep(await once("{label}", lambda: asyncio.sleep(0, "{label}")))')
            done.append(f"{indent}break_here()")
        elif line.strip() == "GATHER":
            done.append(f"{indent}keep(await asyncio.gather(sided(1), sided(2), *[sided(n) for n in range(2)]))")
        else:
            done.append(line)
    return (
        HEAD
        + "def break_here():\n    if len(seen) >= LIMIT[len(deliveries) - 1]: raise Broken\n\n"
        + "\n".join(["async def flow():", "    seen.clear()", *(f"    {line}" for line in done), "    return True"])
    )


_numbers = itertools.count()


def load(folder: Path, text: str) -> ModuleType:
    name = f"generated_{next(_numbers)}"
    file = folder / f"{name}.py"
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ids_of(value: object) -> list[object]:
    """The UUIDs in a value."""
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, list | tuple):
        return [id for part in value for id in ids_of(part)]
    return [value] if type(value).__name__ == "UUID" else []


@pytest.mark.rule("A5")
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(statements, min_size=2, max_size=7).map("\n".join), st.lists(st.integers(0, 12), min_size=2, max_size=2)
)
def test_every_delivery_reads_what_the_first_one_read(lines: str, limits: list[int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        module = load(Path(folder), program(lines))
        module.LIMIT = [*limits, 10**9]  # type: ignore[attr-defined]
        app = App("shop", database=f"sqlite:///{folder}/shop.db")
        try:
            app.workflow(module.flow)
            told = [deliver(app, module) for _ in limits] + [deliver(app, module)]
        finally:
            app.close()
            sys.modules.pop(module.__name__)
    longest = max(told, key=len)
    for one in told:
        assert one == longest[: len(one)]
    ids = ids_of(longest)
    assert len(ids) == len({*ids})


def deliver(app: App, module: Any) -> list[object]:
    """What one delivery of the run keeps."""
    module.deliveries.append(None)
    run = app.start(module.flow, id="one")
    run.retry()
    with app.worker(), suppress(module.Broken):
        run.result(timeout=30)
    return list(module.seen)
