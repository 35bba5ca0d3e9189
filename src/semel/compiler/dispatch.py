"""What a call in a twin calls: decided on the real object, each time, so that monkeypatches and mocks take part."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from inspect import CO_COROUTINE
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from . import callbacks, hidden
from .bind import bound, bound_method, known
from .callbacks import original_of, rewrapped
from .construct import constructor
from .packages import is_user_class
from .path import Path, current
from .pure import CONTAINERS, PURE_OBJECTS, keeps_functions
from .site import Framed, Site, argument, keywords, site, starred
from .special import special_of
from .twins import cells, intrinsics, segment, template_of, templates

Passes = tuple[object, ...]


def _caller(awaited: bool, framed: bool) -> Callable[..., Any]:
    """The helper for one way to call. What is asked most is answered here, without another call."""
    find, find_template, make, method, plain = known.get, templates.get, Path, MethodType, CONTAINERS - {list}

    def call(path: Path, callee: Any, *passes: object) -> Any:
        kind = type(callee)
        if kind is FunctionType:
            entry = find(callee)
            if entry is not None:
                twin = entry.twin
                if twin is None:
                    return callee
                if path.wrapped is None and entry.defaults is callee.__defaults__:
                    return method(twin, make(path, passes, entry.name, path.execution, entry.wrapped))
            template = find_template(id(callee.__code__))
            if template is not None:
                return bound(path, callee, passes, template)
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
                return partial(twin, make(path, passes, entry.name, path.execution, entry.wrapped), callee.__self__)
        made = resolve(path, callee, passes, awaited)
        return Framed(made) if framed and type(made) is Site else made

    return call


def resolve(path: Path, callee: Any, passes: Passes, awaited: bool = False) -> Any:
    """What is called in place of ``callee``, from the function at ``path``."""
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
        return bound(path, callee, passes, template)
    return _foreign(path, callee, passes, awaited)


def _method(path: Path, callee: MethodType, passes: Passes, awaited: bool) -> Any:
    function = original_of(callee.__func__)
    if type(function) is not FunctionType:
        special = special_of(function)
        if special is not None:
            return special(path, function, passes, (callee.__self__,))
        inner = resolve(path, function, passes, awaited)
        return callee if inner is function else _partial(inner, partial(function, callee.__self__))
    template = template_of(function)
    if template is not None:
        return bound_method(path, function, callee.__self__, passes, template)
    return _foreign(path, function, passes, awaited, callee.__self__)


def _foreign(path: Path, function: FunctionType, passes: Passes, awaited: bool, *owner: Any) -> Any:
    """A Python function that is not the user's."""
    kind = _kinds.get(function) or _kind_of(function)
    if kind.special is not None:
        return kind.special(path, function, passes, owner)
    at = Path(path, passes, kind.name, path.execution)
    if kind.wraps:
        wrapped = _wrapper(path, at, function, owner)
        if wrapped is not None:
            return wrapped
    if kind.is_async and not awaited:
        return site(at, counted, _in_site, at, function, *owner)
    return site(at, None if kind.keeps else counted, function, *owner)


class _Foreign:
    """What does not change about a foreign function."""

    __slots__ = ("is_async", "keeps", "name", "special", "wraps")

    def __init__(self, function: FunctionType) -> None:
        self.special = special_of(function)
        self.name = segment(function.__qualname__)
        self.wraps = "__wrapped__" in function.__dict__
        self.keeps = keeps_functions(function)
        self.is_async = bool(function.__code__.co_flags & CO_COROUTINE)


_kinds: dict[object, _Foreign] = {}


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
    return resolve(path, function.dispatch(type(first)), passes)(first, *args, **kwargs)


async def _in_site(path: Path, function: Any, *args: Any, **kwargs: Any) -> Any:
    """A foreign coroutine that is not awaited where it is called: it keeps its site when a task runs it."""
    before = current.get()
    current.set(path)
    try:
        return await function(*args, **kwargs)
    finally:
        current.set(before)


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


def _site(path: Path, callee: Any, passes: Passes, name: str) -> Site:
    at = Path(path, passes, segment(name), path.execution)
    return site(at, None if keeps_functions(callee) else counted, callee)


counted = partial(callbacks.counted, resolve)

cells[hidden.CALL].cell_contents = _caller(awaited=False, framed=False)
cells[hidden.AWAITED].cell_contents = _caller(awaited=True, framed=False)
cells[hidden.FRAMED].cell_contents = _caller(awaited=False, framed=True)
cells[hidden.FRAMED_AWAITED].cell_contents = _caller(awaited=True, framed=True)
cells[hidden.ARGUMENT].cell_contents = argument
cells[hidden.STARRED].cell_contents = starred
cells[hidden.KEYWORDS].cell_contents = keywords
