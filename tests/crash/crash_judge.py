"""The judge: believes the side-effect log, and what the runs gave and noted in the end; nothing that semel recorded.

A step that ran twice is excused only if that very call was cut by that very kill: the earlier call was made in a
process that was killed, and its flow made no other call there after it, for a step's record is durable before its flow
goes on.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_ATTEMPT = re.compile(r"~\d+$")  # notes name a step, whichever attempt at it they are about


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the log; ``number`` orders all lines of all processes."""

    number: int
    kind: str
    run: str
    step: str
    flow: str
    pid: int
    key: str


@dataclass(slots=True)
class Call:
    """One execution of a step, from its start to its end, if it came to that."""

    start: Line
    end: Line | None = None

    @property
    def step(self) -> str:
        return self.start.step

    @property
    def pid(self) -> int:
        return self.start.pid


def read_log(path: Path) -> list[Line]:
    """The lines in the order they were written."""
    lines: list[Line] = []
    if path.exists():
        for number, text in enumerate(path.read_text().splitlines()):
            kind, run, step, flow, pid, key, _ = text.split("\t")
            lines.append(Line(number, kind, run, step, flow, int(pid), key))
    return lines


def calls_of(lines: Collection[Line]) -> list[Call]:
    """All calls, in the order of their starts."""
    calls: list[Call] = []
    open_calls: dict[tuple[str, str, int], Call] = {}
    for line in lines:
        place = (line.run, line.step, line.pid)
        if line.kind == "start":
            call = Call(line)
            calls.append(call)
            open_calls[place] = call
        elif line.kind == "end":
            open_calls.pop(place).end = line
    return calls


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """How a workflow goes when nothing happens to it.

    ``optional`` steps may run or not; ``abandoned`` ones may be cut for good, as the body had stopped waiting for them.
    ``visits`` is what the run counts in the end, if that is not one visit of a body that completes.
    """

    status: str
    result: object
    error: str | None
    steps: frozenset[str]
    optional: frozenset[str] = frozenset()
    abandoned: frozenset[str] = frozenset()
    visits: Mapping[str, int] | None = None


@dataclass(slots=True)
class Verdict:
    """What was wrong, the doubles that the window allows, and the steps that are noted as doubled but ran once."""

    wrong: list[str] = field(default_factory=list)
    excused: list[Call] = field(default_factory=list)
    noted_in_vain: list[str] = field(default_factory=list)


class Judge:
    """Judges the runs of one story. ``killed`` are the pids of the processes that were killed."""

    def __init__(self, lines: list[Line], report: Mapping[str, dict[str, Any]], killed: Collection[int]) -> None:
        self._lines = lines
        self._report = report
        self._killed = frozenset(killed)
        self._calls: dict[str, list[Call]] = defaultdict(list)
        for call in calls_of(lines):
            self._calls[call.start.run].append(call)
        self._starts: dict[tuple[str, int], list[Line]] = defaultdict(list)
        self._joins: dict[tuple[str, int], list[Line]] = defaultdict(list)
        for line in lines:
            if line.kind != "end":
                (self._starts if line.kind == "start" else self._joins)[line.run, line.pid].append(line)

    def judge(self, undisturbed: Mapping[str, Undisturbed]) -> Verdict:
        """The verdict over all runs; ``undisturbed`` is by workflow."""
        verdict = Verdict()
        for run, ended in self._report.items():
            expected = undisturbed[run.rpartition("-")[0]]
            self._ended_as_expected(run, ended, expected, verdict)
            self._nothing_lost(run, expected, verdict)
            self._nothing_twice(run, ended, verdict)
        return verdict

    def _ended_as_expected(self, run: str, ended: dict[str, Any], expected: Undisturbed, verdict: Verdict) -> None:
        got = (ended["status"], ended["result"], ended["error"])
        if got != (expected.status, expected.result, expected.error):
            verdict.wrong.append(f"{run} ended as {got}, undisturbed as {expected}")
        counted = expected.visits
        if counted is None:
            counted = {"start": 1} if expected.status == "completed" else {}
        if ended["visits"] != counted:
            verdict.wrong.append(f"{run} counts the visits {ended['visits']}, not {counted}")

    def _nothing_lost(self, run: str, expected: Undisturbed, verdict: Verdict) -> None:
        last = {call.step: call for call in self._calls[run]}
        for step in expected.steps - expected.optional - last.keys():
            verdict.wrong.append(f"{run}: {step} never ran")
        for step in last.keys() - expected.steps - expected.optional:
            verdict.wrong.append(f"{run}: {step} ran, and is no step of it")
        for step, call in last.items():
            if call.end is None and step not in expected.abandoned:
                verdict.wrong.append(f"{run}: {step} was cut and never ran again")

    def _nothing_twice(self, run: str, ended: dict[str, Any], verdict: Verdict) -> None:
        by_step: dict[str, list[Call]] = defaultdict(list)
        for call in self._calls[run]:
            by_step[call.step].append(call)
        for step, calls in by_step.items():
            if len({call.start.key for call in calls}) > 1:
                verdict.wrong.append(f"{run}: {step} presented several idempotency keys")
            for cut in calls[:-1]:
                reason = self._no_excuse(cut)
                if reason:
                    verdict.wrong.append(f"{run}: {step} ran again, though its call in {cut.pid} {reason}")
                else:
                    verdict.excused.append(cut)
        noted = {path for kind, path in ended["notes"] if kind == "possibly doubled"}
        doubled = {_ATTEMPT.sub("", step) for step, calls in by_step.items() if len(calls) > 1}
        for step in doubled - noted:
            verdict.wrong.append(f"{run}: {step} ran more than once, and no note says that it may have")
        verdict.noted_in_vain += sorted(noted - doubled)

    def _no_excuse(self, cut: Call) -> str | None:
        if cut.pid not in self._killed:
            return "was not killed"
        place = (cut.start.run, cut.pid)
        inside = cut.step.replace("#", "/") + "/"
        inside_directly = cut.step.replace("#", "/") + "#"
        for later in self._starts[place]:
            if later.number <= cut.start.number or later.step.startswith((inside, inside_directly)):
                continue
            if later.flow == cut.start.flow or self._comes_after(place, cut, later):
                return f"was followed by {later.step} in the flow {later.flow}"
        return None

    def _comes_after(self, place: tuple[str, int], cut: Call, later: Line) -> bool:
        """Whether the flow of ``later`` had joined that of ``cut`` before it went on."""
        return any(
            join.flow == cut.start.flow and join.step == later.flow and cut.start.number < join.number < later.number
            for join in self._joins[place]
        )
