"""What cannot be recorded is refused, with the type, the place in the value and a way out."""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import enum
import io
import sys
import threading
import typing

import pydantic
import pytest
import sqlalchemy.orm

from semel.codec import MAX_DEPTH, Codec, NotEncodable, TypeRegistry

pytestmark = pytest.mark.rule("O23")

codec = Codec(TypeRegistry(lambda: frozenset({__name__.partition(".")[0]})))


class MyStr(str): ...


class MyInt(int): ...


class MyDict(dict[str, int]): ...


class Plain: ...


@dataclasses.dataclass
class OnDict(dict[str, int]):
    x: int = 1


@dataclasses.dataclass
class Line:
    sku: str
    price: typing.Any = None


@dataclasses.dataclass
class Order:
    lines: list[Line]


class Vault(pydantic.BaseModel):
    key: pydantic.SecretStr


class Row(sqlalchemy.orm.MappedAsDataclass, sqlalchemy.orm.DeclarativeBase):
    pass


class Item(Row):
    __tablename__ = "item"
    id: sqlalchemy.orm.Mapped[int] = sqlalchemy.orm.mapped_column(primary_key=True)


class Zone(dt.tzinfo): ...


def refusal(value: object) -> NotEncodable:
    with pytest.raises(NotEncodable) as caught:
        codec.encode(value)
    return caught.value


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (MyStr("a"), "subclass of str"),
        (MyInt(1), "subclass of int"),
        (MyDict(a=1), "subclass of dict"),
        (collections.defaultdict(list), "subclass of dict"),
        (collections.Counter("a"), "subclass of dict"),
        (OnDict(), "without its constructor"),
        (Plain(), "dataclass"),
        (object(), "dataclass"),
        (Plain, "dataclass"),
        (len, "dataclass"),
        (bytearray(b"x"), "dataclass"),
        (io.BytesIO(), "dataclass"),
        (threading.Lock(), "dataclass"),
        ((n for n in [1]), "dataclass"),
        (ValueError("x"), "its text"),
        (Vault(key=pydantic.SecretStr("s")), "a record must not hold secrets"),
        (pydantic.SecretBytes(b"s"), "a record must not hold secrets"),
        (pydantic.Secret[int](1), "a record must not hold secrets"),
        (Item(id=1), "return its key"),
        (dt.datetime(2024, 1, 1, tzinfo=Zone()), "datetime.timezone"),
        ({MyStr("key"): 1}, "subclass of str"),
    ],
)
def test_a_value_of_no_known_kind_is_refused_with_a_way_out(value: object, says: str) -> None:
    assert says in str(refusal(value))


def test_the_place_of_the_trouble_is_named() -> None:
    assert refusal(Order([Line("a"), Line("b"), Line("c"), Line("d", Plain())])).where == "result.lines[3].price"
    error = refusal({"a": [1, {2: (Plain(),)}]})
    assert error.where == "result['a'][1][2][0]"
    assert error.type_name == f"{__name__}.Plain"
    with pytest.raises(NotEncodable, match=r"^amount\[0\] is of type "):
        codec.encode([Plain()], root="amount")


def test_a_class_made_in_a_function_is_refused() -> None:
    @dataclasses.dataclass
    class Local:
        x: int

    class Kind(enum.Enum):
        A = 1

    for value in (Local(1), Kind.A):
        assert "move it to module level" in str(refusal(value))


def test_a_value_that_contains_itself_is_refused() -> None:
    loop: list[typing.Any] = [1]
    loop.append({"again": loop})
    error = refusal(loop)
    assert "contains itself" in error.why
    assert error.where.startswith("result[1]['again'][1]")
    order = Order([Line("a")])
    order.lines[0].price = order
    assert "contains itself" in refusal(order).why


@pytest.mark.parametrize(
    "wrap",
    [lambda v: [v], lambda v: (v,), lambda v: {"k": v}, lambda v: {1: v}, lambda v: Line("a", v)],
    ids=["list", "tuple", "dict", "dict by int", "dataclass"],
)
def test_a_value_nested_too_deep_is_refused(wrap: typing.Callable[[object], object]) -> None:
    value: object = 1
    for _ in range(10_000):
        value = wrap(value)
    assert f"more than {MAX_DEPTH} deep" in refusal(value).why


def test_shared_parts_that_unfold_without_end_are_refused() -> None:
    value: typing.Any = []
    for _ in range(90):
        value = [value, value]
    assert "unfolds to more than 16 MiB" in refusal(value).why


def test_a_deep_call_stack_is_an_error_and_not_a_crash() -> None:
    value: typing.Any = Line("a")
    for _ in range(40):
        value = (value,)

    def encode_below(frames: int) -> str:
        if frames:
            return encode_below(frames - 1)
        try:
            codec.encode(value)
        except NotEncodable as error:
            return error.why
        return ""

    answers = set()
    for frames in range(0, sys.getrecursionlimit(), 10):
        try:
            answers.add(encode_below(frames))
        except RecursionError:
            break
    assert answers == {"", "it is nested too deep for what is left of the call stack"}


def test_a_secret_is_named_by_its_place_and_not_shown() -> None:
    error = refusal(Vault(key=pydantic.SecretStr("sesame")))
    assert error.where == "result.key"
    assert error.type_name == "pydantic.types.SecretStr"
    assert "sesame" not in str(error)
