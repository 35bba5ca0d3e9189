"""What an execution needs of the outside: a journal to record in, and the idempotency keys of its run."""

from __future__ import annotations

from typing import Protocol

from semel.store.interface import Note, Record, Ticket


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
