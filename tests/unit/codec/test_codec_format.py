"""Format 1, byte for byte: what an earlier semel has recorded is read for ever, and written the same."""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import enum
import pathlib
import typing
import uuid
import zoneinfo
from decimal import Decimal

import attrs
import httpx
import msgspec
import pydantic
import pytest
import requests

from semel.codec import Codec, TypeRegistry, failure_traceback
from semel.errors import RecordUnreadable

pytestmark = pytest.mark.rule("O22")

codec = Codec(TypeRegistry(lambda: frozenset({"test_codec_format"})))


class Stage(enum.Enum):
    NEW = 1


class Right(enum.Flag):
    R = 1
    W = 2


@dataclasses.dataclass
class Line:
    sku: str
    price: typing.Any = dataclasses.field(init=False)


class Point(typing.NamedTuple):
    x: int
    y: int


@attrs.define
class Customer:
    name: str


class Model(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")
    a: int
    b: int = 2
    _p: int = pydantic.PrivateAttr(default=4)


class Event(msgspec.Struct):
    kind: str


class Refund(Exception):
    def __init__(self, *, code: int) -> None:
        super().__init__(f"refund {code}")
        self.code = code


def marked_line() -> Line:
    line = Line("s")
    line.extra = 1  # type: ignore[attr-defined]
    return line


#: Never changed, only added to.
STORED: dict[str, tuple[str, object]] = {
    "pydantic url": (
        (
            "0193c70035b9707964616e7469632e6e6574776f726b733a4874747055726c82a375726cb2687474703a2f2f73686f702e7465"
            "73742f61a5686f737473c2"
        ),
        pydantic.HttpUrl("http://shop.test/a"),
    ),
    "plain": ("0181a16197c0c301ffcb3ff8000000000000a178c40179", {"a": [None, True, 1, -1, 1.5, "x", b"y"]}),
    "big int": ("0192c70901010000000000000000c70901c00000000000000000", [2**64, -(2**70)]),
    "text": ("0192c70302eda08093c70023c70302edbfbf01", ["\ud800", {"\udfff": 1}]),
    "decimal": (
        "0193d603312e3530c705032d30452b33d703494e46494e495459",
        [Decimal("1.50"), Decimal("-0E+3"), Decimal("Infinity")],
    ),
    "uuid": ("01d80412345678123456781234567812345678", uuid.UUID("12345678123456781234567812345678")),
    "date": (
        ("0193c70a05323032342d30322d3239c70f0630313a30323a30332e303030303034c70c08ffffffff0000000200000003"),
        [dt.date(2024, 2, 29), dt.time(1, 2, 3, 4), dt.timedelta(-1, 2, 3)],
    ),
    "datetime": (
        (
            "0196c71a07323032342d30312d30325430333a30343a30352e303030303036c71907323032342d30312d30325430303a"
            "30303a30302b30303a3030c71907323032342d30312d30325430303a30303a30302d30323a3330c72307323032342d30"
            "312d30325430303a30303a30307c307c3d302c333630302c302c434554c72407323032342d31302d32375430323a3330"
            "3a30307c317c404575726f70652f4265726c696ec70b0630313a30303a30307c317c"
        ),
        [
            dt.datetime(2024, 1, 2, 3, 4, 5, 6),
            dt.datetime(2024, 1, 2, tzinfo=dt.UTC),
            dt.datetime(2024, 1, 2, tzinfo=dt.timezone(dt.timedelta(hours=-3, minutes=30))),
            dt.datetime(2024, 1, 2, tzinfo=dt.timezone(dt.timedelta(hours=1), "CET")),
            dt.datetime(2024, 10, 27, 2, 30, fold=1, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin")),
            dt.time(1, fold=1),
        ],
    ),
    "path": ("0192c70509702f612f62c7050977633a5c78", [pathlib.PurePosixPath("/a/b"), pathlib.PureWindowsPath("c:\\x")]),
    "enum": (
        (
            "0193c71b0a746573745f636f6465635f666f726d61743a5374616765004e4557c7190a746573745f636f6465635f666f"
            "726d61743a52696768740052c7190b746573745f636f6465635f666f726d61743a52696768740033"
        ),
        [Stage.NEW, Right.R, Right.R | Right.W],
    ),
    "unset": ("01c7000c", msgspec.UNSET),
    "exception class": ("01c7110d6275696c74696e733a4b65794572726f72", KeyError),
    "tuple": ("0194c700200191c7002092c7002002", (1, (), (2,))),
    "sets": ("019295c70021010203a16192c7002293c700200102", [{3, 1, 2, "a"}, frozenset({(1, 2)})]),
    "dict": ("019295c7002301a16192c7002002a16293c70024a16101", [{1: "a", (2,): "b"}, collections.OrderedDict(a=1)]),
    "dataclass": (
        ("019194c70030b6746573745f636f6465635f666f726d61743a4c696e6582a3736b75a173a57072696365c7004181a5657874726101"),
        [marked_line()],
    ),
    "attrs": ("0193c70031ba746573745f636f6465635f666f726d61743a437573746f6d657281a46e616d65a163", Customer("c")),
    "named tuple": ("0193c70032b7746573745f636f6465635f666f726d61743a506f696e7482a17801a17902", Point(1, 2)),
    "pydantic": (
        (
            "0194c70033b7746573745f636f6465635f666f726d61743a4d6f64656c82a16101a1620283a373657492a161a163a565"
            "7874726181a16392c7002003a77072697661746581a25f7004"
        ),
        Model(a=1, c=(3,)),
    ),  # type: ignore[call-arg]
    "struct": ("0193c70034b7746573745f636f6465635f666f726d61743a4576656e7481a46b696e64a165", Event("e")),
}
FAILURE = (
    "0192c7004088a474797065b8746573745f636f6465635f666f726d61743a526566756e64a474657874a8726566756e64"
    "2037a974726163656261636bd97a4b65794572726f723a20276b270a0a5468652061626f766520657863657074696f6e"
    "207761732074686520646972656374206361757365206f662074686520666f6c6c6f77696e6720657863657074696f6e"
    "3a0a0a746573745f636f6465635f666f726d61742e526566756e643a20726566756e6420370a6e0aa46172677391a872"
    "6566756e642037a5737461746582a4636f646507a95f5f6e6f7465735f5f91a16ea56361757365ad4b65794572726f72"
    "3a20276b27a7636f6e74657874ad4b65794572726f723a20276b27a57175696574c3"
)
GROUP = (
    "0192c7004085a474797065b76275696c74696e733a457863657074696f6e47726f7570a474657874b36d202831207375"
    "622d657863657074696f6e29a974726163656261636bd9a820207c20457863657074696f6e47726f75703a206d202831"
    "207375622d657863657074696f6e290a20202b2d2b2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2031202d2d2d2d2d2d2d2d"
    "2d2d2d2d2d2d2d2d0a202020207c2046696c654e6f74466f756e644572726f723a205b4572726e6f20325d20676f6e65"
    "3a202766270a202020202b2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d0a"
    "a76d657373616765a16da76d656d626572739192c7004085a474797065ba6275696c74696e733a46696c654e6f74466f"
    "756e644572726f72a474657874b35b4572726e6f20325d20676f6e653a20276627a974726163656261636ba0a4617267"
    "739202a4676f6e65a66669656c647383a56572726e6f02a87374726572726f72a4676f6e65a866696c656e616d65a166"
)


@pytest.mark.parametrize("name", STORED)
def test_a_stored_value_of_format_1_is_read_and_written_the_same(name: str) -> None:
    stored, value = STORED[name]
    back = codec.decode(bytes.fromhex(stored))
    assert type(back) is type(value)
    assert name == "dataclass" or back == value  # a field that is not set has no equal
    assert codec.encode(value).hex() == stored


def test_the_stored_dataclass_has_what_it_had() -> None:
    (back,) = codec.decode(bytes.fromhex(STORED["dataclass"][0]))
    assert vars(back) == {"sku": "s", "extra": 1}


def test_stored_failures_of_format_1_are_read() -> None:
    back: typing.Any = codec.decode_failure(bytes.fromhex(FAILURE))
    assert (type(back), back.args, back.code, back.__notes__) == (Refund, ("refund 7",), 7, ["n"])
    assert str(back.__cause__) == "KeyError: 'k'"
    assert failure_traceback(bytes.fromhex(FAILURE)).endswith("Refund: refund 7\nn\n")
    back = codec.decode_failure(bytes.fromhex(GROUP))
    assert (type(back), back.message, back.exceptions[0].errno) == (ExceptionGroup, "m", 2)
    assert str(back.exceptions[0]) == "[Errno 2] gone: 'f'"


HTTPX = (
    "0193c7003fae68747470783a526573706f6e736581a5636861696e928ca6737461747573cd0194a7686561646572739392c40158"
    "c4016192c40178c4016292c40e436f6e74656e742d4c656e677468c40132b0686561646572735f656e636f64696e67a561736369"
    "69aa657874656e73696f6e7380aa646f776e6c6f6164656400b064656661756c745f656e636f64696e67a57574662d38a7636f6e"
    "74656e74c4027b7da8656e636f64696e67a57574662d38a7656c6170736564c70c08000000000000000100000000a77265717565"
    "737482a66d6574686f64a3505554a375726cb2687474703a2f2f73686f702e746573742f61a7636f6f6b69657390a7686973746f"
    "7279910189a6737461747573cd012ea76865616465727390b0686561646572735f656e636f64696e67a56173636969aa65787465"
    "6e73696f6e7380aa646f776e6c6f6164656400b064656661756c745f656e636f64696e67a57574662d38a7636f6e74656e74c400"
    "a8656e636f64696e67a57574662d38a7686973746f727990"
)
REQUESTS = (
    "0193c7003fb172657175657374733a526573706f6e736581a5636861696e9189a6737461747573cd0194a6726561736f6ea24e6f"
    "a375726cb2687474703a2f2f73686f702e746573742f61a7686561646572739192a158a161a8656e636f64696e67c0a7656c6170"
    "736564c70c08000000000000000000000000a7636f6f6b69657390a7636f6e74656e74c4027b7da7686973746f727990"
)
REFUSED = (
    "0192c7004087a474797065d92372657175657374732e657863657074696f6e733a436f6e6e656374696f6e4572726f72a4746578"
    "74b15b4572726e6f203130345d207265736574a974726163656261636bd93772657175657374732e657863657074696f6e732e43"
    "6f6e6e656374696f6e4572726f723a205b4572726e6f203130345d2072657365740aa4617267739192c7004085a474797065bd62"
    "75696c74696e733a436f6e6e656374696f6e52657365744572726f72a474657874b15b4572726e6f203130345d207265736574a9"
    "74726163656261636ba0a4617267739268a57265736574a66669656c647382a56572726e6f68a87374726572726f72a572657365"
    "74a46874747081a8726573706f6e736593a87265717565737473a8726573706f6e73659189a6737461747573cd0194a672656173"
    "6f6ea24e6fa375726cb2687474703a2f2f73686f702e746573742f61a7686561646572739192a158a161a8656e636f64696e67c0"
    "a7656c6170736564c70c08000000000000000000000000a7636f6f6b69657390a7636f6e74656e74c4027b7da7686973746f7279"
    "90a86661696c7572657381a468656c6492c7004084a474797065b16275696c74696e733a4b65794572726f72a474657874a3276b"
    "27a974726163656261636ba0a46172677391a16ba5737461746581a772657175657374c0"
)
INVALID = (
    "0192c7004085a474797065d92c707964616e7469635f636f72652e5f707964616e7469635f636f72653a56616c69646174696f6e"
    "4572726f72a474657874d9e7312076616c69646174696f6e206572726f7220666f7220696e740a2020496e7075742073686f756c"
    "6420626520612076616c696420696e74656765722c20756e61626c6520746f20706172736520737472696e6720617320616e2069"
    "6e7465676572205b747970653d696e745f70617273696e672c20696e7075745f76616c75653d2778272c20696e7075745f747970"
    "653d7374725d0a20202020466f72206675727468657220696e666f726d6174696f6e2076697369742068747470733a2f2f657272"
    "6f72732e707964616e7469632e6465762f322e31342f762f696e745f70617273696e67a974726163656261636bda011670796461"
    "6e7469635f636f72652e5f707964616e7469635f636f72652e56616c69646174696f6e4572726f723a20312076616c6964617469"
    "6f6e206572726f7220666f7220696e740a2020496e7075742073686f756c6420626520612076616c696420696e74656765722c20"
    "756e61626c6520746f20706172736520737472696e6720617320616e20696e7465676572205b747970653d696e745f7061727369"
    "6e672c20696e7075745f76616c75653d2778272c20696e7075745f747970653d7374725d0a20202020466f722066757274686572"
    "20696e666f726d6174696f6e2076697369742068747470733a2f2f6572726f72732e707964616e7469632e6465762f322e31342f"
    "762f696e745f70617273696e670aaa76616c69646174696f6e84a57469746c65a3696e74aa696e7075745f74797065a670797468"
    "6f6eaa686964655f696e707574c2a56c696e65739185a56b6e6f776ec3a474797065ab696e745f70617273696e67a36c6f6391c7"
    "0020a36d7367d945496e7075742073686f756c6420626520612076616c696420696e74656765722c20756e61626c6520746f2070"
    "6172736520737472696e6720617320616e20696e7465676572a5696e707574a178a66669656c647381a57469746c65a3696e74"
)


def test_stored_responses_of_format_1_are_read_and_written_the_same() -> None:
    back: typing.Any = codec.decode(bytes.fromhex(HTTPX))
    assert type(back) is httpx.Response
    assert (back.status_code, back.content, back.headers.get_list("x")) == (404, b"{}", ["a", "b"])
    assert (back.request.method, back.url, back.elapsed) == ("PUT", "http://shop.test/a", dt.timedelta(seconds=1))
    assert [earlier.status_code for earlier in back.history] == [302]
    assert codec.encode(back).hex() == HTTPX
    back = codec.decode(bytes.fromhex(REQUESTS))
    assert type(back) is requests.Response
    assert (back.status_code, back.content, back.headers["x"], back.reason) == (404, b"{}", "a", "No")
    assert codec.encode(back).hex() == REQUESTS


def test_stored_failures_that_hold_others_are_read() -> None:
    back: typing.Any = codec.decode_failure(bytes.fromhex(REFUSED))
    assert (type(back), str(back)) == (requests.ConnectionError, "[Errno 104] reset")
    assert (type(back.args[0]), back.args[0].errno) == (ConnectionResetError, 104)
    assert (type(back.held), back.held.args, back.response.status_code) == (KeyError, ("k",), 404)
    back = codec.decode_failure(bytes.fromhex(INVALID))
    assert (type(back), back.title, back.errors()[0]["input"]) == (pydantic.ValidationError, "int", "x")


@pytest.mark.parametrize("version", ["00", "02", "ff", ""])
def test_another_format_is_an_error_that_says_so(version: str) -> None:
    with pytest.raises(RecordUnreadable, match="this semel reads 01"):
        codec.decode(bytes.fromhex(version + "c0" if version else ""))


def test_an_unknown_tag_is_an_error_that_says_so() -> None:
    for code in (0, 30, 62, 99, 127):
        with pytest.raises(RecordUnreadable, match=f"unknown tag {code}; was it written by a newer semel"):
            codec.decode(b"\x01" + msgspec.msgpack.encode([msgspec.msgpack.Ext(code, b"")]))
