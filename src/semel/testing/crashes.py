"""A crash at every step in turn: one workflow, run once undisturbed and once under each crash that can come to it.

Each time it has a new database and a new clock. How it ends must not depend on where it was cut off; what may happen
twice is a call whose record was not durable yet (rule O8), and only where the run says so.
"""

from __future__ import annotations

import copy
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from semel.errors import ConfigurationError
from semel.run import Run
from semel.store.interface import Run as Row
from semel.store.interface import RunFilter

from .kit import Kit, in_a_loop

if TYPE_CHECKING:
    from semel.app import App

_ALL = 1_000_000  # runs
_SHOWN = 10  # crashes whose differences are told
_ATTEMPT = re.compile(r"~\d+(?=[/\[#]|$)")
_MADE_UP = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Crash(NamedTuple):
    """A crash: at which point, at the step of which path ("" at a point of the body), the how manieth time."""

    point: str
    path: str
    hit: int

    def __str__(self) -> str:
        return self.point + (f" of {self.path}" if self.path else "") + (f", time {self.hit}" if self.hit > 1 else "")


@dataclass(frozen=True, slots=True)
class CrashReport:
    """What ``crash_everywhere`` has found: the crashes in the order in which they come, and where one changed the end.

    ``differences`` maps each such crash to what differed.
    """

    crashes: tuple[Crash, ...]
    differences: dict[Crash, list[str]] = field(default_factory=dict)

    def __str__(self) -> str:
        if not self.differences:
            return f"{len(self.crashes)} crashes, and the outcome is the same after each"
        lines = [f"{len(self.differences)} of {len(self.crashes)} crashes change the outcome:"]
        for crash, differences in list(self.differences.items())[:_SHOWN]:
            lines += [f"a crash at {crash}:", *(f"    {difference}" for difference in differences)]
        if len(self.differences) > _SHOWN:
            lines.append(f"and {len(self.differences) - _SHOWN} more")
        return "\n".join(lines)


def crash_everywhere(
    app: App,
    start: Callable[[], Run[Any]],
    *,
    drive: Callable[[Kit, Run[Any]], object] = Kit.finish,
    observe: Callable[[Run[Any]], object] | None = None,
    calls: Callable[[Run[Any]], Iterable[object]] | None = None,
    reset: Callable[[], object] | None = None,
    begin: datetime | None = None,
) -> CrashReport:
    """Runs a workflow once undisturbed, then again with a crash at each point that it came to, and compares the ends.

    Compared are, of the run and of all others that it led to: the status, the result or the fault, and which steps are
    recorded (attempts of a retry count as one step). Each time there is a new database and a new clock.

    Args:
        app: the app of the workflow. No ``Kit`` of it may be in use.
        start: starts the run and gives it: ``lambda: app.start(fulfil, "A-1")``.
        drive: what then happens to it, given the kit and the run: events, ``kit.advance(…)``. It drives the run to its
            end if not given.
        observe: what must be the same after each crash, for example the rows of the app's database, or what the other
            side has by idempotency key. It is copied.
        calls: the calls that were made, in any order. After a crash a call may be among them twice, if a run says
            ``possibly doubled``; none may be missing, or new.
        reset: makes ready what semel does not know: it empties fakes, and makes the app's tables in the new database.
        begin: where the clock begins.

    Returns:
        the report, where nothing differs.

    Raises:
        AssertionError: a crash changes the outcome. Its text names each such crash, and what differs.
        ConfigurationError: it was called in a coroutine (it drives async bodies, too, so call it in a ``def``).
    """
    if in_a_loop():
        raise ConfigurationError("crash_everywhere runs event loops of its own: call it in a `def`, not in a coroutine")

    def run_once(crash: Crash | None) -> tuple[_Watched, _Ending]:
        with _Watched(app, begin, crash) as kit:
            if reset is not None:
                reset()
            run = start()
            if not isinstance(run, Run):
                raise TypeError(f"start gave {run!r}; it must give the run: lambda: app.start(…)")
            drive(kit, run)
            seen = copy.deepcopy(observe(run)) if observe is not None else None
            made = Counter(map(repr, calls(run))) if calls is not None else Counter[str]()
            return kit, _Ending(dict(_told(app)), seen, made, _doubled(app))

    watched, undisturbed = run_once(None)
    crashes = tuple(watched.reached)
    if not crashes:
        raise AssertionError("no step and no body ran, so there was nothing to crash; does drive drive the run?")
    differences: dict[Crash, list[str]] = {}
    for crash in crashes:
        try:
            kit, ending = run_once(crash)
        except Exception as error:
            found = [f"{type(error).__name__} in the scenario: {error}"]
        else:
            found = list(_differences(undisturbed, ending))
            if not kit.crashes:
                found.insert(0, "the run did not come to it again: it does not go the same way each time")
        if found:
            differences[crash] = found
    report = CrashReport(crashes, differences)
    if differences:
        raise AssertionError(str(report))
    return report


class _Watched(Kit):
    """A kit that writes down each point that is come to, and dies at one of them."""

    def __init__(self, app: App, start: datetime | None, crash: Crash | None) -> None:
        super().__init__(app, start=start)
        self.reached: list[Crash] = []
        self._crash = crash
        self._hits: Counter[tuple[str, str]] = Counter()
        self._counting = threading.Lock()

    def _dies(self, name: str, path: str) -> bool:
        with self._counting:
            self._hits[name, path] += 1
            here = Crash(name, path, self._hits[name, path])
            self.reached.append(here)
        return here == self._crash


@dataclass(frozen=True, slots=True)
class _Ending:
    """How it ended: what is told of each run, and what the user's functions gave."""

    runs: dict[str, dict[str, object]]
    observed: object
    calls: Counter[str]
    doubled: bool


def _told(app: App) -> Iterator[tuple[str, dict[str, object]]]:
    names: dict[str, str] = {}
    made_up: Counter[str] = Counter()
    rows = app.store.list(RunFilter(limit=_ALL))
    by_uid = {row.uid: row for row in rows}
    for row in sorted(rows, key=lambda row: row.depth):
        parent = by_uid.get(row.parent or "")
        if parent is not None:
            names[row.uid] = names[parent.uid] + row.id.removeprefix(parent.id)
        elif _MADE_UP.fullmatch(row.id):
            made_up[row.workflow] += 1
            names[row.uid] = f"{row.workflow} {made_up[row.workflow]}"
        else:
            names[row.uid] = row.id
        steps = {_ATTEMPT.sub("", record.path) for record in app.store.records(row.uid)}
        yield names[row.uid], {"status": row.status, "result": _result(app, row), "steps": steps}


def _result(app: App, row: Row) -> object:
    if row.status == "completed":
        return app.codec.decode(row.result) if row.result is not None else None
    if row.status in ("pending", "parked"):
        return None
    error = Run[Any](app, row.id, row.uid).failure(row, of_child=True)
    return type(error).__name__ + ": " + str(error).replace(row.id, "…")


def _doubled(app: App) -> bool:
    rows = app.store.list(RunFilter(limit=_ALL))
    return any(note.kind == "possibly doubled" for row in rows for note in app.store.notes(row.uid))


def _differences(undisturbed: _Ending, ending: _Ending) -> Iterator[str]:
    for name in [*undisturbed.runs, *(ending.runs.keys() - undisturbed.runs.keys())]:
        there, here = undisturbed.runs.get(name), ending.runs.get(name)
        if there is None or here is None:
            yield f"the run {name!r} is there {'only after' if there is None else 'only without'} the crash"
            continue
        for what in ("status", "result"):
            if here[what] != there[what]:
                yield f"{what} of {name!r}: {here[what]!r}, undisturbed {there[what]!r}"
        yield from _sets(f"steps of {name!r}", there["steps"], here["steps"])
    if ending.observed != undisturbed.observed:
        yield f"observed: {ending.observed!r}, undisturbed {undisturbed.observed!r}"
    missing, more = undisturbed.calls - ending.calls, ending.calls - undisturbed.calls
    if missing:
        yield f"calls that were not made: {', '.join(missing)}"
    new = [call for call in more if call not in undisturbed.calls]
    if new:
        yield f"calls that only the crash brings: {', '.join(new)}"
    if more and not new and not ending.doubled:
        yield f"calls made again, and no run says `possibly doubled`: {', '.join(more)}"


def _sets(what: str, there: Any, here: Any) -> Iterator[str]:
    if there - here:
        yield f"{what}: without {', '.join(sorted(there - here))}"
    if here - there:
        yield f"{what}: more, {', '.join(sorted(here - there))}"
