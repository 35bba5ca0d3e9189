"""What a user writes and both type checkers must accept. Checked, never run."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import assert_type

from semel import App, Run, each, once

app = App("shop")


@dataclass
class Receipt:
    number: str


def charge(amount: int, key: str = "") -> Receipt:
    return Receipt(f"{amount}{key}")


async def charge_async(amount: int) -> Receipt:
    return Receipt(str(amount))


@app.workflow
def fulfil(order: str, amount: int) -> str:
    assert_type(once("charge", lambda: charge(amount)), Receipt)
    assert_type(once("keyed", lambda key: charge(amount, key)), Receipt)
    assert_type(once("scoped", (order, 1), lambda key: charge(amount, key)), Receipt)
    assert_type(once("partial", partial(charge, amount)), Receipt)
    for line in each([Receipt("1")], key=lambda receipt: receipt.number):
        assert_type(line, Receipt)
    return order


@app.workflow(name="other", strict=True, redeliver=2)
async def fulfil_async(order: str) -> Receipt:
    receipt = await once("charge", lambda: charge_async(1))
    assert_type(receipt, Receipt)
    assert_type(await once("thread", lambda: asyncio.to_thread(charge, 2)), Receipt)
    return receipt


@app.workflow
def with_default(order: str, amount: int = 1) -> int:
    return amount


assert_type(fulfil("A", 1), str)
assert_type(app.start(fulfil, "A", 1), Run[str])
assert_type(app.start(fulfil, "A", 1, id="A-1"), Run[str])
assert_type(app.start(fulfil_async, "A", id="A-2"), Run[Receipt])
assert_type(app.start(with_default, "A"), Run[int])
assert_type(app.start(with_default, order="A"), Run[int])
assert_type(app.start(fulfil, "A", 1).result(timeout=5), str)


async def serve() -> None:
    async with app.worker():
        run = await app.start_async(fulfil_async, "A", id="A-3")
        assert_type(await run.result_async(), Receipt)
    with app.worker(threads=4):
        pass
