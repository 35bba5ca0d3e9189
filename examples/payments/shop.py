"""A shop: charges a card through Stripe's own client, then mails the receipt."""

import os
from dataclasses import dataclass

import stripe

from semel import App, once

app = App("shop", database=os.environ.get("SHOP_DATABASE", "sqlite:///shop.db"))


@dataclass
class Receipt:
    charge: str
    amount: int


def stripe_client() -> stripe.StripeClient:
    return stripe.StripeClient(
        os.environ.get("STRIPE_KEY", "sk_test_example"),
        base_addresses={"api": os.environ["STRIPE_API"]},
        max_network_retries=0,
    )


def charge(order: str, amount: int, key: str) -> Receipt:
    intent = stripe_client().v1.payment_intents.create(
        {"amount": amount, "currency": "eur", "metadata": {"order": order}},
        {"idempotency_key": key},
    )
    return Receipt(charge=intent.id, amount=intent.amount)


def mail(address: str, receipt: Receipt) -> None:
    with open(os.environ["OUTBOX"], "a") as outbox:
        outbox.write(f"{address}: {receipt.charge} over {receipt.amount}\n")


@app.workflow
def sell(order: str, amount: int, address: str) -> Receipt:
    receipt = once("charge", order, lambda key: charge(order, amount, key))
    once("mail", lambda: mail(address, receipt))
    return receipt
