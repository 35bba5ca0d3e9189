"""Automatic steps: the exchanges that one call of foreign code makes, in order, and which of them are recorded.

The call has the path, and its exchanges are parts of it: ``#auto:httpx.post``, ``…~1``, ``…~2``. A call that made one
exchange gets its record whatever the request now says. In a call of several, each request is aligned with its record by
the digest of method, path and stable query; one that cannot be aligned is never sent (rule A8, DESIGN 6).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Coroutine, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from semel.codec import Answer, AnswerTooLarge, Codec, Exchange, NotEncodable
from semel.compiler import Path, called_twice, current, operation_name
from semel.errors import ProgramError, RecordUnreadable, RequestNotAligned, ResultNotRecordable
from semel.store.interface import Record

from .halt import Halt
from .live import Live
from .outcomes import CANCELLED, Outcome, outcome_of_failure, unrecordable_outcome

if TYPE_CHECKING:
    from .execution import Execution

_PART = "~"
_AUTOMATIC = "#auto:"


class Asked:
    """A request as the engine sees it. ``told`` is its method and where it goes, for a message; it is not stored."""

    __slots__ = ("asked", "method", "sent", "told")

    def __init__(self, method: str, asked: bytes, sent: bytes, told: str) -> None:
        self.method = method
        self.asked = asked
        self.sent = sent
        self.told = told


class Part(Live):
    """One exchange. ``step`` is what makes it; ``record`` what an earlier delivery has of it.

    ``flatten`` and ``restore`` turn transport failures of its library into plain data and back.
    """

    __slots__ = ("asked", "automatic", "failing", "flatten", "record", "restore", "together", "value")
    flatten: Callable[[BaseException], dict[str, str | int | None] | None]
    restore: Callable[[dict[str, str | int | None]], BaseException]

    def __init__(self, text: str, path: Path, automatic: AutomaticCall, asked: Asked, together: bool) -> None:
        super().__init__(text, path, "", None, None, False)
        self.automatic = automatic
        self.asked = asked
        self.together = together
        self.record: Record | None = None
        self.value: object = None
        self.failing = False

    def call(self, execution: Execution) -> Callable[[], object]:
        return self.step  # type: ignore[return-value]

    def exchange(self, **outcome: Any) -> Exchange:
        return Exchange(self.asked.method, self.asked.asked, self.asked.sent, self.together, **outcome)

    def returned(self, codec: Codec, value: object) -> bool:
        """Takes an answer, or another value; rule A10 says which is a fact at once."""
        self.value = value
        if isinstance(value, AnswerTooLarge):
            self.outcome = unrecordable_outcome(codec, value.what)
            return True
        if isinstance(value, Answer):
            self.outcome = Outcome("result", codec.encode(self.exchange(answer=value)))
            self.failing = not value.is_result
            return value.is_result
        try:
            self.outcome = Outcome("result", codec.encode(self.exchange(value=codec.encode(value))))
        except NotEncodable as error:
            self.outcome = unrecordable_outcome(codec, f"gave a {error.type_name} ({error.why})")
        return True

    def failed(self, codec: Codec, error: BaseException) -> Outcome:
        self.failing = True
        flat = self.flatten(error)
        if flat is None:
            return outcome_of_failure(codec, error)
        return Outcome("result", codec.encode(self.exchange(failure=flat)))

    def given(self, execution: Execution) -> object:
        assert self.outcome is not None
        if self.outcome.kind == "unrecordable":
            raise execution.halt(Halt("fault", not_recordable(execution, self.text, self.outcome)))
        # A long body makes many calls: it shall not hold all that they answered.
        value, self.value, self.outcome = self.value, None, None
        return value

    def replayed(self, execution: Execution, outcome: Any) -> object:
        """The answer, value or failure of a record; a failure of the library is made by ``restore``."""
        if outcome.kind == "unrecordable":
            raise execution.halt(Halt("fault", not_recordable(execution, self.text, outcome)))
        value = execution.replay.seen(self.text, outcome)
        if not isinstance(value, Exchange):
            return value  # stated by hand, of a call that is no exchange
        self.failing = value.failure is not None or (value.answer is not None and not value.answer.is_result)
        if value.failure is not None:
            raise self.restore(value.failure)
        if value.answer is not None:
            return value.answer
        return None if value.value is None else execution.codec.decode(value.value)


def not_recordable(execution: Execution, path: str, outcome: Any) -> ResultNotRecordable:
    """Rule O23 for what came back from another system."""
    return ResultNotRecordable(
        f"the call {path} {execution.codec.decode(outcome.data)}, which cannot be recorded. It was made, and will not "
        f"be made again by itself. Ask for less, or keep what came elsewhere and record where it is: "
        f'once("download", lambda: saved_to(file)). For this run, state the outcome with '
        f'run.record("{path}", Answer.of(json=…)), or let it be made again with run.forget("{path}")'
    )


class External(Live):
    """A call that was declared external: nothing that it does is a step of its own."""

    __slots__ = ()

    def __init__(self, text: str, path: Path, step: Callable[[], object]) -> None:
        super().__init__(text, path, "", None, step, False)

    def call(self, execution: Execution) -> Callable[[], object]:
        def call() -> object:
            token = current.set(None)
            try:
                value = self.step()  # type: ignore[operator]
            finally:
                current.reset(token)
            return _in_none(value) if isinstance(value, Coroutine) else value

        return call


async def _in_none(coroutine: Coroutine[Any, Any, object]) -> object:
    current.set(None)  # of the task that this runs in
    return await coroutine


class AutomaticCall:
    """The call at one site: which of its exchanges are recorded, and which this delivery has come to."""

    def __init__(self, text: str, path: Path, records: Mapping[int, Record], codec: Codec) -> None:
        self.text = text
        self.path = path
        self.parts: list[Part] = []
        self._open: set[Part] = set()
        self._lock = threading.Lock()
        self._left = {number: _Recorded(record, codec) for number, record in sorted(records.items())}
        self._single = set(self._left) == {0} and not self._left[0].together
        self._next = max(self._left, default=-1) + 1

    def part(self, asked: Asked, beside: bool) -> tuple[Part, _Recorded | None]:
        """The next exchange, with its record. ``beside`` says that it is made on a thread of a pool.

        Raises RequestNotAligned.
        """
        with self._lock:
            number = self._aligned(asked)
            together = beside or bool(self._open)
            for other in self._open:
                other.together = True
            found = self._left.pop(number, None)
            if found is None:
                number, self._next = self._next, self._next + 1
            part = Part(self.text if number == 0 else f"{self.text}{_PART}{number}", self.path, self, asked, together)
            part.record = found.record if found is not None else None
            self.parts.append(part)
            if found is None:
                self._open.add(part)
            return part, found

    @property
    def is_between_records(self) -> bool:
        """Whether the last exchange was found recorded, and so will be the next one."""
        return bool(self._left and self.parts and self.parts[-1].record is not None)

    def ended(self, part: Part) -> None:
        with self._lock:
            self._open.discard(part)

    def _aligned(self, asked: Asked) -> int:
        """The number of the record of this request; -1 if it has none and may be sent."""
        if not self._left:
            return -1
        if self._single:
            return 0
        fitting: list[int] = []
        for number, recorded in self._left.items():
            if recorded.fits(asked) and not recorded.together:
                return fitting[0] if fitting else number
            if recorded.fits(asked):
                fitting.append(number)
            elif not recorded.together and not fitting:
                raise RequestNotAligned(self._misaligned(asked, number))
            elif not recorded.together:
                break
        # Of several made side by side to one address, the one with the same body is meant.
        same = [number for number in fitting if self._left[number].sent == asked.sent]
        return next(iter([*same, *fitting]), -1)

    def _misaligned(self, asked: Asked, number: int) -> str:
        text = self.text if number == 0 else f"{self.text}{_PART}{number}"
        return (
            f"the call {self.text} makes several requests, and now asks {asked.told} where its record {text} is of "
            f"another request ({self._left[number].method or 'unknown'}). It was not sent: the answer recorded there "
            f"is not its answer, and sending it could do twice what was done. Let the program ask as it did, or, for "
            f'this run, let that exchange be made anew with run.forget("{text}"), or state its outcome with '
            f'run.record("{text}", Answer.of(json=…)), and run.retry()'
        )


class _Recorded:
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

    def differs(self, asked: Asked) -> bool:
        """Whether the request now says something else than it did."""
        if not self.asked:
            return False
        return not self.fits(asked) or (bool(self.sent) and bool(asked.sent) and self.sent != asked.sent)


class Automatic:
    """The automatic steps of one execution, by the site that makes the call."""

    def __init__(self, execution: Execution, records: Mapping[str, Record]) -> None:
        self._execution = execution
        self._records = records
        self._recorded = _by_call(records)
        self._calls: dict[Path, AutomaticCall] = {}
        self._lock = threading.Lock()

    def asked(self, method: str, identity: bytes, content: bytes, told: str) -> Asked:
        """A request by its digests, which only this run's secret can make."""
        keys = self._execution.keys
        return Asked(method, keys.of_request(identity), keys.of_request(content) if content else b"", told)

    def part(self, path: Path, operation: str, asked: Asked, beside: bool) -> Part:
        """The next exchange of the call at ``path``, claimed.

        What stands against it halts the execution, and unwinds it: an SDK that retries on any exception must not go on.
        """
        execution = self._execution
        with self._lock:
            call = self._calls.get(path)
        if call is None:
            text = f"{path.prefix()}#auto:{operation}"
            self._claimed(text, path, operation)
            call = AutomaticCall(text, path, self._recorded.pop(text, {}), execution.codec)
            with self._lock:
                call = self._calls.setdefault(path, call)
        try:
            part, found = call.part(asked, beside)
        except RequestNotAligned as error:
            raise execution.halt(Halt("fault", error)) from error
        self._claimed(part.text, path, operation)
        if found is not None:
            execution.replay.found(part.text)
            if found.differs(asked):
                text = "the request differs from the one that was recorded; the recorded answer was given"
                execution.journal.late(execution.note(part.text, "request differs", text))
        return part

    def _claimed(self, text: str, path: Path, operation: str) -> None:
        try:
            self._execution.claim(text, path, lambda: called_twice(text, operation))
        except ProgramError as error:
            raise self._execution.halt(Halt("fault", error)) from error

    def is_between_records(self, path: Path) -> bool:
        """Whether the call at ``path`` has come to an exchange that is recorded, and not yet to the next such one."""
        call = self._calls.get(path)
        return call is not None and call.is_between_records

    def external(
        self,
        parent: Path,
        passes: tuple[object, ...],
        awaited: bool,
        function: Callable[..., Any],
        owner: tuple[object, ...],
        /,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        """A call of a function that was declared external: one step as a whole."""
        execution = self._execution
        operation = operation_name(function, *owner)
        path = Path(parent, passes, f"auto:{operation}", execution)
        text = path.step()
        execution.claim(text, path, lambda: called_twice(text, operation))
        live = External(text, path, partial(function, *owner, *args, **kwargs))
        records = self._records
        if text + CANCELLED in records:
            return execution.replay.until_cancelled(live)
        record = records.get(text)
        if record is not None:
            return execution.replay.give(text, record, function, awaited)
        return execution.run_awaited(live) if awaited else execution.run_here(live)

    def here(self, part: Part) -> object:
        """The outcome of a part: recorded, or of its exchange, which is made now."""
        try:
            if part.record is None:
                return self._execution.run_here(part)
            return part.replayed(self._execution, part.record)
        finally:
            part.step = None
            part.automatic.ended(part)

    async def awaited(self, part: Part) -> object:
        """The same for a coroutine."""
        execution = self._execution
        try:
            if part.text + CANCELLED in self._records:
                return await execution.replay.until_cancelled(part)
            if part.record is None:
                return await execution.run_awaited(part)
            return part.replayed(execution, part.record)
        finally:
            part.step = None
            part.automatic.ended(part)

    def failed_before(self, lives: Iterable[object]) -> list[str]:
        """The paths of the failed exchanges right before one of these in its call, all recorded."""
        found: list[str] = []
        for end in [live for live in lives if isinstance(live, Part)]:
            parts = end.automatic.parts
            for part in reversed(parts[: parts.index(end)]):
                if not part.failing:
                    break
                found.append(part.text)
        return found


def _by_call(records: Mapping[str, Record]) -> dict[str, dict[int, Record]]:
    """The records of automatic steps, by the path of the call and the number of the part."""
    found: dict[str, dict[int, Record]] = {}
    for path, record in records.items():
        if _AUTOMATIC in path.rpartition("/")[2] and not path.endswith(CANCELLED):
            call, mark, number = path.rpartition(_PART)
            part = int(number) if mark and number.isdecimal() else 0
            found.setdefault(call if part else path, {})[part] = record
    return found
