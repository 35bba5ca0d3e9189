"""The pauses of an SDK between two attempts that are both recorded: a replay does not wait through them again.

An SDK that was told ``retry-after: 60`` waited a minute when it asked. Found again, neither attempt goes out, so there
is nothing to wait for.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any

from semel.compiler.path import current
from semel.compiler.special import same_meaning

MODULES = ("time", "asyncio", "anyio")


def install(module: ModuleType) -> None:
    """Patches the module's ``sleep``. Idempotent."""
    original: Any = module.sleep  # some load it only when it is asked for
    if hasattr(original, "_semel_replays"):
        return
    patched: Any = _sleep(original) if module.__name__ == "time" else _sleep_async(original)
    patched._semel_replays = True
    vars(module)["sleep"] = patched
    same_meaning(patched, original)


def _is_replay() -> bool:
    """Whether the call that pauses has found its last exchange recorded, and will find the next one too."""
    path = current.get()
    if path is None or path.execution.over:
        return False
    automatic: Any = getattr(path.execution, "automatic", None)
    return automatic is not None and automatic.is_between_records(path)


def _sleep(original: Callable[[float], None]) -> Callable[[float], None]:
    @wraps(original)
    def sleep(seconds: float, /) -> None:
        if current.get() is None or not _is_replay():
            original(seconds)

    return sleep


def _sleep_async(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    async def sleep(delay: float, *args: Any, **kwargs: Any) -> Any:
        if current.get() is not None and _is_replay():
            delay = 0
        return await original(delay, *args, **kwargs)

    return sleep
