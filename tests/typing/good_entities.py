"""What both type checkers, at their strictest, must accept of an entity workflow. Checked, never run."""

# pyright: strict

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import assert_type

from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from semel import (
    App,
    Backoff,
    Event,
    Raised,
    Run,
    Workflow,
    cancel,
    enter,
    error,
    expire,
    milestone,
    on,
    once,
    remind,
    success,
    wait_for,
)

app = App("shop")


class Base(DeclarativeBase):
    pass


class Stage(Enum):
    PLACED = "placed"
    CHARGED = "charged"
    SHIPPED = "shipped"
    LAPSED = "lapsed"
    REVOKED = "revoked"


class Order(Base):
    __tablename__ = "orders"

    id: Mapped[int] = mapped_column(primary_key=True)
    stage: Mapped[Stage]
    due: Mapped[datetime | None]


@dataclass
class Payment:
    amount: int


class WorkingDays:
    def add(self, start: datetime, length: timedelta) -> datetime:
        return start + length


def deadline(order: Order) -> datetime | None:
    return order.due


class Shared(Workflow[Order]):
    cancel_it = Event()

    @on(cancel_it)
    def cancelled(self) -> Stage:
        return Stage.REVOKED


@app.workflow
class OrderFlow(
    Shared,
    tracks=Order.stage,
    initial=Stage.PLACED,
    autostart=True,
    name="orders",
    strict=True,
    redeliver=Backoff.constant(timedelta(hours=1)).max_attempts(3),
    on_delete="refuse",
    calendar=WorkingDays(),
):
    pay = Event[Payment]()
    pay_by_card = Event(payload=Payment)
    note = Event[str | None]()
    anything = Event[object]()
    ship = Event()

    @on(pay, Stage.PLACED)
    @on(pay_by_card, Stage.PLACED, redeliver=2)
    def paid(self, payment: Payment) -> Stage:
        assert_type(self.item, Order)
        assert_type(self.session, Session)
        assert_type(self.run_id, str)
        return once("charge", lambda: Stage.CHARGED)

    @on(ship, Stage.CHARGED, Stage.PLACED)
    def sent(self) -> Stage | None:
        return Stage.SHIPPED if self.item.id else None

    @on(Shared.cancel_it, Stage.PLACED)
    def cancelled_early(self) -> None: ...

    @on(note)
    def noted(self, text: str | None) -> None: ...

    @on(anything)
    def came(self, payload: object) -> None: ...

    @enter(Stage.PLACED, Stage.CHARGED)
    def entered(self) -> Stage | None: ...

    @expire(Stage.PLACED, after=timedelta(days=7), redeliver=1)
    def too_late(self) -> Stage:
        return Stage.LAPSED

    @remind(Stage.PLACED, after=Order.due, then_every=timedelta(days=2))
    def chase(self) -> None: ...

    @remind(Stage.CHARGED, after=deadline, then_every=lambda order: order.due)
    def look(self) -> None: ...

    shipped = milestone(
        Stage.SHIPPED,
        since=Stage.CHARGED,
        within=timedelta(days=5),
        retries=2,
        backoff=Backoff.constant(timedelta(days=1)),
    )

    @shipped.finished
    def told(self) -> None: ...

    @shipped.unfinished
    def late(self) -> Stage | None: ...

    sold = success(Stage.SHIPPED, "sold")
    lapsed = error(Stage.LAPSED, "never paid")
    revoked = cancel(Stage.REVOKED, "revoked by the seller")


def raises(order: Order, session: Session) -> None:
    assert_type(OrderFlow.pay(order, Payment(1)), Raised)
    assert_type(OrderFlow.pay(order, Payment(1), session=session, again=True).state, Enum)
    assert_type(OrderFlow.pay_by_card(order, payload=Payment(1)).parked, bool)
    assert_type(OrderFlow.cancel_it(order, session=session).run, Run[None])
    OrderFlow.note(order, None)
    OrderFlow.anything(order, 1)
    OrderFlow.pay.later(order, Payment(1), session=session)
    OrderFlow.ship.later(order)
    assert_type(OrderFlow.run_of(order), Run[None] | None)
    assert_type(OrderFlow.adopt(order, session=session), Run[None])


class AsyncFlow(Workflow[Order], tracks=Order.stage, initial=Stage.PLACED):
    pay = Event[Payment]()
    ship = Event()

    @on(pay)
    async def paid(self, payment: Payment) -> Stage | None:
        assert_type(self.async_session, AsyncSession)
        return None

    @on(ship)
    async def sent(self) -> None: ...


async def raises_async(order: Order, session: AsyncSession) -> None:
    assert_type(await AsyncFlow.pay.call_async(order, Payment(1), session=session, again=True), Raised)
    assert_type(await AsyncFlow.ship.call_async(order), Raised)
    await AsyncFlow.pay.later_async(order, Payment(1), session=session)
    await AsyncFlow.ship.later_async(order)
    assert_type(await AsyncFlow.run_of_async(order), Run[None] | None)
    assert_type(await AsyncFlow.adopt_async(order), Run[None])


paid = Event[Payment]("paid", Payment)
assert_type(wait_for(paid), Payment)
of_class: Event[int] = Event("of class")
assert_type(wait_for(of_class), int)


class Events:
    paid = Event[int]("paid")


assert_type(wait_for(Events.paid), int)
