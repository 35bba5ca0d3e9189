"""Values that no second call gives again: times, ids, random numbers. In a body they are derived (rule A5).

A call in a twin whose callee *is* one of the known readers is answered from the run's secret and the name of the value,
so that a later attempt gets the same and nothing is recorded. A reader that was replaced (a frozen clock, a mock) is
another object, and is called. What foreign code reads by itself is not seen here.
"""

from __future__ import annotations

import base64
import datetime
import os
import random
import secrets
import sys
import time
import uuid
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from . import drawn
from .chain import known_as, latest_call, passed
from .path import Origin, Path
from .targets import target

#: ``reader(path, callee, passes)`` gives what is called in place of ``callee``.
Reader = Callable[[Path, Any, tuple[object, ...]], Any]

_SEED = 32  # bytes


class Draw:
    """One read of something random: the bytes for its name."""

    __slots__ = ("_origin", "_passes", "_path", "_reader")

    def __init__(self, path: Path, passes: tuple[object, ...], origin: Origin | None, reader: str) -> None:
        self._path = path
        self._passes = passes
        self._origin = origin
        self._reader = reader

    def bytes(self, size: int) -> bytes:
        if size < 0:
            raise ValueError("negative argument not allowed")
        name = f"{known_as(self._path)}{passed(self._passes)}({target(self._origin)})={self._reader}"
        values = self._path.execution.values
        return values.derived(f"{name}~{values.number(name)}", size)

    def moment(self) -> float:
        return self._path.execution.values.moment()


def _random(name: str, answer: Callable[..., Any]) -> Reader:
    """``answer(draw, callee, *args, **kwargs)`` is what the call gives."""

    def begin(path: Path, callee: Any, passes: tuple[object, ...]) -> Any:
        origin = latest_call(path)

        def read(*args: Any, **kwargs: Any) -> Any:
            if path.execution.over:
                return callee(*args, **kwargs)
            return answer(Draw(path, passes, origin, name), callee, *args, **kwargs)

        return read

    return begin


def _timed(answer: Callable[..., Any]) -> Reader:
    """``answer(moment, callee, *args, **kwargs)`` is what the call gives; in a step the time is the real one."""

    def begin(path: Path, callee: Any, passes: tuple[object, ...]) -> Any:
        if path.in_step:
            return callee
        origin = latest_call(path)

        def read(*args: Any, **kwargs: Any) -> Any:
            values = path.execution.values
            if path.execution.over:
                return callee(*args, **kwargs)
            return answer(lambda: values.watch(origin), callee, *args, **kwargs)

        return read

    return begin


# ---------------------------------------------------------------------------------------------------------------- times

Moment = Callable[[], float]


def _now(moment: Moment, callee: Any, tz: datetime.tzinfo | None = None) -> Any:
    return callee.__self__.fromtimestamp(moment(), tz)


def _utcnow(moment: Moment, callee: Any) -> Any:
    return callee.__self__.fromtimestamp(moment(), datetime.UTC).replace(tzinfo=None)


def _today(moment: Moment, callee: Any) -> Any:
    return callee.__self__.fromtimestamp(moment())


def _seconds(moment: Moment, callee: Any) -> float:
    return moment()


def _nanoseconds(moment: Moment, callee: Any) -> int:
    return round(moment() * 1_000_000) * 1_000


def _converted(moment: Moment, callee: Any, seconds: float | None = None) -> Any:
    """``localtime``, ``gmtime``, ``ctime``."""
    return callee(moment() if seconds is None else seconds)


def _asctime(moment: Moment, callee: Any, *given: Any) -> str:
    return callee(*given) if given else callee(time.localtime(moment()))  # type: ignore[no-any-return]


def _strftime(moment: Moment, callee: Any, form: str, *given: Any) -> str:
    return callee(form, *given) if given else callee(form, time.localtime(moment()))  # type: ignore[no-any-return]


def _clock(moment: Moment, callee: Any, clock: int) -> Any:
    if clock != time.CLOCK_REALTIME:
        return callee(clock)
    return moment() if callee is time.clock_gettime else _nanoseconds(moment, callee)


# ------------------------------------------------------------------------------------------------------ ids and numbers


def _uuid1(draw: Draw, callee: Any, node: int | None = None, clock_seq: int | None = None) -> uuid.UUID:
    return drawn.uuid1(draw.bytes(16), draw.moment(), node, clock_seq)


def _token(draw: Draw, nbytes: int | None) -> bytes:
    return draw.bytes(secrets.DEFAULT_ENTROPY if nbytes is None else nbytes)


def _randbelow(draw: Draw, callee: Any, exclusive_upper_bound: int) -> int:
    if exclusive_upper_bound <= 0:
        return callee(exclusive_upper_bound)  # type: ignore[no-any-return] # it raises
    return drawn.Drawn(draw.bytes(_SEED)).randrange(exclusive_upper_bound)


def _urandom(draw: Draw, callee: Any, size: int, flags: int = 0) -> bytes:
    return draw.bytes(size)


def _of_generator(name: str) -> Callable[..., Any]:
    """A function of ``random``: the method of a generator of its own."""
    return lambda draw, callee, *args, **kwargs: getattr(drawn.generator(draw.bytes(_SEED)), name)(*args, **kwargs)


def _of_system(name: str) -> Callable[..., Any]:
    return lambda draw, callee, *args, **kwargs: getattr(drawn.Drawn(draw.bytes(_SEED)), name)(*args, **kwargs)


def _random_class(draw: Draw, callee: Any, x: object = None) -> random.Random:
    return drawn.generator(draw.bytes(_SEED)) if x is None else callee(x)


def _system_class(draw: Draw, callee: Any, *ignored: object) -> random.Random:
    return drawn.Drawn(draw.bytes(_SEED))


def _numpy_seeded(draw: Draw, callee: Any, seed: object = None, *args: Any, **kwargs: Any) -> Any:
    """A generator of numpy's made without a seed is made with one."""
    given = kwargs.pop("entropy", None) if seed is None else seed
    return callee(_words(draw) if given is None else given, *args, **kwargs)


def _numpy_global(name: str) -> Callable[..., Any]:
    """A function of ``numpy.random`` that takes from the generator of the process."""

    def answer(draw: Draw, callee: Any, *args: Any, **kwargs: Any) -> Any:
        own = sys.modules["numpy.random"].RandomState(_words(draw))
        return getattr(own, name)(*args, **kwargs)

    return answer


def _words(draw: Draw) -> list[int]:
    data = draw.bytes(_SEED)
    return [int.from_bytes(data[at : at + 4]) for at in range(0, _SEED, 4)]


# ------------------------------------------------------------------------------------------------- which callee is what

_DATETIME, _DATE = datetime.datetime.__mro__[-3], datetime.date.__mro__[-2]  # the real ones, should they be replaced
_GLOBAL = random.random.__self__  # type: ignore[attr-defined]
_PROCESS_S_OWN = frozenset({"seed", "getstate", "setstate", "get_state", "set_state"})

#: By the id of the callee, which is kept alive.
_known: dict[int, tuple[object, Reader]] = {}
_methods: dict[str, Reader] = {}
_made: dict[tuple[str, str], Reader] = {}


def _know(callee: Any, reader: Reader) -> None:
    if isinstance(callee, BuiltinFunctionType | FunctionType | type):
        _known[id(callee)] = (callee, reader)


_NOW, _UTCNOW, _TODAY = _timed(_now), _timed(_utcnow), _timed(_today)
_CLOCKS = {
    ("now", _DATETIME): _NOW,
    ("utcnow", _DATETIME): _UTCNOW,
    ("today", _DATETIME): _TODAY,
    ("today", _DATE): _TODAY,
}
_CLOCK_NAMES = frozenset({"now", "utcnow", "today"})

_answers: dict[str, Callable[..., Any]] = {
    "time": _seconds, "time_ns": _nanoseconds, "localtime": _converted, "gmtime": _converted, "ctime": _converted,
    "asctime": _asctime, "strftime": _strftime, "clock_gettime": _clock, "clock_gettime_ns": _clock,
}  # fmt: skip
for _name, _answer in _answers.items():
    _know(getattr(time, _name, None), _timed(_answer))

_know(uuid.uuid4, _random("uuid4", lambda draw, callee: drawn.uuid4(draw.bytes(16))))
_know(uuid.uuid1, _random("uuid1", _uuid1))
_know(getattr(uuid, "uuid7", None), _random("uuid7", lambda draw, callee: drawn.uuid7(draw.bytes(10), draw.moment())))
_know(os.urandom, _random("urandom", _urandom))
_know(getattr(os, "getrandom", None), _random("getrandom", _urandom))
_know(secrets.token_bytes, _random("token_bytes", lambda draw, callee, nbytes=None: _token(draw, nbytes)))
_know(secrets.token_hex, _random("token_hex", lambda draw, callee, nbytes=None: _token(draw, nbytes).hex()))
_know(
    secrets.token_urlsafe,
    _random(
        "token_urlsafe",
        lambda draw, callee, nbytes=None: base64.urlsafe_b64encode(_token(draw, nbytes)).rstrip(b"=").decode("ascii"),
    ),
)
_know(secrets.randbelow, _random("randbelow", _randbelow))
_know(random.Random, _random("Random", _random_class))
_know(random.SystemRandom, _random("SystemRandom", _system_class))


def reader_of(callee: Any) -> Reader | None:
    """How a known reader is answered in a twin; None for any other callee."""
    found = _known.get(id(callee))
    if found is not None:
        return found[1]
    kind = type(callee)
    if kind is BuiltinFunctionType:
        name = callee.__name__
        if name in _CLOCK_NAMES and isinstance(callee.__self__, type):
            return _CLOCKS.get((name, callee.__self__))
        return _method(name, _of_generator) if callee.__self__ is _GLOBAL else None
    if kind is MethodType:
        return _of_method(callee, callee.__self__)
    if kind is type or kind.__name__ == "cython_function_or_method":
        return _of_numpy(callee)
    return None


def _method(name: str, answer: Callable[[str], Callable[..., Any]]) -> Reader | None:
    if name in _PROCESS_S_OWN:
        return None
    key = f"{answer.__name__}.{name}"
    reader = _methods.get(key)
    if reader is None:
        reader = _methods[key] = _random(name, answer(name))
    return reader


def _of_method(callee: Any, owner: object) -> Reader | None:
    kind = type(owner)
    if owner is _GLOBAL:
        return _method(callee.__name__, _of_generator)
    if kind is random.SystemRandom:
        return _method(callee.__name__, _of_system)
    if kind.__name__ == "RandomState" and kind.__module__ == "numpy.random.mtrand":
        is_global = owner is getattr(sys.modules["numpy.random.mtrand"], "_rand", None)
        return _method(callee.__name__, _numpy_global) if is_global else None
    return None


_NUMPY_S = frozenset({"default_rng", "RandomState", "SeedSequence", "MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"})


def _of_numpy(callee: Any) -> Reader | None:
    module = callee.__module__
    if type(module) is not str or not module.startswith("numpy.random"):
        return None
    name = callee.__name__
    if name in _NUMPY_S:
        key = (module, name)
        if key not in _made:
            _made[key] = _random(name, _numpy_seeded)
        return _made[key]
    return _method("random_sample", _numpy_global) if name in ("sample", "ranf") else None
