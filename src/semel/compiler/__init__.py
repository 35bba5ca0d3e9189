"""The compiler: a body and every user function that it reaches run as twins, which know the path of each step.

A twin is the function's own source, with every call, loop and ``with`` instrumented, compiled with the original file
name and positions, globals, defaults and closure. The original is never touched, so that nothing costs anything
outside of a run.
"""

from __future__ import annotations

from . import loops as _loops  # fills the hidden variables of the twins
from .entry import check_compiles, enter, intrinsic, step_call
from .explain import explain_uncompiled
from .packages import add_package, user_packages
from .path import Execution, Key, Path, current, pass_name
from .source import preload

__all__ = [
    "Execution",
    "Key",
    "Path",
    "add_package",
    "check_compiles",
    "current",
    "enter",
    "explain_uncompiled",
    "intrinsic",
    "pass_name",
    "preload",
    "step_call",
    "user_packages",
]

assert _loops
