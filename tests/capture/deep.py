"""Deep dumps of any object, as plain data: by them two attempts of a body are compared, not by status alone."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

#: Attributes that say how long something took, or hold the machinery of a connection.
VOLATILE = frozenset(
    {
        *("elapsed", "_elapsed", "connection", "_connection", "_pool", "pool", "network_stream", "stream"),
        *("_started", "_created", "created_at_", "_timer", "_loop", "_lock", "lock", "_session", "_client", "client"),
        "_now",  # of a cookie jar: when it was last asked
    }
)


_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def show(*values: Any) -> None:
    """Writes what the body has seen, so far, where the test reads it; also if the process is killed right after."""
    file = Path(os.environ["SHOWN"])
    shown = json.loads(file.read_text()) if file.exists() else []
    shown += [dump(value) for value in values]
    file.write_text(json.dumps(shown, sort_keys=True, default=repr))


def dump(value: Any, *, skip: frozenset[str] = VOLATILE, depth: int = 12) -> Any:
    """The value as data that JSON can say: classes by name, attributes by name, exceptions with arguments and text."""
    return _Dump(skip).of(value, depth)


class _Dump:
    def __init__(self, skip: frozenset[str]) -> None:
        self._skip = skip
        self._open: set[int] = set()

    def of(self, value: Any, depth: int) -> Any:
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return repr(value)
        if isinstance(value, bytes | bytearray | memoryview):
            return {"bytes": bytes(value).decode("latin-1")}
        if callable(value) and hasattr(value, "__qualname__"):
            return f"<{getattr(value, '__module__', '')}.{value.__qualname__}>"
        if depth == 0 or id(value) in self._open:
            return f"<{_name(value)} …>"
        self._open.add(id(value))
        try:
            return self._holder(value, depth - 1)
        finally:
            self._open.discard(id(value))

    def _holder(self, value: Any, depth: int) -> Any:
        if isinstance(value, BaseException):
            return {
                "exception": _name(value),
                "text": str(value),
                "args": [self.of(part, depth) for part in value.args],
                "vars": self._vars(value, depth),
                "cause": self.of(value.__cause__, depth),
            }
        if isinstance(value, Mapping):
            items = [[self.of(key, depth), self.of(item, depth)] for key, item in value.items()]
            return {"mapping": _name(value), "items": items, "vars": self._vars(value, depth)}
        if isinstance(value, list | tuple):
            return {"sequence": _name(value), "items": [self.of(item, depth) for item in value]}
        if isinstance(value, set | frozenset):
            return {"set": _name(value), "items": sorted(json.dumps(self.of(item, depth)) for item in value)}
        held = self._vars(value, depth)
        return {"object": _name(value), "vars": held} if held else f"<{_name(value)}: {_ADDRESS.sub('', str(value))}>"

    def _vars(self, value: Any, depth: int) -> dict[str, Any]:
        held = dict(getattr(value, "__dict__", {}))
        for kind in type(value).__mro__:
            slots = kind.__dict__.get("__slots__", ())
            for slot in (slots,) if isinstance(slots, str) else slots:
                if hasattr(value, slot):
                    held[slot] = getattr(value, slot)
        return {name: self.of(item, depth) for name, item in sorted(held.items()) if name not in self._skip}


def _name(value: Any) -> str:
    kind = type(value)
    return f"{kind.__module__}.{kind.__qualname__}"
