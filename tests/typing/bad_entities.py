"""What both type checkers, at their strictest, must refuse of an entity workflow. Never run."""

# pyright: strict

from __future__ import annotations

from datetime import timedelta
from enum import Enum

from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from semel import Event, Workflow, enter, expire, milestone, on, remind, success


class Base(DeclarativeBase):
    pass


class Stage(Enum):
    PLACED = "placed"
    CHARGED = "charged"


class Order(Base):
    __tablename__ = "orders"

    id: Mapped[int] = mapped_column(primary_key=True)
    stage: Mapped[Stage]


class Payment:
    pass


class OrderFlow(Workflow[Order], tracks=Order.stage, initial=Stage.PLACED):
    pay = Event[Payment]()
    cancel_it = Event()

    @on(pay, Stage.PLACED)
    def paid(self, payment: Payment) -> Stage:
        return self.item.state  # wrong: an order has no such attribute

    @on(pay, Stage.PLACED)  # wrong: the payload is not taken
    def paid_without(self) -> Stage:
        return Stage.CHARGED

    @on(pay, Stage.PLACED)  # wrong: another payload is taken
    def paid_in_cents(self, payment: int) -> Stage:
        return Stage.CHARGED

    @on(cancel_it)  # wrong: there is no payload to take
    def cancelled(self, reason: str) -> None: ...

    @on(pay, Stage.PLACED)  # wrong: a body gives the next state
    def paid_by_name(self, payment: Payment) -> str:
        return "CHARGED"

    @enter("PLACED")  # wrong: a state is no str
    def placed(self) -> None: ...

    @enter(Stage.CHARGED)  # wrong: a body takes nothing else
    def charged(self, payment: Payment) -> None: ...

    @expire(Stage.PLACED, after=7)  # wrong: a length of time has a unit
    def too_late(self) -> None: ...

    @remind(Stage.PLACED, after=timedelta(days=1), every=timedelta(days=1))  # wrong: there is no such parameter
    def chase(self) -> None: ...

    sent = milestone(Stage.CHARGED, within="5 days")  # wrong: a length of time is no str

    @sent.finished  # wrong: a hook takes nothing else
    def told(self, payment: Payment) -> None: ...

    done = success(Stage.CHARGED)  # wrong: it says not what that means


class Misspelt(Workflow[Order], trakcs=Order.stage): ...  # wrong: there is no such keyword


class ByName(Workflow[Order], tracks=Order.stage, initial="placed"): ...  # wrong: the initial state is no str


class OfNoEnum(Workflow[Order], tracks=Order.id, initial=Stage.PLACED): ...  # wrong: an id is no state


class Kept(Workflow[Order], tracks=Order.stage, initial=Stage.PLACED, on_delete="drop"): ...  # wrong: no such way


def raises(order: Order, session: Session, other: AsyncSession) -> None:
    OrderFlow.pay(order)  # wrong: the payload is missing
    OrderFlow.pay(order, 5)  # wrong: another payload
    OrderFlow.pay(5, Payment())  # wrong: no order
    OrderFlow.pay(order, Payment(), session=other)  # wrong: an async session
    OrderFlow.pay(order, Payment(), sesion=session)  # wrong: there is no such parameter
    OrderFlow.cancel_it(order, Payment())  # wrong: it has no payload
    OrderFlow.cancel_it(5)  # wrong: no order
    OrderFlow.pay.later(order)  # wrong: the payload is missing
    OrderFlow.pay.later(order, 5)  # wrong: another payload
    OrderFlow.cancel_it.later(order, Payment())  # wrong: it has no payload
    OrderFlow.pay.later(order, Payment(), again=True)  # wrong: there is no such parameter
    OrderFlow.run_of(5)  # wrong: no order
    OrderFlow.adopt(5)  # wrong: no order
    result: int = OrderFlow.pay(order, Payment())  # wrong: what came of it is no int
    print(result)


async def raises_async(order: Order, session: Session) -> None:
    await OrderFlow.pay.call_async(order)  # wrong: the payload is missing
    await OrderFlow.pay.call_async(order, Payment(), session=session)  # wrong: a sync session
    await OrderFlow.pay.later_async(order, 5)  # wrong: another payload
    await OrderFlow.cancel_it.later_async(order, 5)  # wrong: it has no payload
