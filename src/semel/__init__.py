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
    from .errors import SemelError as SemelError
    from .run import Run as Run
    from .worker import Worker as Worker
    from .workflow.each import each as each
    from .workflow.now import now as now
    from .workflow.once import once as once

_HOMES = {
    "Answer": ".capture.exchange",
    "App": ".app",
    "Bearer": ".client",
    "Body": ".client",
    "BodyField": ".client",
    "Client": ".client",
    "Env": ".client",
    "Header": ".client",
    "Query": ".client",
    "Run": ".run",
    "SemelError": ".errors",
    "Worker": ".worker",
    "delete": ".client",
    "each": ".workflow.each",
    "external": ".capture.external",
    "get": ".client",
    "head": ".client",
    "now": ".workflow.now",
    "once": ".workflow.once",
    "options": ".client",
    "patch": ".client",
    "post": ".client",
    "put": ".client",
}

__all__ = [
    "Answer",
    "App",
    "Bearer",
    "Body",
    "BodyField",
    "Client",
    "Env",
    "Header",
    "Query",
    "Run",
    "SemelError",
    "Worker",
    "delete",
    "each",
    "external",
    "get",
    "head",
    "now",
    "once",
    "options",
    "patch",
    "post",
    "put",
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
