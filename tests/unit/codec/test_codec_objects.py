"""Objects come back whole, and none of their class's own code runs to make them."""

from __future__ import annotations

import abc
import collections
import dataclasses
import datetime as dt
import enum
import functools
import pathlib
import typing
import uuid
from decimal import Decimal, localcontext

import attrs
import msgspec
import pydantic
import pydantic.dataclasses
import pytest

from semel.codec import Codec, TypeRegistry

pytestmark = pytest.mark.rule("O22")

codec = Codec(TypeRegistry(lambda: frozenset({__name__.partition(".")[0]})))


def again(value: typing.Any) -> typing.Any:
    back = codec.decode(codec.encode(value))
    assert type(back) is type(value)
    return back


@dataclasses.dataclass
class Counted:
    made = 0

    id: str
    total: int = dataclasses.field(init=False)
    note: str = dataclasses.field(init=False, default="none")

    def __post_init__(self) -> None:
        type(self).made += 1
        self._seen = [self.id]

    def __reduce__(self) -> typing.NoReturn:
        raise AssertionError("pickled")

    @functools.cached_property
    def lock(self) -> object:
        return object()


def test_a_dataclass_comes_back_without_its_constructor() -> None:
    value = Counted("a")
    value.total = 7
    before = Counted.made
    back = again(value)
    assert back == value
    assert back._seen == ["a"]
    assert Counted.made == before


def test_a_field_that_was_never_set_is_not_set_when_it_comes_back() -> None:
    back = again(Counted("a"))
    assert not hasattr(back, "total")
    assert back.note == "none"


def test_a_cached_property_is_computed_again() -> None:
    value = Counted("a")
    assert value.lock is value.lock
    assert "lock" not in vars(again(value))


class Base:
    __slots__ = ("__private", "cache")

    def fill(self) -> None:
        self.cache = {"k": (1, 2)}
        self.__private = 5

    def private(self) -> int:
        return self.__private


@dataclasses.dataclass(slots=True, frozen=True)
class Slotted(Base):
    a: int
    b: list[int] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Loose:
    __slots__ = ("__dict__", "x")
    x: int


def test_slots_of_the_class_and_of_its_bases_come_back() -> None:
    value = Slotted(1, [2])
    object.__setattr__(value, "cache", None)
    object.__setattr__(value, "_Base__private", 5)
    back = again(value)
    assert (back, back.private(), back.cache) == (value, 5, None)
    loose = Loose(1)
    loose.y = 2  # type: ignore[attr-defined]
    assert vars(again(loose)) == {"y": 2}


class Outer:
    @dataclasses.dataclass
    class Inner:
        class Deep(enum.Enum):
            ONE = 1

        x: typing.Any


class Plain(Outer.Inner):
    """No dataclass of its own."""


@dataclasses.dataclass
class Abstract(abc.ABC):
    x: int

    @abc.abstractmethod
    def area(self) -> int: ...


@dataclasses.dataclass
class Concrete(Abstract):
    def area(self) -> int:
        return self.x


def test_nested_derived_and_abstract_classes() -> None:
    assert again(Outer.Inner(Outer.Inner.Deep.ONE)) == Outer.Inner(Outer.Inner.Deep.ONE)
    assert again(Plain(3)).x == 3
    assert again(Concrete(4)) == Concrete(4)


@pydantic.dataclasses.dataclass
class Checked:
    x: int
    tags: list[str] = pydantic.Field(default_factory=list)


def test_a_dataclass_of_pydantic_comes_back_with_what_was_put_in_after_validation() -> None:
    value = Checked(x=1)
    value.x = "not an int"  # type: ignore[assignment]
    assert again(value) == value


@attrs.define
class Slim:
    a: int
    _b: int = 2
    c: int = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.c = self.a * 2


@attrs.frozen(cache_hash=True, slots=False)
class Hashed:
    a: str


def test_attrs_classes() -> None:
    value = Slim(1)
    value.c = 99
    assert again(value) == value
    hashed = Hashed("a")
    hash(hashed)
    back = again(hashed)
    assert back.__dict__["_attrs_cached_hash"] is None
    assert {back: 1}[hashed] == 1


class Point(typing.NamedTuple):
    x: int
    y: int = 0


class Marked(Point):
    pass


Renamed = collections.namedtuple("Original", "a b")


def test_named_tuples() -> None:
    assert again(Point(1)) == (1, 0)
    marked = Marked(1, 2)
    marked.note = "n"  # type: ignore[attr-defined]
    assert vars(again(marked)) == {"note": "n"}
    assert again(Renamed(1, [2])) == Renamed(1, [2])


T = typing.TypeVar("T")


class Page(pydantic.BaseModel, typing.Generic[T]):
    items: list[T]


Pages = Page[int]


class Account(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow", frozen=True)
    name: str
    size: int = 3
    _token: str = pydantic.PrivateAttr(default="t")

    @functools.cached_property
    def handle(self) -> object:
        return object()

    @pydantic.field_validator("name")
    @classmethod
    def short(cls, name: str) -> str:
        assert name != "bad"
        return name


class Number(pydantic.RootModel[int]):
    pass


def test_pydantic_models_come_back_without_validation() -> None:
    value = Account.model_construct(name="bad", other=(1, 2))
    value._token = "secret"
    assert value.handle is value.handle
    back = again(value)
    assert back == value
    assert (back.model_fields_set, back.model_extra, back._token) == (
        value.model_fields_set,
        {"other": (1, 2)},
        "secret",
    )
    assert back.model_dump() == value.model_dump()
    assert again(Number(5)) == Number(5)
    assert again(Pages(items=[1])) == Pages(items=[1])


class Loud(msgspec.Struct, frozen=True, tag="loud", kw_only=True):
    a: int
    b: list[int] = []

    def __post_init__(self) -> None:
        if self.a < 0:
            raise AssertionError("ran")


class Louder(msgspec.Struct, frozen=True, cache_hash=True):
    a: int

    def __post_init__(self) -> None:
        assert self.a is not None


class Open(msgspec.Struct, dict=True):
    a: int | msgspec.UnsetType = msgspec.UNSET


def test_structs_come_back_without_their_post_init() -> None:
    value = Loud(a=1)
    msgspec.structs.force_setattr(value, "a", -1)
    assert again(value) == value
    louder = Louder(a=1)
    assert hash(again(louder)) == hash(louder)
    unset = Open()
    unset.more = {1}  # type: ignore[attr-defined]
    assert again(unset).a is msgspec.UNSET
    assert again(unset).more == {1}


class Odd(enum.Enum):
    A = 1
    ALSO_A = 1  # noqa: PIE796
    B = A + 1


class Mode(enum.Flag, boundary=enum.KEEP):
    R = 1
    W = 2


def test_enum_members_are_the_members_themselves() -> None:
    assert again(Odd.ALSO_A) is Odd.A
    assert again(Mode.R | Mode.W) is Mode.R | Mode.W
    assert again(Mode(8)) == Mode(8)
    assert again({Odd.B: Mode(0)}) == {Odd.B: Mode(0)}


def test_an_unusual_decimal_context_changes_nothing() -> None:
    with localcontext() as context:
        usual = codec.encode(Decimal("1E+30"))
        context.prec = 2
        context.capitals = 0
        context.traps = dict.fromkeys(context.traps, True)
        assert codec.encode(Decimal("1E+30")) == usual
        assert again(Decimal("1.23456")) == Decimal("1.23456")
        assert again(Decimal("sNaN")).is_snan()


def test_a_zone_whose_offset_has_a_fraction_of_a_second_comes_back() -> None:
    zone = dt.timezone(dt.timedelta(microseconds=1))
    assert again(dt.datetime(2024, 1, 1, tzinfo=zone)).utcoffset() == dt.timedelta(microseconds=1)


def test_two_references_to_one_list_come_back_as_two_equal_lists() -> None:
    shared = [1]
    one, other = again([shared, shared])
    assert one == other
    assert one is not other


def test_the_value_given_is_not_changed() -> None:
    value = {"a": [(1,), {2}], "b": Concrete(3)}
    codec.encode(value)
    assert value == {"a": [(1,), {2}], "b": Concrete(3)}


def test_values_nested_as_deep_as_allowed_come_back() -> None:
    value: typing.Any = [Decimal(1)]
    for _ in range(32):
        value = {"a": (Outer.Inner(value),)}
    assert again(value) == value


def test_paths_uuids_and_texts_that_are_not_text() -> None:
    for value in (pathlib.Path("a\udcff"), uuid.uuid1(), {"\ud800": "\udfff", "a": 2**64}, {"\ud800"}):
        assert again(value) == value


class Site(pydantic.BaseModel):
    home: pydantic.HttpUrl
    any: pydantic.AnyUrl
    store: pydantic.PostgresDsn
    more: list[pydantic.AnyHttpUrl] = []


class ShopUrl(pydantic.AnyUrl):
    _constraints = pydantic.UrlConstraints(allowed_schemes=["shop"])


def test_urls_of_pydantic_come_back() -> None:
    site = Site.model_validate(
        {
            "home": "https://é.test/a%20b?q=1#f",
            "any": "redis://ann@host/0",
            "store": "postgres://a,b:1/db",
            "more": ["http://x.test:80"],
        }
    )
    back = again(site)
    assert back == site
    for name in ("home", "any", "store"):
        assert type(getattr(back, name)) is type(getattr(site, name))
        assert repr(getattr(back, name)) == repr(getattr(site, name))
    assert back.home.host == site.home.host
    assert back.store.hosts() == site.store.hosts()
    assert again({site.home: 1}) == {site.home: 1}
    assert str(again(ShopUrl("shop://x/1"))) == "shop://x/1"
