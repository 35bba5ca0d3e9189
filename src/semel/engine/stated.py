"""Whether a step whose outcome was stated by hand is one that the body awaits.

The record of a step that ran says so. One that an operator stated (rule O25) may be of a step that never ran, and where
the call is not directly awaited (``asyncio.gather(once(…), …)``), what ``once`` gives is the value for a sync step and
an awaitable for an async one. The step itself is asked first: a coroutine function, or a lambda that does nothing but
call one function. Where that does not tell (the lambda chains calls, or calls what only running it finds), a call
written in an ``async def`` gets an awaitable.
"""

from __future__ import annotations

import dis
import inspect
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any

#: The delivery of a record that was stated by hand.
BY_HAND = 0

_NAMES = frozenset({"LOAD_GLOBAL", "LOAD_DEREF"})
_ATTRIBUTES = frozenset({"LOAD_ATTR", "LOAD_METHOD"})
_BEFORE = frozenset({"RESUME", "COPY_FREE_VARS", "PUSH_NULL"})
_CALLING = ("CALL", "PRECALL", "KW_NAMES")
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
    """What a lambda calls, if its value is that of this call: ``ask`` of ``lambda: ask(question)``."""
    names = _names_of_call([*dis.get_instructions(step)])
    if not names:
        return _MISSING
    try:
        variables = inspect.getclosurevars(step)
    except ValueError:  # a variable of the enclosing function without a value
        return _MISSING
    known: dict[str, Any] = {**variables.builtins, **variables.globals, **variables.nonlocals}
    found = known.get(names[0], _MISSING)
    for name in names[1:]:
        # Statically: a property or ``__getattr__`` of the user's is not run to find out.
        member = inspect.getattr_static(found, name, _MISSING)
        found = member.__func__ if isinstance(member, staticmethod | classmethod) else member
    return found


def _names_of_call(instructions: list[dis.Instruction]) -> list[str]:
    """``client``, ``ask`` of ``client.ask(…)``; nothing for ``a().b()``, ``a() + 1`` and the like.

    The call is the first one that leaves only its result on the stack, those of the arguments come before; until then
    nothing but arguments may be done on top of what is called.
    """
    names: list[str] = []
    depth = callee = 0
    for place, found in enumerate(instructions):
        effect = dis.stack_effect(found.opcode, found.arg)
        depth += effect
        if found.opname in _BEFORE or (found.opname in (_ATTRIBUTES if names else _NAMES) and depth - effect == callee):
            if found.opname in _NAMES or found.opname in _ATTRIBUTES:
                names.append(found.argval)
            callee = depth
        elif found.opname.startswith("CALL") and depth == 1:
            return names if place == len(instructions) - 2 else []
        elif "JUMP" in found.opname or (depth <= callee and not found.opname.startswith(_CALLING)):
            return []
    return []
