"""What a call in a twin calls: decided on the real object, each time, so that monkeypatches and mocks take part."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from inspect import CO_COROUTINE, unwrap
from types import BuiltinFunctionType, CoroutineType, FunctionType, MethodType
from typing import Any

from . import callbacks, hidden
from .bind import bound, bound_method, known
from .callbacks import original_of, rewrapped
from .chain import told_apart
from .construct import constructor
from .external import caches, external_call, has_patterns, is_external
from .factories import filling
from .packages import is_user_class
from .path import Path, current
from .pure import CONTAINERS, PURE_OBJECTS, keeps_functions
from .site import Framed, Site, argument, keywords, site, starred
from .special import special_of
from .twins import cells, intrinsics, segment, template_of, templates
from .unrepeatable import reader_of
from .where import carrier

Passes = tuple[object, ...]


def _caller(awaited: bool, framed: bool) -> Callable[..., Any]:
    """The helper for one way to call. What is asked most is answered here, without another call."""
    find, find_template, make, method, plain = known.get, templates.get, Path, MethodType, CONTAINERS - {list}
    frame = sys._getframe

    def call(path: Path, callee: Any, *passes: object) -> Any:
        kind = type(callee)
        if kind is FunctionType:
            entry = find(callee)
            if entry is not None:
                twin = entry.twin
                if twin is None:
                    return callee
                if path.wrapped is None and entry.defaults is callee.__defaults__:
                    made = make(path, passes, entry.name, path.execution, entry.wrapped)
                    at = frame(1)
                    made.called_in, made.called_at = at.f_code, at.f_lasti
                    if entry.later and not awaited:
                        told_apart(made)
                    return method(twin, made)
            template = find_template(id(callee.__code__))
            if template is not None:
                at = frame(1)
                path.at = (at.f_code, at.f_lasti)
                return bound(path, callee, passes, template, awaited)
        elif kind is BuiltinFunctionType:
            owner = type(callee.__self__)
            if owner in plain or (owner is list and callee.__name__ != "sort"):
                return callee
        elif kind is MethodType and type(callee.__func__) is FunctionType:
            entry = find(callee.__func__)
            if entry is not None and path.wrapped is None and entry.defaults is callee.__func__.__defaults__:
                twin = entry.twin
                if twin is None:
                    return callee
                made = make(path, passes, entry.name, path.execution, entry.wrapped)
                at = frame(1)
                made.called_in, made.called_at = at.f_code, at.f_lasti
                if entry.later and not awaited:
                    told_apart(made)
                return partial(twin, made, callee.__self__)
        at = frame(1)
        path.at = (at.f_code, at.f_lasti)
        made = resolve(path, callee, passes, awaited)
        return Framed(made) if framed and type(made) is Site else made

    return call


def resolve(path: Path, callee: Any, passes: Passes, awaited: bool = False) -> Any:
    """What is called in place of ``callee``, from the function at ``path``."""
    reader = reader_of(callee)
    if reader is not None:
        return reader(path, callee, passes)
    kind = type(callee)
    if kind is FunctionType:
        return _function(path, callee, passes, awaited)
    if kind is MethodType:
        return _method(path, callee, passes, awaited)
    if kind is BuiltinFunctionType:
        return _builtin(path, callee, passes)
    if isinstance(callee, type):
        return _class(path, callee, passes)
    if kind is partial:
        inner = resolve(path, callee.func, passes, awaited)
        return callee if inner is callee.func else _partial(inner, callee)
    if kind is staticmethod:
        return resolve(path, callee.__func__, passes, awaited)
    return _object(path, callee, passes)


def _partial(inner: Any, outer: partial[Any]) -> Any:
    if type(inner) is not Site:
        return partial(inner, *outer.args, **outer.keywords)
    args = [argument(inner, value) for value in outer.args]
    made = Site(inner, *args, **{name: argument(inner, value) for name, value in outer.keywords.items()})
    made.path, made.callback, made.passes = inner.path, inner.callback, inner.passes
    return made


def _function(path: Path, callee: FunctionType, passes: Passes, awaited: bool) -> Any:
    handler = intrinsics.get(callee)
    if handler is not None:
        return handler(path, passes, awaited)
    callee = original_of(callee)
    if type(callee) is not FunctionType:
        return resolve(path, callee, passes, awaited)
    template = template_of(callee)
    if template is not None:
        return bound(path, callee, passes, template, awaited)
    return _foreign(path, callee, passes, awaited)


def _method(path: Path, callee: MethodType, passes: Passes, awaited: bool) -> Any:
    function = original_of(callee.__func__)
    handler = intrinsics.get(function)
    if handler is not None:
        return handler(path, passes, awaited, callee.__self__)
    if type(function) is not FunctionType:
        special = special_of(function)
        if special is not None:
            return special(path, function, passes, (callee.__self__,))
        inner = resolve(path, function, passes, awaited)
        return callee if inner is function else _partial(inner, partial(function, callee.__self__))
    template = template_of(function)
    if template is not None:
        return bound_method(path, function, callee.__self__, passes, template, awaited)
    return _foreign(path, function, passes, awaited, callee.__self__)


def _foreign(path: Path, function: FunctionType, passes: Passes, awaited: bool, *owner: Any) -> Any:
    """A Python function that is not the user's."""
    kind = _kinds.get(function) or _kind_of(function)
    if kind.special is not None:
        return kind.special(path, function, passes, owner)
    if kind.external or (kind.perhaps and is_external(function, owner)):
        return external_call(function, path, passes, awaited, *owner)
    at = Path(path, passes, kind.name, path.execution)
    at.callee = (function, owner)
    if kind.wraps:
        wrapped = _wrapper(path, at, function, owner)
        if wrapped is not None:
            return wrapped
    if kind.is_async and not awaited:
        return site(at, counted, _in_site, at, function, *owner)
    if kind.wraps_async and not awaited:
        return site(at, counted, _perhaps_in_site, at, function, *owner)
    return site(at, None if kind.keeps else counted, function, *owner)


class _Foreign:
    """What does not change about a foreign function."""

    __slots__ = ("external", "is_async", "keeps", "name", "perhaps", "special", "wraps", "wraps_async")

    def __init__(self, function: FunctionType) -> None:
        self.special = special_of(function)
        self.external = is_external(function)
        self.perhaps = has_patterns() and not self.external  # by the class of what it is called on
        self.name = segment(function.__qualname__)
        self.wraps = "__wrapped__" in function.__dict__
        self.keeps = keeps_functions(function)
        self.is_async = bool(function.__code__.co_flags & CO_COROUTINE)
        self.wraps_async = self.wraps and not self.is_async and _wraps_coroutine(function)


_kinds: dict[object, _Foreign] = {}
caches.append(_kinds)


def _kind_of(function: FunctionType) -> _Foreign:
    kind = _Foreign(function)
    if function.__closure__ is None and "<locals>" not in function.__qualname__:
        _kinds[function] = kind
    return kind


def _wrapper(path: Path, at: Path, function: FunctionType, owner: tuple[Any, ...]) -> Any:
    """A foreign wrapper round a user function."""
    if function.__globals__.get("__name__") == "contextlib":
        made = rewrapped(function, lambda inner: resolve(path, inner, at.passes))
        return None if made is None else partial(made, *owner)
    if hasattr(function, "registry") and hasattr(function, "dispatch"):
        return partial(_single_dispatch, path, at.passes, function, *owner)
    at.wrapped = function.__dict__["__wrapped__"]
    holder = site(at, counted, function)
    made = rewrapped(function, lambda inner: counted(holder, inner))
    return None if made is None else site(at, counted, made, *owner)


def _single_dispatch(path: Path, passes: Passes, function: Any, first: Any, *args: Any, **kwargs: Any) -> Any:
    """``functools.singledispatch`` chooses by the first argument."""
    chosen = function.dispatch(type(first))
    made = resolve(path, chosen, passes)
    if type(made) is MethodType and isinstance(made.__self__, Path) and chosen.__name__ == "_":
        # By convention all of them are named so; what tells them apart is the type that each is for.
        kind = next((kind for kind in type(first).__mro__ if function.registry.get(kind) is chosen), type(first))
        made.__self__.name = f"{segment(function.__qualname__)}.{segment(kind.__qualname__)}"
    return made(first, *args, **kwargs)


async def _in_site(path: Path, function: Any, *args: Any, **kwargs: Any) -> Any:
    """A foreign coroutine that is not awaited where it is called: it keeps its site when a task runs it."""
    before = current.get()
    current.set(path)
    try:
        return await function(*args, **kwargs)
    finally:
        current.set(before)


def _perhaps_in_site(path: Path, function: Any, *args: Any, **kwargs: Any) -> Any:
    """The same of a plain function round a coroutine function: the coroutine that it gives is looked at."""
    made = function(*args, **kwargs)
    return _in_site(path, lambda: made) if type(made) is CoroutineType else made


def _wraps_coroutine(function: Any) -> bool:
    code = getattr(unwrap(function), "__code__", None)
    return code is not None and bool(code.co_flags & CO_COROUTINE)


def _builtin(path: Path, callee: Any, passes: Passes) -> Any:
    if id(callee) in PURE_OBJECTS:
        return callee
    special = special_of(callee)
    if special is not None:
        return special(path, callee, passes, ())
    return _site(path, callee, passes, callee.__qualname__)


def _class(path: Path, callee: type, passes: Passes) -> Any:
    if callee.__module__ == "builtins" and callee is not map and callee is not filter:
        return callee
    made = _maker(path, callee, passes)
    fill = filling(path, callee, passes, resolve) if is_user_class(callee) else None
    return made if fill is None else fill(made)


def _maker(path: Path, callee: type, passes: Passes) -> Any:
    if type(callee).__call__ is not type.__call__:
        return callee if is_user_class(callee) else _site(path, callee, passes, callee.__qualname__)
    made = constructor(path, callee, passes, resolve)
    if made is not None:
        return made
    if is_user_class(callee) and _is_generated(callee):
        return callee
    return _site(path, callee, passes, callee.__qualname__)


def _is_generated(kind: Any) -> bool:
    """A class with the ``__init__`` of object, a dataclass, a NamedTuple: it calls back nothing that it is given."""
    init = kind.__init__
    return type(init) is not FunctionType or init.__code__.co_filename.startswith("<")


def _object(path: Path, callee: Any, passes: Passes) -> Any:
    kind = type(callee)
    origin = getattr(callee, "__origin__", None)
    if isinstance(origin, type) and kind.__module__ in ("typing", "types"):
        return partial(_generic, resolve(path, origin, passes), callee)
    call = getattr(kind, "__call__", None)  # noqa: B004 (the function itself is needed)
    if type(call) is FunctionType:
        template = template_of(call)
        if template is not None:
            return bound_method(path, call, callee, passes, template)
    if not callable(callee) or kind in _SLOTS:
        return callee
    # The name that an object says it has is not trusted, but a compiled function's is.
    named = kind.__name__ == "cython_function_or_method"
    return _site(path, callee, passes, callee.__qualname__ if named else kind.__qualname__)


_SLOTS = frozenset({type(object.__init__), type(str.upper), type("".__len__), type(vars(dict)["fromkeys"])})


def _generic(make: Any, alias: Any, /, *args: Any, **kwargs: Any) -> Any:
    """``Box[int](…)``."""
    made = make(*args, **kwargs)
    with suppress(Exception):  # as typing does
        made.__orig_class__ = alias
    return made


def _site(path: Path, callee: Any, passes: Passes, name: str) -> Any:
    if has_patterns() and not isinstance(callee, type) and is_external(callee):
        return external_call(callee, path, passes, False)
    at = Path(path, passes, segment(name), path.execution)
    at.callee = (callee, ())
    return site(at, None if keeps_functions(callee) else counted, callee)


carrier(_in_site.__code__)
counted = partial(callbacks.counted, resolve)

cells[hidden.CALL].cell_contents = _caller(awaited=False, framed=False)
cells[hidden.AWAITED].cell_contents = _caller(awaited=True, framed=False)
cells[hidden.FRAMED].cell_contents = _caller(awaited=False, framed=True)
cells[hidden.FRAMED_AWAITED].cell_contents = _caller(awaited=True, framed=True)
cells[hidden.ARGUMENT].cell_contents = argument
cells[hidden.STARRED].cell_contents = starred
cells[hidden.KEYWORDS].cell_contents = keywords
