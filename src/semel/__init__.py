"""semel: durable execution for ordinary Python. What was done once is not done twice.

The public names are imported at first use, so that ``import semel`` costs nothing that is not used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._version import __version__ as __version__

if TYPE_CHECKING:
    from .app import App as App
    from .errors import SemelError as SemelError
    from .run import Run as Run
    from .worker import Worker as Worker
    from .workflow.each import each as each
    from .workflow.once import once as once

_HOMES = {
    "App": ".app",
    "Run": ".run",
    "SemelError": ".errors",
    "Worker": ".worker",
    "each": ".workflow.each",
    "once": ".workflow.once",
}

__all__ = ["App", "Run", "SemelError", "Worker", "each", "once"]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(home, __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
