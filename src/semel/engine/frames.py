"""Exceptions told to people: the user's own lines, without those of semel, and without what a record must not hold."""

from __future__ import annotations

import os
import traceback

from semel.codec import discreet, without_userinfo

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def user_traceback(error: BaseException) -> str:
    """The traceback as text, without semel's own frames; all of them if there are no others."""
    try:
        told = discreet(error)
        _clean(told)
        return without_userinfo("".join(told.format()))
    except Exception:  # the exception's own code raised, or its chain has no end
        return _name(error)


def told_briefly(error: BaseException | None) -> str:
    """The class and text of an exception, for a log."""
    if error is None:
        return "no more is known"
    try:
        return without_userinfo("".join(discreet(error).format_exception_only()).strip())
    except Exception:
        return _name(error)


def _name(error: BaseException) -> str:
    return f"{type(error).__module__}.{type(error).__qualname__} (its text cannot be made)"


def _clean(told: traceback.TracebackException) -> None:
    for part in (told.__cause__, told.__context__, *(told.exceptions or ())):
        if part is not None:
            _clean(part)
    kept = [frame for frame in told.stack if not frame.filename.startswith(_HERE)]
    if kept:
        told.stack = traceback.StackSummary.from_list(kept)
