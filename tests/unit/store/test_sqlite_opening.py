"""What a store is opened on: new files, old ones, strangers, and places where none can be."""

import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import store_programs

from semel.errors import (
    ConfigurationError,
    DatabaseLocked,
    DatabaseReadOnly,
    JournalMismatch,
    NotADatabase,
    SchemaOutdated,
    SchemaTooNew,
    StoreError,
)
from semel.store.sqlite import Sqlite, schema
from semel.store.sqlite.schema import Migration
from semel.testing.conformance import new_run


def query(file: Path, statement: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(file, isolation_level=None)
    try:
        return connection.execute(statement).fetchall()
    finally:
        connection.close()


def journal_of(database: Path) -> Path:
    return database.with_name("shop.steps.db")


@pytest.fixture
def made(database: Path) -> Path:
    """A database with one run, closed."""
    store = Sqlite(database)
    store.open()
    store.start(new_run()).wait()
    store.note([]).wait()
    store.register("owner", 1.0).wait()
    store.close()
    return database


# ------------------------------------------------------------------------------------------------------------- names


@pytest.mark.parametrize("url", ["sqlite:///shop.db", "sqlite+pysqlite:///shop.db", "shop.db"])
def test_a_relative_url_is_a_file_in_the_current_folder(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = Sqlite(url)
    assert (store.path, store.journal_path) == (tmp_path / "shop.db", tmp_path / "shop.steps.db")


def test_four_slashes_make_an_absolute_path() -> None:
    assert Sqlite("sqlite:////var/lib/shop.db").path == Path("/var/lib/shop.db")


def test_a_file_without_a_suffix_has_a_journal_with_one() -> None:
    assert Sqlite("/var/lib/shop").journal_path == Path("/var/lib/shop.steps.db")


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///", "sqlite:///:memory:", ":memory:", ""])
def test_a_database_in_memory_is_refused_because_nothing_would_survive(url: str) -> None:
    with pytest.raises(ConfigurationError, match="survive"):
        Sqlite(url)


@pytest.mark.parametrize("url", ["postgresql://shop", "sqlite:///shop.db?mode=ro", "sqlite://shop.db"])
def test_a_url_that_means_no_file_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError):
        Sqlite(url)


def test_making_a_store_does_no_work(database: Path) -> None:
    Sqlite(database)
    assert not database.exists()


# --------------------------------------------------------------------------------------------------------- new files


def test_a_new_database_is_two_files_that_lose_nothing_in_a_power_cut(sqlite: Sqlite, database: Path) -> None:
    assert database.exists()
    assert journal_of(database).exists()
    session = sqlite._session
    assert session is not None
    for writer in (session.main, session.journal):
        assert writer.connection.execute("PRAGMA journal_mode").fetchall() == [("wal",)]
        assert writer.connection.execute("PRAGMA synchronous").fetchall() == [(2,)]


def test_the_applications_own_tables_are_left_alone(database: Path) -> None:
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA application_id = 77")
    connection.execute("PRAGMA user_version = 5")
    connection.execute("CREATE TABLE orders (id TEXT)")
    connection.execute("INSERT INTO orders VALUES ('A-1')")
    connection.commit()
    connection.close()
    store = Sqlite(database)
    store.open()
    store.close()
    assert query(database, "SELECT id FROM orders") == [("A-1",)]
    assert query(database, "PRAGMA application_id") == [(77,)]
    assert query(database, "PRAGMA user_version") == [(5,)]
    names = {name for (name,) in query(database, "SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'")}
    assert {name for name in names if not str(name).startswith("semel_")} == {"orders"}


def test_four_processes_that_open_a_new_database_at_once_all_succeed(database: Path) -> None:
    processes = [store_programs.start(store_programs.OPEN_TOGETHER, database) for _ in range(4)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("x")
        process.stdin.flush()
    answers = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, answers
    assert len({out for out, _ in answers}) == 1


def test_a_journal_left_by_a_crash_in_the_making_is_adopted(made: Path, database: Path) -> None:
    for file in (database, journal_of(database)):
        file.unlink()
    store = Sqlite(database)
    store.open()
    store.close()
    database.unlink()
    pair = query(journal_of(database), "SELECT value FROM semel_meta WHERE name = 'pair'")
    store.open()
    store.close()
    assert query(database, "SELECT value FROM semel_meta WHERE name = 'pair'") == pair


def test_a_database_that_another_process_is_just_making_is_not_taken_for_a_stray_journal(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = schema._look

    def made_meanwhile(path: Path, deadline: float) -> schema.State:
        if path.name == "shop.steps.db":  # after the look at the main file
            monkeypatch.setattr(schema, "_look", look)
            other = Sqlite(database)
            other.open()
            other.register("owner", 1.0).wait()
            other.close()
        return look(path, deadline)

    monkeypatch.setattr(schema, "_look", made_meanwhile)
    store = Sqlite(database)
    store.open()
    store.close()


# ---------------------------------------------------------------------------------------------------------- the pair


def test_a_main_file_without_its_journal_does_not_open(made: Path) -> None:
    journal_of(made).unlink()
    with pytest.raises(JournalMismatch, match="two files together"):
        Sqlite(made).open()
    assert not journal_of(made).exists()


def test_a_main_file_with_anothers_journal_does_not_open(made: Path, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    other = Sqlite(folder / "shop.db")
    other.open()
    other.close()
    shutil.copy(folder / "shop.steps.db", journal_of(made))
    with pytest.raises(JournalMismatch, match="another database"):
        Sqlite(made).open()


def test_a_journal_with_steps_does_not_open_with_a_new_main_file(made: Path) -> None:
    made.unlink()
    with pytest.raises(JournalMismatch, match=r"shop\.steps\.db"):
        Sqlite(made).open()
    assert not made.exists()


def test_a_pair_that_was_moved_together_opens(made: Path, tmp_path: Path) -> None:
    folder = tmp_path / "moved"
    folder.mkdir()
    for file in (made, journal_of(made)):
        file.rename(folder / file.name)
    store = Sqlite(folder / "shop.db")
    store.open()
    assert store.get("order-1") is not None
    store.close()


# --------------------------------------------------------------------------------------------------------- migrations


@pytest.fixture
def newer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A later semel, with one more migration for each file."""
    released = {kind: schema.migrations(kind) for kind in ("main", "journal")}
    more = {
        "main": Migration(2, "main/0002_colour", "CREATE TABLE semel_colours (a);\nCREATE TABLE semel_shades (a);"),
        "journal": Migration(2, "journal/0002_shape", "ALTER TABLE semel_records ADD COLUMN shape TEXT;"),
    }
    monkeypatch.setattr(schema, "migrations", lambda kind: (*released[kind], more[kind]))


def test_an_older_database_is_refused_until_it_is_migrated(made: Path, newer: None) -> None:
    store = Sqlite(made)
    with pytest.raises(SchemaOutdated, match="semel migrate"):
        store.open()
    assert store.migrate() == ("main/0002_colour", "journal/0002_shape")
    assert store.migrate() == ()
    store.open()
    assert store.get("order-1") is not None
    store.close()


def test_open_migrates_when_it_is_asked_to(made: Path, newer: None) -> None:
    store = Sqlite(made)
    store.open(migrate=True)
    store.close()
    assert query(made, "SELECT value FROM semel_meta WHERE name = 'schema'") == [(2,)]


def test_a_migration_that_fails_leaves_no_trace(made: Path, newer: None, monkeypatch: pytest.MonkeyPatch) -> None:
    known = schema.migrations
    broken = Migration(3, "main/0003_broken", "CREATE TABLE semel_half (a);\nCREATE TABLE semel_half (a);")
    monkeypatch.setattr(schema, "migrations", lambda kind: (*known(kind), broken) if kind == "main" else known(kind))
    with pytest.raises(StoreError, match="semel_half"):
        Sqlite(made).migrate()
    assert query(made, "SELECT value FROM semel_meta WHERE name = 'schema'") == [(1,)]
    assert query(made, "SELECT name FROM sqlite_master WHERE name IN ('semel_half', 'semel_colours')") == []


@pytest.mark.parametrize("name", ["shop.db", "shop.steps.db"])
def test_a_database_of_a_newer_semel_is_refused(made: Path, name: str) -> None:
    query(made.with_name(name), "UPDATE semel_meta SET value = 99 WHERE name = 'schema'")
    with pytest.raises(SchemaTooNew, match=r"99.*Upgrade"):
        Sqlite(made).open()
    with pytest.raises(SchemaTooNew):
        Sqlite(made).migrate()


def test_migrations_are_numbered_without_gaps() -> None:
    for kind in ("main", "journal"):
        assert [one.number for one in schema.migrations(kind)] == list(range(1, len(schema.migrations(kind)) + 1))


# --------------------------------------------------------------------------------------------------- where none can be


@pytest.mark.parametrize("name", ["shop.db", "shop.steps.db"])
def test_a_file_that_is_no_database_is_refused_and_untouched(tmp_path: Path, database: Path, name: str) -> None:
    (tmp_path / name).write_text("a shopping list")
    with pytest.raises(NotADatabase, match="not a SQLite database"):
        Sqlite(database).open()
    assert (tmp_path / name).read_text() == "a shopping list"
    assert [file.name for file in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["shop.db", "shop.steps.db"])
def test_a_folder_is_no_database(tmp_path: Path, database: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(NotADatabase, match="folder"):
        Sqlite(database).open()
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_a_damaged_database_is_refused(made: Path) -> None:
    content = made.read_bytes()
    made.write_bytes(content[:100] + b"\xff" * 4000 + content[4100:])
    with pytest.raises(NotADatabase, match="damaged"):
        Sqlite(made).open()


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no folder"):
        Sqlite(tmp_path / "nowhere" / "shop.db").open()
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that any user may look into."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def opened_by_nobody(database: Path) -> str:
    return store_programs.start(store_programs.OPEN_AS_NOBODY, database).communicate()[0]


def test_a_folder_that_cannot_be_written_is_named(public: Path) -> None:
    if os.getuid():
        public.chmod(0o555)
    assert opened_by_nobody(public / "shop.db").startswith(
        f"{DatabaseReadOnly.__name__} {public / 'shop.db'}: its folder"
    )
    assert list(public.iterdir()) == []


def test_a_file_that_cannot_be_written_is_named(public: Path) -> None:
    store = Sqlite(public / "shop.db")
    store.open()
    store.close()
    public.chmod(0o777)
    (public / "shop.db").chmod(0o444)
    answer = opened_by_nobody(public / "shop.db")
    assert answer.startswith(f"{DatabaseReadOnly.__name__} {public / 'shop.db'}: cannot be written")


def test_a_database_that_another_process_locks_is_said_to_be_locked(database: Path) -> None:
    connection = sqlite3.connect(database, isolation_level=None)
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("CREATE TABLE orders (id TEXT)")
    connection.execute("BEGIN EXCLUSIVE")
    try:
        with pytest.raises(DatabaseLocked, match=r"shop\.db"):
            Sqlite(database, timeout=0.05).open()
    finally:
        connection.close()
    assert not journal_of(database).exists()


def test_a_long_transaction_of_the_app_does_not_keep_a_store_from_opening(made: Path) -> None:
    connection = sqlite3.connect(made, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    try:
        store = Sqlite(made, timeout=0.0)
        store.open()
        store.close()
    finally:
        connection.close()


def test_a_forked_child_opens_connections_of_its_own(database: Path) -> None:
    program = """
store.open()
claim = None
store.start(new_run()).wait()
claim = claim_one(store)
pid = os.fork()
if pid == 0:
    ok = store.get("order-1").status == "running" and store.start(new_run("order-2")).wait()[1]
    ok = ok and store.append(claim, [record(claim.run.uid, "child")]).wait()
    store.close()
    os._exit(0 if ok else 1)
status = os.waitpid(pid, 0)[1]
say(status, store.append(claim, [record(claim.run.uid, "parent")]).wait(), store.get("order-2").status)
say(*[one.path for one in store.records(claim.run.uid)])
store.close()
"""
    process = store_programs.start(program, database)
    out, errors = process.communicate()
    assert out.splitlines() == ["0 True pending", "child parent"], errors


def test_a_forked_child_does_not_keep_its_dead_parents_runs(database: Path) -> None:
    program = """
store.open(); store.start(new_run()).wait(); claim_one(store)
if os.fork() == 0:
    os.close(1); sys.stdin.read(); os._exit(0)
say("forked"); os.kill(os.getpid(), 9)
"""
    process: subprocess.Popen[str] = store_programs.start(program, database)
    assert process.stdout is not None
    assert process.stdout.readline() == "forked\n"
    process.wait()
    store = Sqlite(database)
    store.open()
    store.register("two", 2e9).wait()
    assert [claim.takeover for claim in store.claim("two", ["fulfil"], 1, 1000.0).wait()] == [True]
    store.close()
    process.communicate()
