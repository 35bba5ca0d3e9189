"""The pytest plugin: the fixture ``semel_kit``.

pytest loads it in every session where semel is installed, so nothing is imported before a test asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

import pytest

if TYPE_CHECKING:
    from semel.app import App

    from .kit import Kit


class MakeKit(Protocol):
    """The type of the fixture ``semel_kit``."""

    def __call__(self, app: App, *, start: datetime | None = None) -> Kit: ...


@pytest.fixture
def semel_kit() -> Iterator[MakeKit]:
    """``kit = semel_kit(app)``: the app on a temporary database and a clock of its own, to the end of the test."""
    with ExitStack() as stack:

        def make(app: App, *, start: datetime | None = None) -> Kit:
            from .kit import Kit

            return stack.enter_context(Kit(app, start=start))

        yield make
