"""Unrepeatable values (A5): an attempt delivered again reads what the first one read, after an edit too."""

from __future__ import annotations

import sqlite3
import uuid
from contextlib import closing
from pathlib import Path

import pytest
from unrepeatable_programs import EVERYTHING, Deliver


@pytest.mark.rule("A5")
def test_an_attempt_delivered_again_reads_every_value_that_the_first_one_read(deliver: Deliver) -> None:
    first, second = deliver(EVERYTHING), deliver(EVERYTHING)
    assert first == second
    assert len({first[name] for name in "akpqr"} | {*first["o"].values()}) == 7
    assert first["b"] != str(first["a"])
    assert first["i"][0] != first["i"][1]
    assert first["l"][0] != first["l"][1]
    assert sorted(first["e"]) == sorted(first["s"]) == list(range(20)) != first["e"] != first["s"]


@pytest.mark.rule("A5")
def test_another_run_reads_other_values(deliver: Deliver) -> None:
    one, two = deliver(EVERYTHING), deliver(EVERYTHING, id="two")
    assert not {name for name in one if one[name] is not None and one[name] == two[name]}


@pytest.mark.rule("A5")
@pytest.mark.rule("V2")
def test_another_visit_of_the_body_reads_other_values(deliver: Deliver, tmp_path: Path) -> None:
    first = deliver(EVERYTHING)
    with closing(sqlite3.connect(tmp_path / "shop.db", isolation_level=None)) as database:
        database.execute("""UPDATE semel_runs SET visits = '{"start": 1}'""")  # no workflow begins a second visit yet
    second = deliver(EVERYTHING)
    assert not {name for name in first if first[name] is not None and first[name] == second[name]}


# ---------------------------------------------------------------------------------------------------- names and edits


BEFORE = """
class Order:
    def __init__(self, id): self.id = id

def label(prefix):
    return f"{prefix}-{random.randrange(10**12)}"

def helper():
    token = secrets.token_hex(8)
    return token

def flow():
    order_id = uuid4()
    order = Order(id=uuid4())
    order.reference = uuid4()
    keys = {"a": uuid4()}
    keys["b"] = uuid4()
    first = label("x")
    second = helper()
    lines = [uuid4() for _ in range(3)]
    for number in range(2):
        last = uuid4()
    drawn = random.random() < 0.5, random.random()
    made = (order.id, order.reference, keys["a"], keys["b"])
    order = None
"""

AFTER = """
# moved, and more of the same everywhere
class Order:
    def __init__(self, id): self.id = id

def helper():
    extra = secrets.token_hex(8)
    token = secrets.token_hex(8)
    return token

def label(prefix):
    random.random()
    return f"{prefix}-{random.randrange(10**12)}"

def flow():
    print(uuid4(), random.random())
    before = Order(id=uuid4())
    more_keys = {"a": uuid4(), "b": uuid4()}
    other_order_id, order_id = uuid4(), uuid4()
    another = helper()
    label("a"), label("b")
    before.reference = uuid4()
    order = Order(
        id=uuid4(),
    )
    order.reference = uuid4()
    keys = {"c": uuid4(), "a": uuid4()}
    keys["d"] = uuid4()
    keys["b"] = uuid4()
    zeroth = label("x")
    if random.random() < 7:
        uuid4()
    first = label("x")
    second = helper()
    more = [uuid4() for _ in range(3)]
    lines = [str(uuid4()) for _ in range(4)]
    for number in range(2):
        uuid4()
        last = uuid4()
    also_drawn = random.random(), random.random()
    drawn = random.random() < 0.5, random.random()
    made = (order.id, order.reference, keys["a"], keys["b"])
    order = before = None
"""


@pytest.mark.rule("A5")
@pytest.mark.rule("D1")
def test_an_edit_that_adds_other_calls_does_not_change_those_that_were_there(deliver: Deliver) -> None:
    before, after = deliver(BEFORE), deliver(AFTER)
    after["lines"] = [uuid.UUID(line) for line in after["lines"]][:3]
    for name in ("order_id", "made", "first", "second", "lines", "last", "drawn"):
        assert before[name] == after[name], name


@pytest.mark.rule("A5")
@pytest.mark.rule("D1")
def test_an_edit_that_removes_other_calls_does_not_change_those_that_stay(deliver: Deliver) -> None:
    before, after = deliver(AFTER), deliver(BEFORE)
    before["lines"] = [uuid.UUID(line) for line in before["lines"]][:3]
    for name in ("order_id", "made", "first", "second", "lines", "last", "drawn"):
        assert before[name] == after[name], name


@pytest.mark.rule("A5")
def test_a_helper_called_for_different_things_gives_different_values(deliver: Deliver) -> None:
    body = """
def new_id():
    return uuid4()

class Thing:
    def __init__(self):
        self.id = uuid4()

    def other(self):
        return new_id()

def flow():
    buyer = new_id()
    seller = new_id()
    same = [new_id(), new_id(), new_id()]
    things = [Thing().id, Thing().id]
    thing = Thing()
    others = [thing.other(), thing.other()]
    thing = None
"""
    first = deliver(body)
    assert len({first["buyer"], first["seller"], *first["same"], *first["things"], *first["others"]}) == 9
    assert deliver(body) == first
    swapped = body.replace(
        "    buyer = new_id()\n    seller = new_id()\n", "    seller = new_id()\n    buyer = new_id()\n"
    )
    assert deliver(swapped) == first


@pytest.mark.rule("A5")
def test_no_two_reads_of_one_execution_are_equal(deliver: Deliver) -> None:
    first = deliver("""
def new_id():
    return uuid4()

def flow():
    ids = []
    for _ in range(50):
        ids.append(uuid4())
        ids.append(uuid4())
        ids += [uuid4(), uuid4(), new_id(), new_id(), *(new_id() for _ in range(3)), *map(lambda _: uuid4(), "ab")]
        x = uuid4(); ids.append(x)
        x = uuid4(); ids.append(x)
        while len(ids) % 7:
            ids.append(uuid4())
""")
    assert len(first["ids"]) == len({*first["ids"]}) > 600


# ------------------------------------------------------------------------------------------------------- concurrency


@pytest.mark.rule("A5")
@pytest.mark.rule("O20")
def test_what_is_read_side_by_side_does_not_depend_on_who_comes_first(deliver: Deliver) -> None:
    body = """
first_come = []

async def new_id(name, turns):
    for _ in range(turns):
        await asyncio.sleep(0)
    first_come.append(name)
    return uuid4()

def later(name, turns):
    return asyncio.ensure_future(new_id(name, turns))

async def many(turns):
    yield uuid4()
    for _ in range(turns):
        await asyncio.sleep(0)
    yield uuid4()

async def listed(items):
    return [item async for item in items]

def in_thread(seconds):
    time.sleep(seconds)
    return uuid4()

async def flow():
    a, b = await asyncio.gather(new_id("a", TURNS), new_id("b", 3 - TURNS))
    c = await asyncio.gather(*[new_id(number, abs(TURNS - number)) for number in range(4)])
    d, e = await asyncio.gather(later("d", TURNS), later("e", 3 - TURNS))
    f = await asyncio.gather(asyncio.to_thread(in_thread, TURNS / 50), asyncio.to_thread(in_thread, (3 - TURNS) / 50))
    g = await asyncio.gather(listed(many(TURNS)), listed(many(3 - TURNS)))
    async with asyncio.TaskGroup() as group:
        tasks = group.create_task(new_id("h", TURNS)), group.create_task(new_id("i", 3 - TURNS))
    h = [task.result() for task in tasks]
    i = await asyncio.to_thread(uuid4), await asyncio.to_thread(uuid4)
    with ThreadPoolExecutor(2) as pool:
        j = [pool.submit(in_thread, TURNS / 50), pool.submit(in_thread, (3 - TURNS) / 50)]
        k = [*pool.map(in_thread, [TURNS / 50, (3 - TURNS) / 50])]
    j = [future.result() for future in j]
    tasks = group = pool = None
"""
    one = deliver(body.replace("TURNS", "0"))
    other = deliver(body.replace("TURNS", "3"))
    assert one == other
    ids = [
        one["a"],
        one["b"],
        *one["c"],
        one["d"],
        one["e"],
        *one["f"],
        *one["g"][0],
        *one["g"][1],
        *one["h"],
        *one["i"],
    ]
    assert len({*ids, *one["j"], *one["k"]}) == 22
