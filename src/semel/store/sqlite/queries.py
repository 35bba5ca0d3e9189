"""The named queries of ``queries/*.sql``: each begins with ``-- name: …`` and ends before the next one."""

from __future__ import annotations

import re
from importlib import resources

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


def _load(file: str) -> dict[str, str]:
    text = resources.files("semel.store.sqlite").joinpath("queries", file).read_text("utf-8")
    _, *parts = _NAME.split(text)
    return {name: query.strip().removesuffix(";") for name, query in zip(parts[::2], parts[1::2], strict=True)}


MAIN = _load("main.sql")
JOURNAL = _load("journal.sql")
