"""A shop behind FastAPI, for the tests: it tells what it does to a file, and waits in the charge if it is asked to."""

from __future__ import annotations

import os
import time
from enum import Enum
from pathlib import Path
from typing import Annotated

from fastapi import FastAPI, HTTPException
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from semel import App, Event, Workflow, enter, on, once
from semel.contrib.fastapi import async_session_of, install, lifespan, session_of

app = App("shop", database=os.environ["SHOP_DB"])
LOG = Path(os.environ["SHOP_LOG"])


class Base(DeclarativeBase):
    pass


class Stage(Enum):
    PLACED = "placed"
    CHARGED = "charged"


class Order(Base):
    __tablename__ = "orders"
    id: Mapped[int] = mapped_column(primary_key=True)
    stage: Mapped[Stage]


def do(what: str) -> None:
    with LOG.open("a") as file:
        file.write(f"{what}\n")
    while os.environ.get("SHOP_STOPS_AT") == what:
        time.sleep(0.01)  # until it is killed


@app.workflow
class OrderFlow(Workflow[Order], tracks=Order.stage, initial=Stage.PLACED, autostart=True):
    pay = Event[int]()

    @on(pay, Stage.PLACED)
    def paid(self, amount: int) -> Stage:
        once("reserve", lambda: do("reserve"))
        once("charge", lambda: do("charge"))
        return Stage.CHARGED

    @enter(Stage.CHARGED)
    def thank(self) -> None:
        once("mail", lambda: do("mail"))


with app.session() as session:
    Base.metadata.create_all(session.connection())
    session.commit()

api = FastAPI(lifespan=lifespan(app))
install(api)
Opened = Annotated[Session, session_of(app)]


@api.post("/orders")
def place(session: Opened, fails: bool = False) -> int:
    order = Order()
    session.add(order)
    session.flush()
    if fails:
        raise HTTPException(418)
    return order.id


@api.post("/orders/{id}/pay")
def pay(id: int, session: Opened, later: bool = False) -> str:
    order = session.get_one(Order, id)
    if later:
        OrderFlow.pay.later(order, 5, session=session)
        return "later"
    return OrderFlow.pay(order, 5, session=session).state.value


@api.get("/orders/{id}")
async def look(id: int, session: Annotated[object, async_session_of(app)]) -> str:
    order = await session.get_one(Order, id)  # type: ignore[attr-defined]
    return str(order.stage.value)


@api.get("/status/{id}")
def status(id: str) -> str:
    return app.run(id).status
