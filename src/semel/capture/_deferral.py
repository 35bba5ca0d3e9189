"""For libraries that connect or send before an exchange is whole: whether it will be recorded."""

from __future__ import annotations

from semel.capture import recorder
from semel.compiler.path import current


def is_recorded() -> bool:
    """Whether an exchange that is made now is recorded, or answered from a script: until it is made nothing is sent.

    False outside of a run, directly in a ``once``, and where an exchange is made live.
    """
    if recorder.answering is not None:
        return True
    path = current.get()
    if path is None or path.execution.over:
        return False
    return path.parent is None or not path.execution.is_step(path.parent)  # type: ignore[attr-defined]
