"""Sets functions of other libraries in the guard's place: once each, with the signature and kind of the original."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from semel.compiler.path import current
from semel.compiler.special import same_meaning

from ._leaving import Leaving, leaving

Patch = Callable[[Any], Any]

_in_run = current.get


def replace(owner: Any, name: str, patch: Patch) -> None:
    """Sets what ``patch`` makes of a function in its place, once."""
    original = getattr(owner, name)
    if hasattr(original, "_semel_guards"):
        return
    patched: Any = functools.wraps(original)(patch(original))
    patched._semel_guards = True
    setattr(owner, name, patched)
    same_meaning(patched, original)


def refusing(described: Leaving | Callable[[Any], Leaving]) -> Patch:
    """A method that is refused; ``described`` says what leaves, or tells it of the object that it is called on."""

    def patch(original: Any) -> Any:
        def refuse(self: Any) -> None:
            leaving(described if isinstance(described, Leaving) else described(self))

        if inspect.iscoroutinefunction(original):

            async def call_async(self: Any, *args: Any, **kwargs: Any) -> Any:
                if _in_run() is not None:
                    refuse(self)
                return await original(self, *args, **kwargs)

            return call_async

        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            if _in_run() is not None:
                refuse(self)
            return original(self, *args, **kwargs)

        return call

    return patch
