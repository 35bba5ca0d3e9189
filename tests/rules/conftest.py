"""Fixtures of the tests of the rules."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from types import ModuleType
from typing import Any

import pytest
from time_scene import Scene
from unrepeatable_programs import END, HEAD, Deliver

from semel import App


@pytest.fixture
def deliver(new_app: Callable[..., App], program: Callable[..., ModuleType]) -> Deliver:
    """Runs the body ``flow`` of one version of a program, on the run of that id, and gives its variables."""

    def run(body: str, id: str = "one") -> dict[str, Any]:
        module = program(HEAD + body + END)
        app = new_app("shop")
        app.workflow(module.flow)
        run = app.start(module.flow, id=id)
        if run.status == "faulted":
            run.retry()
        with app.worker(), suppress(module.Broken):
            run.result(timeout=20)
        app.close()
        assert module.seen, "the body came to its end"
        return dict(module.seen)

    return run


@pytest.fixture
def scene(new_app: Callable[..., App]) -> Scene:
    """An app in a time of its own."""
    return Scene(new_app)
