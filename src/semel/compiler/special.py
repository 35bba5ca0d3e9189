"""Foreign callables with a meaning of their own: executors, threads and processes."""

from __future__ import annotations

import _thread
import asyncio
import contextvars
import itertools
import linecache
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import AsyncExitStack, ExitStack
from functools import partial
from typing import Any

from semel.errors import NotAllowedHere

from . import callbacks
from .carried import carried_here
from .loops import OnStack, entered, entered_async
from .path import Path
from .site import Site, argument, keywords, site, starred
from .twins import is_twin_code, segment

Special = Callable[[Path, Any, tuple[object, ...], tuple[Any, ...]], Any]


def special_of(function: Any) -> Special | None:
    """How this foreign function is called in a twin, if not like any other."""
    special = _special.get(id(function))
    if special is not None:
        return special
    late = _late.get(getattr(function, "__qualname__", ""))
    if late is not None and getattr(function, "__module__", None) == late[0]:
        return late[1] if late[0] is not None or _is_of_a_context(function) else None
    return None


def _is_of_a_context(function: Any) -> bool:
    return isinstance(getattr(function, "__self__", None), contextvars.Context)


def same_meaning(patched: object, original: object) -> None:
    """A function that was set in the place of another is called in a twin as that one was."""
    special = _special.get(id(original))
    if special is not None:
        _special[id(patched)] = special


def _transparent(path: Path, function: Any, passes: tuple[object, ...], owner: tuple[Any, ...]) -> Site:
    from .dispatch import resolve

    at = Path(path, passes, segment(function.__qualname__), path.execution)
    return site(at, partial(callbacks.transparent, resolve), function, *owner)


def _run_in_executor(path: Path, function: Any, passes: tuple[object, ...], owner: tuple[Any, ...]) -> Any:
    """Threads run the twin; another process cannot."""
    made = _transparent(path, function, passes, owner)

    def call(executor: Any, func: Any, *args: Any) -> Any:
        if isinstance(executor, ProcessPoolExecutor):
            return _process_pool(path, function, passes, owner)(executor, func, *args)
        return made(executor, argument(made, func), *[argument(made, value) for value in args])

    return call


def _pool_apply(path: Path, function: Any, passes: tuple[object, ...], owner: tuple[Any, ...]) -> Any:
    made = _transparent if type(owner[0]).__name__ == "ThreadPool" else _process_pool
    return made(path, function, passes, owner)


def _entered(path: Path, function: Any, passes: tuple[object, ...], owner: tuple[Any, ...]) -> Any:
    """``ExitStack.enter_context``: a user-made context manager runs as a twin, as in a ``with``."""
    made = site(Path(path, passes, segment(function.__qualname__), path.execution), None, function, *owner)
    managed = entered_async if "async" in function.__name__ else entered

    def call(cm: Any) -> Any:
        return made(OnStack.of(managed(path, cm, *passes), cm))

    return call


def _in_context(path: Path, function: Any, passes: tuple[object, ...], owner: tuple[Any, ...]) -> Any:
    """``Context.run``: what is called in it is called as if here, though that context may know of no run."""
    from .dispatch import resolve

    made = _transparent(path, function, passes, owner)

    def call(work: Any, /, *args: Any, **kwargs: Any) -> Any:
        while type(work) is partial:
            work, args, kwargs = work.func, (*work.args, *args), {**work.keywords, **kwargs}
        work = callbacks.original_of(work)
        if callbacks.has_twin(work):
            return made(argument(made, work), *args, **kwargs)
        inner = resolve(path, work, passes)
        if type(inner) is not Site:
            return made(inner, *args, **kwargs)
        return made(carried_here(inner.path, inner), *starred(inner, args), **keywords(inner, kwargs))

    return call


def _on_exit(path: Path, function: Any, passes: tuple[object, ...], owner: tuple[Any, ...]) -> Any:
    """What an ``ExitStack`` calls when it is left: a foreign function is the call that stands here, made later."""
    from .dispatch import resolve

    at = Path(path, passes, segment(function.__qualname__), path.execution)
    made = site(at, partial(callbacks.counted, resolve), function, *owner)

    def call(work: Any, /, *args: Any, **kwargs: Any) -> Any:
        given = argument(made, work)
        inner = resolve(path, work, passes) if given is work and not hasattr(work, "__exit__") else None
        if type(inner) is Site:
            made(carried_here(inner.path, inner), *starred(inner, args), **keywords(inner, kwargs))
        else:
            made(given, *starred(made, args), **keywords(made, kwargs))
        return work

    return call


def _refused(path: Path, function: Any, passes: tuple[object, ...], owner: tuple[Any, ...]) -> Site:
    at = Path(path, passes, segment(function.__qualname__), path.execution)
    if not path.in_step:
        place, line = _line_of_twin()
        raise NotAllowedHere(
            f"{function.__qualname__} in the body of a run ({path.text()}{place}) starts work that a later attempt "
            f"would start again and could not find. Use threads of a pool and wait for them: "
            f"with ThreadPoolExecutor() as pool: pool.submit(work).result(), or await asyncio.to_thread(work). If it "
            f'is meant to be started and left, make it a step: once("start", lambda: {line})'
        )
    return site(at, None, function, *owner)


def _process_pool(path: Path, function: Any, passes: tuple[object, ...], owner: tuple[Any, ...]) -> Site:
    at = Path(path, passes, segment(function.__qualname__), path.execution)
    if not path.in_step:
        place, line = _line_of_twin()
        raise NotAllowedHere(
            f"{function.__qualname__} in the body of a run ({path.text()}{place}) runs work in another process, where "
            f"it has no path and no records. Make the whole of it a step: "
            f'once("compute", lambda: {line.removesuffix(".result()")}.result()), or use a ThreadPoolExecutor'
        )
    return site(at, None, function, *owner)


def _line_of_twin() -> tuple[str, str]:
    frame = sys._getframe(2)
    while frame.f_back is not None and not is_twin_code(frame.f_code):
        frame = frame.f_back
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno, frame.f_globals).strip()
    return f", {frame.f_code.co_filename}:{frame.f_lineno}", line or "…"


def _executor_map(path: Path, function: Any, passes: tuple[object, ...], owner: tuple[Any, ...]) -> Any:
    """``map`` of an executor: passes are numbered by item, because threads take them in any order."""
    from .dispatch import resolve

    at = Path(path, passes, segment(function.__qualname__), path.execution)
    made = site(at, None, function, *owner)

    def call(work: Any, *iterables: Any, **options: Any) -> Any:
        return made(callbacks.by_item(resolve, made, work), itertools.count(), *iterables, **options)

    return call


def _pool_map(path: Path, function: Any, passes: tuple[object, ...], owner: tuple[Any, ...]) -> Any:
    """``map`` and its like of ``multiprocessing.pool.ThreadPool``."""
    from .dispatch import resolve

    at = Path(path, passes, segment(function.__qualname__), path.execution)
    if not path.in_step and type(owner[0]).__name__ != "ThreadPool":
        return _process_pool(path, function, passes, owner)
    made = site(at, None, function, *owner)
    spread = "starmap" in function.__name__

    def call(func: Any, iterable: Any, *rest: Any, **options: Any) -> Any:
        work = callbacks.by_item(resolve, made, func)

        def numbered(pair: tuple[int, Any]) -> Any:
            return work(pair[0], *pair[1]) if spread else work(*pair)

        mapped = getattr(owner[0], function.__name__.replace("starmap", "map"))
        return mapped(numbered, list(enumerate(iterable)), *rest, **options)

    return call if type(owner[0]).__name__ == "ThreadPool" else made


_special: dict[int, Special] = {
    id(asyncio.to_thread): _transparent,
    id(asyncio.BaseEventLoop.run_in_executor): _run_in_executor,
    id(Executor.submit): _transparent,
    id(ThreadPoolExecutor.submit): _transparent,
    id(Executor.map): _executor_map,
    id(ExitStack.enter_context): _entered,
    id(AsyncExitStack.enter_async_context): _entered,
    **{id(function): _on_exit for function in (ExitStack.callback, ExitStack.push)},
    **{id(getattr(AsyncExitStack, f"push_async_{name}")): _on_exit for name in ("callback", "exit")},
    id(threading.Thread.start): _refused,
    id(_thread.start_new_thread): _refused,
    id(_thread.start_new): _refused,
    id(ProcessPoolExecutor.submit): _process_pool,
    id(ProcessPoolExecutor.map): _process_pool,
    **{id(getattr(os, name)): _refused for name in ("fork", "forkpty") if hasattr(os, name)},
}

#: By qualified name and module: what is not imported here because few programs use it.
_late: dict[str, tuple[str | None, Special]] = {
    "Context.run": (None, _in_context),
    "run_sync": ("anyio.to_thread", _transparent),
    "BaseProcess.start": ("multiprocessing.process", _refused),
    "Loop.run_in_executor": ("uvloop.loop", _run_in_executor),
    **{
        f"Pool.{name}": ("multiprocessing.pool", _pool_map)
        for name in ("map", "imap", "imap_unordered", "map_async", "starmap", "starmap_async")
    },
    **{f"Pool.{name}": ("multiprocessing.pool", _pool_apply) for name in ("apply", "apply_async")},
}
