"""What ends an execution whatever its body does: a lost lease, a stopping worker, a store that cannot record, a record
that no body can act on; a wait, a cancel, and a visit that the body itself has ended.

A halt is a state of the execution. ``Unwind`` only carries it out of the body; once the state is set, every later step
raises it again before any effect, whatever the body does with it (``except:``, ``finally``, a sibling task).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Halt:
    """Why the execution stops.

    Its run is then left to whoever has it ("lease lost"), given back ("stopping", "cancelled": who claims it next sees
    that it is to end), delivered again ("store"), parked until something wakes it, or started anew with other arguments
    ("again", ``args``). "fault" says that the run faults with ``error``: a record cannot be read, or a failure could
    not be recorded.
    """

    reason: Literal["lease lost", "stopping", "store", "fault", "parked", "cancelled", "again"]
    error: BaseException | None = None
    args: tuple[tuple[Any, ...], dict[str, Any]] = ((), {})


#: What a park cannot be committed after.
STRONGER = ("fault", "store", "lease lost")


class Unwind(BaseException):
    """Leaves the body of a halted execution. Not an ``Exception``, so that a handler does not take it by accident."""

    def __init__(self, halt: Halt) -> None:
        super().__init__(halt.reason)
        self.halt = halt
