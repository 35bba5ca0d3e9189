"""The program model that commands ask, built from source files with what the project's settings say of calls."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from semel.compiler.model import Model


def program(paths: Sequence[Path]) -> Model:
    """The model of the program in the files and folders; nothing is imported."""
    from semel.compiler.model import build, from_paths
    from semel.config import load

    settings = load()
    # Millions of nodes come and none goes: the collector would look through them again and again.
    gc.disable()
    try:
        return build(from_paths(paths), external=settings.external, passthrough=settings.passthrough)
    finally:
        gc.enable()
