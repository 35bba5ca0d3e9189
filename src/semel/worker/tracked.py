"""The executions that run in this process at this moment, by whoever drives them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from semel.engine.execution import Execution


@contextmanager
def tracked(execution: Execution, among: set[Execution]) -> Iterator[None]:
    """In it the execution runs: it can be halted from outside, and a takeover knows that its body was under way."""
    among.add(execution)
    execution.marks.open()
    try:
        yield
    finally:
        among.discard(execution)
        execution.marks.close()
