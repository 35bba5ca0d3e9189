"""Unrepeatable values (A5): what they are like, where they come from, and that their secret shows nowhere."""

from __future__ import annotations

import logging
import os
import random
import re
import secrets
import signal
import statistics
import subprocess
import sys
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import pytest
from unrepeatable_programs import END, EVERYTHING, HEAD, Deliver

import semel
from semel import App
from semel.engine.derive import derived

# ---------------------------------------------------------------------------------------- what is given by foreign code


@pytest.mark.rule("A5")
def test_default_factories_of_the_users_classes_are_answered_too(deliver: Deliver) -> None:
    body = """
import attrs, msgspec, pydantic

@dataclass
class Plain:
    number: int
    id: uuid.UUID = field(default_factory=uuid4)
    tag: str = field(default_factory=lambda: str(uuid4()))

@dataclass(frozen=True, kw_only=True)
class Heir(Plain):
    more: str = field(default_factory=secrets.token_hex)

@attrs.define
class Attrs:
    id: uuid.UUID = attrs.field(factory=uuid4)
    tag: str = attrs.field(factory=lambda: str(uuid4()))

class Struct(msgspec.Struct):
    id: uuid.UUID = msgspec.field(default_factory=uuid4)

class Model(pydantic.BaseModel):
    name: str = ""
    id: uuid.UUID = pydantic.Field(default_factory=uuid4)

def flow():
    a = repr([Plain(1), Plain(number=2), Plain(3, id=None), Plain(4, None, "x"), Attrs(), Struct(), Model(name="m")])
    b = Plain(1).id, Attrs().id, Struct().id, Model().id, Plain(1).id
    c = Model(name="n").model_dump(exclude_unset=True)
    d = Model(id=uuid.UUID(int=0)).id
"""
    body = body.replace("@dataclass(frozen=True, kw_only=True)", "@dataclass(kw_only=True)")
    first = deliver(body)
    assert deliver(body) == first
    assert len({*first["b"]}) == 5
    assert first["c"] == {"name": "n"}
    assert first["d"].int == 0


@pytest.mark.rule("A5")
def test_a_reader_that_was_replaced_is_called(deliver: Deliver, monkeypatch: pytest.MonkeyPatch) -> None:
    fixed = uuid.UUID(int=7)
    monkeypatch.setattr(uuid, "uuid4", lambda: fixed)
    monkeypatch.setattr(random, "random", lambda: 0.25)
    seen = deliver("""
def flow():
    a = uuid.uuid4()
    b = random.random()
    c = random.Random(5).random()
""")
    assert (seen["a"], seen["b"], seen["c"]) == (fixed, 0.25, random.Random(5).random())


@pytest.mark.rule("A5")
def test_numpy_is_answered_where_it_is_not_seeded(deliver: Deliver) -> None:
    pytest.importorskip("numpy")
    body = """
import numpy as np

def flow():
    a = np.random.default_rng().random(3).tolist()
    b = np.random.rand(3).tolist(), np.random.randint(0, 10**6, 3).tolist(), np.random.sample(2).tolist()
    c = np.random.RandomState().rand(2).tolist(), np.random.Generator(np.random.PCG64()).random(2).tolist()
    d = np.random.default_rng(5).random(), np.random.RandomState(seed=5).rand()
    e = np.random.SeedSequence().entropy
    f = list(range(20))
    np.random.shuffle(f)
"""
    first, second, other = deliver(body), deliver(body), deliver(body, id="two")
    first.pop("np", None)
    assert {name: first[name] for name in "abcdef"} == {name: second[name] for name in "abcdef"}
    assert not {name for name in "abcef" if first[name] == other[name]}
    assert first["d"] == other["d"]


# ------------------------------------------------------------------------------------------------- what values are like


@pytest.mark.rule("A5")
def test_ids_are_valid_and_numbers_are_well_spread(deliver: Deliver) -> None:
    seen = deliver("""
def flow():
    ids = [uuid4() for _ in range(300)]
    one = uuid.uuid1()
    floats = [random.random() for _ in range(1500)]
    dice = [random.randint(1, 6) for _ in range(1500)]
    bells = [random.gauss(10, 2) for _ in range(1500)]
    bits = [secrets.randbits(8) for _ in range(1500)]
    shuffled = []
    for _ in range(600):
        items = [0, 1, 2]
        random.shuffle(items)
        shuffled.append(tuple(items))
""")
    assert {id.version for id in seen["ids"]} == {4}
    assert {id.variant for id in seen["ids"]} == {uuid.RFC_4122}
    assert (seen["one"].version, seen["one"].variant) == (1, uuid.RFC_4122)
    assert all(0 <= value < 1 for value in seen["floats"])
    assert 0.46 < statistics.mean(seen["floats"]) < 0.54
    assert all(180 < seen["dice"].count(side) < 325 for side in range(1, 7))
    assert 9.7 < statistics.mean(seen["bells"]) < 10.3
    assert 1.75 < statistics.stdev(seen["bells"]) < 2.25
    assert 118 < statistics.mean(seen["bits"]) < 137
    assert len({*seen["shuffled"]}) == 6
    assert all(55 < seen["shuffled"].count(order) < 155 for order in {*seen["shuffled"]})
    ones = sum(id.int.bit_count() for id in seen["ids"]) / len(seen["ids"])
    assert 60 < ones < 66, "122 random bits and two set ones"


@pytest.mark.rule("A5")
def test_wrong_arguments_raise_as_they_do_elsewhere(deliver: Deliver) -> None:
    seen = deliver("""
def flow():
    errors = []
    for call in (lambda: random.randint(5, 1), lambda: random.choice([]), lambda: secrets.randbelow(0),
                 lambda: os.urandom(-1), lambda: uuid4(1), lambda: random.nothing()):
        try:
            call()
        except Exception as error:
            errors.append(type(error).__name__)
    call = None
""")
    assert seen["errors"] == ["ValueError", "IndexError", "ValueError", "ValueError", "TypeError", "AttributeError"]


@pytest.mark.rule("A5")
def test_the_process_s_own_generators_are_left_alone(deliver: Deliver) -> None:
    random.seed(5)
    state = random.getstate()
    deliver(EVERYTHING)
    assert random.getstate() == state


@pytest.mark.rule("A5")
@pytest.mark.rule("V6")
def test_the_derivation_of_format_1_does_not_change() -> None:
    assert (
        derived(b"\x01" * 32, "start@1\x1f0\x1ff/start@1(order_id)=uuid4~0", 16).hex()
        == "079f41394f0a66055f9f950d304868a4"
    )


# ---------------------------------------------------------------------------------------------------------- the secret


@pytest.mark.rule("A5")
def test_the_seed_shows_nowhere(app: App, program: Callable[..., ModuleType], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    module = program(
        HEAD
        + """
def flow():
    uuid4(), random.random(), secrets.SystemRandom(), secrets.token_hex()
    seen["told"] = repr(secrets.SystemRandom()), repr(random.Random())
    raise ValueError(random.choice([]))
"""
    )
    app.workflow(module.flow)
    run = app.start(module.flow, id="one")
    with app.worker(), pytest.raises(IndexError) as caught:
        run.result(timeout=20)
    row = app.store.get("one")
    told = [repr(row), repr(run), repr(run.steps()), repr(run.notes()), caplog.text, row.fault, *module.seen["told"]]
    told += [repr(caught.value), "".join(caught.value.__notes__), repr(vars(run) if hasattr(run, "__dict__") else "")]
    for text in told:
        assert row.seed.hex() not in text
        assert repr(row.seed)[2:-1] not in text
    assert run.steps() == [], "and it costs no record"


# ----------------------------------------------------------------------------------------------- outside, and a crash


@pytest.mark.rule("A5")
@pytest.mark.rule("A6")
def test_outside_of_a_run_every_call_is_the_real_one(program: Callable[..., ModuleType]) -> None:
    module = program(HEAD + EVERYTHING + END)
    found = []
    for _ in range(2):
        random.seed(5)
        with suppress(module.Broken):
            module.flow()
        found.append(dict(module.seen))
    assert found[0]["d"] == found[1]["d"], "seeded from outside"
    assert found[0]["a"] != found[1]["a"]
    assert module.uuid4 is uuid.uuid4
    assert module.secrets is secrets


PROGRAM = """
import asyncio, datetime, random, secrets, time, uuid
from pathlib import Path
from semel import App, now, once

app = App("shop")

def keep(*values):
    with open("seen.txt", "a") as seen:
        seen.write(repr(values) + "\\n")

def new_id():
    return uuid.uuid4()

@app.workflow
def fulfil():
    keep("before", new_id(), random.random(), secrets.token_hex(), time.time(), datetime.datetime.now(), now())
    once("first", lambda: 1)
    keep("between", new_id(), time.time(), datetime.datetime.now(), now())
    once("second", lambda: 2)
    keep("after", [new_id() for _ in range(3)], time.time(), datetime.datetime.now(), now())

if __name__ == "__main__":
    run = app.start(fulfil, id="A-1")
    with app.worker():
        run.result(timeout=60)
"""


@pytest.mark.rule("A5")
def test_after_a_kill_another_process_reads_the_same(tmp_path: Path) -> None:
    from semel.testing import crash_environment

    (tmp_path / "shop.py").write_text(PROGRAM)
    path = {"PYTHONPATH": str(Path(semel.__file__).parents[1])}
    for crash in (("step.recorded", 1), ("step.recorded", 1), None):
        environment = {**os.environ, **path, **(crash_environment(*crash) if crash else {})}
        done = subprocess.run(
            [sys.executable, "shop.py"], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == (-signal.SIGKILL if crash else 0), done.stderr
    lines = (tmp_path / "seen.txt").read_text().splitlines()
    told = [re.match(r"\('(\w+)'", line).group(1) for line in lines]
    assert told == ["before", "before", "between", "before", "between", "after"]
    assert len({*lines}) == 3
