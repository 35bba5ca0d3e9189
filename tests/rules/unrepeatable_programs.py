"""The programs of the tests of unrepeatable values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: ``deliver(body, id="one")`` delivers a run of the body ``flow`` once more, and gives its variables.
Deliver = Callable[..., dict[str, Any]]

HEAD = """
import asyncio, dataclasses, os, random, secrets, time, uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from uuid import uuid4
from semel import each, once

seen = {}

class Broken(Exception):
    pass
"""
END = """
    seen.update(locals())
    raise Broken
"""

EVERYTHING = """
def flow():
    a = uuid4()
    b = str(uuid.uuid4())
    c = uuid.uuid1()
    d = [random.random(), random.randint(1, 10**9), random.choice(range(10**9)), random.gauss(0, 1)]
    e = list(range(20))
    random.shuffle(e)
    f = [random.sample(range(1000), 5), random.choices(range(1000), k=5), random.getrandbits(64), random.randbytes(4)]
    g = [secrets.token_hex(), secrets.token_urlsafe(9), secrets.token_bytes(3), secrets.randbelow(10**9)]
    h = [secrets.choice(range(10**9)), secrets.randbits(64), os.urandom(8)]
    rng = random.Random()
    i = [rng.random(), rng.random()]
    rng = secrets.SystemRandom()
    j = [rng.random(), rng.randrange(10**9), rng.gauss(0, 1)]
    rng = None
    k = partial(uuid4)()
    l = [*map(random.randrange, [10**9, 10**9])]
    m = f"order-{uuid4().hex[:8]}"
    if (n := random.random()) < 2:
        o = {"id": uuid4(), "other": uuid4()}
    p, q = uuid4(), uuid4()
    r: uuid.UUID = uuid4()
    s = sorted(range(20), key=lambda item: random.random())
"""
