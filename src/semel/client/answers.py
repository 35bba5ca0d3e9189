"""What an operation makes of an answer: its result, or an error that holds the answer.

A client decides here which answers are failures, and which of these are decisions and not accidents (rule R6).
"""

from __future__ import annotations

from collections.abc import Collection
from types import NoneType
from typing import TYPE_CHECKING, Any

from semel.errors import DecidedStatus, ErrorStatus, UnexpectedBody

from .hints import is_response, members, plain, shown
from .shapes import Json, Misfit

if TYPE_CHECKING:
    import httpx

#: How much of a body an error's text shows, in characters.
_SHOWN = 300


class Result:
    """The result type of an operation, and how it is read.

    Raises:
        TypeError: JSON cannot be read into the type; the text says what to write.
    """

    __slots__ = ("_json", "_kind", "_optional", "accept", "hint")

    def __init__(self, hint: Any) -> None:
        self.hint = hint
        kind = plain(hint)
        several = list(members(kind))
        self._kind = kind
        self._optional = NoneType in several
        self._json: Json | None = None
        if kind in (None, NoneType, bytes, str) or is_response(kind):
            self.accept = "*/*"
            return
        wrong = next((each for each in several if each is bytes or is_response(each)), None)
        if wrong is not None:
            raise TypeError(f"{shown(wrong)} is the answer as it is, whatever came; write it alone, without a `|`")
        self._json = Json(hint)
        self.accept = "application/json"

    @property
    def needs_body(self) -> bool:
        """Whether an answer without a body cannot be read into it."""
        return self._kind is bytes or self._kind is str or self._json is not None

    def read(
        self, operation: str, response: httpx.Response, secrets: tuple[str, ...], decisions: Collection[int]
    ) -> Any:
        """The result of an answer; ``decisions`` are the statuses that are decisions.

        Raises:
            ErrorStatus, UnexpectedBody: it is none.
        """
        check(operation, response, secrets, decisions)
        kind = self._kind
        if self._json is None:
            if kind is bytes:
                return response.content
            if kind is not str:
                return response if is_response(kind) else None
            if not _is_json(response):
                return response.text
        if not response.content and self._optional:
            return None
        try:
            return (self._json or _STR).read(response.content)
        except Misfit as misfit:
            problem, cause = misfit, misfit.__cause__
        what = (
            "is empty"
            if not response.content
            else f"does not fit {shown(self.hint)}: {problem.why}, at {problem.where}"
        )
        message = f"{_told(operation, response)}, but its body {what}{_excerpt(response, secrets)}"
        raise UnexpectedBody(message, where=problem.where, **_held(operation, response)) from cause


def check(operation: str, response: httpx.Response, secrets: tuple[str, ...], decisions: Collection[int]) -> None:
    """Raises ErrorStatus if the answer is a failure: if its status is not a 2xx (rule A10)."""
    if not response.is_success:
        message = f"{_told(operation, response)}{_excerpt(response, secrets)}"
        kind = DecidedStatus if response.status_code in decisions else ErrorStatus
        raise kind(message, **_held(operation, response))


_STR = Json(str)


def _is_json(response: httpx.Response) -> bool:
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    return bool(kind == "application/json" or kind.endswith("+json"))


def _told(operation: str, response: httpx.Response) -> str:
    request = response.request
    status = f"{response.status_code} {response.reason_phrase}".rstrip()
    return f"{operation}: {request.method} {request.url.path} answered {status}"


def _excerpt(response: httpx.Response, secrets: tuple[str, ...]) -> str:
    """The first bytes of the body, on one line; a credential that the other side repeated is taken out."""
    body = response.content
    if not body:
        return ""
    for secret in secrets:
        body = body.replace(secret.encode(), b"[credential]")
    start = body[: 4 * _SHOWN]
    try:
        text = start.decode()
    except UnicodeDecodeError as error:
        # A character that the cut went through is no reason to show bytes.
        cut_there = len(start) < len(body) and error.start > len(start) - 4
        text = start[: error.start].decode() if cut_there else repr(start[:_SHOWN])
    text = " ".join(text.split())
    text = "".join([char if char.isprintable() else f"\\x{ord(char):02x}" for char in text])
    return f": {text[:_SHOWN]}{'…' if len(text) > _SHOWN or len(body) > 4 * _SHOWN else ''}"


def _held(operation: str, response: httpx.Response) -> dict[str, Any]:
    return {
        "operation": operation,
        "method": response.request.method,
        "path": response.request.url.path,
        "status": response.status_code,
        "reason": response.reason_phrase,
        "headers": dict(response.headers),
        "body": response.content,
    }
