"""``workflow-first-step-waits-on-a-slow-call`` (W1): no call leaves the process in a part that is inside a commit.

From its first flush on a body holds the one write transaction of its commit. A step after it keeps that open until
somebody else has answered. The same goes for a ``with engine.begin()`` round a step, and for starting a run, which is
written to the database at once, while a session of the caller has flushed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from semel.checks.paths import name_of
from semel.checks.problem import Problem
from semel.compiler.model import Call, Function, Loop, Model, Place, together
from semel.compiler.model.effects import Transaction
from semel.compiler.model.routes import Routes

RULE = "workflow-first-step-waits-on-a-slow-call"

_STARTS = frozenset({"semel.App().start", "semel.App().start_async", "semel.app.App().start"})
_SURE = frozenset({"sure", "likely", "foreign"})


@dataclass(frozen=True, slots=True)
class _Event:
    """A flush, or what is slow. ``starts``: it starts a run; ``until``: the line on which what it began ends."""

    site: int
    place: Place
    name: str
    loops: tuple[Loop, ...]
    starts: bool = False
    until: int | None = None


def check(model: Model, routes: Routes) -> Iterator[Problem]:
    flushing = _flushing(model)
    for function in model.functions.values():
        if function.id in routes:
            slow = _slow(model, function)
            yield from _after_a_flush(model, function, _flushes(function, flushing), slow)
            for block in function.effects.transactions:
                if block.kind == "block":
                    yield from _in_a_block(model, function, block, slow)
        else:
            yield from _starting(model, function)


def _flushing(model: Model) -> frozenset[str]:
    """The functions that flush, or call one that does."""
    found = {f.id for f in model.functions.values() if any(_is_flush(t) and t.of_body for t in f.effects.transactions)}
    grown = True
    while grown:
        more = {
            f.id
            for f in model.functions.values()
            if f.id not in found and any(_leads(call, frozenset(found)) for call in f.calls)
        }
        found |= more
        grown = bool(more)
    return frozenset(found)


def _is_flush(transaction: Transaction) -> bool:
    return transaction.kind in ("flush", "autoflush") and transaction.within is None


def _leads(call: Call, functions: frozenset[str]) -> bool:
    return call.within is None and call.certainty in _SURE and any(c.function in functions for c in call.candidates)


def _flushes(function: Function, flushing: frozenset[str]) -> list[_Event]:
    transactions = function.effects.transactions
    own = [
        _Event(t.site, t.place, f"`{t.text}`", t.loops, until=None if t.of_body else _end(t, transactions))
        for t in transactions
        if _is_flush(t)
    ]
    called = [
        _Event(c.site, c.place, f"`{c.callee}`, which flushes,", c.loops) for c in function.calls if _leads(c, flushing)
    ]
    return sorted([*own, *called], key=lambda event: event.site)


def _end(flush: Transaction, transactions: tuple[Transaction, ...]) -> int:
    """The line of the commit after a flush, or where the session is closed."""
    commits = [t.place.line for t in transactions if t.kind == "commit" and t.place > flush.place]
    return min([*commits, flush.last_line])


def _slow(model: Model, function: Function) -> list[_Event]:
    """What may take long: steps, calls that leave, and calls that lead to either."""
    starting = {call.within for call in function.calls if call.foreign in _STARTS}
    found = [
        _Event(step.site, step.place, f'the step "{step.label}"', step.loops, step.index in starting)
        for step in function.steps
        if step.within is None and step.form in ("once", "transaction", "saga step")
    ]
    for call in function.calls:
        if call.within is not None:
            continue
        if call.operation is not None:
            if call.operation.sure:
                found.append(_Event(call.site, call.place, f"the call of {call.operation.name}", call.loops))
        elif call.certainty in _SURE and any(model.holds_steps(c.function) for c in call.candidates):
            found.append(_Event(call.site, call.place, f"`{call.callee}`, which holds steps,", call.loops))
    return sorted(found, key=lambda event: event.site)


def _after_a_flush(model: Model, function: Function, flushes: list[_Event], slow: list[_Event]) -> Iterator[Problem]:
    """The first slow call that comes after a flush; what comes after that one is inside for the same reason."""
    numbers = {site: bit for bit, site in enumerate(sorted({event.site for event in (*flushes, *slow)}))}
    pairs = together(function.flow, numbers, function.never_returns)
    for event in slow:
        before = [flush for flush in flushes if _precedes(flush, event, pairs)]
        if before:
            later = sum(1 for other in slow if other.site > event.site)
            yield _problem(model, function, before[0], event, later)
            return


def _precedes(flush: _Event, event: _Event, pairs: set[tuple[int, int]]) -> bool:
    if flush.site == event.site or (flush.until is not None and event.place.line > flush.until):
        return False
    if flush.site < event.site and (flush.site, event.site) in pairs:
        return True
    return bool(flush.loops) and bool(event.loops) and flush.loops[0] == event.loops[0]  # an earlier pass


def _in_a_block(model: Model, function: Function, block: Transaction, slow: list[_Event]) -> Iterator[Problem]:
    for event in slow:
        if block.place.line <= event.place.line <= block.last_line and event.place > block.place:
            message = (
                f"{_upper(event.name)} on line {event.place.line} stands inside the transaction of `{block.text}`: it "
                f"stays open, with its locks, for as long as the answer takes, and is open again at each attempt. "
                f"Finish the transaction first, or make the call before it."
            )
            fix = f"{_line(model, event.place)}\n{_line(model, block.place)}    # after the call\n    …"
            yield Problem(RULE, "W1", message, event.place, (block.place,), fix)
            return


def _problem(model: Model, function: Function, flush: _Event, event: _Event, later: int) -> Problem:
    more = f" ({later} more such call{'s' if later > 1 else ''} after that)" if later else ""
    held = f"the transaction that {name_of(function)} commits when it ends" if flush.until is None else "a transaction"
    message = (
        f"{flush.name} on line {flush.place.line} begins {held}, and {event.name} on line {event.place.line} comes "
        f"after it{more}. The database stays locked until that has answered; on SQLite nobody else can write "
        f"meanwhile. Make the call first, and write after it; what is only added to the body's session is flushed when "
        f"the body ends."
    )
    if event.starts:
        message += " Starting a run writes to that database too: on SQLite it would wait for the body's own lock."
    fix = f"{_line(model, event.place)}\n{_line(model, flush.place)}    # after the call"
    return Problem(RULE, "W1", message, event.place, (flush.place,), fix)


def _starting(model: Model, function: Function) -> Iterator[Problem]:
    """``app.start(…)`` in a caller whose session has flushed and not committed."""
    ends = [t.place for t in function.effects.transactions if t.kind == "commit"]
    flushes = [t for t in function.effects.transactions if _is_flush(t)]
    for call in function.calls:
        if call.foreign not in _STARTS or call.within is not None:
            continue
        for flush in flushes:
            is_open = flush.place < call.place and call.place.line <= flush.last_line
            if is_open and not any(flush.place < end < call.place for end in ends):
                message = (
                    f"`{call.callee}` on line {call.place.line} starts a run, which is written to the database at "
                    f"once, while `{flush.text}` on line {flush.place.line} holds a transaction of "
                    f"{name_of(function)} open. On SQLite it waits for that lock until it gives up; and were the "
                    f"transaction rolled back, the run would have started all the same. Commit first."
                )
                fix = f"session.commit()\n{_line(model, call.place)}"
                yield Problem(RULE, "W1", message, call.place, (flush.place,), fix)
                break


def _line(model: Model, place: Place) -> str:
    lines = model.lines(place.file)
    return lines[place.line - 1].strip() if place.line <= len(lines) else "…"


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
