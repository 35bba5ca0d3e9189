"""Outside of a run: a plain function in a process where semel has registered and run it, and in one without semel.

Each round is two new processes, so that where things happen to lie in memory evens out; the least time of each counts.
"""

from __future__ import annotations

import json
import sys
import tempfile
import timeit
from pathlib import Path


def total(order: list[int]) -> int:
    """An ordinary function with a loop and a helper."""
    amount = 0
    for price in order:
        amount += with_tax(price)
    return amount


def with_tax(price: int) -> int:
    return price + price // 5


def price_of_one() -> int:
    return with_tax(1950)


_ORDER = list(range(100))


def main(role: str) -> None:
    """The child's side: prints nanoseconds."""
    found: dict[str, float] = {}
    if role == "registered":
        _run_in_semel()
        from semel import once

        found["step"] = _least(price_of_one, 2_000)
        found["once"] = _least(lambda: once("price", price_of_one), 2_000)
    found["call"] = _least(lambda: total(_ORDER), 300)
    print(json.dumps(found))


def _least(call: object, number: int) -> float:
    timer = timeit.Timer("call()", globals={"call": call})
    return min(timer.repeat(repeat=150, number=number)) / number * 1e9


def _run_in_semel() -> None:
    from semel import App

    with tempfile.TemporaryDirectory() as folder:
        app = App("bench", database=f"sqlite:///{Path(folder) / 'outside.db'}")
        app.workflow(total)
        with app.worker():
            assert app.start(total, _ORDER).result() == total(_ORDER)
        app.close()


if __name__ == "__main__":
    main(sys.argv[1])
