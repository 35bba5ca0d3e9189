"""A SQLite store on files of the test's own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from semel.store.sqlite import Sqlite


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "shop.db"


@pytest.fixture
def sqlite(database: Path) -> Iterator[Sqlite]:
    """An open store on a new database."""
    store = Sqlite(database, lease_clock=lambda: 1000.0, timeout=0.05)
    store.open()
    yield store
    store.close()
