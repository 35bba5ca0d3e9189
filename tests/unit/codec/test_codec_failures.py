"""A failure comes back with its class, arguments and text, without its constructor, and with what can be kept of it."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import pathlib
import subprocess
import sys
import threading
import typing
from decimal import Decimal, InvalidOperation

import msgspec
import pytest
import sqlalchemy
import sqlalchemy.exc
import tenacity  # noqa: F401  its exceptions are the app's to meet

import semel.errors
from semel.codec import Codec, NotEncodable, TypeRegistry, failure_traceback
from semel.errors import RecordUnreadable

pytestmark = pytest.mark.rule("O24")

codec = Codec(TypeRegistry(lambda: frozenset({__name__.partition(".")[0]})))


class KeywordOnly(Exception):
    def __init__(self, *, code: int, lock: object = None) -> None:
        super().__init__(f"code {code}")
        self.code = code
        self.lock = lock


class OwnText(Exception):
    def __init__(self, order: str, amount: Decimal) -> None:
        self.order, self.amount = order, amount

    def __str__(self) -> str:
        return f"{self.order}: {self.amount}"


class Slotted(Exception):
    __slots__ = ("__hidden", "code")

    def __init__(self, code: int) -> None:
        self.code = code
        self.__hidden = "h"

    def __str__(self) -> str:
        return f"{self.code}{self.__hidden}"


class OwnNew(ValueError):
    def __new__(cls, *, made: str) -> OwnNew:
        return super().__new__(cls, made)

    def __init__(self, *, made: str) -> None:
        self.made = made

    def __reduce__(self) -> typing.NoReturn:
        raise AssertionError("pickled")


@dataclasses.dataclass(frozen=True)
class Frozen(Exception):
    code: int


class Group(ExceptionGroup[Exception]):
    def derive(self, excs: typing.Any) -> Group:
        return Group(self.message, excs)


class Outer:
    class Inner(LookupError):
        pass


class FileTrouble(FileNotFoundError):
    def __init__(self, name: str) -> None:
        super().__init__(2, "gone", name)
        self.name = name


def caught(call: typing.Callable[[], object]) -> BaseException:
    try:
        call()
    except BaseException as error:
        return error
    raise AssertionError("nothing was raised")


def integrity_error() -> BaseException:
    engine = sqlalchemy.create_engine("sqlite://", hide_parameters=True)
    with engine.connect() as connection:
        connection.exec_driver_sql("create table t (x integer primary key)")
        connection.exec_driver_sql("insert into t values (1)")
        error = caught(lambda: connection.execute(sqlalchemy.text("insert into t values (:x)"), {"x": 1}))
    engine.dispose()
    return error


FAILURES: list[typing.Callable[[], BaseException]] = [
    lambda: ValueError(),
    lambda: ValueError("a", 1, [Decimal("1.5")], None),
    lambda: ValueError(float("nan")),
    lambda: KeyError("k"),
    lambda: SystemExit(3),
    lambda: StopIteration(7),
    lambda: KeyboardInterrupt(),
    lambda: asyncio.CancelledError("why"),
    lambda: TimeoutError("slow"),
    lambda: OSError(2, "gone", "file.txt"),
    lambda: OSError("only text"),
    lambda: OSError(2, "gone", "one", None, "two"),
    lambda: FileTrouble("n"),
    lambda: BlockingIOError(11, "again", 5),
    lambda: caught(lambda: pathlib.Path("/nowhere/at/all").read_text()),
    lambda: caught(lambda: b"\xff".decode()),
    lambda: caught(lambda: "\ud800".encode()),
    lambda: caught(lambda: json.loads("{")),
    lambda: caught(lambda: Decimal("x")),
    lambda: caught(lambda: compile("a b", "f.py", "exec")),
    lambda: caught(lambda: getattr(1, "nope")),
    lambda: caught(lambda: __import__("no_such_module_at_all")),
    lambda: subprocess.CalledProcessError(1, ["cmd"], b"out"),
    lambda: msgspec.ValidationError("bad"),
    lambda: KeywordOnly(code=3),
    lambda: OwnText("A-1", Decimal("2.50")),
    lambda: Slotted(4),
    lambda: OwnNew(made="x"),
    lambda: Frozen(5),
    lambda: Outer.Inner("x"),
    lambda: ValueError("\ud800", 2**80),
    lambda: semel.errors.Refused("no", ()),
    lambda: semel.errors.RunFaulted("never"),
    lambda: ExceptionGroup("m", [ValueError(1), ExceptionGroup("n", [KeywordOnly(code=1), OSError(2, "x", "f")])]),
    lambda: BaseExceptionGroup("m", (KeyboardInterrupt(),)),
    lambda: Group("mine", [ValueError(1)]),
    integrity_error,
]


def look_equal(back: BaseException, exc: BaseException) -> bool:
    if isinstance(exc, BaseExceptionGroup) and isinstance(back, BaseExceptionGroup):
        return type(back) is type(exc) and all(map(look_equal, back.exceptions, exc.exceptions))
    return type(back) is type(exc) and str(back) == str(exc) and codec.encode(back.args) == codec.encode(exc.args)


@pytest.mark.parametrize("make", FAILURES, ids=lambda make: repr(make())[:40])
def test_a_failure_comes_back_with_its_class_arguments_and_text(make: typing.Callable[[], BaseException]) -> None:
    exc = make()
    back = codec.decode_failure(codec.encode_failure(exc))
    assert look_equal(back, exc)
    assert look_equal(codec.decode_failure(codec.encode_failure(back)), exc)
    assert back.__traceback__ is None


def test_what_builtin_exceptions_hold_comes_back() -> None:
    back: typing.Any = codec.decode_failure(codec.encode_failure(OSError(2, "gone", "one", None, "two")))
    assert (back.errno, back.strerror, back.filename, back.filename2) == (2, "gone", "one", "two")
    back = codec.decode_failure(codec.encode_failure(caught(lambda: b"a\xff".decode())))
    assert (back.object, back.start, back.reason) == (b"a\xff", 1, "invalid start byte")
    back = codec.decode_failure(codec.encode_failure(SystemExit(3)))
    assert back.code == 3


def test_attributes_that_can_be_recorded_come_back_and_others_are_left_out() -> None:
    back: typing.Any = codec.decode_failure(codec.encode_failure(KeywordOnly(code=3, lock=threading.Lock())))
    assert back.code == 3
    assert not hasattr(back, "lock")


def test_notes_come_back() -> None:
    exc = ValueError("x")
    exc.add_note("seen at the till")
    assert codec.decode_failure(codec.encode_failure(exc)).__notes__ == ["seen at the till"]


def test_the_cause_and_the_traceback_are_kept_as_text() -> None:
    def fail() -> None:
        try:
            raise KeyError("first")
        except KeyError as error:
            raise ValueError("second") from error

    data = codec.encode_failure(caught(fail))
    back = codec.decode_failure(data)
    assert str(back.__cause__) == "KeyError: 'first'"
    assert back.__suppress_context__
    text = failure_traceback(data)
    assert "in fail" in text
    assert "KeyError: 'first'" in text
    again = codec.decode_failure(codec.encode_failure(back))
    assert str(again.__cause__) == "KeyError: 'first'"


def test_a_huge_traceback_is_shortened_in_the_middle() -> None:
    data = codec.encode_failure(ValueError("\n".join(map(str, range(100_000)))))
    text = failure_traceback(data)
    assert len(text) < 70_000
    assert text.startswith("ValueError: 0\n")
    assert text.endswith("99999\n")


def test_a_failure_of_a_class_that_nobody_imports_is_refused() -> None:
    class Local(Exception): ...

    with pytest.raises(NotEncodable, match="module level"):
        codec.encode_failure(Local())
    bare = Codec(TypeRegistry(lambda: frozenset()))
    with pytest.raises(NotEncodable, match=r"from sqlalchemy\.exc import ArgumentError"):
        bare.encode_failure(sqlalchemy.exc.ArgumentError("x"))
    assert look_equal(bare.decode_failure(bare.encode_failure(InvalidOperation("x"))), InvalidOperation("x"))


class Clock:
    def __str__(self) -> str:
        return str(id(self))


class TextOfState(Exception):
    def __init__(self, clock: object) -> None:
        super().__init__("x")
        self.clock = clock

    def __str__(self) -> str:
        return str(self.clock)


class NoText(Exception):
    def __str__(self) -> str:
        raise RuntimeError


def test_a_failure_that_would_come_back_otherwise_is_refused() -> None:
    for exc in (ValueError(Clock()), TextOfState(Clock()), NoText(), ExceptionGroup("m", [ValueError(object())])):
        with pytest.raises(NotEncodable) as refused:
            codec.encode_failure(exc)
        assert refused.value.where.startswith("failure")
    with pytest.raises(NotEncodable) as refused:
        codec.encode_failure(ExceptionGroup("m", [ValueError(1), ValueError([object()])]))
    assert refused.value.where == "failure.exceptions[1].args[0][0]"


def test_values_and_failures_are_not_taken_for_each_other() -> None:
    with pytest.raises(RecordUnreadable, match="a failure, not a value"):
        codec.decode(codec.encode_failure(ValueError(1)))
    for read in (codec.decode_failure, failure_traceback):
        with pytest.raises(RecordUnreadable, match="a value, not a failure"):
            read(codec.encode([1, (2,)]))


@pytest.mark.rule("D4")
def test_an_exception_class_that_is_gone_is_an_error_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    data = codec.encode_failure(KeywordOnly(code=3))
    monkeypatch.delattr(sys.modules[__name__], "KeywordOnly")
    with pytest.raises(RecordUnreadable, match=r"KeywordOnly cannot be used.*declare alias"):
        codec.decode_failure(data)
    assert "code 3" in failure_traceback(data)
