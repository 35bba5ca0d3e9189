"""Transport failures of httpx as data, and the patches themselves, without a server."""

from __future__ import annotations

import json

import httpx
import pytest

from semel.capture import httpx as recorder_of_httpx
from semel.capture import recorder
from semel.capture._httpx_failures import BrokenOff, Failures
from semel.capture._httpx_like import _Library
from semel.capture.exchange import Answer, Request

ASKED = Request("GET", "http://127.0.0.1/")
KINDS = [
    kind
    for kind in vars(httpx).values()
    if isinstance(kind, type) and issubclass(kind, httpx.TransportError) and kind is not httpx.TransportError
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_transport_failure_comes_back_with_its_class_its_text_and_its_causes(
    kind: type[httpx.TransportError],
) -> None:
    failure = kind("it failed")
    failure.__cause__ = OSError(111, "refused")
    failure.__cause__.__cause__ = ConnectionResetError(104, "reset")
    failures = Failures(httpx)
    data = failures.flatten(failure)
    assert data is not None
    restored = failures.restore(json.loads(json.dumps(data)), ASKED)
    assert type(restored) is kind
    assert restored.args == ("it failed",)
    cause = restored.__cause__
    assert isinstance(cause, OSError)
    assert cause.errno == 111
    assert isinstance(cause.__cause__, ConnectionResetError)


def test_what_is_no_transport_failure_is_not_taken_for_one() -> None:
    class Mine(httpx.ConnectError):
        pass

    for error in (ValueError("x"), httpx.DecodingError("x"), httpx.TooManyRedirects("x"), Mine("x")):
        assert Failures(httpx).flatten(error) is None


def test_a_failure_of_a_class_that_this_version_has_not_is_a_transport_failure_of_the_same_text() -> None:
    data = {"class": "QuicError", "message": "it failed", "cause": json.dumps({"tree": json.dumps({"class": "x.Y"})})}
    restored = Failures(httpx).restore({**data}, ASKED)
    assert type(restored) is httpx.TransportError
    assert str(restored) == "it failed"
    assert restored.__cause__ is None


def test_an_answer_that_broke_off_comes_back_with_what_had_come() -> None:
    answer = Answer(200, (("content-type", "text/plain"), ("x-ratelimit-a", "é")), bytes(range(256)), "OK")
    failures = Failures(httpx)
    data = failures.flatten(BrokenOff(answer, httpx.ReadTimeout("too slow")))
    assert data is not None
    restored = failures.restore(json.loads(json.dumps(data)), ASKED)
    assert isinstance(restored, BrokenOff)
    assert restored.answer == answer
    assert type(restored.failure) is httpx.ReadTimeout


def test_an_answer_of_http_2_has_the_reason_of_its_code() -> None:
    answer = Answer(404, (("content-length", "0"),), b"", "", "HTTP/2")
    response = _Library(httpx)._response(answer)
    assert (response.http_version, response.reason_phrase) == ("HTTP/2", "Not Found")


def test_headers_come_back_byte_by_byte() -> None:
    for value in ("naïve", "\xff\xfe", "日本".encode().decode("latin-1")):
        response = _Library(httpx)._response(Answer(200, (("X-Name", value), ("x-name", "again"))))
        assert response.headers.raw == [(b"X-Name", value.encode("latin-1")), (b"x-name", b"again")]


@pytest.fixture
def patched(monkeypatch: pytest.MonkeyPatch) -> None:
    for transport, name in (
        (httpx.HTTPTransport, "handle_request"),
        (httpx.AsyncHTTPTransport, "handle_async_request"),
    ):
        monkeypatch.setattr(transport, name, getattr(transport, name))  # put back after the test
    recorder_of_httpx.install(httpx)


@pytest.mark.usefixtures("patched")
async def test_a_script_answers_in_place_of_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def answering(request: Request) -> Answer:
        assert (request.method, request.url) == ("GET", "http://nobody.example/a?b=1"), "no password is handed on"
        return Answer.of(json={"a": 1})

    monkeypatch.setattr(recorder, "answering", answering)
    url = "http://ann:secret@nobody.example/a?b=1"
    assert httpx.get(url).json() == {"a": 1}
    async with httpx.AsyncClient() as client:
        assert (await client.get(url)).json() == {"a": 1}


@pytest.mark.usefixtures("patched")
def test_a_patch_is_made_once_and_keeps_the_signature() -> None:
    patched = httpx.HTTPTransport.handle_request
    recorder_of_httpx.install(httpx)
    assert httpx.HTTPTransport.handle_request is patched
    assert patched.__qualname__ == "HTTPTransport.handle_request"
