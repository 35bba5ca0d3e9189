"""What an execution needs of the outside: a journal to record in, and the idempotency keys of its run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from semel.store.interface import Event, NewRun, Note, Record, Run, Ticket


class Journal(Protocol):
    """Where an execution records: one claimed run of one store."""

    def append(self, records: list[Record], notes: list[Note], retracted: list[str]) -> Ticket[bool]:
        """Makes records durable; False if the claim was lost."""
        ...

    def late(self, note: Note) -> None:
        """Leaves a note, claim or not."""
        ...

    def may_start(self) -> bool:
        """Whether the lease is good enough to start a step."""
        ...

    def mark(self, path: str) -> object:
        """Says that a step starts, for who takes over should this process die in it (rule O8)."""
        ...

    def unmark(self, mark: object) -> None:
        """The step's record is durable."""
        ...


class Keys(Protocol):
    """The idempotency keys of one run."""

    def of_step(self, path: str) -> str: ...

    def of_value(self, name: str, size: int) -> bytes:
        """So many bytes for a name, that only this run's secret can make."""
        ...

    def of_request(self, data: bytes) -> bytes:
        """A digest of a request's bytes that only this run's secret can make."""
        ...

    def of_scope(self, label: str, scope: object) -> str: ...


class Outside(Protocol):
    """What comes to a run from elsewhere: its events, and the runs that it has started."""

    def events(self) -> list[Event]:
        """The events of the run that no commit has used up, in order."""
        ...

    def children(self) -> Mapping[str, Run]:
        """The child runs by uid, as they are at this moment."""
        ...

    def child(self, path: str, workflow: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> NewRun:
        """The child run of this path: the same at each attempt. Raises where it cannot be one."""
        ...

    def failure(self, child: Run) -> BaseException:
        """What a child that has not completed ended with."""
        ...
