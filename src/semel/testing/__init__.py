"""For tests of programs that use semel: a clock that the test moves, crashes at every step, answers from a script in
place of the network, and processes that die by SIGKILL at a chosen point of an execution.

The names are imported at first use, so that the pytest plugin costs nothing where no test asks for it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .clock import Clock as Clock
    from .crashes import Crash as Crash
    from .crashes import CrashReport as CrashReport
    from .crashes import crash_everywhere as crash_everywhere
    from .kit import Kit as Kit
    from .network import Script as Script
    from .network import Sent as Sent
    from .network import script as script
    from .processes import CRASH_POINTS as CRASH_POINTS
    from .processes import crash_environment as crash_environment

_HOMES = {
    "CRASH_POINTS": ".processes",
    "Clock": ".clock",
    "Crash": ".crashes",
    "CrashReport": ".crashes",
    "Kit": ".kit",
    "Script": ".network",
    "Sent": ".network",
    "crash_environment": ".processes",
    "crash_everywhere": ".crashes",
    "script": ".network",
}

__all__ = [
    "CRASH_POINTS",
    "Clock",
    "Crash",
    "CrashReport",
    "Kit",
    "Script",
    "Sent",
    "crash_environment",
    "crash_everywhere",
    "script",
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
