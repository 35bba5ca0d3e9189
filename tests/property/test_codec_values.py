"""Whatever is recorded comes back equal and of the same types, at any depth, and equal values give equal bytes."""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import enum
import math
import pathlib
import typing
import zoneinfo
from decimal import Decimal

import attrs
import msgspec
import pydantic
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from semel.codec import Codec, TypeRegistry

pytestmark = pytest.mark.rule("O22")


class Colour(enum.Enum):
    RED = "red"
    BLUE = ("blue", 3)


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Word(enum.StrEnum):
    YES = "yes"
    NO = "no"


class Right(enum.Flag):
    READ = enum.auto()
    WRITE = enum.auto()
    RUN = enum.auto()


@dataclasses.dataclass
class Order:
    id: typing.Any
    lines: typing.Any = None
    total: typing.Any = dataclasses.field(init=False, default=3)


@dataclasses.dataclass(frozen=True, slots=True)
class Money:
    amount: typing.Any
    currency: typing.Any


class Point(typing.NamedTuple):
    x: typing.Any
    y: typing.Any = None


Pair = collections.namedtuple("Pair", "left right")


class Address(typing.TypedDict):
    street: typing.Any


@attrs.define
class Customer:
    name: typing.Any
    _secret: typing.Any = None


@attrs.frozen(cache_hash=True)
class Key:
    part: typing.Any


class Model(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")
    name: typing.Any
    size: typing.Any = 1
    _hidden: typing.Any = pydantic.PrivateAttr(default=None)


class Event(msgspec.Struct, tag=True):
    kind: typing.Any
    data: typing.Any = msgspec.UNSET


class FrozenEvent(msgspec.Struct, frozen=True):
    kind: typing.Any


codec = Codec(TypeRegistry(lambda: frozenset({__name__.partition(".")[0]})))


def same(one: typing.Any, other: typing.Any) -> bool:
    """Whether two values are equal with the same types throughout: NaN is NaN, and 0.0 is not -0.0."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return repr(one) == repr(other)
    if isinstance(one, Decimal):
        return str(one) == str(other) and one.as_tuple() == other.as_tuple()
    if isinstance(one, enum.Enum):
        return one is other
    if isinstance(one, dt.datetime | dt.time):
        zones = (one.tzinfo, other.tzinfo)
        return repr(one) == repr(other) and type(zones[0]) is type(zones[1]) and str(zones[0]) == str(zones[1])
    if isinstance(one, dict):
        return len(one) == len(other) and all(
            same(a, b) for pairs in zip(one.items(), other.items(), strict=True) for a, b in zip(*pairs, strict=True)
        )
    if isinstance(one, set | frozenset):
        left = list(other)
        for item in one:
            match = next((index for index, twin in enumerate(left) if same(item, twin)), None)
            if match is None:
                return False
            left.pop(match)
        return not left
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, Order | Customer | Key | Money | Event | FrozenEvent):
        names = getattr(one, "__slots__", ()) or vars(one)
        return all(same(getattr(one, n), getattr(other, n)) for n in names if n[:2] != "__" and "hash" not in n)
    if isinstance(one, Model):
        return (
            same(one.__dict__, other.__dict__)
            and same(one.model_fields_set, other.model_fields_set)
            and same(one.__pydantic_extra__, other.__pydantic_extra__)
            and same(one.__pydantic_private__, other.__pydantic_private__)
        )
    return bool(one == other)


def test_the_comparison_of_these_tests_sees_differences() -> None:
    assert same([math.nan, {1: (2,)}], [math.nan, {1: (2,)}])
    for one, other in [
        (1, True),
        (0.0, -0.0),
        ([1], (1,)),
        ({1}, {True}),
        (Money(1, 2), Money(1, 2.0)),
        ("a", Word.YES),
    ]:
        assert not same(one, other)


zones = st.one_of(
    st.none(),
    st.just(dt.UTC),
    st.builds(dt.timezone, st.timedeltas(min_value=dt.timedelta(hours=-23), max_value=dt.timedelta(hours=23))),
    st.builds(dt.timezone, st.just(dt.timedelta(hours=1)), st.text(max_size=5)),
    st.sampled_from(["Europe/Berlin", "America/New_York", "UTC"]).map(zoneinfo.ZoneInfo),
)
folds = st.sampled_from([0, 1])
any_text = st.text(st.characters(exclude_categories=()), max_size=12)
plain_leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=-(2**200), max_value=2**200),
    st.sampled_from([2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1]),
    st.floats(),
    any_text,
    st.binary(max_size=20),
    st.builds(lambda d, fold, zone: d.replace(fold=fold, tzinfo=zone), st.datetimes(), folds, zones),
    st.builds(lambda t, fold, zone: t.replace(fold=fold, tzinfo=zone), st.times(), folds, zones),
    st.dates(),
    st.timedeltas(),
    st.decimals(allow_nan=False),
    st.sampled_from(["NaN", "-NaN7", "0E+9", "-0", "1E-999", "1.500"]).map(Decimal),
    st.uuids(),
    st.sampled_from([*Colour, *Level, *Word, *Right, Right(0), Right.READ | Right.RUN]),
    st.lists(st.text("abc.~ \udcff", min_size=1, max_size=4), max_size=3).map(lambda parts: pathlib.Path(*parts)),
    st.sampled_from([pathlib.PurePosixPath("/a/b"), pathlib.PureWindowsPath("c:\\x\\y"), pathlib.PurePosixPath(".")]),
    st.just(msgspec.UNSET),
)


@st.composite
def hashable(draw: st.DrawFn) -> typing.Any:
    return draw(plain_leaves)


@st.composite
def any_leaf(draw: st.DrawFn) -> typing.Any:
    # A signalling NaN cannot be hashed.
    return draw(plain_leaves | st.sampled_from(["sNaN", "-sNaN12"]).map(Decimal))


keys = st.recursive(
    hashable(),
    lambda inner: st.one_of(
        st.tuples(inner, inner),
        st.frozensets(inner, max_size=3),
        st.builds(Money, inner, inner),
        st.builds(Point, inner, inner),
        st.builds(Key, inner),
        st.builds(FrozenEvent, inner),
    ),
    max_leaves=5,
)


@st.composite
def key(draw: st.DrawFn) -> typing.Any:
    return draw(keys)


def with_private(model: Model, private: object) -> Model:
    model._hidden = private
    return model


def containers(inner: st.SearchStrategy[typing.Any]) -> st.SearchStrategy[typing.Any]:
    names = st.sampled_from(["extra_one", "extra_two"])
    return st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(key(), inner, max_size=4),
        st.dictionaries(any_text, inner, max_size=4),
        st.dictionaries(key(), inner, max_size=3).map(collections.OrderedDict),
        st.sets(key(), max_size=4),
        st.frozensets(key(), max_size=4),
        st.builds(Order, inner, inner),
        st.builds(Money, inner, inner),
        st.builds(Point, inner, inner),
        st.builds(Pair, inner, inner),
        st.builds(Customer, inner, inner),
        st.builds(Event, inner, inner),
        st.fixed_dictionaries({"street": inner}),
        st.builds(
            lambda fields, extra, private: with_private(Model(**fields, **extra), private),
            st.fixed_dictionaries({"name": inner}, optional={"size": inner}),
            st.dictionaries(names, inner, max_size=2),
            inner,
        ),
    )


values = st.recursive(any_leaf() | key(), containers, max_leaves=12)
quick = settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@quick
@given(values)
def test_a_value_comes_back_equal_and_of_the_same_types(value: object) -> None:
    data = codec.encode(value)
    back = codec.decode(data)
    assert same(value, back)
    assert codec.encode(back) == data


@quick
@given(st.lists(key(), max_size=6), st.randoms(use_true_random=False))
def test_equal_sets_give_equal_bytes(items: list[typing.Any], random: typing.Any) -> None:
    one = set(items)
    ordered = sorted(one, key=codec.encode)
    random.shuffle(ordered)
    assert codec.encode(set(ordered)) == codec.encode(one)
    assert codec.encode(frozenset(ordered)) == codec.encode(frozenset(one))


@settings(max_examples=100, deadline=None)
@given(values, values)
def test_different_values_give_different_bytes(one: object, other: object) -> None:
    assert (codec.encode(one) == codec.encode(other)) == same(one, other)
