"""``semel model``: how long a program takes to read, for one of 300 lines and one of 100,000."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from semel.checks import refusals
from semel.checks.verdict import verdict
from semel.cli import sources
from semel.compiler.model import Source

from .measure import Measure, Settings
from .scene import new_folder

_LINES = 300  # of a module

_COMMON = """\
from dataclasses import dataclass
from typing import Protocol

import httpx
import requests


class Sends(Protocol):
    def send_it(self, to: str) -> str: ...


class Mailer:
    def __init__(self, session: requests.Session) -> None:
        self.session = session

    def send_it(self, to: str) -> str:
        return self.session.post("https://mail.example", json={"to": to}).text


class Texter(Mailer):
    def send_it(self, to: str) -> str:
        return self.session.post("https://sms.example", json={"to": to}).text


@dataclass
class Office:
    mailer: Sends
    web: httpx.Client
"""

_HEAD = """\
from dataclasses import dataclass

import httpx
from semel import App, each, once

from shop.common import Office
{imports}

app = App("shop")
client = httpx.Client()

"""

_BLOCK = """
@dataclass(frozen=True)
class Order{n}:
    reference: str
    lines: list[str]
    total: int = 0

    def weight(self) -> int:
        return sum(len(line) for line in self.lines)

    def priced(self, rate: float) -> "Order{n}":
        return Order{n}(self.reference, self.lines, round(self.weight() * rate))


def price_{n}(order: Order{n}, rate: float = 1.0) -> int:
    if order.total > 0:
        return order.total
    return order.priced(rate).total


def reserve_{n}(office: Office, order: Order{n}) -> str:
    answer = office.web.post("https://stock.example", json={{"order": order.reference}})
    answer.raise_for_status()
    return answer.json()["id"]


def notify_{n}(office: Office, order: Order{n}) -> None:
    for line in each(order.lines, key=str):
        once("line", lambda: office.mailer.send_it(line))
    {call}


@app.workflow
def fulfil_{n}(office: Office, order: Order{n}) -> str:
    reservation = reserve_{n}(office, order)
    if price_{n}(order) > 100:
        once("approve", lambda: client.post("https://boss.example", json={{"order": order.reference}}))
    try:
        notify_{n}(office, order)
    except httpx.HTTPError:
        return "late"
    return reservation
"""


def program(lines: int) -> list[Source]:
    """Modules of about 300 lines that import each other, together of this many lines."""
    made = [Source("shop.common", "shop/common.py", _COMMON)]
    total = _COMMON.count("\n")
    while total < lines:
        number = len(made)
        imports = f"from shop.part{number - 1} import notify_0 as earlier" if number > 1 else ""
        text = _HEAD.format(imports=imports)
        block = 0
        while (so_far := text.count("\n")) < min(_LINES, lines - total):
            call = "earlier(office, order)" if number % 7 and block == 1 else f"price_{block}(order)"
            text += _BLOCK.format(n=block, call=call)
            block += 1
        total += so_far
        made.append(Source(f"shop.part{number}", f"shop/part{number}.py", text))
    return made


def case(settings: Settings) -> Iterator[Measure]:
    for lines, limit in ((300, 0.2), (settings.size(100_000, 3_000), 20.0)):
        with new_folder(settings) as folder:
            for source in program(lines):
                file = folder / source.file
                file.parent.mkdir(exist_ok=True)
                file.write_text(source.text, "utf-8")
                (file.parent / "__init__.py").touch()
            taken = [_read(folder) for _ in range(settings.repeat if lines < 10_000 else 1)]
        yield Measure("model", f"semel check and semel model of {lines:,} lines", "s", taken, limit)


def _read(folder: Path) -> float:
    began = perf_counter()
    model = sources.program([folder])
    refusals(model)
    verdict(model)
    return perf_counter() - began
