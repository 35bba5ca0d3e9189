"""Marks: what says, without a commit, which steps are in flight, should this process die in them (rules O8, R11)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .live import Live
    from .needs import Journal


class Marks:
    """The marks of one delivery."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._marked: set[Live] = set()
        self._mark: object = None

    def mark(self, live: Live) -> None:
        """The step starts."""
        if live.exactly_once:
            return
        live.mark = self._journal.mark(live.text)
        self._marked.add(live)

    def unmark(self, live: Live) -> None:
        """The step's record is durable."""
        if live not in self._marked:
            return
        self._marked.discard(live)
        self._journal.unmark(live.mark)

    def open(self) -> None:
        """Before the body starts: from now on the death of this process counts against the run (rule R11)."""
        self._mark = self._journal.mark("")

    def close(self) -> None:
        """After the body's commit: steps that failed, and have no record, are in flight no longer."""
        for live in tuple(self._marked):
            self.unmark(live)
        self._journal.unmark(self._mark)
