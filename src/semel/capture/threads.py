"""Work that foreign code hands to threads of its own belongs to the call of the user's program that it was made in.

``ThreadPoolExecutor.submit`` copies the caller's context, and so does ``Thread.start`` for a thread that is not a
daemon: s3transfer uploads the parts of a file in a pool, and each exchange there must find the path of ``upload_file``.
A daemon thread outlives calls and sends telemetry, so it gets nothing. The workers of a pool get nothing either: they
serve all who submit. Outside a run nothing changes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context, ContextVar, copy_context
from functools import wraps
from types import ModuleType
from typing import Any

from semel.capture.recorder import in_pool
from semel.compiler.path import Path, current
from semel.compiler.special import same_meaning

MODULES = ("threading",)


def install(module: ModuleType) -> None:
    """Patches the pool and the thread. Idempotent."""
    _patch(ThreadPoolExecutor, "submit", _carrying_submit)
    _patch(threading.Thread, "start", _carrying_start)


def _patch(owner: type, name: str, wrapped: Callable[[Any], Any]) -> None:
    original = getattr(owner, name)
    if hasattr(original, "_semel_carries"):
        return
    patched = wrapped(original)
    patched._semel_carries = True
    setattr(owner, name, patched)
    same_meaning(patched, original)


#: Calls that hand one piece of work to a pool and no more: what it does has an order.
_OF_ONE = frozenset({"to_thread", "ThreadPoolExecutor.submit", "Executor.submit", "BaseEventLoop.run_in_executor"})

#: The call of the user's that handed on what runs in this context.
_handed: ContextVar[Path | None] = ContextVar("semel_handed", default=None)


def _carried(path: Path) -> Context:
    """The caller's context, for another thread.

    Exchanges made there have no order among those of the call, unless the call is of this piece of work alone.
    """
    context = copy_context()
    if path.name in _OF_ONE and _handed.get() is not path:
        context.run(_handed.set, path)
    else:
        context.run(in_pool.set, True)
    return context


def _carrying_submit(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def submit(self: Any, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        path = current.get()
        if path is None:
            return original(self, fn, *args, **kwargs)
        # In a context of its own, so that the worker that this may start carries nothing.
        return Context().run(original, self, _carried(path).run, fn, *args, **kwargs)

    return submit


def _carrying_start(original: Callable[[Any], None]) -> Callable[[Any], None]:
    @wraps(original)
    def start(self: threading.Thread) -> None:
        path = current.get()
        if path is None or self.daemon or self.ident is not None:
            original(self)
            return
        context, run = _carried(path), self.run

        def run_in_context() -> None:
            vars(self).pop("run", None)
            context.run(run)

        self.run = run_in_context  # type: ignore[method-assign]
        try:
            original(self)
        except BaseException:
            vars(self).pop("run", None)
            raise

    return start
