"""What ends an execution from outside of the body: a lost lease, a stopping worker, a store that cannot record.

A halt is a state of the execution. ``Unwind`` only carries it out of the body; once the state is set, every later step
raises it again before any effect, whatever the body does with it (``except:``, ``finally``, a sibling task).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Halt:
    """Why the execution stops: its run is then left to whoever has it, given back, or delivered again."""

    reason: Literal["lease lost", "stopping", "store"]
    error: BaseException | None = None


class Unwind(BaseException):
    """Leaves the body of a halted execution. Not an ``Exception``, so that a handler does not take it by accident."""

    def __init__(self, halt: Halt) -> None:
        super().__init__(halt.reason)
        self.halt = halt
