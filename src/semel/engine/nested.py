"""Which records go with the record of a step: what ran inside it, its other exchanges, and that it was cancelled.

A step that is to run again shall make its calls again, and not be given what they answered before.
"""

from __future__ import annotations

from collections.abc import Iterable

from semel.store.interface import Record

from .alignment import PART, is_automatic, part_of
from .outcomes import CANCELLED

_GOES_ON = ("/", "#", "[", PART)


def forgotten_with(path: str, records: Iterable[Record]) -> list[str]:
    """The paths of the records that have to go if the step at ``path`` is to run again: those inside it first, its own
    last. Empty if it has none.

    ``records`` are those of the run, in the order in which they were made. A label is a segment of what its step runs,
    so a function of the same name that the body calls beside it leads to paths of the same look: what it did after the
    step had ended is left alone, what it did before is not told apart.
    """
    known = {record.path: record for record in records}
    own = [candidate for candidate in (path + CANCELLED, path) if candidate in known]
    parts = [other for other in known if _is_part(other, path)]
    if not own and not parts:
        return []
    parent, _, label = path.rpartition("#")
    inside = f"{parent}/{label}"
    end = max(known[one].finished_at for one in (*own, *parts))
    nested = [
        other
        for other, record in known.items()
        if other.startswith(inside) and other[len(inside) :].startswith(_GOES_ON) and record.started_at <= end
    ]
    return [*nested, *reversed(parts), *own]


def _is_part(other: str, path: str) -> bool:
    """Whether ``other`` is a further exchange of the call at ``path``."""
    call, number = part_of(other.removesuffix(CANCELLED))
    return is_automatic(path) and call == path and number > 0
