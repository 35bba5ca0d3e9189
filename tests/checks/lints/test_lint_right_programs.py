"""Whole programs as people write them, of which nothing is told."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

from semel.checks.ignores import OF_IGNORES, ignores, without_ignored
from semel.checks.lints import LINTS, lints
from semel.compiler.model import Source, build, from_paths

ROOT = Path(__file__).parents[3]

PROGRAMS = {
    "a shop": """
        import logging
        from dataclasses import dataclass
        import stripe
        from semel import App, once
        app = App("shop")
        log = logging.getLogger(__name__)
        @dataclass
        class Receipt:
            id: str
            amount: int
        def charge(order: str, amount: int, key: str) -> Receipt:
            intent = stripe.PaymentIntent.create(amount=amount, currency="eur", idempotency_key=key)
            return Receipt(intent.id, amount)
        @app.workflow
        def fulfil(order: str, amount: int) -> Receipt:
            log.info("order %s", order)
            receipt = once("charge", order, lambda key: charge(order, amount, key))
            try:
                once("mail", lambda: mail(order, receipt))
            except OSError:
                log.exception("no mail for %s", order)
            return receipt
        def mail(order: str, receipt: Receipt) -> None:
            with open("outbox.txt", "a") as outbox:
                outbox.write(f"{order}: {receipt.id}")
        def main() -> None:
            run = app.start(fulfil, "A-1", 1950, id="A-1")
            with app.worker():
                print(run.result())
        if __name__ == "__main__":
            main()
        """,
    "an agent": """
        import openai
        from semel import App, once
        app = App("agent")
        client = openai.OpenAI()
        tools = {"search": lambda query: query.upper(), "add": sum}
        @app.workflow
        def answer(question: str) -> str:
            messages = [{"role": "user", "content": question}]
            while True:
                reply = client.chat.completions.create(model="m", messages=messages)
                message = reply.choices[0].message
                messages.append(message)
                if not message.tool_calls:
                    return message.content
                for call in message.tool_calls:
                    result = tools[call.function.name](call.function.arguments)
                    messages.append({"role": "tool", "content": str(result)})
        """,
    "an async fan-out": """
        import asyncio
        import httpx
        from semel import App, once
        app = App("pages")
        async def fetch(client: httpx.AsyncClient, url: str) -> int:
            answer = await client.get(url)
            return len(answer.content)
        @app.workflow
        async def crawl(urls: list[str]) -> int:
            async with httpx.AsyncClient() as client, asyncio.TaskGroup() as group:
                tasks = [group.create_task(fetch(client, url)) for url in urls]
            sizes = [task.result() for task in tasks]
            await once("rest", lambda: asyncio.sleep(1))
            return sum(sizes)
        """,
    "rows and a run in one commit": """
        from sqlalchemy import ForeignKey, select
        from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
        from semel import App, once
        app = App("shop", database="sqlite:///shop.db")
        class Base(DeclarativeBase): ...
        class Order(Base):
            __tablename__ = "orders"
            id: Mapped[int] = mapped_column(primary_key=True)
            receipt: Mapped[str | None]
        def charge(order: int) -> str: ...
        @app.workflow
        def fulfil(id: int) -> str:
            session = app.session()
            order = session.scalars(select(Order).where(Order.id == id)).one()
            order.receipt = once("charge", lambda: charge(id))
            session.add(Order(id=id + 1))
            return order.receipt
        """,
    "a trip that can be undone": """
        from dataclasses import dataclass
        from datetime import UTC, datetime, timedelta
        from uuid import uuid4
        import httpx
        import semel
        from semel import App, Backoff, Event, once, run_child, saga, sleep, transaction, wait_all, wait_first, wait_for
        app = App("travel", database="sqlite:///travel.db")
        POLICY = Backoff.exponential(timedelta(seconds=2)).max_attempts(4).cap(timedelta(minutes=5)).jitter()
        @dataclass
        class Approval:
            by: str
        approved = Event[Approval]("approved")
        def book(what: str, key: str) -> str:
            return httpx.post("https://trips.example/book", json={"what": what, "key": key}).text
        def cancel(booking: str) -> None:
            httpx.delete(f"https://trips.example/{booking}")
        @app.workflow
        def offer(city: str) -> int:
            return once("ask", lambda: httpx.get(f"https://trips.example/{city}").json(), retry=POLICY)
        def remind(day: int) -> None:
            httpx.post("https://mail.example", json={"day": day})
        @app.workflow
        def travel(city: str, day: datetime) -> str:
            reference = once("reference", lambda: str(uuid4()))
            offers = [run_child("offer", offer, each) for each in (city, "home")]
            best = wait_first(offers)
            prices = wait_all(offers)
            transaction("reserve", lambda session: session.execute("…"))
            try:
                approval = wait_for(approved, timeout=timedelta(days=3))
            except TimeoutError:
                sleep(timedelta(days=1), label="last-chance")
                approval = Approval("nobody")
            with saga("book-trip") as trip:
                for leg in ("out", "back"):
                    flight = trip.step("flight", lambda: once("book", lambda key: book(leg, key)), undo=cancel)
                trip.step("hotel", lambda: book("hotel", reference), undo=cancel, undo_retry=POLICY)
                trip.keep()
            for number in range(3):
                semel.sleep_until(day + timedelta(days=number))
                once("remind", lambda: remind(number), retry=POLICY)
            booked_at = datetime.now(UTC)
            once("done", lambda: print(best.result(), prices, approval, booked_at, flight))
            return reference
        """,
    "an async order that waits": """
        import asyncio
        from datetime import timedelta
        from semel import App, Backoff, Child, once, run_child, saga, sleep_async, wait_all_async, wait_for_async
        app = App("shop")
        def cancel(part: str) -> None: ...
        async def reserve(part: str) -> str: ...
        @app.workflow
        async def check(part: str) -> bool:
            await sleep_async(timedelta(minutes=1))
            return True
        async def wait(children: list[Child[bool]]) -> bool:
            return all(await wait_all_async(children))
        @app.workflow
        async def order(parts: list[str]) -> str:
            fine = await wait([run_child("check", check, part) for part in parts])
            again = await run_child("again", check, "all").result_async()
            paid, _ = await asyncio.gather(wait_for_async("paid"), sleep_async(5))
            async with saga("parts") as parts_saga:
                for part in parts:
                    await parts_saga.step("reserve", lambda: reserve(part), undo=cancel)
            return f"{fine} {again} {paid}"
        """,
    "a report in a temporary folder": """
        import csv, subprocess, tempfile
        from pathlib import Path
        from semel import App, once
        app = App("reports")
        def rows(day: str) -> list[tuple[str, int]]: ...
        def upload(content: bytes) -> str: ...
        @app.workflow
        def report(day: str) -> str:
            found = once("rows", lambda: rows(day))
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "report.csv"
                with file.open("w", newline="") as out:
                    csv.writer(out).writerows(found)
                content = file.read_bytes()
            once("compress", lambda: subprocess.run(["true"], check=True).returncode)
            return once("upload", lambda: upload(content))
        """,
    "a client made once": """
        import functools, os, threading
        import httpx
        from semel import App
        app = App("shop")
        _lock = threading.Lock()
        _client: httpx.Client | None = None
        def client() -> httpx.Client:
            global _client
            with _lock:
                if _client is None:
                    _client = httpx.Client(base_url=os.environ["API"])
                return _client
        @functools.cache
        def settings() -> dict[str, str]:
            return dict(os.environ)
        @app.workflow
        def fulfil(order: str) -> int:
            return client().post("/orders", json={"order": order, "shop": settings()["SHOP"]}).status_code
        """,
    "a web server beside it": """
        import flask
        from semel import App, once
        app = App("shop")
        web = flask.Flask("shop")
        visits: list[str] = []
        @web.post("/orders/<id>")
        def order_placed(id: str) -> str:
            visits.append(id)
            open("access.log", "a").write(id)
            return app.start(fulfil, id, id=id).id
        @app.workflow
        def fulfil(id: str) -> None:
            once("pay", lambda: print(id))
        """,
    "cleaning up": """
        import contextlib, threading
        from semel import App, once
        app = App("shop")
        def reserve(order: str) -> str: ...
        def release(order: str) -> None: ...
        def charge(order: str) -> str: ...
        @contextlib.contextmanager
        def reserved(order: str):
            once("reserve", lambda: reserve(order))
            try:
                yield
            except BaseException:
                print("not charged")
                raise
        @app.workflow
        def fulfil(order: str) -> str:
            with contextlib.suppress(FileNotFoundError), reserved(order):
                return once("charge", lambda: charge(order))
            once("release", lambda: release(order))
            return ""
        """,
    "a class of handlers": """
        from collections.abc import Iterator
        from enum import Enum
        from semel import App, each, once
        app = App("shop")
        class Kind(Enum):
            BOOK = "book"
            FOOD = "food"
        class Shop:
            def __init__(self, name: str) -> None:
                self.name = name
                self.done: list[str] = []
            def lines(self, order: dict[str, Kind]) -> Iterator[tuple[str, Kind]]:
                yield from order.items()
            def book(self, line: str) -> None:
                once("book", lambda: print(line))
            def food(self, line: str) -> None:
                once("food", lambda: print(line))
        @app.workflow
        def fulfil(order: dict[str, Kind]) -> list[str]:
            shop = Shop("a")
            handlers = {Kind.BOOK: shop.book, Kind.FOOD: shop.food}
            for line, kind in each(shop.lines(order), key=lambda pair: pair[0]):
                handlers[kind](line)
                shop.done.append(line)
            return shop.done
        """,
    "a pool of threads": """
        from concurrent.futures import ThreadPoolExecutor
        from semel import App, once
        app = App("shop")
        def check(item: str) -> bool:
            return once("check", lambda: bool(item))
        @app.workflow
        def fulfil(items: list[str]) -> bool:
            with ThreadPoolExecutor(4) as pool:
                return all(pool.map(check, items))
        """,
    "mail": """
        import smtplib
        from email.message import EmailMessage
        from semel import App
        app = App("mail")
        def message_to(person: str) -> EmailMessage:
            message = EmailMessage()
            message["To"] = person
            message.set_content("Thank you")
            return message
        @app.workflow
        def thank(people: list[str]) -> None:
            for person in people:
                with smtplib.SMTP("localhost") as server:
                    server.send_message(message_to(person))
        """,
    "a state machine by hand": """
        import datetime, random, uuid
        from semel import App, once
        app = App("machine")
        STATES = ("new", "paid", "sent")
        def act(state: str, key: str) -> dict[str, str | int]: ...
        @app.workflow
        def drive(order: str, options: dict | None = None) -> list[str]:
            log = []
            state, number = "new", uuid.uuid4()
            while state != "sent":
                done = once("act", lambda: act(state, str(number)))
                log.append(f"{datetime.datetime.now()}: {done}")
                state = STATES[STATES.index(state) + 1]
                if options and options.get("random"):
                    options["random"] = random.random()
            return log
        """,
    "a boto3 copy": """
        import boto3
        from semel import App
        app = App("files")
        @app.workflow
        def copy(bucket: str, names: list[str]) -> int:
            s3 = boto3.client("s3")
            total = 0
            for name in names:
                body = s3.get_object(Bucket=bucket, Key=name)["Body"].read()
                s3.put_object(Bucket=bucket, Key=f"copy/{name}", Body=body)
                total += len(body)
            return total
        """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_told_of_a_program_that_is_right(name: str) -> None:
    text = textwrap.dedent(PROGRAMS[name])
    ast.parse(text)
    model = build([Source("program", "program.py", text)])
    assert model.bodies
    assert lints(model) == []


@pytest.mark.parametrize("example", sorted(path.name for path in (ROOT / "examples").iterdir() if path.is_dir()))
def test_nothing_is_told_of_the_examples(example: str) -> None:
    model = build(from_paths([ROOT / "examples" / example]))
    assert without_ignored(lints(model), ignores(model), (*LINTS, *OF_IGNORES)) == []
