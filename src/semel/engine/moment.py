"""The time that a flow has come to: the end of the latest record that it has passed, or the start of the attempt.

A later attempt passes the same records, and so reads the same times. The context holds it: a task or a thread begins
with the time of the flow that started it, and what others record beside it does not count.
"""

from __future__ import annotations

import contextvars
import linecache
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from semel.compiler import Origin, loop_round
from semel.errors import NotAllowedHere, ProgramError

#: Seconds since the epoch.
moment_of_flow: contextvars.ContextVar[float] = contextvars.ContextVar("semel_moment", default=0.0)

#: How often one line may read one and the same time: in a ``while``, which may wait for it to pass, and elsewhere.
IN_WHILE, ELSEWHERE = 100_000, 1_000_000

#: How long, in real seconds and in reads, where a ``while`` compares it and sleeps: that surely waits for it to pass.
ASLEEP, LOOKS = 300.0, 10


def passed(at: float) -> None:
    """The flow has passed a record that ended then; the time never goes back."""
    if at > moment_of_flow.get():
        moment_of_flow.set(at)


@dataclass(slots=True)
class _Reads:
    """The reads of one time at one call."""

    moment: float
    since: float
    count: int = 0


class Watch:
    """Counts the reads of one time at one call: a loop that waits for it to pass would never end."""

    def __init__(self, condemned: Callable[[ProgramError], ProgramError]) -> None:
        self._condemned = condemned
        self._reads: dict[tuple[int, int], _Reads] = {}

    def read(self, origin: Origin, moment: float) -> None:
        """One more read there.

        Raises NotAllowedHere: the execution faults.
        """
        key = (id(origin[0]), origin[1])
        reads = self._reads.get(key)
        if reads is None or reads.moment != moment:
            reads = self._reads[key] = _Reads(moment, monotonic())
        reads.count += 1
        if reads.count > LOOKS and _waits(origin, reads):
            raise self._condemned(NotAllowedHere(_stuck(origin, reads.count - 1)))


def _waits(origin: Origin, reads: _Reads) -> bool:
    if reads.count > IN_WHILE:
        return reads.count > ELSEWHERE or loop_round(origin) is not None
    return monotonic() - reads.since > ASLEEP and loop_round(origin) == "sleeping"


def _stuck(origin: Origin, count: int) -> str:
    code, offset = origin
    line = [*code.co_positions()][offset // 2][0] or code.co_firstlineno
    text = linecache.getline(code.co_filename, line).strip() or "while datetime.now() < deadline:"
    return (
        f"{code.co_filename}:{line} has read the time {count:,} times without a step in between, and it does not pass: "
        f"in a body the time is that of the latest step, so that a later attempt reads the same. A loop that waits for "
        f"it never ends:\n    {text}\nTo limit how long a loop works, read time.monotonic(), which is the real one:\n"
        f"    deadline = time.monotonic() + 60\n    while time.monotonic() < deadline:\n"
        f"To wait, use semel's sleep, after which the time is later:\n"
        f"    sleep(timedelta(seconds=60))    # from semel import sleep"
    )
