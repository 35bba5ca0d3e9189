"""Why a ``once`` was reached in a run through a function without a twin, in words."""

from __future__ import annotations

import functools
import os
import sys
from types import CodeType, FrameType
from typing import Any

from .packages import is_user_module
from .twins import has_no_source, intrinsics, is_twin_code

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def explain_uncompiled() -> str:
    """Says which function was reached and why it has no twin. Looks at the frames of its caller."""
    frame: FrameType | None = sys._getframe(1)
    asking = {getattr(function, "__code__", None) for function in intrinsics}
    while frame is not None and (frame.f_code.co_filename.startswith(_HERE) or frame.f_code in asking):
        frame = frame.f_back
    if frame is None:
        return "It was reached from no function of yours."
    code = frame.f_code
    where = f"{code.co_qualname.replace('<locals>.', '')} ({code.co_filename}:{frame.f_lineno})"
    module = frame.f_globals.get("__name__", "")
    if not is_user_module(module):
        package = str(module).partition(".")[0]
        return (
            f"It stands in {where}, and the package {package!r} is not listed as your own code: write "
            f'[tool.semel] packages = ["{package}"] in pyproject.toml'
        )
    if is_twin_code(code):
        return f"It was called by {where} through something that is not a call."
    return f"It stands in {where}, {_reason(frame, code)}"


def _reason(frame: FrameType, code: CodeType) -> str:
    name = code.co_name
    if has_no_source(code):
        return "whose source is not there (it was made by exec, or only its .pyc is installed). Put it into a module."
    kind = _holder(frame, code)
    if kind == "lru_cache":
        return (
            "which is cached by functools.lru_cache: a cached result would skip the step. Put the step into a function "
            "of its own that is not cached, and cache what computes."
        )
    if kind == "property":
        return f"which is a property: reading an attribute is not a call. Make it a method, and call {name}()."
    if name == "__post_init__" or (name.startswith("__") and name.endswith("__")):
        return (
            f"which the interpreter calls by itself ({name}), not a call in your code. Move the step into an ordinary "
            f"method, and call it."
        )
    caller = _foreign_caller(frame)
    if caller:
        return (
            f"which was called by {caller}, not by code of yours that semel compiles. Call it from your own code, or "
            f"give it to {caller} directly as an argument."
        )
    return "which was not called by code that semel compiles: call it directly from the body or a helper of it."


def _holder(frame: FrameType, code: CodeType) -> str | None:
    """What holds the function of this frame: looked for in its module, and in the class of its first argument."""
    values: list[Any] = list(frame.f_globals.values())
    values += [value for holder in values if isinstance(holder, type) for value in vars(holder).values()]
    if code.co_argcount:
        first = frame.f_locals.get(code.co_varnames[0])
        values += [value for kind in type(first).__mro__ for value in vars(kind).values()]
    for value in values:
        if isinstance(value, functools._lru_cache_wrapper) and getattr(value.__wrapped__, "__code__", None) is code:
            return "lru_cache"
        if isinstance(value, property) and any(
            getattr(part, "__code__", None) is code for part in (value.fget, value.fset, value.fdel)
        ):
            return "property"
        if isinstance(value, functools.cached_property) and getattr(value.func, "__code__", None) is code:
            return "property"
    return None


def _foreign_caller(frame: FrameType) -> str | None:
    caller = frame.f_back
    while caller is not None and caller.f_code.co_filename.startswith(_HERE):
        caller = caller.f_back
    if caller is None or is_user_module(caller.f_globals.get("__name__")):
        return None
    return f"{caller.f_globals.get('__name__')}.{caller.f_code.co_qualname.replace('<locals>.', '')}"
