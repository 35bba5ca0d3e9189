"""Tells of imports: ``when_imported`` calls back with a module that is loaded, now or as soon as it is.

A finder at the head of ``sys.meta_path`` looks up each name in one dict. For a name that is watched it asks the other
finders, and has the loader that they give call back after it has run the module. The module is left with the loader
that it would have had; only the spec of a watched module that is not imported yet holds a stand-in, which passes
everything on.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

Callback = Callable[[ModuleType], object]


class _Watch:
    """One callback, and the module that it was called with last."""

    __slots__ = ("callback", "module")

    def __init__(self, callback: Callback) -> None:
        self.callback = callback
        self.module: ModuleType | None = None


_watches: dict[str, list[_Watch]] = {}
#: What waits for a module that this very thread is loading, since before it was watched.
_late: list[tuple[str, _Watch]] = []
_lock = threading.RLock()


def when_imported(name: str, callback: Callback) -> None:
    """Calls ``callback(module)`` each time that the module of this full name has been loaded: now, if it already is.

    It is called again for a reload, and when the module is imported anew. What it raises fails the import. A namespace
    package runs no code, so nothing tells of it.
    """
    watch = _Watch(callback)
    with _lock:
        _watches.setdefault(name, []).append(watch)
        if _finder not in sys.meta_path:
            sys.meta_path.insert(0, _finder)
    _tell_late()
    module = sys.modules.get(name)
    if module is None:
        return
    if _is_loading(module):
        module = importlib.import_module(name)  # waits for another thread that loads it; not for this one
        if _is_loading(module):
            _late.append((name, watch))
            return
    _tell(watch, module, again=False)


def _tell(watch: _Watch, module: ModuleType, *, again: bool) -> None:
    with _lock:
        if watch.module is module and not again:
            return
        watch.module = module
    watch.callback(module)


def _tell_late() -> None:
    for entry in [*_late]:
        name, watch = entry
        module = sys.modules.get(name)
        if module is not None and _is_loading(module):
            continue
        try:
            _late.remove(entry)
        except ValueError:  # another thread has told
            continue
        if module is not None:
            _tell(watch, module, again=False)


def _is_loading(module: ModuleType) -> bool:
    return bool(getattr(getattr(module, "__spec__", None), "_initializing", False))


class _Finder(MetaPathFinder):
    """Finds nothing by itself."""

    def __init__(self) -> None:
        self._asking = threading.local()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None, /
    ) -> ModuleSpec | None:
        if _late:
            _tell_late()
        if fullname not in _watches:
            return None
        asking: set[str] = self._asking.__dict__.setdefault("names", set())
        if fullname in asking:
            return None  # another finder of this kind asks in its turn
        asking.add(fullname)
        try:
            spec = self._found(fullname, path, target)
        finally:
            asking.discard(fullname)
        if spec is not None and hasattr(spec.loader, "exec_module") and not isinstance(spec.loader, _Telling):
            spec.loader = _Telling(spec.loader)
        return spec

    def _found(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None) -> ModuleSpec | None:
        for finder in [*sys.meta_path]:
            find: Any = getattr(finder, "find_spec", None)
            if finder is self or find is None:
                continue
            spec: ModuleSpec | None = find(fullname, path, target)
            if spec is not None:
                return spec
        return None


class _Telling(Loader):
    """Stands for a loader until the module is loaded, and then calls back."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_loader"], name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        spec.loader = self._loader
        try:
            made: ModuleType | None = self._loader.create_module(spec)
            return made
        finally:
            spec.loader = self

    def exec_module(self, module: ModuleType) -> None:
        spec = module.__spec__
        if spec is not None and spec.loader is self:
            spec.loader = self._loader
        if getattr(module, "__loader__", None) is self:
            module.__loader__ = self._loader
        self._loader.exec_module(module)
        loaded = sys.modules.get(module.__name__, module)  # a module may put another object in its place
        with _lock:
            watches = [*_watches.get(module.__name__, ())]
        for watch in watches:
            _tell(watch, loaded, again=True)


_finder = _Finder()
