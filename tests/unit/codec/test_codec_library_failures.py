"""Failures of the libraries that apps use come back the same, or are refused with a remedy that works."""

from __future__ import annotations

import asyncio
import dataclasses
import decimal
import json
import sqlite3
import subprocess
import typing
import urllib.error
import zoneinfo
from decimal import Decimal

import pydantic
import pydantic_core
import pytest
import sqlalchemy
import sqlalchemy.exc
import sqlalchemy.orm

from semel.codec import Codec, NotEncodable, RecordedCause, TypeRegistry, failure_traceback

pytestmark = pytest.mark.rule("O24")

codec = Codec(TypeRegistry(lambda: frozenset({__name__.partition(".")[0]})))


def caught(call: typing.Callable[[], object]) -> typing.Any:
    try:
        call()
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def again(exc: BaseException) -> typing.Any:
    back = codec.decode_failure(codec.encode_failure(exc))
    assert type(back) is type(exc)
    assert str(back) == str(exc)
    twice = codec.decode_failure(codec.encode_failure(back))
    assert (type(twice), str(twice)) == (type(exc), str(exc))
    return back


# ----------------------------------------------------------------------------------------------------------- arguments


def test_an_argument_that_is_an_exception_comes_back_as_one() -> None:
    back = again(urllib.error.URLError(ConnectionRefusedError(111, "refused")))
    assert (type(back.reason), back.reason.errno) == (ConnectionRefusedError, 111)
    assert type(back.args[0]) is ConnectionRefusedError
    back = again(ValueError("outer", KeyError("k", ValueError(Decimal("1.5")))))
    assert back.args[1].args[1].args == (Decimal("1.5"),)
    with pytest.raises(NotEncodable) as refused:
        codec.encode_failure(ValueError(1, KeyError([object()])))
    assert refused.value.where == "failure.args[1].args[0][0]"


def test_exceptions_that_hold_each_other_are_an_error_or_text() -> None:
    loop: typing.Any = ValueError()
    loop.args = (loop,)
    with pytest.raises(NotEncodable):
        codec.encode_failure(loop)
    one: typing.Any = ValueError("one")
    two: typing.Any = ValueError("two")
    one.other, two.other = two, one
    one.same, two.same = two, one
    assert str(again(one).other.other) == "one"


class Wrapped(Exception):
    def __init__(self, inner: BaseException) -> None:
        super().__init__("wrapped")
        self.inner = inner


def test_an_exception_that_is_held_and_cannot_be_found_again_is_kept_as_text() -> None:
    class Local(Exception): ...

    back = again(Wrapped(Local("why")))
    assert type(back.inner) is RecordedCause
    assert "Local: why" in str(back.inner)


@dataclasses.dataclass
class Problem(Exception):
    code: int
    details: list[str] = dataclasses.field(default_factory=list)


class Slots(Exception):
    __slots__ = ("code", "unset")

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


FAILURES: list[typing.Callable[[], BaseException]] = [
    lambda: subprocess.CalledProcessError(3, ["cmd", "-x"], output="out", stderr=b"err"),
    lambda: subprocess.TimeoutExpired("cmd", 1.5, output=b"x"),
    lambda: caught(lambda: json.loads('{"a": }')),
    lambda: asyncio.TimeoutError(),  # noqa: UP041  the name that people write
    lambda: asyncio.IncompleteReadError(b"ab", 5),
    lambda: caught(lambda: zoneinfo.ZoneInfo("No/Where")),
    lambda: caught(lambda: Decimal(1) / Decimal(0)),
    lambda: caught(lambda: Decimal("x")),
    lambda: decimal.Inexact("lost"),
    lambda: caught(lambda: b"\xff".decode()),
    lambda: UnicodeTranslateError("é", 0, 1, "no"),
    lambda: PermissionError(13, "denied", "f"),
    lambda: ConnectionResetError(104, "reset"),
    lambda: KeyError(("a", 1)),
    lambda: StopIteration({"a": 1}),
    lambda: StopAsyncIteration(),
    lambda: Problem(4, ["a"]),
    lambda: Slots(4),
    lambda: sqlite3.OperationalError("no such table: t"),
    lambda: ExceptionGroup("m", [ValueError(1), ExceptionGroup("n", [Problem(1), KeyError("k")])]),
]


@pytest.mark.parametrize("make", FAILURES, ids=lambda make: type(make()).__name__)
def test_a_failure_of_the_standard_library_comes_back_with_all_it_holds(
    make: typing.Callable[[], BaseException],
) -> None:
    exc = make()
    back = again(exc)
    if isinstance(exc, BaseExceptionGroup):
        assert repr(back) == repr(exc)
    else:
        assert back.args == exc.args
        assert vars(back) == vars(exc)
    for name in ("cmd", "stderr", "pos", "doc", "partial", "errno", "filename", "value", "code", "details", "object"):
        assert getattr(back, name, None) == getattr(exc, name, None)


# ------------------------------------------------------------------------------------------------------------- pydantic


class Address(pydantic.BaseModel):
    city: str
    zip: int = pydantic.Field(gt=9999)


class Order(pydantic.BaseModel):
    id: int
    address: Address
    site: pydantic.HttpUrl
    kind: typing.Literal["a", "b"]
    pay: Decimal = pydantic.Field(max_digits=3)

    @pydantic.field_validator("id")
    @classmethod
    def small(cls, value: int) -> int:
        if value > 5:
            raise ValueError("too {big}")
        assert value > 0, "too small"
        if value == 3:
            raise pydantic_core.PydanticCustomError("no_three", "not {three}, not {number}", {"number": 3})
        if value == 4:
            raise pydantic_core.PydanticKnownError("greater_than", {"gt": 4})
        return value


class Hidden(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(hide_input_in_errors=True)
    password: int


GOOD = {"id": 1, "address": {"city": "x", "zip": 12345}, "site": "http://a.test", "kind": "a", "pay": "1.5"}

INVALID: list[typing.Callable[[], object]] = [
    lambda: Order.model_validate({}),
    lambda: Order.model_validate("nothing"),
    lambda: Order.model_validate_json("[1]"),
    lambda: Order.model_validate_json("{"),
    lambda: Order.model_validate({**GOOD, "id": 7, "kind": "c", "site": "nowhere", "pay": Decimal("12345")}),
    lambda: Order.model_validate({**GOOD, "id": -1, "address": {"city": 5, "zip": 1}}),
    lambda: Order.model_validate({**GOOD, "id": 3}),
    lambda: Order.model_validate({**GOOD, "id": 4}),
    lambda: Hidden.model_validate({"password": "x"}),
    lambda: pydantic.TypeAdapter(int | list[int]).validate_python(["x"]),
    lambda: pydantic.TypeAdapter(dict[int, int]).validate_json('{"a": 1}'),
]


@pytest.mark.parametrize("number", range(len(INVALID)))
def test_a_validation_error_comes_back_with_its_errors(number: int) -> None:
    exc = caught(INVALID[number])
    assert type(exc) is pydantic.ValidationError
    back = again(exc)
    assert back.title == exc.title
    assert repr(back.errors()) == repr(exc.errors())
    assert back.error_count() == exc.error_count()
    assert back.json() == exc.json()


def test_a_validation_error_over_what_cannot_be_recorded_is_refused_and_the_remedy_works() -> None:
    exc = caught(lambda: Order.model_validate({**GOOD, "id": object()}))
    with pytest.raises(NotEncodable, match="catch the error in the step, and raise one of your own") as refused:
        codec.encode_failure(exc)
    assert refused.value.where == "failure.errors()[0]"

    def step() -> None:
        try:
            Order.model_validate({**GOOD, "id": object()})
        except pydantic.ValidationError as error:
            raise Problem(error.error_count()) from error

    assert again(caught(step)).code == 1


# ----------------------------------------------------------------------------------------------------------- SQLAlchemy


def database_error(statement: str, values: dict[str, object], **options: object) -> typing.Any:
    engine = sqlalchemy.create_engine("sqlite://", **options)  # type: ignore[arg-type]
    with engine.connect() as connection:
        connection.exec_driver_sql("create table t (x text primary key)")
        connection.exec_driver_sql("insert into t values ('sesame')")
        error = caught(lambda: connection.execute(sqlalchemy.text(statement), values))
    engine.dispose()
    return error


INSERT = "insert into t values (:x)"
VALUES: dict[str, object] = {"x": "sesame"}


def test_a_database_error_that_hides_its_parameters_comes_back_without_them() -> None:
    exc = database_error(INSERT, VALUES, hide_parameters=True)
    assert b"sesame" not in codec.encode_failure(exc)
    back = again(exc)
    assert type(back) is sqlalchemy.exc.IntegrityError
    assert (back.args, back.code) == (exc.args, exc.code)
    assert (type(back.orig), back.orig.args) == (sqlite3.IntegrityError, exc.orig.args)
    assert back.orig.sqlite_errorname == "SQLITE_CONSTRAINT_PRIMARYKEY"
    assert back.params == ("not recorded",)
    assert type(again(database_error("select nope", {}, hide_parameters=True))) is sqlalchemy.exc.OperationalError


def test_a_database_error_that_shows_its_parameters_is_refused() -> None:
    exc = database_error(INSERT, VALUES)
    with pytest.raises(NotEncodable, match="hide_parameters=True"):
        codec.encode_failure(exc)
    with pytest.raises(NotEncodable, match="hide_parameters=True"):
        codec.encode_failure(ExceptionGroup("m", [exc]))


def test_an_error_that_was_raised_from_a_database_error_does_not_repeat_the_sql() -> None:
    def step() -> None:
        try:
            raise database_error(INSERT, VALUES)
        except sqlalchemy.exc.IntegrityError as error:
            raise Wrapped(ExceptionGroup("all", [error])) from error

    exc = caught(step)
    data = codec.encode_failure(exc)
    assert b"sesame" not in data
    assert b"insert into t values (" not in data
    text = failure_traceback(data)
    assert "UNIQUE constraint failed: t.x\n[the SQL statement and its parameters are not recorded]" in text
    assert "UNIQUE constraint failed" in str(codec.decode_failure(data).__cause__)


def test_database_errors_without_a_statement_come_back() -> None:
    back = again(sqlalchemy.exc.NoResultFound("No row was found when one was required"))
    assert back.args == ("No row was found when one was required",)
    engine = sqlalchemy.create_engine("sqlite:////nowhere/at/all.db")
    exc = caught(engine.connect)
    engine.dispose()
    assert type(exc) is sqlalchemy.exc.OperationalError
    assert again(exc).args == exc.args
