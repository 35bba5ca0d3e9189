"""What a user writes and both type checkers must accept. Checked, never run."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Annotated, assert_type

from semel import Answer, App, Bearer, Body, Client, Env, Header, Query, Run, each, get, once, post, put
from semel.testing import script

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


class Payments(
    Client,
    base_url="https://api.payments.example",
    timeout=5,
    auth=Bearer(Env("PAYMENTS_TOKEN")),
    headers={"X-Api-Key": Env("PAYMENTS_KEY")},
):
    @post("/charges")
    def charge(
        self, reference: str, amount: Decimal, *, key: Annotated[str | None, Header("Idempotency-Key")] = None
    ) -> Receipt:
        raise NotImplementedError  # a body that mypy takes without a setting

    @get("/charges/{reference}")
    async def charge_of(self, reference: str, status: Annotated[str, Query] = "open") -> list[Receipt]:
        raise NotImplementedError

    @put("/notes/{reference}")
    def note(self, reference: str, text: Annotated[str, Body]) -> None: ...


payments = Payments()
assert_type(payments.charge("A-1", Decimal("19.50")), Receipt)
assert_type(payments.charge(reference="A-1", amount=Decimal(1), key="k"), Receipt)
assert_type(payments.note("A-1", "paid"), None)
assert_type(once("charge it", lambda key: payments.charge("A-1", Decimal(1), key=key)), Receipt)


async def charges() -> None:
    assert_type(await payments.charge_of("A-1"), list[Receipt])
    async with Payments(base_url="https://other.example", auth=("user", Env("PASSWORD"))) as other:
        assert_type(other, Payments)


def scripted() -> None:
    with script() as net:
        net.on("POST", "https://api.payments.example/charges").answer(201, json={"number": "1"})
        net.on("GET", re.compile("charges/.*")).answers([Answer.of(503), TimeoutError, lambda sent: Answer.of(json=[])])
        net.on("*", "*").fail(ConnectionRefusedError())
        net.done()
        assert_type(net.requests[0].method, str)
