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

from semel.codec import MAIL, Answer, AnswerTooLarge, Codec, Exchange, NotEncodable
from semel.compiler import Path, called_twice, operation_name, unrecorded
from semel.errors import ProgramError, RecordUnreadable, RequestNotAligned, ResultNotRecordable
from semel.store.interface import Record

from .alignment import AUTOMATIC, Alignment, Asked, Recorded, is_automatic, part_of, part_text
from .halt import Halt
from .live import Live
from .outcomes import CANCELLED, Outcome, outcome_of_failure, unrecordable_outcome

if TYPE_CHECKING:
    from .execution import Execution


class Part(Live):
    """One exchange. ``step`` is what makes it; ``record`` what an earlier delivery has of it.

    ``flatten`` and ``restore`` turn transport failures of its library into plain data and back.
    """

    __slots__ = ("asked", "automatic", "failing", "flatten", "record", "restore", "together", "value")
    flatten: Callable[[BaseException], dict[str, str | int | None] | None] | None
    restore: Callable[[dict[str, str | int | None]], BaseException] | None

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
        flat = None if self.flatten is None else self.flatten(error)
        if flat is None:
            return outcome_of_failure(codec, error)
        return Outcome("result", codec.encode(self.exchange(failure=flat)))

    def given(self, execution: Execution) -> object:
        assert self.outcome is not None
        if self.outcome.kind == "unrecordable":
            raise execution.halt(Halt("fault", not_recordable(execution, self.text, self.outcome)))
        # A long body makes many calls: it shall not hold all that they answered.
        value, self.value, self.outcome, self.flatten = self.value, None, None, None
        return value

    def replayed(self, execution: Execution, outcome: Any) -> object:
        """The answer, value or failure of a record; a failure of the library is made by ``restore``."""
        if outcome.kind == "unrecordable":
            raise execution.halt(Halt("fault", not_recordable(execution, self.text, outcome)))
        value = execution.replay.seen(self.text, outcome)
        is_mail = self.asked.method == MAIL
        if not isinstance(value, Exchange):  # stated by hand
            if is_mail:
                return value
            raise execution.halt(Halt("fault", _no_answer(self.text, value)))
        if is_mail and value.answer is not None:
            raise execution.halt(Halt("fault", _no_answer(self.text, value.answer)))
        self.failing = value.failure is not None or (value.answer is not None and not value.answer.is_result)
        if value.failure is not None:
            assert self.restore is not None
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


def _no_answer(path: str, stated: object) -> RecordUnreadable:
    """What stands in the record of a call, stated by hand, is nothing that its library could give."""
    mail = isinstance(stated, Answer)
    what = "sends mail, and an Answer is one of HTTP" if mail else "is made over HTTP, and that is no Answer"
    fitting = (
        f'run.record("{path}", …) as what its library gives' if mail else f'run.record("{path}", Answer.of(json=…))'
    )
    return RecordUnreadable(
        f"the outcome of {path} was stated as a {type(stated).__qualname__}, but the call {what}. State it with "
        f'{fitting}, or let the call be made again with run.forget("{path}")'
    )


class External(Live):
    """A call that was declared external: nothing that it does is a step of its own."""

    __slots__ = ()

    def __init__(self, text: str, path: Path, step: Callable[[], object]) -> None:
        super().__init__(text, path, "", None, step, False)

    def call(self, execution: Execution) -> Callable[[], object]:
        def call() -> object:
            with unrecorded():
                value = self.step()  # type: ignore[operator]
            return _outside(value) if isinstance(value, Coroutine) else value

        return call


async def _outside(coroutine: Coroutine[Any, Any, object]) -> object:
    with unrecorded():
        return await coroutine


class AutomaticCall:
    """The call at one site: which of its exchanges are recorded, and which this delivery has come to."""

    def __init__(self, text: str, path: Path, records: Mapping[int, Record], codec: Codec) -> None:
        self.text = text
        self.path = path
        self.parts: list[Part] = []
        self._open: set[Part] = set()
        self._lock = threading.Lock()
        self._alignment = Alignment(text, records, codec)

    def part(self, asked: Asked, beside: bool) -> tuple[Part, Recorded | None]:
        """The next exchange, with its record. ``beside`` says that it is made on a thread of a pool.

        Raises RequestNotAligned.
        """
        with self._lock:
            number, found = self._alignment.next(asked)
            together = beside or bool(self._open)
            for other in self._open:
                other.together = True
            part = Part(part_text(self.text, number), self.path, self, asked, together)
            part.record = found.record if found is not None else None
            self.parts.append(part)
            if found is None:
                self._open.add(part)
            return part, found

    @property
    def is_between_records(self) -> bool:
        """Whether the last exchange was found recorded, and so will be the next one."""
        return bool(self._alignment.left and self.parts and self.parts[-1].record is not None)

    def ended(self, part: Part) -> None:
        """Lets go of the request: a long body makes many calls."""
        part.step = part.restore = None  # how a failure is flattened may be asked later
        with self._lock:
            self._open.discard(part)


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
            text = f"{path.prefix()}{AUTOMATIC}{operation}"
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
        if is_automatic(path) and not path.endswith(CANCELLED):
            call, number = part_of(path)
            found.setdefault(call, {})[number] = record
    return found
