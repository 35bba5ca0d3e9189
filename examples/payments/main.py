"""Sells something, while the worker is killed in the worst moment. Prints what Stripe saw."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from payment_api import PaymentApi

HERE = Path(__file__).parent
workers = []


def kill_at_the_first_charge(number):
    if number == 1:
        os.kill(workers[-1].pid, signal.SIGKILL)
        workers[-1].wait()


def start_worker():
    command = [sys.executable, "-m", "semel", "worker", "--app", "shop:app"]
    workers.append(subprocess.Popen(command, cwd=HERE, stderr=subprocess.DEVNULL))


with tempfile.TemporaryDirectory() as folder:
    api = PaymentApi(answered=kill_at_the_first_charge)
    os.environ["SHOP_DATABASE"] = f"sqlite:///{folder}/shop.db"
    os.environ["OUTBOX"] = f"{folder}/outbox.txt"
    os.environ["STRIPE_API"] = api.url
    from shop import app, sell

    run = app.start(sell, "A-1", 1950, "ann@example.org", id="A-1")
    start_worker()
    workers[0].wait()
    print("the worker was killed after Stripe had charged, before it could record that")
    start_worker()
    receipt = run.result(timeout=60)
    workers[1].terminate()
    workers[1].wait()
    print(f"receipt: {receipt.charge} over {receipt.amount}")
    print(f"calls that Stripe saw: {len(api.requests)}, with {len(set(api.requests))} idempotency key")
    print(f"charges that Stripe made: {len(api.charges)}")
    print(f"mails: {Path(os.environ['OUTBOX']).read_text().strip()}")
    print(f"notes on the run: {[f'{note.kind}: {note.path}' for note in run.notes()]}")
    app.close()
