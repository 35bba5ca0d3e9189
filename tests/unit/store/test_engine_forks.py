"""The app's SQLAlchemy engines and forks: a child uses none of its parent's connections."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy")
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

PROGRAM = """
import os, sys
import sqlalchemy as sa
from semel.store.sqlite import Sqlite
from semel.testing.conformance import new_run
from semel.workflow.session import Engines
url = "sqlite:///" + sys.argv[1]
engines = Engines(sa.create_engine(url) if "given" in sys.argv else url)
store = Sqlite(url); store.open()
with engines.session() as session:
    session.execute(sa.text("CREATE TABLE orders (id TEXT)")); session.commit()
    pool = session.get_bind().pool
assert pool.checkedin() == 1
to_parent, to_child = os.pipe(), os.pipe()
if os.fork() == 0:
    assert session.get_bind().pool is not pool
    with engines.session() as session:
        session.execute(sa.text("INSERT INTO orders VALUES ('A-1')")); session.commit()
        os.write(to_parent[1], b"x"); os.read(to_child[0], 1)
        store.start(new_run("child")).wait()
        session.execute(sa.text("INSERT INTO orders VALUES ('A-2')")); session.commit()
    os._exit(0)
os.read(to_parent[0], 1)
store.close(); session.get_bind().dispose(); os.write(to_child[1], b"x")
assert os.wait()[1] == 0
store.open()
with engines.session() as session:
    print(store.get("child").status, *session.scalars(sa.text("SELECT id FROM orders ORDER BY id")))
store.close(); session.get_bind().dispose()
"""


@pytest.mark.parametrize("engine", ["own", "given"])
def test_rows_that_a_child_committed_are_there_when_its_parent_closed_meanwhile(tmp_path: Path, engine: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, tmp_path / "shop.db", engine], capture_output=True, text=True, timeout=60
    )
    assert ended.stdout == "pending A-1 A-2\n", ended.stderr
