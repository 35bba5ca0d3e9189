"""An order: placed, charged with four attempts, shipped; it is reminded of, and lapses."""

import os
import smtplib
from datetime import timedelta
from email.message import EmailMessage
from enum import Enum

import httpx
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from semel import App, Backoff, Event, Workflow, enter, error, expire, on, once, remind, success

app = App("shop", database=os.environ.get("SHOP_DB", "sqlite:///shop.db"))
BANK = os.environ.get("BANK_URL", "http://127.0.0.1:8101")
POST = int(os.environ.get("POST_PORT", "8102"))


class Base(DeclarativeBase):
    pass


class Stage(Enum):
    PLACED = "placed"
    CHARGED = "charged"
    SHIPPED = "shipped"
    LAPSED = "lapsed"


class Order(Base):
    __tablename__ = "orders"
    id: Mapped[int] = mapped_column(primary_key=True)
    stage: Mapped[Stage]
    email: Mapped[str]
    amount: Mapped[int]
    receipt: Mapped[str | None]


def charge(order: Order, key: str) -> str:
    body = {"order": order.id, "amount": order.amount}
    answer = httpx.post(f"{BANK}/charges", json=body, headers={"Idempotency-Key": key}, timeout=60)
    receipt: str = answer.raise_for_status().json()["receipt"]
    return receipt


def mail(to: str, subject: str) -> None:
    letter = EmailMessage()
    letter["From"], letter["To"], letter["Subject"] = "shop@example.org", to, subject
    letter.set_content(subject)
    with smtplib.SMTP("127.0.0.1", POST) as server:
        server.send_message(letter)  # a step: nothing marks it


@app.workflow
class OrderFlow(Workflow[Order], tracks=Order.stage, initial=Stage.PLACED, autostart=True):
    pay = Event()

    @on(pay, Stage.PLACED)
    def paid(self) -> Stage:
        self.item.receipt = once(
            "charge",
            lambda key: charge(self.item, key),
            retry=Backoff.exponential(timedelta(seconds=2)).max_attempts(4),
        )
        return Stage.CHARGED

    @enter(Stage.CHARGED)
    def ship(self) -> Stage:
        mail(self.item.email, f"Your order {self.item.id} is on its way ({self.item.receipt})")
        return Stage.SHIPPED

    @remind(Stage.PLACED, after=timedelta(days=3), then_every=timedelta(days=2))
    def chase(self) -> None:
        mail(self.item.email, f"Your order {self.item.id} is not paid yet")

    @expire(Stage.PLACED, after=timedelta(days=7))
    def too_late(self) -> Stage:
        return Stage.LAPSED

    shipped = success(Stage.SHIPPED, "shipped")
    lapsed = error(Stage.LAPSED, "never paid")
