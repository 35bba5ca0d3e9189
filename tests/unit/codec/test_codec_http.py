"""An HTTP response comes back as the same type and equal in all that a caller can see; its request without secrets."""

from __future__ import annotations

import collections
import contextlib
import datetime as dt
import gzip
import http.server
import importlib
import sys
import threading
import typing

import httpx
import pytest
import requests

from semel.codec import Codec, NotEncodable, TypeRegistry
from semel.errors import RecordUnreadable

pytestmark = pytest.mark.rule("O22")

SECRET = "sesame"  # a name, because a traceback quotes the lines of the code

codec = Codec(TypeRegistry(lambda: frozenset({__name__.partition(".")[0]})))


class Shop(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path, _, _ = self.path.partition("?")
        status = int(path.strip("/").split("/")[0])
        body = gzip.compress('{"paid": "é"}'.encode())
        self.send_response(status, "As You Wish")
        if status == 302:
            hop = int(path.split("/")[2])
            self.send_header("Location", f"/302/{hop - 1}" if hop else "/200")
        for name, value in (
            ("Content-Type", "application/json; charset=utf-8"),
            ("Content-Encoding", "gzip"),
            ("X-Multi", "a"),
            ("x-multi", "b"),
            ("Set-Cookie", "short=1; Max-Age=60; Path=/"),
            ("Set-Cookie", "s=2; HttpOnly"),
            ("Link", '</2>; rel="next"'),
            ("Content-Length", str(len(body))),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def shop() -> typing.Iterator[str]:
    """The address of a server."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Shop)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def again(value: typing.Any) -> typing.Any:
    back = codec.decode(codec.encode(value))
    assert type(back) is type(value)
    return back


def look(thing: typing.Any, names: str) -> dict[str, object]:
    return {name: getattr(thing, name) for name in names.split()}


def told(call: typing.Callable[[], object]) -> object:
    """What a call returns or raises, to be compared."""
    try:
        return call()
    except Exception as error:
        return type(error), str(error)


def cookies_of(jar: typing.Any) -> list[dict[str, object]]:
    return [vars(cookie) for cookie in jar]


# ---------------------------------------------------------------------------------------------------------------- httpx

HTTPX = (
    "status_code reason_phrase http_version content text encoding charset_encoding default_encoding url links "
    "is_closed is_stream_consumed is_informational is_success is_redirect is_client_error is_server_error is_error "
    "has_redirect_location num_bytes_downloaded elapsed headers"
)


def alike(back: httpx.Response, value: httpx.Response) -> None:
    assert look(back, HTTPX) == look(value, HTTPX)
    assert back.headers.raw == value.headers.raw
    assert back.headers.encoding == value.headers.encoding
    assert cookies_of(back.cookies.jar) == cookies_of(value.cookies.jar)
    assert back.json() == value.json()
    assert repr(back) == repr(value)
    assert (back.request.method, back.request.url) == (value.request.method, value.request.url)
    failed, failed_before = told(lambda: back.raise_for_status() and 1), told(lambda: value.raise_for_status() and 1)
    assert failed == failed_before
    assert len(back.history) == len(value.history)
    assert b"".join(back.iter_bytes()) == value.content
    assert told(lambda: list(back.iter_raw())) == told(lambda: list(value.iter_raw()))


@pytest.mark.parametrize("path", ["/200", "/404?q=%C3%A9", "/500"])
def test_a_response_of_httpx_comes_back_the_same(shop: str, path: str) -> None:
    with httpx.Client(trust_env=False) as client:
        value = client.post(f"{shop}{path}", json={"a": 1})
    back = again(value)
    alike(back, value)
    alike(again(back), value)
    assert back.headers["content-encoding"] == "gzip"
    assert back.headers.get_list("x-multi") == ["a", "b"]


async def test_a_response_of_an_async_client_comes_back_the_same(shop: str) -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        value = await client.get(f"{shop}/200")
    back = again(value)
    assert look(back, HTTPX) == look(value, HTTPX)
    assert await back.aread() == value.content


def test_the_history_of_redirects_does_not_double_at_each_step(shop: str) -> None:
    with httpx.Client(trust_env=False, follow_redirects=True, max_redirects=20) as client:
        value = client.get(f"{shop}/302/15")
    data = codec.encode(value)
    assert len(data) < 40_000
    back = codec.decode(data)
    alike(back, value)
    assert [earlier.url for earlier in back.history] == [earlier.url for earlier in value.history]
    assert back.history[3].history[1] is back.history[1]


def test_a_redirect_that_was_not_followed_keeps_where_it_leads(shop: str) -> None:
    with httpx.Client(trust_env=False) as client:
        value = client.get(f"{shop}/302/1", headers={"Authorization": "Bearer sesame"})
    data = codec.encode(value)
    back = codec.decode(data)
    alike(back, value)
    assert back.next_request.url == f"{shop}/302/0"
    assert b"sesame" not in data


def test_an_unread_response_is_read_first(shop: str) -> None:
    with httpx.Client(trust_env=False) as client, client.stream("GET", f"{shop}/200") as value:
        back = again(value)
    assert back.json() == {"paid": "é"}
    assert back.num_bytes_downloaded == value.num_bytes_downloaded > 0


def test_a_response_that_cannot_be_read_any_more_is_refused(shop: str) -> None:
    with httpx.Client(trust_env=False) as client, client.stream("GET", f"{shop}/200") as value:
        pass
    with pytest.raises(NotEncodable, match=r"read it in the step.*`response\.read\(\)`"):
        codec.encode(value)


async def test_an_unread_response_of_an_async_client_is_refused_and_the_remedy_works(shop: str) -> None:
    async with httpx.AsyncClient(trust_env=False) as client, client.stream("GET", f"{shop}/200") as value:
        with pytest.raises(NotEncodable, match=r"`await response\.aread\(\)`") as caught:
            codec.encode([value])
        assert caught.value.where == "result[0]"
        await value.aread()
        assert again(value).json() == {"paid": "é"}


@pytest.mark.parametrize(
    "make",
    [
        lambda: httpx.Response(httpx.codes.OK),
        lambda: httpx.Response(204, headers=[(b"X-Raw", b"\xff"), (b"x-RAW", "é".encode())]),
        lambda: httpx.Response(200, headers=httpx.Headers({"x": "é"}, encoding="utf-8"), text="ü"),
        lambda: httpx.Response(299, content=b"\xe9", default_encoding="latin-1"),
        lambda: httpx.Response(200, content=b"\xe9", default_encoding=lambda content: "latin-1"),
        lambda: httpx.Response(200, html="<p>", extensions={"http_version": b"HTTP/2", "reason_phrase": b"Fine"}),
        lambda: httpx.Response(500, json=[1]),
    ],
)
def test_a_response_that_was_made_by_hand_comes_back_the_same(make: typing.Callable[[], httpx.Response]) -> None:
    value = make()
    back = again(value)
    names = "status_code reason_phrase http_version content encoding text headers links is_closed is_stream_consumed"
    assert look(back, names) == look(value, names)
    assert back.headers.raw == value.headers.raw
    for name in ("request", "url", "elapsed", "cookies"):
        assert told(lambda name=name: getattr(back, name)) == told(lambda name=name: getattr(value, name))
    assert told(back.raise_for_status) == told(value.raise_for_status)


def test_an_encoding_that_the_caller_chose_comes_back() -> None:
    value = httpx.Response(200, content=b"\xe9", headers={"content-type": "text/plain; charset=utf-8"})
    value.encoding = "latin-1"
    assert again(value).text == "é"
    value = httpx.Response(200, headers=[(b"x", "é".encode())])
    value.headers.encoding = "latin-1"
    assert again(value).headers["x"] == value.headers["x"]


def test_a_cookie_that_has_expired_since_is_still_in_the_response() -> None:
    request = httpx.Request("GET", "https://shop.test/")
    value = httpx.Response(200, headers={"Set-Cookie": "a=1; Max-Age=60"}, request=request)
    (cookie,) = value.cookies.jar
    cookie.expires = 1
    (back,) = again(value).cookies.jar
    assert (back.value, back.expires) == ("1", 1)


@pytest.mark.parametrize("userinfo", ["ann:sesame", "sesame", "sesame:", ":sesame", "ann:ses%40ame"])
def test_no_secret_of_the_request_is_recorded(userinfo: str) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={"ok": True})

    cookies = {"session": "sesame"}
    with httpx.Client(transport=httpx.MockTransport(answer), cookies=cookies) as client:
        value = client.post(
            f"https://{userinfo}@shop.test:8443/pay?x=1#f",
            headers={"X-Key": "sesame"},
            content=b"sesame",
        )
    data = codec.encode(value)
    assert b"sesame" not in data
    assert b"ses%40ame" not in data
    back = codec.decode(data)
    assert back.request.method == "POST"
    assert back.url == "https://shop.test:8443/pay?x=1#f"
    assert back.request.headers == httpx.Headers()
    with pytest.raises(httpx.RequestNotRead):
        _ = back.request.content
    with pytest.raises(httpx.StreamClosed):
        back.request.read()


def test_a_response_may_stand_anywhere_in_a_value() -> None:
    value = {"all": (httpx.Response(200, text="a"), [requests.Response()])}
    back = codec.decode(codec.encode(value))
    assert back["all"][0].text == "a"
    assert type(back["all"][1][0]) is requests.Response


def test_a_subclass_of_a_response_is_refused() -> None:
    class Paged(httpx.Response): ...

    with pytest.raises(NotEncodable, match="subclass of an HTTP library's response"):
        codec.encode(Paged(200))


def test_httpx2_is_read_like_httpx() -> None:
    httpx2 = pytest.importorskip("httpx2")
    request = httpx2.Request("GET", "https://shop.test/", headers={"X-Key": "sesame"})
    value = httpx2.Response(200, json={"a": 1}, headers={"Set-Cookie": "a=1"}, request=request)
    data = codec.encode(value)
    back = codec.decode(data)
    assert type(back) is httpx2.Response
    assert back.json() == {"a": 1}
    assert cookies_of(back.cookies.jar) == cookies_of(value.cookies.jar)
    assert b"sesame" not in data


@pytest.mark.parametrize("name", ["httpx", "requests"])
def test_a_record_does_not_import_the_library_that_it_needs(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    library = importlib.import_module(name)
    value = httpx.Response(200) if name == "httpx" else requests.Response()
    failure = httpx.HTTPStatusError("x", request=httpx.Request("GET", "http://a"), response=httpx.Response(200))
    data, data_of_failure = codec.encode(value), codec.encode_failure(failure)
    monkeypatch.delitem(sys.modules, name)
    with pytest.raises(RecordUnreadable, match=f"of {name}, which is not imported; add `import {name}`"):
        codec.decode(data)
    if name == "httpx":
        with pytest.raises(RecordUnreadable, match="httpx"):
            codec.decode_failure(data_of_failure)
    assert name not in sys.modules
    assert library


def test_an_app_that_never_names_the_library_records_its_responses() -> None:
    bare = Codec(TypeRegistry(lambda: frozenset()))
    assert bare.decode(bare.encode(httpx.Response(200, text="x"))).text == "x"


# ------------------------------------------------------------------------------------------------------------- requests

REQUESTS = (
    "status_code reason url encoding apparent_encoding content text ok is_redirect is_permanent_redirect elapsed links "
    "headers"
)


def session() -> requests.Session:
    made = requests.Session()
    made.trust_env = False
    return made


def alike_in_requests(back: requests.Response, value: requests.Response) -> None:
    assert look(back, REQUESTS) == look(value, REQUESTS)
    assert list(back.headers.items()) == list(value.headers.items())
    assert type(back.cookies) is type(value.cookies)
    assert cookies_of(back.cookies) == cookies_of(value.cookies)
    assert back.json() == value.json()
    assert bool(back) is bool(value)
    assert repr(back) == repr(value)
    assert (back.request.method, back.request.url) == (value.request.method, value.request.url)
    assert told(back.raise_for_status) == told(value.raise_for_status)
    assert b"".join(back.iter_content(3)) == value.content
    assert back.raw.version == value.raw.version
    assert back.raw.headers.getlist("Set-Cookie") == value.raw.headers.getlist("Set-Cookie")
    assert back.raw.read() == value.raw.read() == b""


@pytest.mark.parametrize("path", ["/200", "/404?q=1", "/500"])
def test_a_response_of_requests_comes_back_the_same(shop: str, path: str) -> None:
    with session() as client:
        value = client.post(f"{shop}{path}", json={"a": 1})
    back = again(value)
    alike_in_requests(back, value)
    alike_in_requests(again(back), value)
    back.close()


def test_the_history_of_requests_comes_back_the_same(shop: str) -> None:
    with session() as client:
        value = client.get(f"{shop}/302/12")
        stopped = client.get(f"{shop}/302/1", allow_redirects=False, headers={"Authorization": SECRET})
    data = codec.encode(value)
    assert len(data) < 40_000
    back = codec.decode(data)
    alike_in_requests(back, value)
    for earlier, earlier_before in zip(back.history, value.history, strict=True):
        alike_in_requests(earlier, earlier_before)
        assert len(earlier.history) == len(earlier_before.history)
    assert again(stopped).next.url == stopped.next.url == f"{shop}/302/0"
    assert b"sesame" not in codec.encode(stopped)


def test_an_unread_response_of_requests_is_read_first(shop: str) -> None:
    with session() as client, client.get(f"{shop}/200", stream=True) as value:
        assert again(value).json() == {"paid": "é"}
    with session() as client, client.get(f"{shop}/200", stream=True) as value:
        collections.deque(value.iter_content(4), 0)
        with pytest.raises(NotEncodable, match=r"`response\.content`"):
            codec.encode(value)


def test_no_secret_of_a_request_of_requests_is_recorded(shop: str) -> None:
    with session() as client:
        value = client.post(
            shop.replace("//", "//ann:sesame@") + "/200",
            headers={"X-Key": "sesame"},
            cookies={"session": "sesame"},
            data=b"sesame",
        )
    data = codec.encode(value)
    assert b"sesame" not in data
    back = codec.decode(data)
    assert (back.request.method, back.url, back.request.url) == ("POST", f"{shop}/200", f"{shop}/200")
    assert (dict(back.request.headers), back.request.body) == ({}, None)


# ------------------------------------------------------------------------------------------------------------- failures


def failure(call: typing.Callable[[], object]) -> tuple[typing.Any, typing.Any, bytes]:
    """The exception that a call raises, as it comes back, and its record."""
    with pytest.raises(Exception) as caught:  # noqa: PT011  every kind of failure
        call()
    data = codec.encode_failure(caught.value)
    back = codec.decode_failure(data)
    twice = codec.decode_failure(codec.encode_failure(back))
    assert type(twice) is type(back) is caught.type
    assert str(twice) == str(back)
    return caught.value, back, data


@pytest.mark.rule("O24")
def test_a_refusal_comes_back_with_request_and_response(shop: str) -> None:
    with httpx.Client(trust_env=False) as client:
        exc, back, data = failure(
            lambda: client.get(f"{shop}/404", headers={"Authorization": SECRET}).raise_for_status()
        )
    assert (back.args, str(back)) == (exc.args, str(exc))
    alike(back.response, exc.response)
    assert (back.request.method, back.request.url) == ("GET", f"{shop}/404")
    assert b"sesame" not in data
    with session() as requester:
        exc, back, data = failure(
            lambda: requester.get(f"{shop}/404", headers={"Authorization": SECRET}).raise_for_status()
        )
    assert (back.args, str(back)) == (exc.args, str(exc))
    alike_in_requests(back.response, exc.response)
    assert (back.request.method, back.request.url) == ("GET", f"{shop}/404")
    assert b"sesame" not in data


@pytest.mark.rule("O24")
def test_a_refusal_whose_body_was_not_read_comes_back_without_one(shop: str) -> None:
    def ask() -> None:
        with httpx.Client(trust_env=False) as client, client.stream("GET", f"{shop}/404") as response:
            response.raise_for_status()

    exc, back, _ = failure(ask)
    assert (str(back), back.response.status_code, back.response.headers) == (str(exc), 404, exc.response.headers)
    for error in (exc, back):
        with pytest.raises(httpx.ResponseNotRead):
            _ = error.response.content
        with pytest.raises(httpx.StreamClosed):
            error.response.read()


@pytest.mark.rule("O24")
def test_a_connection_that_failed_comes_back_with_its_request() -> None:
    with httpx.Client(trust_env=False) as client:
        exc, back, _ = failure(lambda: client.get("http://127.0.0.1:1/x"))
    assert type(back) is httpx.ConnectError
    assert (back.args, str(back), back.request.url) == (exc.args, str(exc), "http://127.0.0.1:1/x")
    with session() as requester:
        exc, back, _ = failure(lambda: requester.get("http://127.0.0.1:1/x"))
    assert type(back) is requests.ConnectionError
    assert str(back) == str(exc)
    assert type(back.args[0]) is type(exc.args[0])
    assert str(back.args[0]) == str(exc.args[0])
    assert str(back.args[0].reason) == str(exc.args[0].reason)
    assert (back.response, back.request.method, back.request.url) == (None, "GET", "http://127.0.0.1:1/x")


@pytest.mark.rule("O24")
def test_a_failure_that_has_no_request_says_so_afterwards() -> None:
    def fail(error: Exception) -> None:
        raise error

    for made in (httpx.ReadTimeout("slow"), httpx.TooManyRedirects("many")):
        exc, back, _ = failure(lambda made=made: fail(made))
        assert (back.args, told(lambda back=back: back.request)) == (exc.args, told(lambda exc=exc: exc.request))
    _, back, _ = failure(lambda: fail(requests.ReadTimeout("slow", request=requests.Request("GET", "http://a.test"))))
    assert (type(back.request), back.request.url) == (requests.Request, "http://a.test")
    exc, back, _ = failure(lambda: fail(requests.ConnectionError(OSError(104, "reset"), request=None)))
    assert (str(back), back.args[0].errno) == (str(exc), 104)
    _, back, _ = failure(lambda: requests.Response().json())
    assert type(back) is requests.JSONDecodeError


@pytest.mark.rule("O24")
def test_credentials_are_taken_out_of_a_failure_and_of_its_traceback(shop: str) -> None:
    address = shop.replace("//", "//ann:sesame@") + "/404"

    def wrapped() -> None:
        with session() as client:
            try:
                client.get(address).raise_for_status()
            except requests.HTTPError as error:
                raise ValueError("no luck") from error

    with httpx.Client(trust_env=False) as client, session() as requester:
        for ask in (
            lambda: client.get(address).raise_for_status(),
            lambda: requester.get(address).raise_for_status(),
            wrapped,
        ):
            exc, back, data = failure(ask)
            assert b"sesame" not in data
            assert str(back) == str(exc).replace("ann:sesame@", "")


@pytest.mark.rule("O24")
def test_the_response_that_an_exception_of_another_library_holds_comes_back() -> None:
    class_of_app = type("Refused", (Exception,), {"__module__": __name__, "__qualname__": "Refused"})
    with contextlib.ExitStack() as stack:
        globals()["Refused"] = class_of_app
        stack.callback(globals().pop, "Refused")
        exc: typing.Any = class_of_app("no")
        exc.response = httpx.Response(402, json={"code": 7}, request=httpx.Request("GET", "https://a:b@shop.test"))
        back: typing.Any = codec.decode_failure(codec.encode_failure(exc))
    assert back.response.json() == {"code": 7}
    assert back.response.url == "https://shop.test"


def test_the_time_that_a_response_took_comes_back() -> None:
    value = httpx.Response(200)
    value.elapsed = dt.timedelta(seconds=1.5)
    assert again(value).elapsed == dt.timedelta(seconds=1.5)
