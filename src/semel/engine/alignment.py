"""Which record a request of an automatic step is given: in order, or by what it asks where several are side by side.

A call of one exchange gets its record whatever it asks. In a call of several, a request whose record cannot be told for
certain is never sent: doing twice what was done, or giving one answer for another, is worse than a run that faults.
"""

from __future__ import annotations

from collections.abc import Mapping

from semel.codec import Codec, Exchange
from semel.errors import RecordUnreadable, RequestNotAligned
from semel.store.interface import Record

#: Stands before the name of an automatic step.
AUTOMATIC = "#auto:"
#: Stands before the number of a part in its path; the first one has none.
PART = "~"

#: Methods whose requests are told apart by their address alone.
_WITHOUT_BODY = frozenset({"GET", "HEAD", "OPTIONS", "DELETE", "TRACE"})


def part_text(call: str, number: int) -> str:
    """The path of one part of a call."""
    return call if number == 0 else f"{call}{PART}{number}"


def part_of(path: str) -> tuple[str, int]:
    """The path of the call that a part's path is of, and the number of the part."""
    call, mark, number = path.rpartition(PART)
    return (call, int(number)) if mark and number.isdecimal() else (path, 0)


def is_automatic(path: str) -> bool:
    """Whether the step at this path is an automatic one."""
    return AUTOMATIC in path.rpartition("/")[2]


class Asked:
    """A request as the engine sees it. ``told`` is its method and where it goes, for a message; it is not stored."""

    __slots__ = ("asked", "method", "sent", "told")

    def __init__(self, method: str, asked: bytes, sent: bytes, told: str) -> None:
        self.method = method
        self.asked = asked
        self.sent = sent
        self.told = told


class Recorded:
    """A part's record, read as far as aligning needs it."""

    __slots__ = ("asked", "method", "record", "sent", "together")

    def __init__(self, record: Record, codec: Codec) -> None:
        self.record = record
        self.method, self.asked, self.sent, self.together = "", b"", b"", False
        if record.kind == "result":
            try:
                value = codec.decode(record.data)
            except RecordUnreadable:
                return  # said when it is asked for
            if isinstance(value, Exchange):
                self.method, self.asked = value.method, value.asked
                self.sent, self.together = value.sent, value.together

    def fits(self, asked: Asked) -> bool:
        return not self.asked or (self.asked == asked.asked and self.method == asked.method)

    def is_of(self, asked: Asked) -> bool:
        """Whether it is surely of this request: what it asks and what it sends are the same."""
        return bool(self.asked) and self.fits(asked) and self.sent == asked.sent

    def differs(self, asked: Asked) -> bool:
        """Whether the request now says something else than it did."""
        if not self.asked:
            return False
        return not self.fits(asked) or (bool(self.sent) and bool(asked.sent) and self.sent != asked.sent)


class Alignment:
    """The records of one call's exchanges, and how far its requests have come."""

    def __init__(self, text: str, records: Mapping[int, Record], codec: Codec) -> None:
        self.left = {number: Recorded(record, codec) for number, record in sorted(records.items())}
        self._text = text
        self._recorded = frozenset(self.left)
        self._single = set(self.left) == {0} and not self.left[0].together
        self._stranger: str | None = None  # the method of the one record, that was given to another request
        self._expected = 0
        self._next = max(self.left, default=-1) + 1

    def next(self, asked: Asked) -> tuple[int, Recorded | None]:
        """The number of the next request, and its record if it has one.

        Raises:
            RequestNotAligned: it cannot be told, and the request must not be sent.
        """
        if self._stranger is not None:
            raise RequestNotAligned(self._misaligned(asked, 0, self._stranger))
        number = self._found(asked)
        found = self.left.pop(number, None)
        if self._single and found is not None and not found.fits(asked):
            self._stranger = found.method
        if found is None:
            number = self._expected if self._is_hole() else self._next
            self._next = max(self._next, number + 1)
        self._expected = number + 1
        return number, found

    def _is_hole(self) -> bool:
        """Whether the record of just this part was forgotten, while those of later ones are there."""
        return self._expected not in self._recorded and any(number > self._expected for number in self.left)

    def _found(self, asked: Asked) -> int:
        """The number of the record of this request; -1 if it has none and may be sent."""
        if not self.left:
            return -1
        if self._single:
            return 0
        first, recorded = next(iter(self.left.items()))
        if recorded.together:
            return self._side_by_side(asked)
        if self._is_hole():
            return -1
        if recorded.fits(asked):
            return first
        # What the program did first may not be needed now: a token that it still has.
        for number, later in self.left.items():
            if later.is_of(asked):
                return number
        raise RequestNotAligned(self._misaligned(asked, first, recorded.method))

    def _side_by_side(self, asked: Asked) -> int:
        fitting: list[int] = []
        for number, recorded in self.left.items():
            if not recorded.together:
                if not fitting and recorded.fits(asked):
                    return number
                if not fitting:  # what came after was recorded, so all of those before it were
                    raise RequestNotAligned(self._misaligned(asked, number, recorded.method))
                break
            if recorded.is_of(asked):
                return number
            if recorded.fits(asked):
                fitting.append(number)
        if len(fitting) > 1 and asked.method.upper() not in _WITHOUT_BODY:
            raise RequestNotAligned(self._unsure(asked, fitting))
        return fitting[0] if fitting else -1

    def _misaligned(self, asked: Asked, number: int, method: str) -> str:
        text = part_text(self._text, number)
        return (
            f"the call {self._text} makes several requests, and now asks {asked.told} where its record {text} is of "
            f"another request ({method or 'unknown'}). It was not sent: the answer recorded there is not its answer, "
            f"and sending it could do twice what was done. Let the program ask as it did, or, for this run, let that "
            f'exchange be made anew with run.forget("{text}"), or state its outcome with run.record("{text}", '
            f"Answer.of(json=…)), and run.retry()"
        )

    def _unsure(self, asked: Asked, numbers: list[int]) -> str:
        texts = ", ".join(part_text(self._text, number) for number in numbers)
        return (
            f"the call {self._text} makes several requests side by side, and what it now sends to {asked.told} is in "
            f"none of its records ({texts}), so it cannot be told whose answer is meant. It was not sent. Where the "
            f'requests hold something new each time, make the whole call one step: once("ask", lambda: …); for this '
            f'run, run.forget("{self._text}") lets it be made anew'
        )
