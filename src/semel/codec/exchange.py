"""An exchange with another system, as it is recorded: what was asked only as a digest, and what came back.

Nothing of a request is stored but keyed digests, so that no secret of it can be read from a record.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

import msgspec

#: The method of what sends mail: no exchange over HTTP, so that its outcome is a value of its library.
MAIL = "MAIL"

Headers = tuple[tuple[str, str], ...]

_BREAKS = re.compile(r"[\r\n\0]")


class Answer(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """An HTTP answer as it came over the wire: ``body`` is whole, and still encoded as ``content-encoding`` says.

    Headers are in order and may repeat.
    """

    status: int
    headers: Headers = ()
    body: bytes = b""
    reason: str = ""
    version: str = "HTTP/1.1"

    @property
    def is_result(self) -> bool:
        """Whether it is recorded at once: a 2xx or 3xx (rule A10)."""
        return 200 <= self.status < 400

    @classmethod
    def of(
        cls,
        status: int = 200,
        *,
        json: Any = ...,
        text: str | None = None,
        body: bytes = b"",
        headers: Mapping[str, str] | Iterable[tuple[str, str]] = (),
    ) -> Answer:
        """An answer written by hand, for ``run.record`` and for tests: its body is given as JSON, text or bytes.

        Raises:
            ValueError, TypeError: no library could have got such an answer.
        """
        if sum((json is not ..., text is not None, body != b"")) > 1:
            raise ValueError("an Answer has one body: give it as json, as text, or as body")
        kind = None
        if json is not ...:
            body, kind = _dumps(json), "application/json"
        elif text is not None:
            body, kind = text.encode(), "text/plain; charset=utf-8"
        given = _checked_headers(headers)
        names = {name.lower() for name, _ in given}
        if kind is not None and "content-type" not in names:
            given = (("content-type", kind), *given)
        if "content-length" not in names and "transfer-encoding" not in names:
            given = (*given, ("content-length", str(len(body))))
        return cls(_checked_status(status), given, bytes(body))


def _checked_status(status: object) -> int:
    if not isinstance(status, int) or isinstance(status, bool):
        raise TypeError(f"the status of an Answer is a number such as 404, not {status!r}")
    if not 100 <= status <= 599:
        raise ValueError(f"the status of an Answer is from 100 to 599, not {status}")
    return int(status)


def _checked_headers(headers: Mapping[str, str] | Iterable[tuple[str, str]]) -> Headers:
    pairs = cast(Any, headers).items() if isinstance(headers, Mapping) else headers
    given: Headers = tuple((name, value) for name, value in pairs)
    for name, value in given:
        if not isinstance(name, str) or not isinstance(value, str):
            raise TypeError(f"the header {name!r} of an Answer: its name and value are texts, not {value!r}")
        if not name or _BREAKS.search(name) or _BREAKS.search(value):
            raise ValueError(f"the header {name!r} of an Answer is empty or has a line break in it: {value!r}")
    return given


class Exchange(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One exchange: an ``answer``, or a transport ``failure`` as plain data, or the encoded ``value`` of another kind.

    ``asked`` is the digest of what identifies the request, ``sent`` that of its body; both are empty where the outcome
    was stated by hand. ``together`` says that it was made beside others of its call, in no order.
    """

    method: str
    asked: bytes
    sent: bytes
    together: bool
    answer: Answer | None = None
    failure: dict[str, str | int | None] | None = None
    value: bytes | None = None

    def told(self) -> str:
        """In a few words, for a person: status and size, or the failure."""
        if self.answer is not None:
            reason = f" {self.answer.reason}" if self.answer.reason else ""
            return f"{self.answer.status}{reason}, {len(self.answer.body):,} bytes"
        if self.failure is not None:
            told = (self.failure.get("class"), self.failure.get("message"))  # the rest is for making it again
            return ": ".join(str(part) for part in told if part not in (None, ""))
        return "done"


class AnswerTooLarge(Exception):
    """An answer came that is over what can be recorded: ``what`` says so in words that follow "the call …"."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


def _dumps(value: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except ValueError as error:
        raise ValueError(f"the json of an Answer: {error}") from None


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Exchange)


def write_exchange(value: Exchange) -> bytes:
    """The bytes of an exchange."""
    return _ENCODER.encode(value)


def read_exchange(data: bytes) -> Exchange:
    """The exchange of these bytes. Raises msgspec.DecodeError."""
    return _DECODER.decode(data)
