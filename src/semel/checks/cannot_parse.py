"""``cannot-parse``: a file that is not Python of this version cannot be checked, and is said to be so."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from semel.compiler.model import Model

from .problem import Problem

RULE = "cannot-parse"


def check(model: Model) -> Iterator[Problem]:
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    for unreadable in model.unreadable:
        message = (
            f"This file cannot be read as Python {version}: {unreadable.reason}. Nothing in it has been checked, nor "
            f"what is called through it."
        )
        yield Problem(RULE, "E", message, unreadable.place, (), "")
