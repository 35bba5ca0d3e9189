"""Bytes that are not a record, or a record no more, are one error: never a crash, an import or a wrong exception."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt
import enum
import sys
import typing
import uuid
from decimal import Decimal

import httpx
import msgspec
import pydantic
import pytest
import requests
from hypothesis import example, given, settings
from hypothesis import strategies as st

from semel.codec import Codec, TypeRegistry, failure_traceback
from semel.errors import RecordUnreadable

pytestmark = pytest.mark.rule("O22")


@dataclasses.dataclass
class Line:
    sku: typing.Any
    price: typing.Any = None


class Shop(pydantic.BaseModel):
    site: pydantic.HttpUrl


class Stage(enum.Enum):
    NEW = 1


class Refund(Exception):
    def __init__(self, *, code: int) -> None:
        super().__init__(f"refund {code}")
        self.code = code


codec = Codec(TypeRegistry(lambda: frozenset({__name__.partition(".")[0]})))

ANSWER = httpx.Response(
    404,
    json={"a": 1},
    headers={"Set-Cookie": "a=1"},
    request=httpx.Request("GET", "http://shop.test/"),
    history=[httpx.Response(302)],
)


def refused_by_a_model() -> Exception:
    try:
        Shop.model_validate({"site": 1})
    except pydantic.ValidationError as error:
        return error
    raise AssertionError


VALUES = [
    {"a": [1, 2.5, None, True, "x", b"y"], "b": {"c": "d" * 40}},
    (1, {2, 3}, frozenset({"a"}), {1: "x", (1, 2): [Decimal("1.5")]}),
    [Line("a", Decimal("9.50")), Line(uuid.UUID(int=7), [Stage.NEW]), 2**90, "\ud800"],
    [dt.datetime(2024, 1, 2, tzinfo=dt.UTC), dt.date(2024, 1, 2), dt.timedelta(3), dt.time(1, 2, fold=1)],
    Shop.model_validate({"site": "http://shop.test/"}),
    [ANSWER, requests.Response()],
]
FAILURES = [
    Refund(code=3),
    OSError(2, "gone", "file.txt"),
    ExceptionGroup("both", [KeyError("k"), ValueError(1, "x")]),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
    httpx.HTTPStatusError("404", request=ANSWER.request, response=ANSWER),
    requests.ConnectionError(OSError(104, "reset"), request=requests.Request("GET", "http://shop.test/")),
    refused_by_a_model(),
]
RECORDS = [codec.encode(value) for value in VALUES] + [codec.encode_failure(exc) for exc in FAILURES]


def read_all_ways(data: bytes) -> None:
    before = set(sys.modules)
    for read in (codec.decode, codec.decode_failure, failure_traceback):
        with contextlib.suppress(RecordUnreadable):
            read(data)
    assert set(sys.modules) == before


@settings(max_examples=400, deadline=None)
@given(st.binary(max_size=200))
@example(b"")
@example(b"\x01")
@example(b"\x02\xc0")
@example(b"\x01" + b"\x91" * 100_000 + b"\xc0")
@example(b"\x01" + b"\x92\xc7\x00\x20" * 100_000 + b"\xc0")
@example(b"\x01" + b"\xdd\xff\xff\xff\xff" * 500)
@example(b"\x01\x81\xdd\xff\xff\xff\xff")
@example(b"\x01\xdb\xff\xff\xff\xff")
@example(b"\x01\xc9\xff\xff\xff\xff\x01")
@example(b"\x01\xc7\x00\x20")
@example(b"\x01\x93\xc7\x00\x30\xa9os:system\x80")
@example(b"\x01\x93\xc7\x00\x30\xafantigravity:fly\x80")
def test_any_bytes_are_a_value_or_one_error(data: bytes) -> None:
    read_all_ways(data)
    read_all_ways(b"\x01" + data)


@settings(max_examples=600, deadline=None)
@given(st.data())
def test_damaged_records_are_a_value_or_one_error(data: st.DataObject) -> None:
    record = bytearray(data.draw(st.sampled_from(RECORDS)))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(1, len(record) - 1))
        match data.draw(st.sampled_from(["change", "cut", "insert", "copy"])):
            case "change":
                record[place] = data.draw(st.integers(0, 255))
            case "cut":
                del record[place : place + data.draw(st.integers(1, 9))]
            case "insert":
                record[place:place] = data.draw(st.binary(min_size=1, max_size=9))
            case "copy":
                record[place:place] = record[place : place + data.draw(st.integers(1, 30))]
        if len(record) < 2:
            break
    read_all_ways(bytes(record))


tags = st.sampled_from(
    ["os:stat_result", "subprocess:Popen", "builtins:dict", f"{__name__}:Line", f"{__name__}:Nobody", "", ":"]
)
marks = st.integers(0, 127).map(lambda code: msgspec.msgpack.Ext(code, b""))
ext = st.builds(msgspec.msgpack.Ext, st.integers(0, 127), st.binary(max_size=12) | tags.map(str.encode))
trees = st.recursive(
    st.none() | st.integers(-5, 5) | tags | marks | ext,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["sku", "price", "args", "type", "members", "set"]), inner, max_size=4)
        | st.builds(lambda mark, rest: [mark, *rest], marks, st.lists(inner, max_size=3))
    ),
    max_leaves=12,
)


@settings(max_examples=400, deadline=None)
@given(trees)
def test_well_formed_messages_of_any_tags_are_a_value_or_one_error(tree: object) -> None:
    read_all_ways(b"\x01" + msgspec.msgpack.encode(tree))
