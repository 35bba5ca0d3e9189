"""A shop. Each order is three calls to servers of somebody else."""

import json
import os
from http.client import HTTPConnection

from semel import App, once

app = App("shop", database="sqlite:///shop.db")
API = os.environ.get("SHOP_API", "127.0.0.1:8000")


def post(path: str, key: str, *what: object) -> str:
    connection = HTTPConnection(API, timeout=10)
    headers = {"Content-Type": "application/json", "Idempotency-Key": key}
    connection.request("POST", path, json.dumps(what), headers)
    return str(json.load(connection.getresponse())["id"])


@app.workflow
def fulfil(order: str, cents: int) -> str:
    paid = once("charge", lambda key: post("/charges", key, order, cents))
    parcel = once("ship", lambda key: post("/shipments", key, order, paid))
    once("mail", lambda key: post("/mails", key, order, parcel))
    return f"{order} is on its way: {paid}, {parcel}"


if __name__ == "__main__":
    run = app.start(fulfil, "A-1", 4990, id="order-A-1")
    print(run.result(timeout=60))
