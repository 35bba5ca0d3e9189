"""What an operation sends: each argument in its place, exactly as it was given, or nothing at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, TypedDict
from uuid import UUID

import httpx
import msgspec
import pydantic
import pytest

from semel import Body, BodyField, Client, Header, Query, delete, get, head, options, patch, post, put
from semel.errors import RequestNotSent


class Colour(Enum):
    RED = "red"


@dataclass
class Line:
    sku: str
    price: Decimal
    note: str | None = None


class Order(msgspec.Struct, rename="camel"):
    order_id: str
    lines: list[Line]


class Customer(pydantic.BaseModel):
    name: str = pydantic.Field(alias="fullName")
    credit: Decimal
    model_config = {"populate_by_name": True}


class Address(TypedDict):
    city: str


class Shop(Client, base_url="https://shop.example/v1/"):
    @get("/orders/{order}/lines/{line}")
    def line(self, order: str, line: int) -> None: ...

    @get("/files/{name}")
    def file(self, name: str | int | Decimal | date | UUID | Colour) -> None: ...

    @get("/orders")
    def orders(
        self,
        status: Literal["open", "closed"] | None = None,
        *,
        tag: list[str] | None = None,
        since: Annotated[date | datetime | None, Query("from")] = None,
        total: float | Decimal | bool | None = None,
    ) -> None: ...

    @post("/charges")
    def charge(
        self,
        reference: str,
        amount: Decimal,
        at: datetime | None = None,
        *,
        colour: Annotated[Colour | None, BodyField("paint")] = None,
        key: Annotated[str | None, Header("Idempotency-Key")] = None,
        x_trace: Annotated[int | None, Header] = None,
        dry: Annotated[bool, Query] = False,
    ) -> None: ...

    @post("/orders")
    def order(self, order: Order) -> None: ...

    @put("/customers")
    def customer(self, customer: Customer) -> None: ...

    @patch("/addresses")
    def address(self, address: Address) -> None: ...

    @post("/lines")
    def lines(self, lines: Annotated[list[Line], Body]) -> None: ...

    @post("/both")
    def both(self, line: Annotated[Line, BodyField], customer: Annotated[Customer, BodyField]) -> None: ...

    @put("/blobs/{name}")
    def blob(self, name: str, data: bytes, content_type: Annotated[str | None, Header] = None) -> None: ...

    @post("/anything")
    def anything(self, data: Annotated[Any, Body]) -> None: ...

    @post("/nothing")
    def nothing(self) -> None: ...

    @post("/perhaps")
    def perhaps(self, line: Line | None = None) -> None: ...

    @delete("/orders")
    def drop(self, order: str, why: Annotated[dict[str, str] | None, Body] = None) -> None: ...

    @head("/orders")
    def touch(self) -> None: ...

    @options("/orders")
    def ways(self) -> None: ...


Sends = Callable[[Callable[[Shop], None]], httpx.Request]


@pytest.fixture
def sent() -> Sends:
    """Makes one call and gives the request that went out."""
    requests: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(204)

    def send(call: Callable[[Shop], None]) -> httpx.Request:
        with Shop(transport=httpx.MockTransport(answer)) as shop:
            call(shop)
        (request,) = requests
        return request

    return send


@pytest.mark.parametrize(
    ("call", "method"),
    [
        (lambda shop: shop.orders(), "GET"),
        (lambda shop: shop.touch(), "HEAD"),
        (lambda shop: shop.ways(), "OPTIONS"),
        (lambda shop: shop.nothing(), "POST"),
        (lambda shop: shop.customer(Customer(name="a", credit=Decimal(1))), "PUT"),
        (lambda shop: shop.address({"city": "Ulm"}), "PATCH"),
        (lambda shop: shop.drop("A"), "DELETE"),
    ],
)
def test_each_decorator_is_a_method(sent, call, method) -> None:
    assert sent(call).method == method


def test_the_path_is_added_to_the_base_url(sent) -> None:
    assert sent(lambda shop: shop.line("A-1", 7)).url == "https://shop.example/v1/orders/A-1/lines/7"


@pytest.mark.parametrize(
    ("value", "segment"),
    [
        ("a/b", "a%2Fb"),
        ("../admin", "..%2Fadmin"),
        ("a?b=c&d#e", "a%3Fb%3Dc%26d%23e"),
        ("grün", "gr%C3%BCn"),
        ("a b+c", "a%20b%2Bc"),
        ("%2e%2e", "%252e%252e"),
        ("a\\b\x00", "a%5Cb%00"),
        ("{name}", "%7Bname%7D"),
        (";@:", "%3B%40%3A"),
        (0, "0"),
        (Decimal("1.50"), "1.50"),
        (date(2024, 2, 29), "2024-02-29"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Colour.RED, "red"),
    ],
)
def test_a_value_stays_in_its_segment_of_the_path(sent, value, segment) -> None:
    assert sent(lambda shop: shop.file(value)).url.raw_path == f"/v1/files/{segment}".encode()


@pytest.mark.parametrize("value", ["", ".", "..", None, "\ud800", [1], Decimal("NaN"), b"x"])
def test_a_value_that_would_lead_elsewhere_is_not_sent(value) -> None:
    def unreachable(request: httpx.Request) -> httpx.Response:
        raise AssertionError(request)

    shop = Shop(transport=httpx.MockTransport(unreachable))
    with pytest.raises(RequestNotSent, match=r"^Shop.file\(name=…\): .*; nothing was sent$"):
        shop.file(value)


@pytest.mark.parametrize(
    ("arguments", "query"),
    [
        ({}, ""),
        ({"status": "open"}, "status=open"),
        ({"status": "a&b=c d/é"}, "status=a%26b%3Dc%20d%2F%C3%A9"),
        ({"status": ""}, "status="),
        ({"tag": ["a", "b,c"]}, "tag=a&tag=b%2Cc"),
        ({"tag": []}, ""),
        ({"since": date(2024, 1, 2)}, "from=2024-01-02"),
        ({"since": datetime(2024, 1, 2, 3, tzinfo=UTC)}, "from=2024-01-02T03%3A00%3A00%2B00%3A00"),
        ({"total": True}, "total=true"),
        ({"total": False}, "total=false"),
        ({"total": 0.1}, "total=0.1"),
        ({"total": Decimal("0.10")}, "total=0.10"),
    ],
)
def test_what_get_is_given_besides_the_path_is_the_query(sent, arguments, query) -> None:
    assert sent(lambda shop: shop.orders(**arguments)).url.query.decode() == query


@pytest.mark.parametrize("arguments", [{"total": float("nan")}, {"status": {}}, {"tag": [None]}, {"status": "\udc00"}])
def test_what_has_no_text_is_not_sent_in_a_query(sent, arguments) -> None:
    with pytest.raises(RequestNotSent, match="nothing was sent"):
        sent(lambda shop: shop.orders(**arguments))


def test_what_post_is_given_besides_is_one_json_object(sent) -> None:
    request = sent(
        lambda shop: shop.charge("A", Decimal("19.50"), datetime(2024, 1, 2, tzinfo=UTC), colour=Colour.RED, key="k-1")
    )
    assert request.content == b'{"reference":"A","amount":"19.50","at":"2024-01-02T00:00:00Z","paint":"red"}'
    assert request.headers["content-type"] == "application/json"
    assert request.headers["idempotency-key"] == "k-1"
    assert request.url.query == b"dry=false"


def test_none_is_left_out(sent) -> None:
    request = sent(lambda shop: shop.charge("A", Decimal(1)))
    assert json.loads(request.content) == {"reference": "A", "amount": "1"}
    assert "idempotency-key" not in request.headers
    assert "x-trace" not in request.headers


def test_a_decimal_never_becomes_a_binary_fraction(sent) -> None:
    price = Decimal("0.1000000000000000000000000000000001")
    request = sent(lambda shop: shop.lines([Line("a", price)]))
    assert json.loads(request.content, parse_float=lambda text: pytest.fail(text))[0]["price"] == str(price)


def test_a_header_without_a_name_is_the_parameter_s(sent) -> None:
    assert sent(lambda shop: shop.charge("A", Decimal(1), x_trace=7)).headers["x-trace"] == "7"


@pytest.mark.parametrize("value", ["a\r\nx-admin: 1", "a\nb", " secret", "grün", "a\x00"])
def test_a_header_cannot_smuggle_another_one(sent, value) -> None:
    with pytest.raises(RequestNotSent, match="one line") as raised:
        sent(lambda shop: shop.charge("A", Decimal(1), key=value))
    assert value not in str(raised.value)


@pytest.mark.parametrize(
    ("call", "body"),
    [
        (
            lambda shop: shop.order(Order("A", [Line("s", Decimal("1.0"))])),
            {"orderId": "A", "lines": [{"sku": "s", "price": "1.0", "note": None}]},
        ),
        (lambda shop: shop.customer(Customer(name="a", credit=Decimal("1.10"))), {"fullName": "a", "credit": "1.10"}),
        (lambda shop: shop.address({"city": "Ulm"}), {"city": "Ulm"}),
        (lambda shop: shop.lines([]), []),
        (lambda shop: shop.anything({"a": [1, None, {"b": Customer(name="x", credit=Decimal(1))}]}),
         {"a": [1, None, {"b": {"fullName": "x", "credit": "1"}}]}),
        (lambda shop: shop.anything(2**70), 2**70),
        (
            lambda shop: shop.both(Line("s", Decimal(1)), Customer(name="ann", credit=Decimal(2))),
            {"line": {"sku": "s", "price": "1", "note": None}, "customer": {"fullName": "ann", "credit": "2"}},
        ),
        (lambda shop: shop.drop("A", {"reason": "late"}), {"reason": "late"}),
    ],
)  # fmt: skip
def test_a_record_is_the_whole_body(sent, call, body) -> None:
    assert json.loads(sent(call).content) == body


def test_bytes_are_sent_as_they_are(sent) -> None:
    request = sent(lambda shop: shop.blob("a", b"\x00\xff"))
    assert request.content == b"\x00\xff"
    assert request.headers["content-type"] == "application/octet-stream"


def test_a_header_says_what_the_bytes_are(sent) -> None:
    assert sent(lambda shop: shop.blob("a", b"x", "image/png")).headers["content-type"] == "image/png"


def test_an_operation_without_parameters_has_no_body(sent) -> None:
    request = sent(lambda shop: shop.nothing())
    assert request.content == b""
    assert "content-type" not in request.headers


def test_a_body_that_is_none_is_left_out(sent) -> None:
    assert sent(lambda shop: shop.perhaps()).content == b""


@pytest.mark.parametrize(
    "call",
    [
        lambda shop: shop.anything(float("nan")),
        lambda shop: shop.anything(Decimal("NaN")),
        lambda shop: shop.anything({"in": [Decimal("-Infinity")]}),
        lambda shop: shop.customer(Customer.model_construct(name="Ann", credit=Decimal("NaN"))),
        lambda shop: shop.anything({"in": Customer.model_construct(name="Ann", credit=Decimal("sNaN"))}),
        lambda shop: shop.anything(object()),
        lambda shop: shop.anything("\ud800"),
        lambda shop: shop.blob("a", "text"),
    ],
)
def test_what_json_cannot_say_is_not_sent(sent, call) -> None:
    with pytest.raises(RequestNotSent, match="nothing was sent"):
        sent(call)


def test_wrong_arguments_are_told_as_python_tells_them() -> None:
    shop = Shop(transport=httpx.MockTransport(lambda request: httpx.Response(204)))
    with pytest.raises(TypeError, match=r"Shop.line\(\) missing 1 required positional argument: 'line'"):
        shop.line("A")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"Shop.orders\(\) got an unexpected keyword argument 'tags'"):
        shop.orders(tags=[])  # type: ignore[call-arg]
