"""The function that stands for an operation: the author's signature and names, and code of semel's.

It is compiled anew rather than wrapped. Python itself then binds the arguments and tells what is wrong with them, and
in a run semel's compiler sees foreign code: a call of it is one site, with nothing of the user's in it.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import CO_COROUTINE, Parameter, Signature
from types import FunctionType
from typing import Any

_SEND = "__semel_send__"


def is_async(function: FunctionType) -> bool:
    """Whether it was written with ``async def``."""
    return bool(function.__code__.co_flags & CO_COROUTINE)


def operation_function(original: FunctionType, signature: Signature, send: Callable[..., Any]) -> FunctionType:
    """A function like ``original`` that returns ``send(self, values)``, awaited if it is a coroutine function.

    ``values`` is the tuple of its arguments after the first one.
    """
    keyword, awaited = ("async def", "await ") if is_async(original) else ("def", "")
    first, *rest = signature.parameters
    values = "".join([f"{name}, " for name in rest])
    text = f"{keyword} {original.__name__}({_parameters(signature)}): return {awaited}{_SEND}({first}, ({values}))"
    names: dict[str, Any] = {"__name__": __name__, _SEND: send}
    # The text is made of identifiers that Python has already parsed once.
    exec(compile(text, f"<semel.Client {original.__qualname__}>", "exec"), names)  # noqa: S102
    function: FunctionType = names[original.__name__]
    function.__defaults__ = original.__defaults__
    function.__kwdefaults__ = original.__kwdefaults__
    function.__annotations__ = original.__annotations__
    function.__qualname__ = original.__qualname__
    function.__module__ = original.__module__
    function.__doc__ = original.__doc__
    return function


def _parameters(signature: Signature) -> str:
    """The parameters of a ``def``; that some have a default is all that is said of it."""
    told: list[str] = []
    before: Any = None
    for parameter in signature.parameters.values():
        if before is Parameter.POSITIONAL_ONLY and parameter.kind is not before:
            told.append("/")
        if parameter.kind is Parameter.KEYWORD_ONLY and before is not parameter.kind:
            told.append("*")
        told.append(parameter.name if parameter.default is Parameter.empty else f"{parameter.name}=None")
        before = parameter.kind
    return ", ".join([*told, "/"] if before is Parameter.POSITIONAL_ONLY else told)
