"""What the end of an execution makes of its run: the outcomes that the drive commits.

``FunctionEndings`` are those of a function, which is the one body of its run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from semel.codec import Codec, NotEncodable
from semel.errors import ResultNotRecordable
from semel.store.interface import Claim, Outcome

from .body import Body
from .execution import Execution
from .frames import user_traceback
from .parks import Parked, parked_executions, parked_text


class Endings(Protocol):
    """The outcomes of one delivery."""

    def result(self, value: object) -> bytes | None:
        """What the body has returned, as it is kept; raises where it cannot be."""
        ...

    def completed(self, data: bytes | None) -> Outcome: ...

    def parked(self) -> Outcome: ...

    def again(self, args: tuple[tuple[Any, ...], dict[str, Any]]) -> Outcome:
        """The body has ended its visit with ``app.again``. Raises where an argument cannot be recorded."""
        ...

    def redelivered(self, pause: float) -> Outcome:
        """The execution has faulted, and is delivered again so many seconds later."""
        ...

    def faulted(self, fault: BaseException) -> Outcome | None:
        """None: nothing is written of it."""
        ...


class FunctionEndings:
    """The outcomes of a function workflow's body."""

    def __init__(self, claim: Claim, body: Body, execution: Execution, codec: Codec, now: Callable[[], float]) -> None:
        self._run = claim.run
        self._body = body
        self._execution = execution
        self._codec = codec
        self._now = now
        self._started = now()

    def result(self, value: object) -> bytes | None:
        try:
            return self._codec.encode(value)
        except NotEncodable as error:
            raise ResultNotRecordable(
                f"the result of the workflow cannot be recorded: {error}. Return something that can be recorded: a "
                f"str, a dict, a dataclass, …"
            ) from None

    def completed(self, data: bytes | None) -> Outcome:
        return replace(self._outcome("completed"), result=data, sends=tuple(self._execution.sends))

    def parked(self) -> Outcome:
        parks = self._execution.parks
        executions = self._others()
        executions[self._body.execution_name] = parks.parked()
        awaited, need = parks.children
        return replace(
            self._left_open("parked"), parked=parked_text(executions), due=parks.due, awaited=awaited, need=need
        )

    def again(self, args: tuple[tuple[Any, ...], dict[str, Any]]) -> Outcome:
        executions = self._others()
        executions[f"{self._body.name}@{self._body.visit + 1}"] = Parked(0, self._now())
        return replace(
            self._left_open("pending"),
            args=self._codec.encode(args),
            parked=parked_text(executions),
            forget=self._body.execution_name,
            sends=tuple(self._execution.sends),
        )

    def redelivered(self, pause: float) -> Outcome:
        at = self._now() + pause
        executions = self._others()
        executions[self._body.execution_name] = self._execution.parks.parked_until(at)
        outcome = replace(self._left_open("parked"), children=(), taken=())
        return replace(outcome, parked=parked_text(executions), due=at)

    def faulted(self, fault: BaseException) -> Outcome | None:
        return Outcome(
            status="faulted",
            visits=self._run.visits,
            result=None,
            error=encoded(self._codec, fault),
            fault=user_traceback(fault),
            started_at=self._run.started_at or self._started,
            finished_at=self._now(),
            parked=self._run.parked,
        )

    def _others(self) -> dict[str, Parked]:
        """What is parked beside this execution."""
        executions = parked_executions(self._run.parked)
        executions.pop(self._body.execution_name, None)
        return executions

    def _left_open(self, status: Any) -> Outcome:
        return replace(self._outcome(status), undos=len(self._execution.sagas.due()))

    def _outcome(self, status: Any) -> Outcome:
        visits = {**self._run.visits, self._body.name: self._body.visit}
        started = self._run.started_at or self._started
        outcome = Outcome(status, visits, None, None, None, started, self._now())
        waits = self._execution.waits
        return replace(outcome, children=waits.new_children, taken=waits.taken)


def encoded(codec: Codec, fault: BaseException) -> bytes | None:
    """A fault as it is stored; None where it cannot be."""
    try:
        return codec.encode_failure(fault)
    except Exception:  # not encodable, or its own code raised
        return None  # the text of the traceback remains, and is what the caller gets
