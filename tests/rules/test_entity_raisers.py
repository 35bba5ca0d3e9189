"""An event on its class: what it is given is checked, and handed to what runs arms (rules W2, W4)."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import Enum
from types import ModuleType
from typing import Any

import pytest
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from semel import Event, Raised, Run, Workflow, on

pytestmark = [pytest.mark.rule("W2"), pytest.mark.rule("W4")]


class Base(DeclarativeBase):
    pass


class Stage(Enum):
    PLACED = "placed"
    CHARGED = "charged"


class Order(Base):
    __tablename__ = "raised_orders"
    id: Mapped[int] = mapped_column(primary_key=True)
    stage: Mapped[Stage]


@dataclass
class Payment:
    amount: int


class OrderFlow(Workflow[Order], tracks=Order.stage, initial=Stage.PLACED):
    pay = Event[Payment]()
    cancel_it = Event()
    note = Event[str | None]()

    @on(pay)
    def paid(self, payment: Payment) -> Stage:
        return Stage.CHARGED

    @on(cancel_it)
    def cancelled(self) -> None: ...

    @on(note)
    def noted(self, text: str | None) -> None: ...


class Runtime(ModuleType):
    """Stands for what runs arms: it says what it was called with."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name.endswith("_async"):
            return self._async(name)
        return lambda *given: (name, *given)

    def _async(self, name: str) -> Any:
        async def call(*given: Any) -> Any:
            return (name, *given)

        return call


@pytest.fixture(autouse=True)
def _runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "semel.entities", ModuleType("semel.entities"))
    monkeypatch.setitem(sys.modules, "semel.entities.raising", Runtime("semel.entities.raising"))


order, payment, session = Order(id=1), Payment(5), object()


def test_a_call_raises_the_event() -> None:
    flow: Any = OrderFlow
    assert flow.pay(order, payment) == ("raise_event", OrderFlow, "pay", order, payment, None, False)
    assert flow.pay(order, payload=payment, session=session, again=True)[-3:] == (payment, session, True)
    assert flow.cancel_it(order) == ("raise_event", OrderFlow, "cancel_it", order, None, None, False)
    assert flow.note(order, None)[4] is None


async def test_the_other_ways_to_raise_one(monkeypatch: pytest.MonkeyPatch) -> None:
    flow: Any = OrderFlow
    told = await flow.pay.call_async(order, payment, session=session, again=True)
    assert told == ("raise_event_async", OrderFlow, "pay", order, payment, session, True)
    sent: list[Any] = []

    async def send(*given: Any) -> None:
        sent.append(given)

    monkeypatch.setattr(sys.modules["semel.entities.raising"], "raise_later", lambda *given: sent.append(given), False)
    monkeypatch.setattr(sys.modules["semel.entities.raising"], "raise_later_async", send, False)
    assert flow.pay.later(order, payment, session=session) is None
    assert await flow.cancel_it.later_async(order) is None
    assert sent == [(OrderFlow, "pay", order, payment, session), (OrderFlow, "cancel_it", order, None, None)]


async def test_the_run_of_an_item() -> None:
    flow: Any = OrderFlow
    assert flow.run_of(order) == ("run_of", OrderFlow, order, None)
    assert flow.adopt(order, session=session) == ("adopt", OrderFlow, order, session)
    assert await flow.run_of_async(order) == ("run_of_async", OrderFlow, order, None)
    assert await flow.adopt_async(order, session) == ("adopt_async", OrderFlow, order, session)


@pytest.mark.parametrize("way", ["__call__", "later"])
def test_what_does_not_fit_the_declaration_is_refused_before_anything_runs(way: str) -> None:
    pay: Any = getattr(OrderFlow.pay, way)
    with pytest.raises(TypeError, match=r"OrderFlow\.pay carries a Payment, not a int"):
        pay(order, 5)
    with pytest.raises(TypeError, match=r"OrderFlow\.pay carries a Payment, not a NoneType"):
        pay(order, None)
    with pytest.raises(
        TypeError, match=r"OrderFlow\.pay carries a Payment, and none was given: write OrderFlow\.pay\("
    ):
        pay(order)
    with pytest.raises(TypeError, match=r"OrderFlow\.pay is for a Order, not for a Payment"):
        pay(payment, payment)
    with pytest.raises(TypeError, match=r"OrderFlow\.cancel_it has no payload, and was given a Payment: write"):
        getattr(OrderFlow.cancel_it, way)(order, payment)


async def test_the_async_ways_check_it_too() -> None:
    flow: Any = OrderFlow
    for call in (flow.pay.call_async, flow.pay.later_async):
        with pytest.raises(TypeError, match="carries a Payment, not a str"):
            await call(order, "5")
    with pytest.raises(TypeError, match=r"OrderFlow\.run_of is for a Order"):
        flow.run_of(5)
    with pytest.raises(TypeError, match=r"OrderFlow\.adopt_async is for a Order"):
        await flow.adopt_async(5)


def test_what_came_of_it_is_plain_data() -> None:
    run: Any = Run
    assert Raised(Stage.CHARGED, False, run) == Raised(Stage.CHARGED, parked=False, run=run)


def test_an_event_elsewhere_stays_an_event() -> None:
    class Events:
        paid = Event[int]("was_paid", int)
        sent = Event[int]()

    assert (Events.paid.name, Events.sent.name) == ("was_paid", "sent")
    Events.paid.check(5)
    with pytest.raises(TypeError, match="'was_paid' carries a int, not a str"):
        Events.paid.check("5")
