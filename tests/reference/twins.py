"""What the Python twins of the reference pages' listings have in common: an entity, and a way to run them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from semel.testing import Kit

Load = Callable[[str], ModuleType]

HEAD = """
from __future__ import annotations
from datetime import datetime, timedelta
from decimal import Decimal
from enum import Enum
from uuid import uuid4
import httpx
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from semel import App, Backoff, Client, Event, Workflow, enter, error, on, once, post, remind, run_child, success

app = App("reference")
did = []
fails = []

def do(what, *told):
    did.append((what, *told) if told else what)
    if what in fails:
        fails.remove(what)
        raise ConnectionError(what)
    return what

class Base(DeclarativeBase): pass

class Stage(Enum):
    PLACED = "placed"
    CHARGED = "charged"
    FAILED = "failed"

class Order(Base):
    __tablename__ = "orders"
    id: Mapped[int] = mapped_column(primary_key=True)
    reference: Mapped[str] = mapped_column(default="A-1")
    stage: Mapped[Stage]
    total: Mapped[int] = mapped_column(default=5)
    severity: Mapped[int] = mapped_column(default=3)
    receipt_id: Mapped[str | None]
"""

#: One arm of an order that is placed; ``BODY`` is what is written in it.
ARM = """
@app.workflow
class OrderFlow(Workflow[Order], tracks=Order.stage, initial=Stage.PLACED, autostart=True):
    pay = Event()

    @on(pay, Stage.PLACED)
    def paid(self) -> Stage:
        BODY
        return Stage.CHARGED

    charged = success(Stage.CHARGED, "paid")
"""


def arm(body: str) -> str:
    """The program with this arm."""
    return ARM.replace("BODY", body.strip().replace("\n", "\n        "))


@contextmanager
def kit_of(module: ModuleType) -> Iterator[Kit]:
    """A kit of the program's app, with its tables."""
    with Kit(module.app) as kit:
        with module.app.session() as session:
            module.Base.metadata.create_all(session.connection())
            session.commit()
        yield kit


def placed(module: ModuleType, **values: Any) -> Any:
    """A new order."""
    with module.app.session() as session:
        order = module.Order(**values)
        session.add(order)
        session.commit()
    return order


def read(module: ModuleType, order: Any) -> Any:
    """The order as it is in the database."""
    with module.app.session() as session:
        return session.get(module.Order, order.id)


def paths(run: Any) -> list[str]:
    """The paths of the run's steps, without its name."""
    return [r.path.partition("/")[2] for r in run.steps() if not r.path.endswith("!begun")]
