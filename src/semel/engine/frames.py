"""Tracebacks for people: the user's own lines, without those of semel between them."""

from __future__ import annotations

import os
import traceback

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def user_traceback(error: BaseException) -> str:
    """The traceback as text, without semel's own frames; all of them if there are no others."""
    told = traceback.TracebackException.from_exception(error)
    _clean(told)
    return "".join(told.format())


def _clean(told: traceback.TracebackException) -> None:
    for part in (told.__cause__, told.__context__, *(told.exceptions or ())):
        if part is not None:
            _clean(part)
    kept = [frame for frame in told.stack if not frame.filename.startswith(_HERE)]
    if kept:
        told.stack = traceback.StackSummary.from_list(kept)
