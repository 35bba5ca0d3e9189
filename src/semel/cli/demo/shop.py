"""A shop. Each order is three calls to servers of somebody else. Nothing marks them."""

import json
import os
from urllib.request import Request, urlopen

from semel import App

app = App("shop", database="sqlite:///shop.db")
API = os.environ.get("SHOP_API", "http://127.0.0.1:8000")


def post(path: str, *what: object) -> str:
    request = Request(API + path, json.dumps(what).encode(), {"Content-Type": "application/json"})
    with urlopen(request, timeout=10) as answer:
        return str(json.load(answer)["id"])


def charge(order: str, cents: int) -> str:
    return post("/charges", order, cents)


def ship(order: str, payment: str) -> str:
    return post("/shipments", order, payment)


def mail(order: str, parcel: str) -> str:
    return post("/mails", order, parcel)


@app.workflow
def fulfil(order: str, cents: int) -> str:
    payment = charge(order, cents)
    parcel = ship(order, payment)
    mail(order, parcel)
    return f"{order} is on its way: {payment}, {parcel}"


if __name__ == "__main__":
    run = app.start(fulfil, "A-1", 4990, id="order-A-1")
    print(run.result(timeout=60))
