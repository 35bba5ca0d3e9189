"""The ways into compiled code: a body, a step, and functions that are called in a way of their own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import FunctionType, MethodType
from typing import Any

from semel.errors import CannotCompile

from .callbacks import original_of
from .dispatch import resolve
from .path import Path
from .twins import demand_template, intrinsics, template_of


def enter(path: Path, function: Callable[..., Any]) -> Callable[..., Any]:
    """The twin of a user function, bound to exactly this path.

    Raises:
        CannotCompile: it has no source, or the source changed under the process.
    """
    if type(function) is not FunctionType:
        raise CannotCompile(f"a {type(function).__qualname__} cannot be made durable, only a function")
    template = demand_template(function)
    path.wrapped = function.__dict__.get("__wrapped__")
    if template.code is None:
        return function
    return MethodType(template.twin(function), path)


def step_call(path: Path, step: Any) -> Any:
    """What ``once`` calls: a lambda at the very path of its label, anything else as if called from there."""
    path.in_step = True
    step = original_of(step)
    if type(step) is partial:
        inner = step_call(path, step.func)
        return partial(inner, *step.args, **step.keywords)
    if type(step) is FunctionType and step.__code__.co_name == "<lambda>":
        template = template_of(step)
        if template is not None:
            return step if template.code is None else MethodType(template.twin(step), path)
    return resolve(path, step, ())


def intrinsic(function: Callable[..., Any], handler: Callable[..., Any]) -> None:
    """Makes calls of ``function`` in a twin calls of ``handler(path, passes, awaited)``.

    A method's handler is given the object that it is called on as well.
    """
    intrinsics[function] = handler


def check_compiles(function: Callable[..., Any]) -> None:
    """Compiles a user function now.

    Raises:
        CannotCompile: it has no source, or the source changed under the process.
    """
    if type(function) is not FunctionType:
        raise CannotCompile(f"a {type(function).__qualname__} cannot be made durable, only a function")
    demand_template(function)
