"""The SQL of the SQLite store: every query is used, and none walks a table that grows with history."""

import re
import sqlite3
from importlib import resources
from pathlib import Path

import pytest

from semel.store.sqlite import Sqlite
from semel.store.sqlite.queries import JOURNAL, MAIN

ALL = [("main", name) for name in MAIN] + [("journal", name) for name in JOURNAL]
#: What reads a whole table or index: an operator's count, what has a row per live process or claim, one new row.
#: And the tree of a run's children, which is found by an index.
WALKS = {
    "counts": "semel_runs",
    "owners": "semel_owners",
    "live_claims": "c",
    "used": ".*",
    "note_in_flight": "new",
    "tree": "t",
}


@pytest.mark.parametrize(("kind", "name"), ALL)
def test_every_query_is_used(kind: str, name: str) -> None:
    package = resources.files("semel.store.sqlite")
    code = "".join(file.read_text() for file in package.iterdir() if file.name.endswith(".py"))
    assert f'{kind.upper()}["{name}"]' in code or f'"{name}"' in code


@pytest.mark.parametrize(("kind", "name"), ALL)
def test_no_query_has_numbered_parameters_which_python_3_12_warns_of(kind: str, name: str) -> None:
    assert not re.search(r"\?\d|:\w", (MAIN if kind == "main" else JOURNAL)[name])


@pytest.mark.parametrize(("kind", "name"), ALL)
def test_no_query_walks_what_grows(kind: str, name: str, sqlite: Sqlite, database: Path) -> None:
    query = (MAIN if kind == "main" else JOURNAL)[name].format(conditions="status = 'completed'")
    connection = sqlite3.connect(sqlite.path if kind == "main" else sqlite.journal_path)
    try:
        parameters = ["[]"] * query.count("?")
        steps = [step for *_, step in connection.execute(f"EXPLAIN QUERY PLAN {query}", parameters)]
    finally:
        connection.close()
    walked = [step for step in steps if step.startswith("SCAN") and not re.search("json_each|CONSTANT ROW", step)]
    allowed = WALKS.get(name)
    assert not walked or (allowed is not None and all(re.match(f"SCAN {allowed}", step) for step in walked)), steps
    if "json_each" in query and "status" in query and kind == "main":
        assert any("(uid=?)" in step for step in steps), steps
