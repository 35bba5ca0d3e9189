"""More of what programs do with Stripe's SDK: coroutines, redirects, answers that break off."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import stripe
from deep import show

from semel import App

app = App("capture", database=os.environ["DATABASE"])

stripe.api_key = "sk_test"
setattr(stripe.HTTPClient, "INITIAL_DELAY", 0.0)
setattr(stripe.HTTPClient, "MAX_DELAY", 0)


def told(error: stripe.StripeError) -> list[Any]:
    seen = ["code", "user_message", "http_status", "http_body", "json_body", "request_id", "headers", "should_retry"]
    return [type(error).__name__, str(error), *(getattr(error, name, None) for name in seen)]


async def charged(source: str = "tok_visa", amount: int = 1950) -> Any:
    try:
        charge = await stripe.Charge.create_async(amount=amount, currency="eur", source=source)
    except stripe.StripeError as error:
        return told(error)
    return charge, charge.last_response


@app.workflow
async def in_coroutines(url: str) -> None:
    stripe.api_base = url
    for source in ("tok_visa", "tok_declined"):
        show(await charged(source))
    found = []
    async for charge in (await stripe.Charge.list_async(limit=2)).auto_paging_iter():
        found += [charge.id]
    show(found)


@app.workflow
async def twenty_coroutines(url: str) -> None:
    stripe.api_base = url
    show(sorted(charge.amount for charge, _ in await asyncio.gather(*[charged(amount=number) for number in range(20)])))


@app.workflow
async def retried_in_a_coroutine(url: str) -> None:
    stripe.api_base, stripe.max_network_retries = url, 2
    show(await stripe.PaymentIntent.create_async(amount=1950, currency="eur"))


@app.workflow
async def unreachable_to_a_coroutine(nobody: str) -> None:
    stripe.api_base, stripe.max_network_retries = nobody, 0
    show(await charged())


@app.workflow
def redirected(url: str) -> None:
    stripe.api_base = f"{url}/to"
    charge = stripe.Charge.create(amount=1950, currency="eur", source="tok_visa")
    show(charge, charge.last_response)


@app.workflow
def broken_off(url: str) -> None:
    stripe.max_network_retries = 0
    for name in ("half", "half-chunked", "reset", "nothing", "longer"):
        stripe.api_base = f"{url}/{name}"
        try:
            stripe.Charge.create(amount=1950, currency="eur")
        except stripe.StripeError as error:
            show(name, told(error))


@app.workflow
def much(url: str) -> str:
    stripe.api_base = url
    return str(stripe.Charge.create(amount=1950, currency="eur"))
