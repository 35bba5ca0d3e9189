"""The order in which a function's call sites may run, and which of them may run in one pass (rule O18).

A function's flow is a tree of the statements that matter: sites in order, arms, loops, ``try``, ``with`` and jumps.
``together`` walks it once and gives the pairs of sites that some way through the function runs both, in the same pass
of every loop that encloses them both. Sets of sites are the bits of an int.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Literal

from .depth import deep_recursion

JumpKind = Literal["break", "continue", "return", "raise"]
#: Whether a ``with`` may catch what is raised in it: "never" is known not to, "raised" may catch a ``raise``, "any" is
#: known to catch, so that a call that fails in it is survived too.
Catches = Literal["never", "raised", "any"]


@dataclass(frozen=True, slots=True)
class Site:
    number: int


@dataclass(frozen=True, slots=True)
class Sequence:
    parts: tuple[Flow, ...]


@dataclass(frozen=True, slots=True)
class Arms:
    """One of the arms runs. A missing ``else`` is an empty arm."""

    arms: tuple[Flow, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A loop: ``head`` is what each pass starts with (a test, a target), and what the last, empty one still runs."""

    head: Flow
    body: Flow
    orelse: Flow
    endless: bool


@dataclass(frozen=True, slots=True)
class Attempt:
    """A ``try``. ``catches_all``: a bare ``except`` or one of BaseException; ``group``: ``except*``."""

    body: Flow
    handlers: tuple[Flow, ...]
    orelse: Flow
    final: Flow
    catches_all: bool
    group: bool


@dataclass(frozen=True, slots=True)
class Managed:
    """The body of a ``with``, after its managers were entered."""

    body: Flow
    leave: Flow
    catches: Catches


@dataclass(frozen=True, slots=True)
class Jump:
    kind: JumpKind


Flow = Site | Sequence | Arms | Repeat | Attempt | Managed | Jump

NOTHING = Sequence(())


def sequence(*parts: Flow) -> Flow:
    """The parts in order, without the empty ones.

    Whoever reads deep trees gives a list and not a generator: a generator takes room on the C stack at each level.
    """
    kept: list[Flow] = []
    for part in parts:
        if isinstance(part, Sequence):
            kept.extend(part.parts)
        else:
            kept.append(part)
    return kept[0] if len(kept) == 1 else Sequence(tuple(kept)) if kept else NOTHING


def arms(*choices: Flow) -> Flow:
    return Arms(choices) if any(choice is not NOTHING for choice in choices) else NOTHING


# The ways out of a piece of flow. RAISED is a `raise` that the source shows, FAILED a call that may fail.
_ON, _BREAK, _CONTINUE, _RETURN, _RAISED, _FAILED = range(6)
_JUMPS = {"break": _BREAK, "continue": _CONTINUE, "return": _RETURN, "raise": _RAISED}

#: For each way out: the sites that may have run when it is taken, or None where it cannot be.
_Out = list[int | None]


def _merge(first: int | None, second: int | None) -> int | None:
    if first is None or second is None:
        return second if first is None else first
    return first | second


def _add(sites: int | None, more: int) -> int | None:
    return None if sites is None else sites | more


def _all(out: _Out) -> int:
    total = 0
    for sites in out:
        total |= sites or 0
    return total


def together(flow: Flow, numbers: Mapping[int, int], never_returns: Container[int]) -> set[tuple[int, int]]:
    """Pairs of the given sites, the lower number first, that may both run in one pass of the loops round both.

    ``numbers`` gives each site of interest its bit; ``never_returns`` holds the sites that leave like a ``raise``.
    """
    walk = _Walk(numbers, never_returns)
    with deep_recursion():
        walk.summary(flow)
    back = {bit: site for site, bit in numbers.items()}
    found = set()
    merged: dict[int, int] = {}
    for before, after in walk.pairs:
        for first in _bits(before):
            merged[first] = merged.get(first, 0) | after
    for first, after in merged.items():
        for second in _bits(after):
            if first != second:
                one, other = back[first], back[second]
                found.add((min(one, other), max(one, other)))
    return found


def _bits(mask: int) -> list[int]:
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


class _Walk:
    """Sums up flow from the inside out: each summary is (the sites it may run, its ways out)."""

    def __init__(self, numbers: Mapping[int, int], never_returns: Container[int]) -> None:
        self.numbers = numbers
        self.never_returns = never_returns
        self.pairs: set[tuple[int, int]] = set()

    def pair(self, before: int | None, after: int) -> None:
        if before and after:
            self.pairs.add((before, after))

    def summary(self, flow: Flow) -> tuple[int, _Out]:
        match flow:
            case Site(number):
                return self.site(number)
            case Sequence(parts):
                return self.sequence(parts)
            case Arms(choices):
                return self.arms(choices)
            case Repeat():
                return self.repeat(flow)
            case Attempt():
                return self.attempt(flow)
            case Managed():
                return self.managed(flow)
            case Jump(kind):
                out: _Out = [None] * 6
                out[_JUMPS[kind]] = 0
                return 0, out

    def site(self, number: int) -> tuple[int, _Out]:
        mask = 1 << self.numbers[number] if number in self.numbers else 0
        if number in self.never_returns:
            return mask, [None, None, None, None, mask, None]
        return mask, [mask, None, None, None, None, mask]

    def sequence(self, parts: tuple[Flow, ...]) -> tuple[int, _Out]:
        reach = 0
        out: _Out = [0] + [None] * 5
        for part in parts:
            so_far = out[_ON]
            if so_far is None:
                break
            reached, ways = self.summary(part)
            reach |= reached
            self.then(out, so_far, reached, ways)
        return reach, out

    def then(self, out: _Out, so_far: int, reached: int, ways: _Out) -> None:
        """Goes on from the way out ``_ON`` of ``out``, taken with the sites ``so_far``, into another piece."""
        self.pair(so_far, reached)
        out[_ON] = None
        for kind, sites in enumerate(ways):
            if sites is not None:
                out[kind] = _merge(out[kind], so_far | sites)

    def arms(self, choices: tuple[Flow, ...]) -> tuple[int, _Out]:
        reach = 0
        out: _Out = [None] * 6
        for choice in choices:
            reached, ways = self.summary(choice)
            reach |= reached
            out = [_merge(one, other) for one, other in zip(out, ways, strict=True)]
        return reach, out

    def repeat(self, loop: Repeat) -> tuple[int, _Out]:
        _, head = self.summary(loop.head)
        reach, one_pass = self.sequence((loop.head, loop.body))
        done = (one_pass[_ON] or 0) | (one_pass[_CONTINUE] or 0)
        out: _Out = [None, None, None, *(_add(sites, done) for sites in one_pass[_RETURN:])]
        broken = _add(one_pass[_BREAK], done)
        if not loop.endless and (exhausted := _add(head[_ON], done)) is not None:
            reached, ways = self.summary(loop.orelse)
            reach |= reached
            self.then(out, exhausted, reached, ways)
        out[_ON] = _merge(out[_ON], broken)
        return reach, out

    def attempt(self, attempt: Attempt) -> tuple[int, _Out]:
        reach, out = self.summary(attempt.body)
        out = list(out)
        caught = (out[_RAISED] or 0) | (out[_FAILED] or 0)
        if attempt.catches_all:
            out[_RAISED] = out[_FAILED] = None
        else_reach, else_out = self.summary(attempt.orelse)
        if (so_far := out[_ON]) is not None:
            reach |= else_reach
            self.then(out, so_far, else_reach, else_out)
        # The blocks of a try do not exclude each other, whatever it is that chooses among its handlers.
        earlier = 0
        for handler in attempt.handlers:
            reached, ways = self.summary(handler)
            reach |= reached
            self.pair(caught | earlier, reached)
            out = [_merge(way, _add(sites, caught)) for way, sites in zip(out, ways, strict=True)]
            earlier |= ways[_ON] or 0
            if attempt.group:
                earlier |= (ways[_RAISED] or 0) | (ways[_FAILED] or 0)
        self.pair(earlier, else_reach)
        return self.finish(reach, out, attempt.final) if attempt.final is not NOTHING else (reach, out)

    def finish(self, reach: int, out: _Out, final: Flow) -> tuple[int, _Out]:
        """Runs ``final`` on every way out."""
        out[_FAILED] = out[_FAILED] or 0
        before = _all(out)
        reached, ways = self.summary(final)
        self.pair(before, reached)
        passed: _Out = [None] * 6
        if (through := ways[_ON]) is not None:
            passed = [_add(sites, through) for sites in out]
        for kind in range(1, 6):
            if (sites := ways[kind]) is not None:
                passed[kind] = _merge(passed[kind], before | sites)
        return reach | reached, passed

    def managed(self, managed: Managed) -> tuple[int, _Out]:
        reach, out = self.summary(managed.body)
        out = list(out)
        if managed.leave is not NOTHING:
            reach, out = self.finish(reach, out, managed.leave)
        if managed.catches != "never":
            out[_ON] = _merge(out[_ON], out[_RAISED])
        if managed.catches == "any":
            out[_ON] = _merge(out[_ON], out[_FAILED] or 0)
        return reach, out
