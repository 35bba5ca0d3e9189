"""What an operation makes of an answer: the result type, or an error that holds the answer and can be recorded."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any, TypedDict

import httpx
import msgspec
import pydantic
import pytest

from semel import Bearer, Client, Env, get, head, post
from semel.codec import Codec, TypeRegistry
from semel.errors import AnswerError, DecidedStatus, ErrorStatus, UnexpectedBody


@dataclass
class Receipt:
    id: str
    total: Decimal
    tags: list[str] = field(default_factory=list)


class Page(msgspec.Struct, rename="camel"):
    next_page: int | None
    receipts: list[Receipt]


class Price(pydantic.BaseModel):
    amount: int
    day: date


@dataclass
class Offer:
    price: Price


class Point(TypedDict):
    x: int


class Shop(Client, base_url="https://shop.example", auth=Bearer("token-1")):
    @post("/charges/{reference}")
    def charge(self, reference: str) -> Receipt: ...

    @get("/receipts")
    async def receipts(self) -> list[Receipt]: ...

    @get("/page")
    def page(self) -> Page: ...

    @get("/price")
    def price(self) -> Price: ...

    @get("/prices")
    def prices(self) -> dict[str, list[Price]]: ...

    @get("/offer")
    def offer(self) -> Offer: ...

    @get("/point")
    def point(self) -> Point: ...

    @get("/perhaps")
    def perhaps(self) -> Receipt | None: ...

    @get("/total")
    def total(self) -> Decimal: ...

    @get("/number")
    def number(self) -> int: ...

    @get("/any")
    def any(self) -> Any: ...

    @get("/object")
    def object(self) -> dict[str, object]: ...

    @get("/text")
    def text(self) -> str: ...

    @get("/bytes")
    def bytes_(self) -> bytes: ...

    @get("/none")
    def none(self) -> None: ...

    @get("/response")
    def response(self) -> httpx.Response: ...

    @head("/head")
    def head(self) -> httpx.Response: ...


def shop(status: int = 200, content: bytes | str = b"", **headers: str) -> Shop:
    """A client whose server always answers so."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Shop(transport=httpx.MockTransport(lambda request: httpx.Response(status, content=content, headers=named)))


@pytest.mark.parametrize(
    ("operation", "content", "result"),
    [
        ("page", '{"nextPage": 3, "receipts": [{"id": "a", "total": "1.5"}]}', Page(3, [Receipt("a", Decimal("1.5"))])),
        ("price", '{"amount": 1, "day": "2024-01-02"}', Price(amount=1, day=date(2024, 1, 2))),
        ("prices", '{"a": [{"amount": 1, "day": "2024-01-02"}]}', {"a": [Price(amount=1, day=date(2024, 1, 2))]}),
        ("offer", '{"price": {"amount": 1, "day": "2024-01-02"}}', Offer(Price(amount=1, day=date(2024, 1, 2)))),
        ("point", '{"x": 1}', {"x": 1}),
        ("perhaps", "null", None),
        ("perhaps", "", None),
        ("total", "0.10000000000000000000000001", Decimal("0.10000000000000000000000001")),
        ("total", '"1.50"', Decimal("1.50")),
        ("number", "123456789012345678901234567890", 123456789012345678901234567890),
        ("any", '\ufeff{"a": [1, 2.5, null]}', {"a": [1, 2.5, None]}),
        ("object", '{"a": {"b": []}}', {"a": {"b": []}}),
        ("text", "grün", "grün"),
        ("bytes_", "\x00", b"\x00"),
        ("none", "whatever", None),
    ],
)  # fmt: skip
def test_an_answer_becomes_the_result_type(operation, content, result) -> None:
    made = getattr(shop(content=content.encode(), content_type="text/plain; charset=utf-8"), operation)()
    assert made == result
    assert type(made) is type(result)


def test_unknown_fields_are_passed_over() -> None:
    assert shop(content='{"id": "a", "total": "1", "new": true}').charge("a") == Receipt("a", Decimal(1))


def test_a_text_that_comes_as_json_is_read() -> None:
    assert shop(content='"gr\\u00fcn"', content_type="application/problem+json").text() == "grün"


def test_a_response_is_given_as_it_came() -> None:
    response = shop(202, "x", retry_after="3").response()
    assert (response.status_code, response.text, response.headers["retry-after"]) == (202, "x", "3")


def test_an_empty_answer_has_its_headers() -> None:
    assert shop(200, x_total="3").head().headers["x-total"] == "3"


async def test_an_async_operation_reads_the_same() -> None:
    async with shop(content='[{"id": "a", "total": "1"}]') as client:
        assert await client.receipts() == [Receipt("a", Decimal(1))]


@pytest.mark.rule("A10")
@pytest.mark.parametrize("status", [301, 304, 400, 404, 409, 422, 429, 500, 503])
def test_a_status_that_is_not_2xx_raises(status) -> None:
    with pytest.raises(ErrorStatus) as raised:
        shop(status, '{"error": "no"}', retry_after="7", location="/elsewhere").charge("A/1")
    error = raised.value
    assert (error.status, error.method, error.path, error.operation) == (status, "POST", "/charges/A/1", "Shop.charge")
    assert error.reason == httpx.codes.get_reason_phrase(status)
    assert error.headers["retry-after"] == "7"
    assert error.body == b'{"error": "no"}'
    assert error.json() == {"error": "no"}
    assert str(error) == f'Shop.charge: POST /charges/A/1 answered {status} {error.reason}: {{"error": "no"}}'


@pytest.mark.rule("R6")
@pytest.mark.parametrize(("status", "kind"), [(404, DecidedStatus), (409, DecidedStatus), (422, ErrorStatus)])
def test_a_status_is_a_decision_where_the_client_says_so(status, kind) -> None:
    class Strict(Shop, decisions={404}):
        pass

    answering = httpx.MockTransport(lambda request: httpx.Response(status))
    for client in (Strict(transport=answering, decisions=(404, 409)), Shop(transport=answering)):
        with pytest.raises(ErrorStatus) as raised:
            client.none()
        assert type(raised.value) is (kind if isinstance(client, Strict) else ErrorStatus)
        assert raised.value.status == status


@pytest.mark.rule("A10")
@pytest.mark.parametrize("operation", ["none", "response", "bytes_", "text", "any", "perhaps"])
def test_it_raises_whatever_the_result_type(operation) -> None:
    with pytest.raises(ErrorStatus):
        getattr(shop(500), operation)()


async def test_an_async_operation_raises_the_same() -> None:
    async with shop(503) as client:
        with pytest.raises(ErrorStatus, match=r"^Shop\.receipts: GET /receipts answered 503 Service Unavailable$"):
            await client.receipts()


@pytest.mark.parametrize(
    ("operation", "content", "where", "why"),
    [
        ("page", '{"nextPage": 1, "receipts": [{"id": 7, "total": "1"}]}', "$.receipts[0].id", "got `int`"),
        ("page", '{"nextPage": 1}', "$", "missing required field `receipts`"),
        ("page", "[]", "$", "Expected `object`, got `array`"),
        ("price", '{"amount": "x", "day": "2024-01-02"}', "$.amount", "valid integer"),
        ("prices", '{"a": [{"amount": 1}]}', "$.a[0].day", "Field required"),
        ("offer", '{"price": {"amount": 1, "day": 5.5}}', "$.price", "day"),
        ("number", "1.5", "$", "Expected `int`, got `float`"),
        ("number", "<html>", "$", "it is not JSON"),
        ("price", "<html>", "$", "JSON"),
        ("any", '"\udcff"', "$", "it is not JSON"),
        ("any", "[" * 100_000, "$", "it is not JSON"),
        ("number", "", "$", "is empty"),
        ("page", "", "$", "is empty"),
    ],
)  # fmt: skip
def test_a_body_that_does_not_fit_raises(operation, content, where, why) -> None:
    body = content.encode("utf-8", "surrogateescape")
    with pytest.raises(UnexpectedBody) as raised:
        getattr(shop(200, body), operation)()
    error = raised.value
    assert error.where == where
    assert error.body == body
    assert why in str(error)
    assert f"Shop.{operation}: GET /{operation} answered 200 OK, but its body " in str(error)
    assert len(str(error)) < 700


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b"x" * 10_000, ": " + "x" * 300 + "…"),
        ("ü".encode() * 10_000, ": " + "ü" * 300 + "…"),
        (b"\x89PNG\xff\x00", r": b'\x89PNG\xff\x00'"),
        (b"a\n\n  b\t\x1b[31mc", r": a b \x1b[31mc"),
        (b"", ""),
        (b'{"your header": "Bearer token-1"}', ': {"your header": "Bearer [credential]"}'),
    ],
)
def test_the_text_shows_the_start_of_the_body_and_no_credential(body, shown) -> None:
    with pytest.raises(ErrorStatus) as raised:
        shop(400, body).none()
    assert str(raised.value) == f"Shop.none: GET /none answered 400 Bad Request{shown}"


@pytest.mark.parametrize("auth", [("user", "hidden-1"), ("user", Env("SHOP_PASSWORD"))])
def test_credentials_of_every_kind_are_kept_out_of_texts(monkeypatch, auth) -> None:
    monkeypatch.setenv("SHOP_PASSWORD", "hidden-1")
    monkeypatch.setenv("SHOP_KEY", "hidden-2")

    def echo(request: httpx.Request) -> httpx.Response:
        return httpx.Response(400, json={**request.headers, "clear": "hidden-1"})

    client = Shop(auth=auth, headers={"X-Key": Env("SHOP_KEY")}, transport=httpx.MockTransport(echo))
    with pytest.raises(ErrorStatus) as raised:
        client.none()
    assert "dXNlcjpoaWRkZW4tMQ==" in raised.value.json()["authorization"]
    for secret in ("hidden-1", "hidden-2", "dXNlcjpoaWRkZW4tMQ=="):
        assert secret not in str(raised.value)
        assert secret not in repr(client)


@pytest.fixture
def codec() -> Codec:
    return Codec(TypeRegistry(lambda: frozenset({__name__})))


@pytest.mark.rule("O24")
@pytest.mark.parametrize(
    ("operation", "status", "body"),
    [
        ("none", 404, b'{"error": "no"}'),
        ("bytes_", 500, b"\xff\x00"),
        ("page", 200, b"{}"),
        ("price", 200, b"{}"),
        ("number", 200, b""),
    ],
)
def test_the_errors_can_be_recorded(codec, operation, status, body) -> None:
    with pytest.raises(AnswerError) as raised:
        getattr(shop(status, body, retry_after="7"), operation)()
    error: Any = raised.value
    back: Any = codec.decode_failure(codec.encode_failure(error))
    assert type(back) is type(error)
    assert back.args == error.args
    assert str(back) == str(error)
    assert vars(back) == vars(error)
    assert back.headers["retry-after"] == "7"


def test_a_failure_of_the_transport_is_httpx_s_own() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    with pytest.raises(httpx.ConnectError, match="refused"):
        Shop(transport=httpx.MockTransport(refuse)).none()


def test_a_compressed_answer_is_unpacked() -> None:
    import gzip

    content = gzip.compress(json.dumps({"id": "a", "total": "1"}).encode())
    assert shop(200, content, content_encoding="gzip").charge("a") == Receipt("a", Decimal(1))
