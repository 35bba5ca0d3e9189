"""The compiler: a body and every user function that it reaches run as twins, which know the path of each step.

A twin is the function's own source, with every call, loop and ``with`` instrumented, compiled with the original file
name and positions, globals, defaults and closure. The original is never touched, so that nothing costs anything
outside of a run.
"""

from __future__ import annotations

from . import loops as _loops  # fills the hidden variables of the twins
from .callbacks import original_of
from .entry import check_compiles, enter, intrinsic, step_call
from .explain import explain_uncompiled
from .operation import operation_name
from .packages import add_package, is_user_module, user_packages
from .path import Execution, Key, Origin, Path, current, pass_name, unrecorded
from .source import preload
from .targets import loop_round
from .where import begins_step, called_twice, in_step, is_step_begun, leads, place

__all__ = [
    "Execution",
    "Key",
    "Origin",
    "Path",
    "add_package",
    "begins_step",
    "called_twice",
    "check_compiles",
    "current",
    "enter",
    "explain_uncompiled",
    "in_step",
    "intrinsic",
    "is_step_begun",
    "is_user_module",
    "leads",
    "loop_round",
    "operation_name",
    "original_of",
    "pass_name",
    "place",
    "preload",
    "step_call",
    "unrecorded",
    "user_packages",
]

assert _loops
