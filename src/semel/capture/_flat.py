"""Transport failures as plain data, and back: class, arguments, attributes and cause.

Only of the classes that a library's file names. A failure is made without its class's own constructor, so its signature
does not matter. What is no plain data (a socket, a task) is kept as its text. Classes are looked up among those named,
never imported by a recorded name.
"""

from __future__ import annotations

import builtins
import json
import socket
import ssl
from collections.abc import Iterable
from typing import Any

from semel.capture.exchange import Flat

_PLAIN = (str, int, float, bool, type(None))

#: What the operating system and TLS raise.
SYSTEM: tuple[type[BaseException], ...] = tuple(
    kind
    for module in (builtins, socket, ssl)
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, OSError)
)


#: How deep the causes of a failure, and the failures among its arguments, are kept.
_DEPTH = 6


class Kinds:
    """The failures of these classes, and only of these: a subclass that is not named is somebody else's.

    ``causes`` are classes that only what caused a failure may be of.
    """

    def __init__(self, kinds: Iterable[type[BaseException]], causes: Iterable[type[BaseException]] = ()) -> None:
        self._failures = frozenset(kinds)
        self._kinds = {f"{kind.__module__}.{kind.__qualname__}": kind for kind in {*self._failures, *causes}}

    def flatten(self, error: BaseException) -> Flat | None:
        """The failure as plain data; None if it is of no class of these."""
        tree = self._tree(error, _DEPTH) if type(error) in self._failures else None
        if tree is None:
            return None
        return {"class": tree["class"], "message": str(error), "tree": json.dumps(tree)}

    def restore(self, data: Flat) -> BaseException:
        """The failure of these data. Raises LookupError if its class is not known (any more)."""
        return self._error(json.loads(str(data["tree"])))

    def cause_of(self, error: BaseException) -> str | None:
        """What caused it, as text for ``restore_cause``; None if that is not known."""
        tree = self._tree(error.__cause__, _DEPTH) if error.__cause__ is not None else None
        return json.dumps(tree) if tree is not None else None

    def restore_cause(self, text: str) -> BaseException:
        """The failure that ``cause_of`` told of."""
        return self._error(json.loads(text))

    def _tree(self, error: BaseException, depth: int) -> dict[str, Any] | None:
        name = f"{type(error).__module__}.{type(error).__qualname__}"
        if name not in self._kinds or not depth:
            return None
        cause = error.__cause__
        return {
            "class": name,
            "args": [self._told(value, depth) for value in error.args],
            "state": {key: self._told(value, depth) for key, value in vars(error).items() if key != "__notes__"},
            "cause": self._tree(cause, depth - 1) if cause is not None else None,
        }

    def _told(self, value: Any, depth: int) -> Any:
        if type(value) in _PLAIN:
            return value
        if isinstance(value, bytes):
            return {"bytes": value.decode("latin-1")}
        if isinstance(value, (tuple, list)):
            return {type(value).__name__: [self._told(item, depth) for item in value]}
        if isinstance(value, dict):
            return {"dict": [[self._told(key, depth), self._told(item, depth)] for key, item in value.items()]}
        tree = self._tree(value, depth - 1) if isinstance(value, BaseException) else None
        return {"error": tree} if tree is not None else {"text": str(value)}

    def _error(self, tree: dict[str, Any]) -> BaseException:
        kind = self._kinds[tree["class"]]
        args = tuple(self._made(value) for value in tree["args"])
        error: BaseException = kind.__new__(kind, *args)
        error.args = args
        vars(error).update({key: self._made(value) for key, value in tree["state"].items()})
        if tree.get("cause") is not None:
            error.__cause__ = self._error(tree["cause"])
        return error

    def _made(self, told: Any) -> Any:
        if not isinstance(told, dict):
            return told
        ((what, value),) = told.items()
        if what == "bytes":
            return value.encode("latin-1")
        if what == "error":
            return self._error(value)
        if what == "dict":
            return {self._made(key): self._made(item) for key, item in value}
        if what in ("tuple", "list"):
            items = [self._made(item) for item in value]
            return tuple(items) if what == "tuple" else items
        return value
