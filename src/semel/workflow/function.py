"""A function workflow, as the app registers it."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from semel.codec import Codec, NotEncodable
from semel.engine.needs import Keys
from semel.errors import RegistrationError

from .backoff import Backoff


@dataclass(frozen=True, slots=True)
class FunctionWorkflow:
    """A registered function. ``redeliver`` is how often a faulted execution is delivered again by itself (rule R11)."""

    name: str
    function: Callable[..., Any]
    signature: inspect.Signature
    is_async: bool
    strict: bool
    redeliver: int | Backoff
    timeout: timedelta | None = None

    @property
    def place(self) -> str:
        """Where the function is, for a message."""
        code = getattr(self.function, "__code__", None)
        return f"{code.co_filename}:{code.co_firstlineno}" if code else repr(self.function)

    def pause(self, redelivered: int, keys: Keys) -> float | None:
        """Seconds after a fault until the execution is delivered again; None if it was so as often as it is to be."""
        policy = self.redeliver
        if isinstance(policy, int):
            return 0.0 if redelivered < policy else None
        failed = redelivered + 1
        if failed >= (policy.attempts or 0):
            return None
        return policy.delay(failed, keys.of_value(f"redelivery\x1f{failed}", 16))

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments as they are recorded: those that can be positional, positional.

        Raises:
            TypeError: the function cannot be called like that.
        """
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(
                f"{self.name}{self.signature} cannot be started like that: {error} ({self.place})"
            ) from None
        return bound.args, bound.kwargs

    def encoded(self, codec: Codec, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bytes:
        """The arguments as they are stored.

        Raises:
            TypeError: the function cannot be called like that, or an argument cannot be recorded.
        """
        bound = self.bind(args, kwargs)
        try:
            return codec.encode(bound)
        except NotEncodable as error:
            raise TypeError(
                f"an argument of {self.name} cannot be recorded: {self._told(codec, *bound, error)}. Pass something "
                f"that can be: a str, a dict, a dataclass, …"
            ) from None

    def _told(self, codec: Codec, args: tuple[Any, ...], kwargs: dict[str, Any], found: NotEncodable) -> NotEncodable:
        """Names the argument that cannot be recorded."""
        for name, value in self.signature.bind(*args, **kwargs).arguments.items():
            try:
                codec.encode(value, name)
            except NotEncodable as error:
                return error
        return found


def function_workflow(
    function: Any, *, name: str | None, strict: bool, redeliver: int | Backoff, timeout: timedelta | None
) -> FunctionWorkflow:
    """Checks what is registered.

    Raises:
        RegistrationError: not a plain function, or a generator.
    """
    if not inspect.isfunction(function):
        kind = "a class" if inspect.isclass(function) else f"a {type(function).__qualname__}"
        raise RegistrationError(
            f"@app.workflow takes a function, and {getattr(function, '__qualname__', function)!r} is {kind}; put it "
            f"directly above `def` or `async def`, or above `class …(Workflow[Order], tracks=Order.stage, …)`"
        )
    where = f"{function.__qualname__} ({function.__code__.co_filename}:{function.__code__.co_firstlineno})"
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise RegistrationError(f"the workflow {where} is a generator; a workflow returns its result")
    if "<locals>" in function.__qualname__ and function.__closure__:
        raise RegistrationError(
            f"the workflow {where} uses variables of the function round it; after a crash they would be gone. Move it "
            f"to the module's top level and give it what it needs as arguments"
        )
    check_redeliver(redeliver, f"the workflow {where}")
    if timeout is not None and (not isinstance(timeout, timedelta) or timeout <= timedelta(0)):
        raise RegistrationError(f"timeout={timeout!r} of the workflow {where} must be a timedelta above nothing")
    chosen = name if name is not None else function.__qualname__.replace("<locals>.", "")
    check_name(chosen, where)
    return FunctionWorkflow(
        chosen, function, inspect.signature(function), inspect.iscoroutinefunction(function), strict, redeliver, timeout
    )


def check_redeliver(redeliver: Any, whose: str) -> None:
    """Checks how often a faulted execution is to be delivered again.

    Raises:
        RegistrationError: it would be so for ever, or it is neither a number of times nor a ``Backoff``.
    """
    if isinstance(redeliver, Backoff):
        if redeliver.attempts is None:
            raise RegistrationError(
                f"redeliver={redeliver!r} of {whose} has no max_attempts, so one that always faults would "
                f"be delivered for ever; write {redeliver!r}.max_attempts(4)"
            )
    elif not isinstance(redeliver, int) or redeliver < 0:
        raise RegistrationError(f"redeliver={redeliver} of {whose} must be 0 or more, or a Backoff")


def check_name(name: Any, where: str) -> None:
    """Checks the name of a workflow, which is part of its paths.

    Raises:
        RegistrationError: it is empty, or holds a character that has a meaning in a path.
    """
    if not isinstance(name, str) or not name or any(char in name for char in "/#@[]~!%"):
        raise RegistrationError(f"the workflow name {name!r} of {where} may not be empty or hold / # @ [ ] ~ ! %")


def equal(one: Any, other: Any) -> bool:
    """Whether two arguments are equal and of the same type, all through: 1, 1.0 and True are not."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(value, other[key]) for key, value in one.items())
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(equal, one, other))
    return bool(one == other)


def same_function(one: Any, other: Any) -> bool:
    """Whether a module was executed again (a reload, ``python -m`` after an import)."""
    return bool(
        inspect.unwrap(one).__qualname__ == inspect.unwrap(other).__qualname__
        and os.path.realpath(one.__code__.co_filename) == os.path.realpath(other.__code__.co_filename)
        and one.__code__.co_firstlineno == other.__code__.co_firstlineno
    )
