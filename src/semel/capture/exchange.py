"""What a library's file tells the recorder of a request, and what it gets for an answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from semel.codec import MAX_BYTES, Answer, AnswerTooLarge

__all__ = ["MAX_BYTES", "Answer", "AnswerTooLarge", "Failures", "Flat", "Request"]

#: A transport failure as plain data.
Flat = dict[str, str | int | None]


@dataclass(frozen=True, slots=True)
class Request:
    """A request. Nothing of it is stored but keyed digests; it may hold secrets, so it is not shown either.

    ``body`` is None where it is not at hand (a stream). ``about`` is what else tells it from others to the same
    address: the range that it asks for, the operation that a header names. ``websocket`` says that it asks to go on as
    one.
    """

    method: str
    url: str = field(repr=False)
    body: bytes | None = field(default=None, repr=False)
    about: str = field(default="", repr=False)
    websocket: bool = False


class Failures(Protocol):
    """How the transport failures of one library are recorded, and made again."""

    def flatten(self, error: BaseException) -> Flat | None:
        """The failure as plain data; None if it is no transport failure of this library."""
        ...

    def restore(self, data: Flat, request: Request) -> BaseException:
        """The failure of these data: the same class, arguments and text."""
        ...
