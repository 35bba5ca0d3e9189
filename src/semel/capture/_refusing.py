"""What a body must not do, because it cannot be recorded: the errors that say so."""

from __future__ import annotations

from semel.compiler import current, place
from semel.errors import CallNotRecordable


def refused(what: str, fix: str) -> CallNotRecordable:
    """The error of what a body must not do here; the run faults with it, also if the body handles it."""
    here = place(compiled=True)
    error = CallNotRecordable(f"{here}: {what} {fix}" if here is not None else f"{what} {fix}")
    path = current.get()
    if path is not None:
        path.execution.condemned(error)  # type: ignore[attr-defined]
    return error


def websocket_refused(host: object) -> CallNotRecordable:
    """The error of opening a websocket by an ordinary request."""
    return refused(
        f"a websocket is opened to {host} in the body of a run. What is said over it cannot be recorded, and a later "
        f"attempt would say it again. It was not opened.",
        'Make the whole conversation one step that returns what is needed of it: answer = once("talk", lambda: talk())',
    )
