"""The writer: commits shared and handed over, and what becomes of them when the disk, a lock or a caller fails."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from semel.errors import DatabaseFull, DatabaseLocked, StoreError
from semel.store.interface import Claim
from semel.store.sqlite import Sqlite
from semel.store.sqlite.append import Append
from semel.store.sqlite.backlog import LARGE, Backlog
from semel.store.sqlite.ticket import Operation, resolve
from semel.store.sqlite.writer import Writer
from semel.testing.conformance import claim_one, new_run, note, outcome, record


@pytest.fixture
def claim(sqlite: Sqlite) -> Claim:
    sqlite.start(new_run()).wait()
    return claim_one(sqlite)


def journal_writer(sqlite: Sqlite) -> Writer:
    assert sqlite._session is not None
    return sqlite._session.journal


def append(sqlite: Sqlite, claim: Claim, path: str, size: int = 1) -> Append:
    return sqlite.append(claim, [record(claim.run.uid, path, b"x" * size)])


def paths(sqlite: Sqlite, claim: Claim) -> list[str]:
    return [found.path for found in sqlite.records(claim.run.uid)]


@pytest.fixture
def lock(sqlite: Sqlite) -> Iterator[Callable[[Path], sqlite3.Connection]]:
    """Another connection that takes the write lock of a file, until it is closed."""
    taken: list[sqlite3.Connection] = []

    def take(file: Path) -> sqlite3.Connection:
        connection = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
        connection.execute("BEGIN IMMEDIATE")
        taken.append(connection)
        return connection

    yield take
    for connection in taken:
        connection.close()


def test_writes_that_are_queued_share_one_commit(sqlite: Sqlite, claim: Claim) -> None:
    tickets = [append(sqlite, claim, f"{number}") for number in range(50)]
    tickets[-1].wait()
    assert all(ticket.done for ticket in tickets)


def test_a_write_that_nobody_waits_for_is_committed_all_the_same(sqlite: Sqlite, claim: Claim) -> None:
    committed = threading.Event()
    operation = Operation(journal_writer(sqlite), lambda connection: None, after=lambda operation: committed.set())
    journal_writer(sqlite).submit(operation)
    assert committed.wait(30)


def test_a_full_disk_fails_all_who_wait_and_the_writer_goes_on_when_there_is_room(sqlite: Sqlite, claim: Claim) -> None:
    assert append(sqlite, claim, "before").wait()
    connection = journal_writer(sqlite).connection
    ((pages,),) = connection.execute("PRAGMA page_count").fetchall()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    tickets = [append(sqlite, claim, f"full-{number}", 50_000) for number in range(3)]
    for ticket in tickets:
        with pytest.raises(DatabaseFull, match=r"shop\.steps\.db: no space left"):
            ticket.wait()
    connection.execute("PRAGMA max_page_count = 100000")
    assert append(sqlite, claim, "after", 50_000).wait()
    assert paths(sqlite, claim) == ["before", "after"]


def test_a_full_main_file_leaves_the_run_to_be_finished_again(sqlite: Sqlite, claim: Claim) -> None:
    assert sqlite._session is not None
    connection = sqlite._session.main.connection
    ((pages,),) = connection.execute("PRAGMA page_count").fetchall()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(DatabaseFull, match=r"shop\.db"):
        sqlite.finish(claim, outcome(result=b"x" * 50_000)).wait()
    connection.execute("PRAGMA max_page_count = 100000")
    assert sqlite.finish(claim, outcome(result=b"x" * 50_000)).wait()


def test_a_lock_held_too_long_fails_all_who_wait(
    sqlite: Sqlite, claim: Claim, lock: Callable[[Path], sqlite3.Connection]
) -> None:
    held = lock(sqlite.journal_path)
    with pytest.raises(DatabaseLocked, match=r"shop\.steps\.db.*transaction left open"):
        append(sqlite, claim, "locked").wait()
    held.execute("ROLLBACK")
    assert append(sqlite, claim, "free").wait()
    assert paths(sqlite, claim) == ["free"]


def test_a_lock_that_is_let_go_in_time_is_waited_for(
    sqlite: Sqlite, claim: Claim, lock: Callable[[Path], sqlite3.Connection]
) -> None:
    writer = journal_writer(sqlite)
    writer._timeout = 60.0
    held = lock(sqlite.journal_path)
    letting_go = threading.Timer(0.02, lambda: held.execute("ROLLBACK"))
    letting_go.start()
    assert append(sqlite, claim, "patient").wait()
    letting_go.join()


def test_the_apps_long_transaction_does_not_keep_steps_from_being_recorded(
    sqlite: Sqlite, claim: Claim, lock: Callable[[Path], sqlite3.Connection]
) -> None:
    lock(sqlite.path)
    assert append(sqlite, claim, "p").wait()
    assert sqlite.renew("owner", 2000.0).wait()


async def test_a_loop_is_never_blocked_by_anothers_lock(
    sqlite: Sqlite, claim: Claim, lock: Callable[[Path], sqlite3.Connection]
) -> None:
    loop = asyncio.get_running_loop()
    for number in range(20):  # until the loop commits itself
        await append(sqlite, claim, f"{number}").future(loop)
    writer = journal_writer(sqlite)
    writer._timeout = 60.0
    writer._pace, writer._alone = 0.0, 0
    held = lock(sqlite.journal_path)
    waiting = append(sqlite, claim, "locked").future(loop)
    for _ in range(10):
        await asyncio.sleep(0)
    assert not waiting.done()
    held.execute("ROLLBACK")
    assert await waiting


async def test_a_slow_disk_blocks_a_loop_once(sqlite: Sqlite, claim: Claim) -> None:
    loop = asyncio.get_running_loop()
    writer = journal_writer(sqlite)
    threads: list[str] = []

    async def write() -> None:
        def work(connection: sqlite3.Connection) -> None:
            threads.append(threading.current_thread().name)

        operation = Operation(writer, work)
        writer.submit(operation)
        await operation.future(loop)

    writer._pace = 0.0
    await write()
    writer._measure(0.5, 1, 100)  # as one slow commit is measured
    await write()
    await write()
    assert threads == ["MainThread", "semel-shop.steps.db", "semel-shop.steps.db"]


async def test_one_call_into_a_loop_wakes_all_its_waiters(sqlite: Sqlite, claim: Claim) -> None:
    loop = asyncio.get_running_loop()
    waiting = [append(sqlite, claim, f"{number}").future(loop) for number in range(100)]
    assert await asyncio.gather(*waiting) == [True] * 100


def test_an_interrupted_leader_loses_nothing_that_others_have_queued(
    sqlite: Sqlite, claim: Claim, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = journal_writer(sqlite)
    before = append(sqlite, claim, "before")
    runs = 0

    def interrupted(connection: sqlite3.Connection) -> str:
        nonlocal runs
        runs += 1
        if runs == 1:
            raise KeyboardInterrupt
        return "ran again"

    leader = Operation(writer, interrupted)
    writer.submit(leader)
    after = append(sqlite, claim, "after")
    with pytest.raises(KeyboardInterrupt):
        leader.wait()
    assert before.wait()
    assert after.wait()
    assert leader.wait() == "ran again"
    assert paths(sqlite, claim) == ["before", "after"]


def test_a_leader_interrupted_after_the_commit_has_committed(
    sqlite: Sqlite, claim: Claim, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = journal_writer(sqlite)

    class Interrupting:
        """The connection, but an interrupt comes in when the commit has just been made."""

        def __init__(self, connection: sqlite3.Connection) -> None:
            self._connection = connection

        def execute(self, statement: str, *parameters: object) -> sqlite3.Cursor:
            cursor = self._connection.execute(statement, *parameters)  # type: ignore[arg-type]
            if statement == "COMMIT":
                writer.connection = self._connection
                raise KeyboardInterrupt
            return cursor

        def __getattr__(self, name: str) -> object:
            return getattr(self._connection, name)

    writer.connection = Interrupting(writer.connection)  # type: ignore[assignment]
    both = [sqlite.note([note(claim.run.uid, "a")]), sqlite.note([note(claim.run.uid, "b")])]
    with pytest.raises(KeyboardInterrupt):
        both[0].wait()
    for ticket in both:
        ticket.wait()
    assert [found.text for found in sqlite.notes(claim.run.uid)] == ["a", "b"]


def test_who_begins_to_wait_when_all_is_done_does_not_wait(sqlite: Sqlite) -> None:
    operation = Operation(journal_writer(sqlite), lambda connection: None)
    resolve((operation,))
    operation.block()
    assert operation.wait() is None


def test_an_operation_that_raises_leaves_nothing_of_itself(sqlite: Sqlite, claim: Claim) -> None:
    def half(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM semel_records")
        raise ValueError("half way")

    writer = journal_writer(sqlite)
    good = append(sqlite, claim, "good")
    bad = Operation(writer, half)
    writer.submit(bad)
    with pytest.raises(ValueError, match="half way"):
        bad.wait()
    assert good.wait()
    assert paths(sqlite, claim) == ["good"]


def test_a_closed_store_refuses_writes(sqlite: Sqlite, claim: Claim) -> None:
    sqlite.close()
    with pytest.raises(StoreError, match="not open"):
        append(sqlite, claim, "late")


def test_a_closed_loop_does_not_disturb_the_others(sqlite: Sqlite, claim: Claim) -> None:
    async def leave() -> None:
        append(sqlite, claim, "left").future(asyncio.get_running_loop())

    asyncio.run(leave())
    assert append(sqlite, claim, "stayed").wait()
    assert set(paths(sqlite, claim)) == {"left", "stayed"}


# ------------------------------------------------------------------------------------------------------- the backlog


def operations(writer: Writer, *weights: int) -> list[Operation[None]]:
    return [Operation(writer, lambda connection: None, weight) for weight in weights]


def test_large_operations_wait_for_their_turn_and_get_it(sqlite: Sqlite) -> None:
    backlog = Backlog()
    big, small = LARGE + 1, 100
    large = operations(journal_writer(sqlite), big, big)
    for operation in large:
        backlog.append(operation)
    backlog.append(operations(journal_writer(sqlite), small)[0])

    def take() -> list[int]:
        weights = [operation.weight for operation in backlog.take(light=False)]
        backlog.clear()
        return weights

    assert take() == [small, big, big]
    for operation in operations(journal_writer(sqlite), big, small):
        backlog.append(operation)
    backlog._large.append(large[0])
    backlog.account(0.010, 3 * big)
    assert take() == [small]
    backlog.account(0.020, small)
    backlog.append(operations(journal_writer(sqlite), small)[0])
    assert take() == [small]
    backlog.account(0.010, small)
    backlog.append(operations(journal_writer(sqlite), small)[0])
    assert take() == [small, big, big]


def test_large_operations_go_at_once_when_no_others_wait(sqlite: Sqlite) -> None:
    backlog = Backlog()
    for operation in operations(journal_writer(sqlite), LARGE * 20, LARGE * 20, LARGE * 80):
        backlog.append(operation)
    assert len(backlog.take(light=True)) == 0
    backlog.put_back()
    assert len(backlog.take(light=False)) == 3


def test_a_batch_is_capped_by_number_and_bytes(sqlite: Sqlite) -> None:
    writer = journal_writer(sqlite)
    backlog = Backlog()
    for operation in operations(writer, *[1] * 2_500):
        backlog.append(operation)
    assert len(backlog.take(light=False)) == 2_000
    backlog.clear()
    assert len(backlog) == 500
    heavy = Backlog()
    for operation in operations(writer, *[LARGE] * 100):
        heavy.append(operation)
    assert len(heavy.take(light=False)) == 64


def test_a_batch_that_is_put_back_keeps_its_order(sqlite: Sqlite) -> None:
    backlog = Backlog()
    queued = operations(journal_writer(sqlite), 1, 2, 3)
    for operation in queued:
        backlog.append(operation)
    backlog.take(light=True)
    backlog.put_back()
    assert backlog.take(light=True) == queued
