"""Answers from a script in place of the network, for every library that semel records.

The script stands where the recorder would make an exchange. All above it is real: the workflow, its steps and records,
the SDK and its retries, the library's own exceptions. Nothing goes out: a request that the script does not know raises.
"""

from __future__ import annotations

import copy
import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit, urlunsplit

import msgspec

from semel.capture import recorder
from semel.capture.exchange import Answer, Request
from semel.capture.install import install
from semel.errors import UnscriptedRequest, UnusedAnswers

_DEFAULT_PORTS = {"http": 80, "https": 443}
_PHRASES = {status.value: status.phrase for status in HTTPStatus}

#: What stands in a script for one answer: an answer, an exception to raise, or a function that gives or raises one.
Reply = Answer | BaseException | type[BaseException] | Callable[["Sent"], Answer]


@dataclass(frozen=True, slots=True)
class _Value:
    """What is given for what is no HTTP."""

    value: object


@dataclass(frozen=True, slots=True)
class Sent:
    """A request that a program made: ``url`` is whole, without the port where it is the usual one.

    ``body`` is None where there was none, or where it was a stream. Of mail the method is ``MAIL``, and the query of
    the URL names the recipients: ``smtp://mail.example:25/?to=ann@example.org``.
    """

    method: str
    url: str
    body: bytes | None = field(default=None, repr=False)

    @property
    def path(self) -> str:
        """The path of the URL, as it was sent: percent-encoded."""
        return urlsplit(self.url).path

    @property
    def query(self) -> dict[str, list[str]]:
        """The query of the URL: each name with its values."""
        return parse_qs(urlsplit(self.url).query, keep_blank_values=True)

    def json(self) -> Any:
        """The body, read as JSON. Raises ValueError if it is none."""
        return json.loads(self.body or b"")


class Scripted:
    """The answers to the requests of one method and URL. One of its methods says what they are."""

    def __init__(self, method: str, url: str | re.Pattern[str], when: Callable[[Sent], bool] | None) -> None:
        self._method = method.upper()
        self._url = url if isinstance(url, re.Pattern) else _usual(url)
        self._when = when
        self._replies: Iterator[Reply] = iter(())
        self._each: Reply | _Value | None = None
        self._left: int | None = 0
        self._used = False

    def answer(
        self,
        status: int = 200,
        *,
        json: Any = ...,
        text: str | None = None,
        body: bytes = b"",
        headers: Mapping[str, str] | Iterable[tuple[str, str]] = (),
    ) -> None:
        """Answers each of them so. The body is given as JSON, text or bytes."""
        self._set_each(Answer.of(status, json=json, text=text, body=body, headers=headers))

    def answers(self, replies: Iterable[Reply]) -> None:
        """Answers them in this order, each once: an ``Answer``, an exception to raise, or a function of the request."""
        given = [_checked(reply) for reply in replies]
        if not given:
            raise ValueError(f"answers([]) for {self} gives no answer; leave the line out")
        self._settle()
        self._replies, self._left = iter(given), len(given)

    def call(self, function: Callable[[Sent], Answer]) -> None:
        """Answers each of them with what the function gives, or raises what it raises."""
        self._set_each(_checked(function))

    def fail(self, error: BaseException | type[BaseException]) -> None:
        """Raises this where the library would meet the network.

        Give it what the library itself meets there: ``httpx.ConnectError("refused")`` for httpx and what is built on it
        (OpenAI, Anthropic), ``ConnectionRefusedError()`` or ``TimeoutError()`` for the others.
        """
        self._set_each(_checked(error))

    def give(self, value: object) -> None:
        """Gives this for what is no HTTP: of mail (``on("MAIL", "smtp://host:25/")``), what sending it gives.

        That is ``{}`` for smtplib and ``({}, "OK")`` for aiosmtplib, where the server takes it for all recipients.
        """
        self._set_each(_Value(value))

    def __str__(self) -> str:
        url = self._url.pattern if isinstance(self._url, re.Pattern) else self._url
        kind = " (a regular expression)" if isinstance(self._url, re.Pattern) else ""
        return f"{self._method} {url}{kind}{' when …' if self._when is not None else ''}"

    def _set_each(self, reply: Reply | _Value) -> None:
        self._settle()
        self._each, self._left = reply, None

    def _settle(self) -> None:
        if self._left != 0 or self._used:
            raise ValueError(f"{self} has its answers already; say all of them at once: answers([…, …])")

    def _take(self, sent: Sent) -> Reply | _Value | None:
        """The reply to this request, if it is one of these and there is one left."""
        if self._left == 0 or not self._matches(sent):
            return None
        self._used = True
        if self._left is None:
            return self._each
        self._left -= 1
        return next(self._replies)

    def _matches(self, sent: Sent) -> bool:
        if self._method not in ("*", sent.method.upper()):
            return False
        if isinstance(self._url, re.Pattern):
            fits = self._url.search(sent.url) is not None
        elif self._url.endswith("*"):
            fits = sent.url.startswith(self._url[:-1])
        else:
            fits = self._url in (sent.url, sent.url.partition("?")[0])
        return fits and (self._when is None or self._when(sent))

    def _unused(self) -> str | None:
        if self._left is None:
            return None if self._used else f"{self}: was never asked"
        if self._left:
            return f"{self}: {self._left} answer{'s' if self._left > 1 else ''} left"
        return None if self._used else f"{self}: has no answers; say what answers them"


class Script:
    """What ``script()`` gives. It holds for the whole process, worker threads included, while its ``with`` lasts."""

    def __init__(self) -> None:
        self._scripted: list[Scripted] = []
        self._requests: list[Sent] = []
        self._unscripted: list[Sent] = []
        self._lock = threading.Lock()
        self._before: Callable[[Request], Any] | None = None

    @property
    def requests(self) -> tuple[Sent, ...]:
        """The requests that were answered, or failed as the script says, in order."""
        with self._lock:
            return tuple(self._requests)

    def on(self, method: str, url: str | re.Pattern[str], *, when: Callable[[Sent], bool] | None = None) -> Scripted:
        """The requests of a method (``"*"``: any) and URL; say what answers them: ``.answer(json={…})``.

        What stands first in the script goes first, as long as it has an answer left.

        Args:
            url: the whole URL; without a query it stands for any query. One that ends with ``*`` stands for all that
                begin so; a compiled regular expression for those that it is found in.
            when: asked besides, of the request: ``when=lambda sent: sent.json()["kind"] == "card"``.
        """
        if isinstance(url, str) and "://" not in url and url != "*":
            raise ValueError(f'{url!r} is no whole URL: write on("{method}", "https://host{url}"), or "*" for any')
        scripted = Scripted(method, url, when)
        with self._lock:
            self._scripted.append(scripted)
        return scripted

    def done(self) -> None:
        """Demands that all of the script was used.

        Raises:
            UnusedAnswers: it was not; names what is left.
        """
        with self._lock:
            left = [unused for scripted in self._scripted if (unused := scripted._unused()) is not None]
        if left:
            raise UnusedAnswers("\n  ".join(["not all of the script was asked for:", *left]))

    def __enter__(self) -> Self:
        install()
        self._before = recorder.answering
        recorder.answering = self._answer
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Raises UnscriptedRequest also where the program, or an SDK that tries again, handled it."""
        recorder.answering = self._before
        if self._unscripted and error is None:
            raise UnscriptedRequest(self._problem(self._unscripted))
        if self._unscripted and not isinstance(error, UnscriptedRequest) and error is not None:
            error.add_note(self._problem(self._unscripted))

    def _answer(self, request: Request) -> object:
        sent = Sent(request.method, _usual(request.url), request.body)
        with self._lock:
            replies = (scripted._take(sent) for scripted in self._scripted)
            reply = next((each for each in replies if each is not None), None)
            (self._requests if reply is not None else self._unscripted).append(sent)
        if reply is None:
            raise UnscriptedRequest(self._problem([sent]))
        return reply.value if isinstance(reply, _Value) else _given(reply, sent)

    def _problem(self, unscripted: list[Sent]) -> str:
        lines = [f"{sent.method} {sent.url} is not in the script, and was not sent" for sent in unscripted]
        known = [f"  {scripted}{'' if scripted._left != 0 else ': no answer left'}" for scripted in self._scripted]
        return "\n".join([*lines, "the script answers" if known else "the script is empty", *known])


def script() -> Script:
    """A script in place of the network: ``with script() as net:``.

    ::

        with script() as net, app.worker():
            net.on("POST", "https://api.payments.example/charges").answer(201, json={"id": "ch_1"})
            assert app.start(fulfil, "A-1").result() == "ch_1"
            net.done()
        assert net.requests[0].json() == {"reference": "A-1"}

    It answers, in a run and outside of one, all calls of the libraries that semel records.

    Raises at the end of the ``with``, and where the request is made:
        UnscriptedRequest: the program asked for what is not in the script; lists what is.
    """
    return Script()


def _checked(reply: Reply) -> Reply:
    fits = issubclass(reply, BaseException) if isinstance(reply, type) else callable(reply)
    if fits or isinstance(reply, Answer | BaseException):
        return reply
    raise TypeError(f"{reply!r} is no answer: write Answer.of(json=…), an exception, or a function of the request")


def _given(reply: Reply, sent: Sent) -> Answer:
    """The answer of a reply, or its exception raised."""
    if isinstance(reply, BaseException):
        raise _another(reply)
    if isinstance(reply, type):
        assert issubclass(reply, BaseException)
        raise reply
    answer = reply if isinstance(reply, Answer) else reply(sent)
    if not isinstance(answer, Answer):
        raise TypeError(
            f"the function gave a {type(answer).__qualname__} for {sent.method} {sent.url}: give Answer.of(…)"
        )
    if not answer.reason:
        answer = msgspec.structs.replace(answer, reason=_PHRASES.get(answer.status, ""))
    return answer


def _another(error: BaseException) -> BaseException:
    """A copy to raise: one that was raised holds its traceback, and may be raised on two threads."""
    try:
        return copy.copy(error)
    except Exception:  # its constructor takes something else than its arguments
        return error


def _usual(url: str) -> str:
    """The URL without the port, where it is the scheme's own, and with a path."""
    parts = urlsplit(url)
    if not parts.scheme:
        return url
    host = parts.netloc.lower().removesuffix(f":{_DEFAULT_PORTS.get(parts.scheme)}")
    path = parts.path or ("" if host.endswith("*") else "/")
    return urlunsplit((parts.scheme, host, path, parts.query, ""))
