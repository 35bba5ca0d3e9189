"""Whether a step whose outcome was stated by hand is one that the body awaits.

The record of a step that ran says so. One that an operator stated (rule O25) may be of a step that never ran, and where
the call is not directly awaited (``asyncio.gather(once(…), …)``), what ``once`` gives is the value for a sync step and
an awaitable for an async one. The step itself is asked first: a coroutine function, or a lambda that does nothing but
call one function. Where that does not tell (the lambda chains calls, or calls what is not there yet), a call written
in an ``async def`` gets an awaitable.
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Iterator
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any

#: The delivery of a record that was stated by hand.
BY_HAND = 0

_NAMES = frozenset({"LOAD_GLOBAL", "LOAD_DEREF"})
_ATTRIBUTES = frozenset({"LOAD_ATTR", "LOAD_METHOD"})
_BEFORE = frozenset({"RESUME", "COPY_FREE_VARS", "PUSH_NULL"})
_MISSING = object()


def is_awaited(step: object, caller: CodeType) -> bool:
    """Whether ``once`` gives an awaitable for this step; ``caller`` is the code that the call is written in."""
    known = _is_async(step)
    return bool(caller.co_flags & inspect.CO_COROUTINE) if known is None else known


def _is_async(step: object) -> bool | None:
    """Whether calling ``step`` gives an awaitable; None where that cannot be told without calling it."""
    while isinstance(step, partial):
        step = step.func
    if inspect.iscoroutinefunction(step):
        return True
    if not isinstance(step, FunctionType) or step.__name__ != "<lambda>":
        return False if isinstance(step, FunctionType | MethodType) else None
    callee = _only_callee(step)
    while isinstance(callee, partial):
        callee = callee.func
    if inspect.iscoroutinefunction(callee):
        return True
    return False if isinstance(callee, FunctionType | MethodType) else None


def _only_callee(step: FunctionType) -> object:
    """What a lambda calls, if that is all it does: ``ask`` of ``lambda: ask(question)``."""
    instructions = [found for found in dis.get_instructions(step) if found.opname not in _BEFORE]
    calls = [place for place, found in enumerate(instructions) if found.opname.startswith("CALL")]
    if len(calls) != 1 or not instructions or not instructions[-1].opname.startswith("RETURN"):
        return _MISSING
    if calls[0] != len(instructions) - 2:
        return _MISSING
    names = _leading_names(instructions)
    found: object = next(names, _MISSING)
    if found is _MISSING:
        return _MISSING
    variables = inspect.getclosurevars(step)
    known: dict[str, Any] = {**variables.builtins, **variables.globals, **variables.nonlocals}
    found = known.get(str(found), _MISSING)
    for name in names:
        # Statically: a property or ``__getattr__`` of the user's is not run to find out.
        member = inspect.getattr_static(found, name, _MISSING)
        found = member.__func__ if isinstance(member, staticmethod | classmethod) else member
    return found


def _leading_names(instructions: list[dis.Instruction]) -> Iterator[str]:
    """``client``, ``ask`` of ``client.ask(…)``."""
    if instructions[0].opname not in _NAMES:
        return
    yield instructions[0].argval
    for instruction in instructions[1:]:
        if instruction.opname not in _ATTRIBUTES:
            return
        yield instruction.argval
