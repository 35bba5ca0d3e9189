"""The waits of a body: for a time, for an event, for child runs (rules W5, W6).

Each is a step of its own: it has a path, and when it is over a record. Until then it parks the execution. They are
written as generators, which a thread or a loop drives.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

from semel.compiler import Path
from semel.errors import NotAllowedHere, WaitTimedOut
from semel.store.interface import NewRun, Record, RecordKind, Run

from .flow import current_flow
from .labels import segment_of_label
from .live import Live
from .moment import passed
from .outcomes import outcome_of_value
from .parks import Wait
from .waiting import Waiting, on_loop, on_thread
from .writes import past_failures, recorded

if TYPE_CHECKING:
    from .execution import Execution
    from .needs import Outside

Steps = Generator[Waiting, Any, Any]


class Waits:
    """The waits of one delivery, and the children that it has come to."""

    def __init__(self, execution: Execution, records: Mapping[str, Record], outside: Outside | None) -> None:
        self._execution = execution
        self._records = records
        self._outside = outside
        self._taken: set[int] | None = None
        self._rows: Mapping[str, Run] | None = None
        self._kept: dict[str, Record] = {}
        self.started: dict[str, NewRun] = {}

    # ------------------------------------------------------------------------------------------------------- entry
    # points

    def sleep(
        self, parent: Path, passes: tuple[object, ...], is_async: bool, name: str, until: Callable[[float], float]
    ) -> Any:
        """Waits until the time that ``until`` makes of the present one; ``name`` is the segment of the path."""
        live = self._claimed(parent, passes, name)
        return self._run(live, is_async, lambda: self._sleep(live, until))

    def event(
        self, parent: Path, passes: tuple[object, ...], is_async: bool, label: str, name: str, timeout: float | None
    ) -> Any:
        """Waits for the next event of a name."""
        live = self._claimed(parent, passes, label)
        return self._run(live, is_async, lambda: self._event(live, name, timeout))

    def child(
        self, parent: Path, passes: tuple[object, ...], label: str, workflow: Any, args: Any, kwargs: Any
    ) -> tuple[Live, NewRun]:
        """A child run, which starts with the next commit of this execution."""
        live = self._claimed(parent, passes, segment_of_label(label))
        new = self._from_outside().child(live.text, workflow, args, kwargs)
        if live.text not in self._records:
            self.started[new.uid] = new
        return live, new

    def results(self, is_async: bool, children: Sequence[tuple[Live, NewRun]], *, one: bool) -> Any:
        """The results of children, when all have ended; of the only one where there is ``one``."""
        steps = self._results(children)
        if one:
            steps = _only(steps)
        return on_loop(steps) if is_async else on_thread(steps)

    def first(
        self, parent: Path, passes: tuple[object, ...], is_async: bool, name: str, children: Sequence[NewRun]
    ) -> Any:
        """The uid of the child that ended first."""
        live = self._claimed(parent, passes, name)
        return self._run(live, is_async, lambda: self._first(live, children))

    # -----------------------------------------------------------------------------------------------------------
    # insides

    def _claimed(self, parent: Path, passes: tuple[object, ...], name: str) -> Live:
        execution = self._execution
        path = Path(parent, passes, name, execution)
        live = Live(path.step(), path, name, None, None, False)
        execution.claim(live.text, path)
        return live

    def _run(self, live: Live, is_async: bool, steps: Callable[[], Steps]) -> Any:
        record = self._records.get(live.text)
        made = steps() if record is None else self._replayed(live, record)
        return on_loop(made) if is_async else on_thread(made)

    def _replayed(self, live: Live, record: Record) -> Steps:
        replay = self._execution.replay
        replay.found(live.text)
        return self._given(live, record)
        yield

    def _given(self, live: Live, record: Record) -> Any:
        """What the body gets of the record of a wait."""
        if record.kind == "timeout":
            passed(record.finished_at)
            raise WaitTimedOut(str(self._execution.codec.decode(record.data)))
        if record.kind == "event":
            passed(record.finished_at)
            _, payload = cast(Any, self._execution.codec.decode(record.data))
            return payload
        return self._execution.replay.seen(live.text, record)

    def _sleep(self, live: Live, until: Callable[[float], float]) -> Steps:
        execution = self._execution
        yield from past_failures(execution)
        wait = execution.parks.wait_of(live.text)
        now = execution.now()
        at = until(now) if wait is None or wait.at is None else wait.at
        if at > now:
            yield execution.parks.at(live.text, live.path, Wait("sleep", at))
        record = self._record(live, "result", None, at)
        yield from self._keep(live, [record])

    def _event(self, live: Live, name: str, timeout: float | None) -> Steps:
        execution = self._execution
        yield from past_failures(execution)
        wait = execution.parks.wait_of(live.text)
        now = execution.now()
        at = wait.at if wait is not None else (None if timeout is None else now + timeout)
        for event in self._from_outside().events():
            if event.name == name and event.seq not in self._used() and (at is None or event.at <= at):
                self._used().add(event.seq)
                payload = execution.codec.decode(event.payload)
                record = self._record(live, "event", (event.seq, payload), now)
                yield from self._keep(live, [record])
                return self._given(live, record)
        if at is not None and at <= now:
            text = f"no event {name!r} came to {live.text} in time"
            record = self._record(live, "timeout", text, at)
            yield from self._keep(live, [record])
            return self._given(live, record)
        yield execution.parks.at(live.text, live.path, Wait("event", at, name=name))

    def _results(self, children: Sequence[tuple[Live, NewRun]]) -> Steps:
        yield from past_failures(self._execution)
        rows = self._children()
        left = [
            new.uid
            for live, new in children
            if live.text not in self._records
            and live.text not in self._kept
            and not ((row := rows.get(new.uid)) is not None and row.finished_at is not None)
        ]
        if left:
            # Two deliveries may know the same child by different waits: the path of the first one names this one.
            live = children[0][0]
            yield self._execution.parks.at(live.text, live.path, Wait("child", children=tuple(left), need=len(left)))
        results: list[Any] = []
        fresh: list[Record] = []
        failed: tuple[Live, BaseException] | None = None
        for live, new in children:
            record = self._records.get(live.text) or self._kept.get(live.text)
            if record is None:
                row = rows[new.uid]
                if row.status != "completed":
                    failed = failed or (live, self._from_outside().failure(row))
                    continue
                record = self._record(live, "result", None, row.finished_at or 0.0, row.result)
                self._kept[live.text] = record
                fresh.append(record)
            self._execution.replay.found(live.text)
            if failed is None:
                try:
                    results.append(self._given(live, record))
                except Exception as raised:
                    failed = (live, raised)
        if fresh:
            yield from recorded(self._execution, fresh)
        if failed is not None:
            live, error = failed
            if live.text not in self._records:
                live.started = live.ended = self._execution.now()
                execution = self._execution
                execution.facts.failed(live, error, current_flow(execution.root_flow), awaited=False)
            raise error
        return results

    def _first(self, live: Live, children: Sequence[NewRun]) -> Steps:
        yield from past_failures(self._execution)
        rows = self._children()
        ended = [row for new in children if (row := rows.get(new.uid)) is not None and row.finished_at is not None]
        if not ended:
            uids = tuple(new.uid for new in children)
            yield self._execution.parks.at(live.text, live.path, Wait("child", children=uids, need=1))
        first = min(ended, key=lambda row: (row.finished_at or 0.0, row.uid))
        record = self._record(live, "result", first.uid, first.finished_at or 0.0)
        yield from self._keep(live, [record])
        return first.uid

    def _record(self, live: Live, kind: RecordKind, value: object, at: float, data: bytes | None = None) -> Record:
        execution = self._execution
        if data is None:
            data = outcome_of_value(execution.codec, value).data
        return Record(execution.run, execution.body, live.text, kind, data, False, at, at, execution.delivery)

    def _keep(self, live: Live, records: list[Record]) -> Steps:
        yield from recorded(self._execution, records)
        self._execution.parks.over(live.text)
        passed(records[-1].finished_at)

    def _used(self) -> set[int]:
        """The events that this execution has taken, in this delivery or an earlier one."""
        if self._taken is None:
            decode = self._execution.codec.decode
            self._taken = {cast(Any, decode(r.data))[0] for r in self._records.values() if r.kind == "event"}
        return self._taken

    @property
    def taken(self) -> tuple[int, ...]:
        """The events that the execution's commit uses up."""
        return tuple(sorted(self._used()))

    def _children(self) -> Mapping[str, Run]:
        if self._rows is None:
            self._rows = self._from_outside().children()
        return self._rows

    @property
    def new_children(self) -> tuple[NewRun, ...]:
        """The children that the execution's commit starts."""
        if not self.started:
            return ()
        known = self._children()
        return tuple(new for uid, new in self.started.items() if uid not in known)

    def _from_outside(self) -> Outside:
        if self._outside is None:
            raise NotAllowedHere("this body has no events and no children")
        return self._outside


def _only(steps: Steps) -> Steps:
    (result,) = yield from steps
    return result


def seconds(value: timedelta | float, what: str) -> float:
    """A delay in seconds.

    Raises:
        TypeError, ValueError: it is none, negative, or longer than a hundred years.
    """
    if isinstance(value, bool) or not isinstance(value, timedelta | int | float):
        raise TypeError(f"{what} is a {type(value).__qualname__}; give a timedelta, for example timedelta(days=3)")
    delay = value.total_seconds() if isinstance(value, timedelta) else float(value)
    if not 0 <= delay <= _LONGEST:
        raise ValueError(f"{what} of {value} is not between nothing and a hundred years")
    return delay


_LONGEST = 100 * 365.25 * 86_400
