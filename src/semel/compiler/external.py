"""Which foreign callables are declared as steps by name: ``[tool.semel] external = ["mylib.client.*"]``."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any

from .path import Path

#: ``handler(callee, path, passes, awaited, *owner)`` gives what is called in its place.
Handler = Callable[..., Any]

_patterns: tuple[str, ...] = ()
_handler: Handler | None = None


def declare_patterns(patterns: tuple[str, ...], handler: Handler) -> None:
    """Makes calls of the callables whose ``module.qualname`` fits one of the patterns calls of ``handler(…)``."""
    global _patterns, _handler
    _patterns, _handler = patterns, handler
    for cache in caches:  # what the dispatcher has learnt of foreign functions is learnt anew
        cache.clear()


#: Caches that depend on the patterns.
caches: list[dict[Any, Any]] = []


def has_patterns() -> bool:
    """Whether any callable is declared by a pattern."""
    return bool(_patterns)


def is_external(callee: Any, owner: tuple[object, ...] = ()) -> bool:
    """Whether a foreign callable is declared: by where it is defined, or by the class of the object it is called on."""
    if not _patterns:
        return False
    names = {_name(callee)}
    if owner:
        kind = type(owner[0])
        names.add(f"{kind.__module__}.{kind.__qualname__}.{getattr(callee, '__name__', '')}")
    return any(fnmatchcase(name, pattern) for name in names for pattern in _patterns)


def external_call(callee: Any, path: Path, passes: tuple[object, ...], awaited: bool, *owner: Any) -> Any:
    """What is called in place of a declared callable."""
    assert _handler is not None
    return _handler(callee, path, passes, awaited, *owner)


def _name(callee: Any) -> str:
    named = callee if isinstance(getattr(callee, "__qualname__", None), str) else type(callee)
    module = getattr(named, "__module__", None) or getattr(type(getattr(named, "__self__", None)), "__module__", "")
    return f"{module}.{named.__qualname__}".replace("<locals>.", "")
