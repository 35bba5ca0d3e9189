"""Databases of earlier releases, kept as SQL text: their runs go on, and find what they did (rule V6)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from semel import App
from semel.engine.keys import run_key

from . import format_1

HERE = Path(__file__).parent


@pytest.fixture
def restored(tmp_path: Path) -> Path:
    for name in ("shop.db", "shop.steps.db"):
        with closing(sqlite3.connect(tmp_path / name)) as database:
            database.executescript((HERE / "format-1" / f"{name}.sql").read_text())
    return tmp_path


@pytest.mark.rule("V6")
def test_a_run_of_format_1_finds_its_records_and_presents_its_keys(restored: Path) -> None:
    app = App("shop", database=f"sqlite:///{restored / 'shop.db'}")
    app.migrate()
    app.workflow(format_1.fulfil)
    run = app.run("order-A-1")
    try:
        steps = {record.path: app.codec.decode(record.data) for record in run.steps() if record.kind == "result"}
        row = app.store.get("order-A-1")
        assert row is not None
        assert row.format == 1
        for path in ("fulfil/start@1#charge", "fulfil/start@1[0]#reserve", "fulfil/start@1[1]#reserve"):
            assert run_key(row.seed, path) == steps[path], "the derivation of format 1 has not changed"
        assert app.scoped_key("book", "A-1") == steps["fulfil/start@1#book"]
        assert run.retry()
        with app.worker():
            result = run.result(timeout=30)
        assert format_1.done == [], "nothing ran again"
        assert result[4] == ("declined", 51)
        assert not [note for note in run.notes() if note.kind == "unreached"]
    finally:
        app.close()
