"""What a cut leaves open (rule O8): which steps of a later delivery may run a second time.

A step's record is durable before its flow goes on. So when a worker dies, at most the last step of each flow was in
flight without a record, and it is the first one that is live in that flow in the next delivery.
"""

from __future__ import annotations

import contextvars
from typing import TYPE_CHECKING

from semel.store.interface import Note

if TYPE_CHECKING:
    from .execution import Execution
    from .live import Live

#: The doubt that the flow of this context has left behind. Tasks copy it: what a flow makes after it has passed its
#: first live step was not there when the cut came.
_passed: contextvars.ContextVar[object] = contextvars.ContextVar("semel_passed_cut", default=None)


class Doubt:
    """The doubt of one delivery. ``cut`` says that an earlier delivery was cut off since the run was started."""

    __slots__ = ("_execution", "cut")

    def __init__(self, execution: Execution, cut: bool) -> None:
        self._execution = execution
        self.cut = cut

    def notes(self, live: Live) -> list[Note]:
        """What is durable before a step runs that an earlier delivery may have run, whatever then becomes of it."""
        if live.exactly_once or not self.here():
            return []
        text = "an earlier attempt was cut off and may have made this call already, without a record of it"
        return [self._execution.note(live.text, "possibly doubled", text)]

    def here(self) -> bool:
        """Whether a step that starts in this flow may have been in flight at the cut."""
        return self.cut and _passed.get() is not self

    def passed(self) -> None:
        """This flow goes on past a live step."""
        if self.cut:
            _passed.set(self)
