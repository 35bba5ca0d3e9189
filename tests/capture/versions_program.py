"""Calls somebody's SDK, of the version that the environment says, over one client that a request handler shares."""

from __future__ import annotations

import contextlib
import os
import sys
import threading

import deep
import httpx

from semel import App

sys.path.insert(0, os.environ.get("SDK", ""))

app = App("capture", database=os.environ["DATABASE"])
client = httpx.Client(trust_env=False)


@app.workflow
def charged(url: str) -> str:
    import vendor_sdk

    charge = vendor_sdk.Charge.create(url)
    deep.show({"id": charge.id, "amount": charge.amount, "version": vendor_sdk.VERSION})
    return str(charge.id)


def handle_a_request(url: str) -> None:
    """What a web server does beside the run, with the same client."""
    client.get(f"{url}/handler")


@app.workflow
def beside_a_handler(url: str) -> list[int]:
    seen = []
    for number in range(3):
        done = threading.Event()
        requests.append((url, done))
        waiting.release()
        done.wait()
        seen.append(client.get(f"{url}/body/{number}").status_code)
    deep.show(seen)
    return seen


requests: list[tuple[str, threading.Event]] = []
waiting = threading.Semaphore(0)


def _serve() -> None:
    while True:
        waiting.acquire()
        url, done = requests.pop()
        with contextlib.suppress(httpx.ConnectError):  # the second time, nobody is there any more
            handle_a_request(url)
        done.set()


threading.Thread(target=_serve, daemon=True).start()
