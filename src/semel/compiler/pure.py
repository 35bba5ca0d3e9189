"""What is known of builtins: calls that cannot reach a step, and callables whose arguments must stay as they are."""

from __future__ import annotations

import builtins
import collections
import contextvars
import functools
import types
from typing import Any

#: Builtins that call back what they are given, and so are sites like any foreign callable.
CALLING_BACK = frozenset({"map", "filter", "sorted", "min", "max", "__import__", "input", "open", "breakpoint"})

#: The names of builtins whose calls a twin leaves as they are.
PURE_NAMES = frozenset(
    name for name, value in vars(builtins).items() if callable(value) and name not in CALLING_BACK
) - {"__build_class__", "__loader__", "super"}

#: These are pure unless they are given a ``key``.
PURE_WITHOUT_KEY = frozenset({"sorted", "min", "max"})

#: These see the variables of the function that calls them.
SEES_LOCALS = frozenset({"locals", "vars", "dir"})

PURE_OBJECTS: frozenset[int] = frozenset(id(getattr(builtins, name)) for name in PURE_NAMES)

CONTAINERS: frozenset[type] = frozenset(
    {
        *(list, dict, set, frozenset, tuple, str, bytes, bytearray, memoryview, int, float, complex, bool, range),
        *(collections.deque, collections.OrderedDict, collections.defaultdict, types.MappingProxyType, type(None)),
        contextvars.ContextVar,
    }
)

#: Foreign modules that keep, compare or describe the functions they are given, rather than call them.
_KEEPING = frozenset(
    {
        *("functools", "inspect", "typing", "typing_extensions", "unittest", "dataclasses", "types", "enum", "weakref"),
        *("operator", "copy", "pickle", "copyreg", "abc", "traceback", "pprint", "reprlib", "multiprocessing"),
        *("queue", "collections", "_collections_abc"),
    }
)
_KEEPING_EXCEPT = frozenset({"reduce"})


def keeps_functions(callee: Any) -> bool:
    """Whether a foreign callable must be given the user's own function objects, and not callbacks in their place."""
    module = getattr(callee, "__module__", None) or getattr(type(callee), "__module__", None)
    if isinstance(callee, functools._lru_cache_wrapper):
        return True
    if module == "asyncio.queues":
        return True
    top = module.partition(".")[0] if isinstance(module, str) else ""
    if type(callee).__module__.partition(".")[0] == "unittest":
        return True
    return top in _KEEPING and getattr(callee, "__name__", "") not in _KEEPING_EXCEPT
