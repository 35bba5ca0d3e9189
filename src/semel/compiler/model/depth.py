"""Room for deep syntax trees: a long chain of ``elif`` or ``+`` is nested as deep as it is long."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

_RECURSION = 20_000


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Raises the recursion limit for a while; calls from Python to Python take no room on the C stack."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _RECURSION))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
