"""An undo of a saga's step: what is recorded of it before the step begins, and its running, a step of its own."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Callable
from importlib import import_module
from operator import attrgetter
from types import FunctionType
from typing import TYPE_CHECKING, Any, cast

import msgspec

from semel.codec.namespaces import real_name
from semel.compiler import Path, original_of, step_call, user_packages
from semel.store.interface import Note, Record

from .frames import told_briefly
from .outcomes import Outcome, seen_by_body
from .retry import Attempt, Policy, attempted

if TYPE_CHECKING:
    from .execution import Execution


class Unknown:
    """What an undo is given where nobody knows what its step returned: a crash came between, or it was unrecordable.

    The step may have done its work, in whole or in part, or nothing of it. Compare with ``is``.
    """

    _only: Unknown | None = None

    def __new__(cls) -> Unknown:
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = Unknown()


class Undo(msgspec.Struct, frozen=True):
    """The undo of the step at the path ``step``. ``sagas`` are the paths of those round it, the innermost first.

    ``delays`` are the seconds that its retry waits; there is one attempt more.
    """

    step: str
    function: str
    sagas: tuple[str, ...]
    delays: tuple[float, ...]

    @classmethod
    def planned(cls, execution: Execution, step: str, function: str, sagas: tuple[str, ...], policy: Policy) -> Undo:
        keys = [execution.keys.of_value(f"{step}!undone\x1fjitter\x1f{n}", 16) for n in range(1, policy.attempts or 1)]
        return cls(step, function, sagas, tuple(policy.delay(n, key) for n, key in enumerate(keys, 1)))

    @classmethod
    def read(cls, step: str, plain: object) -> Undo:
        function, sagas, delays = cast("tuple[str, list[str], list[float]]", plain)
        return cls(step, function, tuple(sagas), tuple(delays))

    @property
    def plain(self) -> list[object]:
        """What is recorded of it."""
        return [self.function, list(self.sagas), list(self.delays)]


class _Delays:
    """The policy that an undo was recorded with."""

    def __init__(self, delays: tuple[float, ...]) -> None:
        self._delays = delays

    @property
    def attempts(self) -> int:
        return len(self._delays) + 1

    def delay(self, failed: int, key: bytes) -> float:
        return self._delays[failed - 1]


class Undoing(Attempt):
    """The running of an undo, which a generator waits for. ``saga`` is the saga's path, where the body is there."""

    __slots__ = ("_delays", "_execution", "_function", "_step", "_value", "saga")
    decides = True

    def __init__(self, execution: Execution, undo: Undo, saga: Path | None) -> None:
        scope, _, name = undo.step.rpartition("#")
        path = Path(Path(None, (), scope, execution), (), f"{name}!undone", execution)
        super().__init__(path.step(), path, f"undo of {name}", None, None, False)
        self.saga = saga
        self._execution = execution
        self._step = undo.step
        self._function: Any = None
        self._value: object = UNKNOWN
        self._delays = _Delays(undo.delays)

    @property
    def place(self) -> Path:
        return self.saga or self.path

    def prepare(self, undo: Undo, outcome: Outcome | Record | None) -> None:
        """Finds the function, and what the step returned; raises where one of them is no more."""
        self._function = _function_named(undo.function)
        if outcome is not None and outcome.kind == "result":
            self._value = seen_by_body(self._execution.codec, undo.step, outcome)

    def call(self, execution: Execution) -> Callable[[], object]:
        undo = step_call(self.path, self._function)
        return lambda: _nothing_of(undo(self._value))

    def wait(self) -> None:
        made = attempted(self._execution, self, False, retry=self._delays)
        if inspect.iscoroutine(made):
            made.close()
            raise TypeError(f"the undo of {self._step} is async, and its saga is not: write `async with saga(…)`")

    async def future(self, loop: asyncio.AbstractEventLoop) -> None:
        await attempted(self._execution, self, True, retry=self._delays)

    def notes(self, execution: Execution, error: BaseException) -> list[Note]:
        return [execution.note(self._step, "undo failed", told_briefly(error)[:500])]


def _nothing_of(value: object) -> object:
    """What an undo returns is nobody's business, and need not be one that can be recorded."""
    return _awaited(value) if inspect.isawaitable(value) else None


async def _awaited(value: Any) -> None:
    await value


# ----------------------------------------------------------------------------------------------------------- functions


def name_of_undo(undo: object, label: str) -> str:
    """The name by which an undo is found again: ``shop.trips:cancel_flight``.

    Raises:
        TypeError: it is no function of a module, so that it could not be found when the body is gone (rule W7).
    """
    function = original_of(undo)
    if type(function) is FunctionType and _find(function.__module__, function.__qualname__) is function:
        return f"{real_name(function.__module__)}:{function.__qualname__}"
    what = getattr(undo, "__qualname__", None) or type(undo).__qualname__
    raise TypeError(
        f"the undo of the step {label!r}, {what}, is no function at the top level of a module. An undo runs when the "
        f"body is gone, perhaps in another process, and is given what its step returned, and nothing else. Write\n"
        f"    def cancel_{label.replace('-', '_')}(result): …    # at the top level\n"
        f"and give it as undo=cancel_{label.replace('-', '_')}"
    )


def _function_named(name: str) -> Any:
    """The function of the program with this name."""
    home, _, qualname = name.partition(":")
    where = "__main__" if real_name("__main__") == home else home
    if where.partition(".")[0] not in user_packages():
        raise LookupError(f"the undo {name} is in no module of this program")
    if where not in sys.modules:
        import_module(where)
    function = _find(where, qualname)
    if type(function) is not FunctionType:
        raise LookupError(f"the undo {name} is no function any more; put one of that name back, and undo by hand")
    return function


def _find(module: str, qualname: str) -> Any:
    try:
        return original_of(attrgetter(qualname)(sys.modules[module]))
    except (AttributeError, KeyError):
        return None
