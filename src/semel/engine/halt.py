"""What ends an execution whatever its body does: a lost lease, a stopping worker, a store that cannot record, or a
record that no body can act on.

A halt is a state of the execution. ``Unwind`` only carries it out of the body; once the state is set, every later step
raises it again before any effect, whatever the body does with it (``except:``, ``finally``, a sibling task).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Halt:
    """Why the execution stops: its run is then left to whoever has it, given back, or delivered again.

    ``fault`` says that the run faults with ``error``: a record cannot be read, or a failure could not be recorded.
    """

    reason: Literal["lease lost", "stopping", "store", "fault"]
    error: BaseException | None = None


class Unwind(BaseException):
    """Leaves the body of a halted execution. Not an ``Exception``, so that a handler does not take it by accident."""

    def __init__(self, halt: Halt) -> None:
        super().__init__(halt.reason)
        self.halt = halt
