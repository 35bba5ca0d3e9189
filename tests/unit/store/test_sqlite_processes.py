"""What a store must not do to the locks that SQLite holds for this process: other processes rely on them, and forks."""

from __future__ import annotations

import os
import resource
import stat
from pathlib import Path

import pytest
import store_programs

from semel.errors import StoreError
from semel.store.sqlite import Sqlite, board
from semel.testing.conformance import LONG, claim_one, new_run

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def run(program: str, *arguments: object) -> list[str]:
    """The lines that a program says, which must end well."""
    process = store_programs.start(program, *arguments)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    return out.splitlines()


def ids(database: Path) -> list[str]:
    """The runs that another process sees, which closes the database again."""
    program = "store.open(); say(*sorted(run.id for run in store.list(RunFilter()))); store.close()"
    return run(program, database)[0].split()


# ------------------------------------------------------------------------------------------------- other processes


@pytest.mark.parametrize("also", ["open", "open and close", "migrate"])
def test_a_run_is_still_there_after_another_process_has_opened_and_closed_the_database(
    database: Path, also: str
) -> None:
    store = Sqlite(database)
    store.open()
    store.start(new_run("before")).wait()
    second = Sqlite(database)
    if also == "migrate":
        second.migrate()
    else:
        second.open()
    if also == "open and close":
        second.close()
    assert ids(database) == ["before"]
    store.start(new_run("acknowledged")).wait()
    claim_one(store)
    assert ids(database) == ["acknowledged", "before"]
    assert database.with_name("shop.db-wal").exists()
    second.close()
    store.close()


def test_a_connection_of_the_app_keeps_its_locks_when_a_store_is_opened(database: Path) -> None:
    program = """
import sqlite3, subprocess
def other(): subprocess.run([sys.executable, "-c",
    "import sys; from semel.store.sqlite import Sqlite; s = Sqlite(sys.argv[1]); s.open(); s.counts(); s.close()",
    sys.argv[1]], check=True)
Sqlite(sys.argv[1]).open()
own = sqlite3.connect(sys.argv[1]); own.execute("CREATE TABLE orders (id TEXT)"); own.commit()
store.open(); other()
store.start(new_run("acknowledged")).wait()
own.execute("INSERT INTO orders VALUES ('A-1')"); own.commit(); other()
os._exit(0)
"""
    assert run(program, database) == []
    assert ids(database) == ["acknowledged"]


# ---------------------------------------------------------------------------------------------------------- forks


def test_what_a_child_was_told_is_durable_is_there_when_its_parent_closes_meanwhile(database: Path) -> None:
    program = """
store.open(); store.start(new_run("parent")).wait(); store.get("parent")
to_parent, to_child = os.pipe(), os.pipe()
if os.fork() == 0:
    store.start(new_run("child-before")).wait(); os.write(to_parent[1], b"x"); os.read(to_child[0], 1)
    for number in range(3): store.start(new_run(f"child-{number}")).wait()
    os.kill(os.getpid(), 9)
os.read(to_parent[0], 1); store.close(); os.write(to_child[1], b"x"); os.wait()
"""
    assert run(program, database) == []
    assert ids(database) == ["child-0", "child-1", "child-2", "child-before", "parent"]


def test_a_process_that_becomes_a_daemon_goes_on_when_its_parents_are_gone(database: Path, tmp_path: Path) -> None:
    program = """
store.open(); store.start(new_run("before")).wait()
if os.fork(): os.wait(); os._exit(0)
parent = os.getpid()
if os.fork(): os._exit(0)
while os.getppid() == parent: pass
store.start(new_run("daemon-1")).wait()
other = Sqlite(sys.argv[1]); other.open(); say(*sorted(run.id for run in other.list(RunFilter()))); other.close()
store.start(new_run("daemon-2")).wait()
os._exit(0)
"""
    assert run(program, database) == ["before daemon-1"]
    assert ids(database) == ["before", "daemon-1", "daemon-2"]


def test_forks_from_many_threads_while_two_stores_write_and_read_neither_hang_nor_lose(
    database: Path, tmp_path: Path
) -> None:
    program = """
import time
second = Sqlite(sys.argv[2]); stores = (store, second)
for one in stores: one.open()
over = threading.Event()
def write(one, name):
    number = 0
    while not over.is_set():
        one.start(new_run(f"{name}-{number}")).wait(); one.get(f"{name}-{number}"); one.counts(); one.changed()
        number += 1
def fork(name):
    for number in range(6):
        pid = os.fork()
        if pid == 0:
            for one in stores: one.start(new_run(f"child-{name}-{number}")).wait()
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
writers = [threading.Thread(target=write, args=(one, name)) for one in stores for name in "ab"]
forkers = [threading.Thread(target=fork, args=(name,)) for name in "xyz"]
for thread in writers + forkers: thread.start()
for thread in forkers: thread.join()
over.set()
for thread in writers: thread.join()
for one in stores:
    say(sum(run.id.startswith("child") for run in one.list(RunFilter(limit=10**6))))
    one.close()
"""
    assert run(program, database, tmp_path / "other.db") == ["18", "18"]


def test_a_fork_in_the_callback_of_a_commit_goes_on_on_both_sides(database: Path) -> None:
    program = """
store.open()
session = store._session
children = []
def forks(operation):
    pid = os.fork()
    if pid == 0:
        store.start(new_run("child")).wait(); os._exit(0)
    children.append(os.waitpid(pid, 0)[1])
operation = session.in_main(lambda connection: None); operation.after = forks
session.main.submit(operation); operation.wait()
store.start(new_run("parent")).wait()
say(*children, *sorted(run.id for run in store.list(RunFilter()))); store.close()
"""
    assert run(program, database) == ["0 child parent"]


@pytest.mark.parametrize(
    "inside",
    [
        "session.in_main(lambda connection: fork()).wait()",
        "reader = session.journal_readers.connection(); reader.__enter__(); fork()",
    ],
)
def test_a_child_forked_in_the_midst_of_work_on_the_database_is_refused_it(database: Path, inside: str) -> None:
    program = f"""
store.open()
session = store._session
def refusal(action):
    try: action()
    except StoreError as error: return "forked in the midst" in str(error)
def fork():
    pid = os.fork()
    if pid == 0:
        refused = [refusal(store.counts), refusal(Sqlite(sys.argv[1]).open), refusal(Sqlite(sys.argv[1]).migrate)]
        os._exit(0 if all(refused) else 1)
    say(os.waitpid(pid, 0)[1])
def submitted(operation): session.main.submit(operation); return operation
in_main = session.in_main; session.in_main = lambda work: submitted(in_main(work))
{inside}
session.in_main = in_main
store.start(new_run("parent")).wait(); say(store.get("parent").status)
os._exit(0)
"""
    assert run(program, database) == ["0", "pending"]


def test_a_store_that_cannot_connect_after_a_fork_reports_it_and_recovers(database: Path) -> None:
    program = """
store.open(); writer = store._session.main; connect = writer._connect
def broken(): raise StoreError("no file may be opened")
writer._connect = broken
if os.fork() == 0: os._exit(0)
os.wait()
try: store.start(new_run("one")).wait()
except StoreError as error: say(error)
writer._connect = connect
store.start(new_run("two")).wait(); say(store.get("two").status); store.close()
"""
    assert run(program, database) == ["no file may be opened", "pending"]


def test_what_a_child_marks_does_not_show_on_its_parents_board(database: Path) -> None:
    program = """
store.open(); store.start(new_run()).wait(); claim = claim_one(store)
mark = store.mark(claim, "p")
if os.fork() == 0: store.unmark(mark); store.mark(claim, "q"); os._exit(0)
os.wait(); say(*[path for _, path in store._session.locks.in_flight(claim.owner) if path]); store.close()
"""
    assert run(program, database) == ["p"]


# ----------------------------------------------------------------------------------------------------- who may read


def mode(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


def test_the_files_of_a_new_database_are_private(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = os.umask(0o022)
    try:
        store = Sqlite(database)
        store.open()
        store.register("owner", LONG).wait()
        store.start(new_run()).wait()
        files = sorted(database.parent.iterdir())
        assert len(files) == 7
        assert {file.name: oct(mode(file)) for file in files} == {file.name: "0o600" for file in files}
        store.close()
    finally:
        os.umask(before)


def test_a_file_that_exists_keeps_its_mode(database: Path) -> None:
    database.touch()
    database.chmod(0o640)
    store = Sqlite(database)
    store.open()
    store.start(new_run()).wait()
    assert [mode(database), mode(database.with_name("shop.db-wal"))] == [0o640, 0o640]
    assert mode(database.with_name("shop.steps.db")) == 0o600
    store.close()


# ------------------------------------------------------------------------------------------------------ no room


def test_an_owner_without_room_for_its_board_works_and_its_takeover_is_blind(database: Path) -> None:
    program = """
import resource
store.open(); store.start(new_run()).wait()
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
claim = claim_one(store); mark = store.mark(claim, "p"); store.unmark(mark); store.mark(claim, "q")
say(mark, store.append(claim, [record(claim.run.uid, "p")]).wait()); os._exit(0)
"""
    assert run(program, database) == ["None True"]
    store = Sqlite(database)
    store.open()
    store.register("two", LONG).wait()
    (claim,) = store.claim("two", ["fulfil"], 1, 1000.0).wait()
    assert (claim.takeover, claim.blind) == (True, True)
    store.close()


def test_a_board_is_made_where_the_system_cannot_reserve_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "posix_fallocate", raising=False)
    file = tmp_path / "owner"
    board.Board(os.open(file, os.O_RDWR | os.O_CREAT)).mark("0" * 32, "p")
    assert board.marks_of(file) == [("0" * 32, "p")]
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, limits[1]))
    try:
        with pytest.raises(OSError, match="large"):
            board.Board(os.open(tmp_path / "small", os.O_RDWR | os.O_CREAT))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (tmp_path / "small").stat().st_size == 0


def test_a_lock_file_that_cannot_be_made_is_an_error_of_the_store(sqlite: Sqlite, database: Path) -> None:
    database.with_name("shop.steps.db-owner-one").mkdir()
    with pytest.raises(StoreError, match=r"owner-one.*lock file"):
        sqlite.register("one", LONG)
