"""semel: durable execution for ordinary Python. What was done once is not done twice.

The public names are imported at first use, so that ``import semel`` costs nothing that is not used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._version import __version__ as __version__

if TYPE_CHECKING:
    from .app import App as App
    from .capture.exchange import Answer as Answer
    from .capture.external import external as external
    from .client import Bearer as Bearer
    from .client import Body as Body
    from .client import BodyField as BodyField
    from .client import Client as Client
    from .client import Env as Env
    from .client import Header as Header
    from .client import Query as Query
    from .client import delete as delete
    from .client import get as get
    from .client import head as head
    from .client import options as options
    from .client import patch as patch
    from .client import post as post
    from .client import put as put
    from .errors import Decision as Decision
    from .errors import SemelError as SemelError
    from .run import Run as Run
    from .worker import Worker as Worker
    from .workflow.backoff import Backoff as Backoff
    from .workflow.child import Child as Child
    from .workflow.child import run_child as run_child
    from .workflow.child import wait_all as wait_all
    from .workflow.child import wait_all_async as wait_all_async
    from .workflow.child import wait_first as wait_first
    from .workflow.child import wait_first_async as wait_first_async
    from .workflow.definition import Calendar as Calendar
    from .workflow.each import each as each
    from .workflow.entity import Workflow as Workflow
    from .workflow.event import Event as Event
    from .workflow.event import wait_for as wait_for
    from .workflow.event import wait_for_async as wait_for_async
    from .workflow.now import now as now
    from .workflow.once import once as once
    from .workflow.raiser import Raised as Raised
    from .workflow.saga import UNKNOWN as UNKNOWN
    from .workflow.saga import Saga as Saga
    from .workflow.saga import Unknown as Unknown
    from .workflow.saga import saga as saga
    from .workflow.sleep import sleep as sleep
    from .workflow.sleep import sleep_async as sleep_async
    from .workflow.sleep import sleep_until as sleep_until
    from .workflow.sleep import sleep_until_async as sleep_until_async
    from .workflow.states import cancel as cancel
    from .workflow.states import enter as enter
    from .workflow.states import error as error
    from .workflow.states import expire as expire
    from .workflow.states import milestone as milestone
    from .workflow.states import on as on
    from .workflow.states import remind as remind
    from .workflow.states import success as success
    from .workflow.transaction import transaction as transaction
    from .workflow.transaction import transaction_async as transaction_async

_HOMES = {
    "Answer": ".capture.exchange",
    "App": ".app",
    "Backoff": ".workflow.backoff",
    "Bearer": ".client",
    "Body": ".client",
    "BodyField": ".client",
    "Calendar": ".workflow.definition",
    "Child": ".workflow.child",
    "Client": ".client",
    "Decision": ".errors",
    "Env": ".client",
    "Event": ".workflow.event",
    "Header": ".client",
    "Query": ".client",
    "Raised": ".workflow.raiser",
    "Run": ".run",
    "Saga": ".workflow.saga",
    "SemelError": ".errors",
    "UNKNOWN": ".workflow.saga",
    "Unknown": ".workflow.saga",
    "Worker": ".worker",
    "Workflow": ".workflow.entity",
    "cancel": ".workflow.states",
    "delete": ".client",
    "each": ".workflow.each",
    "enter": ".workflow.states",
    "error": ".workflow.states",
    "expire": ".workflow.states",
    "external": ".capture.external",
    "get": ".client",
    "head": ".client",
    "milestone": ".workflow.states",
    "now": ".workflow.now",
    "on": ".workflow.states",
    "once": ".workflow.once",
    "options": ".client",
    "patch": ".client",
    "post": ".client",
    "put": ".client",
    "remind": ".workflow.states",
    "run_child": ".workflow.child",
    "saga": ".workflow.saga",
    "sleep": ".workflow.sleep",
    "sleep_async": ".workflow.sleep",
    "sleep_until": ".workflow.sleep",
    "sleep_until_async": ".workflow.sleep",
    "success": ".workflow.states",
    "transaction": ".workflow.transaction",
    "transaction_async": ".workflow.transaction",
    "wait_all": ".workflow.child",
    "wait_all_async": ".workflow.child",
    "wait_first": ".workflow.child",
    "wait_first_async": ".workflow.child",
    "wait_for": ".workflow.event",
    "wait_for_async": ".workflow.event",
}

__all__ = [
    "UNKNOWN",
    "Answer",
    "App",
    "Backoff",
    "Bearer",
    "Body",
    "BodyField",
    "Calendar",
    "Child",
    "Client",
    "Decision",
    "Env",
    "Event",
    "Header",
    "Query",
    "Raised",
    "Run",
    "Saga",
    "SemelError",
    "Unknown",
    "Worker",
    "Workflow",
    "cancel",
    "delete",
    "each",
    "enter",
    "error",
    "expire",
    "external",
    "get",
    "head",
    "milestone",
    "now",
    "on",
    "once",
    "options",
    "patch",
    "post",
    "put",
    "remind",
    "run_child",
    "saga",
    "sleep",
    "sleep_async",
    "sleep_until",
    "sleep_until_async",
    "success",
    "transaction",
    "transaction_async",
    "wait_all",
    "wait_all_async",
    "wait_first",
    "wait_first_async",
    "wait_for",
    "wait_for_async",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(home, __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
