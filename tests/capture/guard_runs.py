"""Runs of bodies that are refused, or are not."""

from __future__ import annotations

from typing import Any

import pytest

from semel import App
from semel.errors import CallNotRecordable


def refused(app: App, body: Any, *args: object) -> str:
    """Runs a body that is to be refused, and gives the text of the error."""
    run = app.start(app.workflow(body), *args)
    with app.worker(), pytest.raises(CallNotRecordable) as error:
        run.result(timeout=10)
    return str(error.value)


def returned(app: App, body: Any, *args: object) -> object:
    """Runs a body that is not to be refused, and gives its result."""
    run = app.start(app.workflow(body), *args)
    with app.worker():
        return run.result(timeout=10)
