"""What stops a value from being recorded, with the place in the value; and what stops a record from fitting a type."""

from __future__ import annotations

from collections import Counter

from semel.errors import SemelError

_SHOWN = 12


class NotEncodable(SemelError):
    """A value holds something that cannot be recorded (rule O23).

    ``type_name`` is the type at fault, ``where`` the way to it (``result.lines[3].price``), ``why`` the reason with the
    remedy. The segments of ``where`` are gathered while the error leaves the value, innermost first, so that a value
    that can be recorded pays nothing for them.
    """

    code = "SEMEL-NOT-RECORDABLE"

    def __init__(self, type_name: str, why: str, *, root: str = "result", too_deep: bool = False) -> None:
        super().__init__()
        self.type_name = type_name
        self.root = root
        self._why = why
        self._too_deep = too_deep
        self._trail: list[tuple[int, str]] = []

    def passed(self, container: object, segment: str) -> None:
        """Notes that ``container`` holds the trouble under ``segment``."""
        self._trail.append((id(container), segment))

    def settle(self, root: str) -> None:
        """Ends the way to the trouble with the name of the whole value."""
        self.root = root
        if self._too_deep and max(Counter(holder for holder, _ in self._trail).values(), default=0) > 1:
            self._why = "it contains itself; return what it holds as a tree, with ids in place of the way back"

    @property
    def where(self) -> str:
        """The way to the trouble."""
        segments = [segment for _, segment in reversed(self._trail)]
        shown = "".join(segments[:_SHOWN])
        return self.root + shown + ("…" if len(segments) > _SHOWN else "")

    @property
    def why(self) -> str:
        """The reason, with the remedy."""
        return self._why

    def __str__(self) -> str:
        return f"{self.where} is of type {self.type_name}, which cannot be recorded: {self.why}"


class Misfit(Exception):
    """A recorded value does not fit its type; the text says why. Becomes a ``RecordUnreadable`` that names the type."""
