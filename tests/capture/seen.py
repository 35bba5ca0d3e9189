"""What an attempt has shown, without what two attempts can never share: addresses of objects, clocks, connections."""

from __future__ import annotations

import re
from typing import Any

from harness import Attempt

_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}")

#: A connection that failed holds a socket's state; a jar of cookies looks at the clock.
_OWN = frozenset({"conn", "_now", "_cookies_lock"})


def seen(attempt: Attempt) -> Any:
    return _plain(attempt.shown)


def _plain(told: Any) -> Any:
    if isinstance(told, dict):
        return {name: _plain(part) for name, part in told.items() if name not in _OWN}
    if isinstance(told, list):
        return [_plain(part) for part in told]
    return _ADDRESS.sub("0x…", told) if isinstance(told, str) else told
