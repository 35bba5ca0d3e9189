"""The program whose database is kept in ``format-1/``; ``python format_1.py FOLDER`` made it, and never again."""

from __future__ import annotations

import os
import sqlite3
import sys
from contextlib import closing, suppress
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

from semel import App, each, once

done: list[str] = []


def do(what: str, result: object = None) -> object:
    done.append(what)
    return result


def notify(people: list[str]) -> None:
    for person in each(people, key=lambda name: name):
        once("mail", lambda: do(f"mail {person}"))


def declined() -> None:
    do("check")
    raise ValueError("declined", 51)


def fulfil(order: str, people: list[str]) -> list[object]:
    keys = [once("charge", lambda key: do("charge", key))]
    keys += [once("reserve", lambda key: do(f"reserve {number}", key)) for number in range(2)]
    keys.append(once("book", order, lambda key: do("book", key)))
    value = once("types", lambda: do("types", (Decimal("1.50"), {1, 2}, timedelta(days=1), b"x", 10**30, {"a": (1,)})))
    try:
        once("check", lambda: declined())
    except ValueError as error:
        keys.append(error.args)
    notify(people)
    if os.environ.get("FORMAT_1") == "break":
        raise RuntimeError("here the run was left")
    return [*keys, value]


def make(folder: Path) -> None:
    """Leaves a faulted run in a new database, as SQL text."""
    app = App("shop", database=f"sqlite:///{folder / 'shop.db'}", now=lambda: 1_800_000_000.0)
    app.workflow(fulfil)
    run = app.start(fulfil, "A-1", ["ann", "bob"], id="order-A-1")
    with app.worker(), suppress(RuntimeError):
        run.result(timeout=30)
    keys = [app.codec.decode(record.data) for record in run.steps() if record.path.split("#")[1] in KEYED]
    print("\n".join(map(str, keys)))
    app.close()
    for name in ("shop.db", "shop.steps.db"):
        with closing(sqlite3.connect(folder / name)) as database:
            (folder / f"{name}.sql").write_text("\n".join(database.iterdump()) + "\n")


KEYED = ("charge", "reserve", "book")

if __name__ == "__main__":
    os.environ["FORMAT_1"] = "break"
    make(Path(sys.argv[1]))
