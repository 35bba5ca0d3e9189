"""What programs do with Stripe's SDK and its default client, each as a workflow that is given a server's address."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import stripe
from deep import show

from semel import App

app = App("capture", database=os.environ["DATABASE"])

stripe.api_key = "sk_test_very_secret"
stripe.max_network_retries = 2
stripe.HTTPClient.INITIAL_DELAY = 0.0  # type: ignore[assignment]
stripe.HTTPClient.MAX_DELAY = 0


def caught(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except stripe.StripeError as error:
        return error


def told(error: Any) -> list[Any]:
    """What a program reads of an error of Stripe's."""
    names = ("code", "param", "user_message", "http_status", "http_body", "json_body", "request_id", "headers", "error")
    return [error, *(getattr(error, name, None) for name in names), repr(error)]


@app.workflow
def charged(url: str) -> str:
    stripe.api_base = url
    charge = stripe.Charge.create(amount=1950, currency="eur", source="tok_visa", metadata={"order": "A"})
    answer = charge.last_response
    show(charge, charge.to_dict(), type(charge).__name__, charge.source, charge["amount"])
    show(answer, answer.request_id, answer.idempotency_key, answer.code, answer.data, answer.body, answer.headers)
    return str(charge.id)


@app.workflow
def declined(url: str) -> None:
    stripe.api_base = url
    try:
        stripe.Charge.create(amount=1950, currency="eur", source="tok_declined")
    except stripe.CardError as error:
        show(*told(error), error.error.decline_code, error.error.payment_intent)


@app.workflow
def missing(url: str) -> None:
    stripe.api_base = url
    show(*told(caught(lambda: stripe.Customer.retrieve("cus_none"))))


@app.workflow
def unreachable(nobody: str) -> None:
    stripe.api_base = nobody
    error = caught(lambda: stripe.Charge.create(amount=1, currency="eur"))
    show(type(error).__name__, str(error), error.should_retry)


@app.workflow
def retried(url: str) -> None:
    stripe.api_base = url
    show(stripe.PaymentIntent.create(amount=1950, currency="eur"))


@app.workflow
def listed(url: str) -> list[str]:
    stripe.api_base = url
    found = []
    for charge in stripe.Charge.list(limit=2).auto_paging_iter():
        found.append(charge.id)  # noqa: PERF401 (a loop is what is looked at)
    show(found)
    return found


@app.workflow
def by_a_client(url: str) -> None:
    client = stripe.StripeClient("sk_test_very_secret", base_addresses={"api": url})
    show(client.v1.payment_intents.create({"amount": 100, "currency": "eur"}))
    show(client.v1.charges.create({"amount": 100, "currency": "eur"}).last_response)


@app.workflow
def downloaded(url: str) -> None:
    stripe.api_base = stripe.upload_api_base = url
    answer = stripe.Quote("qt_1").pdf()
    show(answer.code, answer.headers, answer.io.read())


@app.workflow
def twenty_at_once(url: str) -> None:
    stripe.api_base = url
    with ThreadPoolExecutor(20) as threads:

        def charge(number: int) -> int:
            return int(stripe.Charge.create(amount=number, currency="eur").amount)

        show(list(threads.map(charge, range(20))))
