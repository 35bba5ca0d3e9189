"""The part of the ``Store`` protocol that entity workflows need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from .interface import Claim, NewRun, Run, Ticket


class Followed(Protocol):
    """What the runs of entity workflows need beside: they are found by the row that they follow.

    What takes a ``connection`` works on a DB-API connection to the main database, in the transaction open there, so
    that the app's rows and this are one commit.
    """

    def of_entity(self, workflow: str, entity: str, connection: Any = None) -> Run | None:
        """The run that follows this row, or the last one that did."""
        ...

    def start_in(self, connection: Any, run: NewRun) -> bool:
        """Inserts the run; False if its id is taken."""
        ...

    def send_in(self, connection: Any, run: str, name: str, payload: bytes, now: float) -> bool:
        """``send`` in the caller's transaction."""
        ...

    def cancel_in(self, connection: Any, run: str, now: float) -> bool:
        """``cancel`` in the caller's transaction."""
        ...

    def leave_in(self, connection: Any, run: str, now: float) -> None:
        """``cancel_in``; and the run does not count as its row's any more."""
        ...

    def claim_run(self, owner: str, run: Run, now: float, begins: float) -> Ticket[Claim | None]:
        """Claims this run, parked or not, which the caller has just read; None if a live owner holds it."""
        ...

    def bodies(self, run: str) -> list[str]:
        """The executions (``PLACED.on_pay@1``) that have records."""
        ...
