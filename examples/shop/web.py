"""The shop's pages. ``uvicorn web:api`` serves them; a worker runs in the server."""

from html import escape
from typing import Annotated

from fastapi import FastAPI, Form
from fastapi.responses import HTMLResponse, RedirectResponse
from shop import Base, Order, OrderFlow, Stage, app
from sqlalchemy.orm import Session

from semel.contrib.fastapi import install, lifespan, session_of

with app.session() as session:
    Base.metadata.create_all(session.connection())
    session.commit()

api = FastAPI(lifespan=lifespan(app))
install(api)
Opened = Annotated[Session, session_of(app)]


def page(body: str, *, again: bool = False) -> HTMLResponse:
    refresh = '<meta http-equiv="refresh" content="1">' if again else ""
    return HTMLResponse(f"<!doctype html><title>Shop</title>{refresh}<h1>Shop</h1>{body}")


@api.get("/")
def start() -> HTMLResponse:
    return page(
        '<form method="post" action="/orders"><label>E-mail <input name="email" type="email" required></label> '
        '<label>Amount <input name="amount" type="number" value="19" min="1"></label> <button>Buy</button></form>'
    )


@api.post("/orders")
def place(email: Annotated[str, Form()], amount: Annotated[int, Form()], session: Opened) -> RedirectResponse:
    order = Order(email=email, amount=amount)
    session.add(order)
    session.flush()
    OrderFlow.pay.later(order, session=session)  # the row, its run and the event are one commit
    return RedirectResponse(f"/orders/{order.id}", status_code=303)


@api.get("/orders/{id}")
def look(id: int, session: Opened) -> HTMLResponse:
    order = session.get(Order, id)
    if order is None:
        return page("<p>There is no such order.</p>")
    under_way = order.stage in (Stage.PLACED, Stage.CHARGED)
    receipt = f" ({escape(order.receipt)})" if order.receipt else ""
    return page(f'<p>Order {order.id} is <b id="stage">{order.stage.value}</b>{receipt}</p>', again=under_way)
