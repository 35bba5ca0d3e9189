"""``http.client.HTTPResponse`` objects over recorded bytes, and the reading of a live one to its end.

What is built on ``http.client`` reads a recorded answer through the same code as a live one, so that framing, cookies,
lengths and the errors of an answer that is cut short come out as they would. An answer that breaks off is kept as the
bytes that came and what ended them: reading the stand-in then fails as reading the connection did.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from http.client import HTTPException, HTTPResponse
from typing import Any, cast

from semel.capture.exchange import Answer

#: Bytes that are read from a connection at a time.
PIECE = 65_536


class BrokenAnswer(Exception):
    """An answer that began and did not come whole: ``answer.body`` holds what came, framing included.

    ``ending`` is the error that ended it, None where the other side just closed the connection.
    """

    def __init__(self, answer: Answer, ending: BaseException | None) -> None:
        super().__init__(f"the answer broke off after {len(answer.body)} bytes")
        self.answer = answer
        self.ending = ending


def standing_in(answer: Answer, method: str) -> HTTPResponse:
    """The answer as ``http.client`` would have it from a connection."""
    return _over(answer, _framed(answer), None, method)


def breaking_off(broken: BrokenAnswer, method: str) -> HTTPResponse:
    """The answer that broke off; reading it fails as it did."""
    return _over(broken.answer, broken.answer.body, broken.ending, method)


def as_sent(answer: Answer) -> bytes:
    """The bytes of the answer as a server would send it."""
    return _head(answer) + _framed(answer)


def socket_of(outcome: Answer | BrokenAnswer) -> Any:
    """What has ``makefile`` as a socket does, over the bytes of an answer or of one that broke off."""
    if isinstance(outcome, BrokenAnswer):
        return _Wire(_head(outcome.answer) + outcome.answer.body, outcome.ending)
    return _Wire(as_sent(outcome), None)


def _head(answer: Answer) -> bytes:
    head = [
        f"{answer.version} {answer.status} {answer.reason}",
        *(f"{name}: {value}" for name, value in answer.headers),
    ]
    return "\r\n".join([*head, "", ""]).encode("latin-1")


def _over(answer: Answer, body: bytes, ending: BaseException | None, method: str) -> HTTPResponse:
    wire = _Wire(_head(answer) + body, ending)
    made = HTTPResponse(cast(Any, wire), method=method)
    made.begin()
    return made


def _framed(answer: Answer) -> bytes:
    coding = [value for name, value in answer.headers if name.lower() == "transfer-encoding"]
    if not coding or coding[0].lower() != "chunked":
        return answer.body
    size = b"%x\r\n%b\r\n" % (len(answer.body), answer.body) if answer.body else b""
    return size + b"0\r\n\r\n"


class _Wire(io.RawIOBase):
    """Recorded bytes in the place of a socket and of the file over it."""

    def __init__(self, data: bytes, ending: BaseException | None) -> None:
        self._data = io.BytesIO(data)
        self._ending = ending

    def makefile(self, mode: str) -> io.BufferedReader:
        return _File(self, PIECE)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._data.readinto(buffer)
        if not count and self._ending is not None and len(buffer):
            raise self._ending
        return count


class _File(io.BufferedReader):
    def flush(self) -> None:
        """There is nothing to write; the garbage collector may close this before the answer, which then flushes it."""


def answer_of(response: HTTPResponse, pieces: Any) -> Answer:
    """The whole answer; ``pieces`` joins the pieces of its body.

    :raises BrokenAnswer: it did not come whole
    """
    heard = _Heard(response.fp) if response.fp is not None else None
    if heard is not None:
        response.fp = cast(Any, heard)
    try:
        body = pieces(_pieces(response))
    except (HTTPException, OSError) as error:
        raise _broken(response, heard, error) from error
    if response.length and not response.chunked:
        raise _broken(response, heard, None)
    return _answer(response, body)


def _pieces(response: HTTPResponse) -> Iterator[bytes]:
    while piece := response.read(PIECE):
        yield piece


def _broken(response: HTTPResponse, heard: _Heard | None, error: BaseException | None) -> BrokenAnswer:
    ending = None if isinstance(error, HTTPException) and not isinstance(error, OSError) else error
    return BrokenAnswer(_answer(response, bytes(heard.data) if heard else b""), ending)


def _answer(response: HTTPResponse, body: bytes) -> Answer:
    version = "HTTP/1.0" if response.version == 10 else "HTTP/1.1"
    return Answer(response.status, tuple(response.msg.items()), body, response.reason, version)


class _Heard:
    """The file over a connection, which remembers what came, also when reading it fails midway."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.data = bytearray()

    def read(self, size: int) -> bytes:
        start = len(self.data)
        while (missing := size - (len(self.data) - start)) > 0:
            piece = self._file.read1(missing)
            if not piece:
                break
            self.data += piece
        return bytes(self.data[start:])

    def readline(self, limit: int = -1) -> bytes:
        line: bytes = self._file.readline(limit)
        self.data += line
        return line

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.close()
