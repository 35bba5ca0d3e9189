"""One execution: its records, the body's commit, and the fences round both."""

import asyncio
import sqlite3
import threading

import pytest
from msgspec.structs import replace

from semel.errors import StoreError
from semel.store.interface import Claim, Record, Store
from semel.testing.conformance import LONG, StoreKit, claim_one, new_run, note, outcome, record


@pytest.fixture
def claim(store: Store) -> Claim:
    store.start(new_run()).wait()
    return claim_one(store)


@pytest.fixture
def lost(store: Store, other: Store) -> Claim:
    """A claim that another owner has taken over."""
    store.start(new_run()).wait()
    store.register("one", 1010.0).wait()
    (claim,) = store.claim("one", ["fulfil"], 1, 1000.0).wait()
    other.register("two", LONG).wait()
    assert len(other.claim("two", ["fulfil"], 1, 1020.0).wait()) == 1
    return claim


def paths(store: Store, claim: Claim, body: str | None = None) -> list[str]:
    return [found.path for found in store.records(claim.run.uid, body)]


@pytest.mark.rule("O1")
def test_a_record_reads_back_as_it_was_written(store: Store, other: Store, claim: Claim) -> None:
    written = Record(
        claim.run.uid, "start@1", "fulfil/start@1[0]#charge", "result", bytes(range(256)), True, 1.25, 2.5, 3
    )
    assert store.append(claim, [written]).wait() is True
    assert other.records(claim.run.uid) == [written]


def test_records_are_in_the_order_they_were_made_and_by_execution(store: Store, claim: Claim) -> None:
    run = claim.run.uid
    store.append(claim, [record(run, "c"), record(run, "a", body="start@2")]).wait()
    store.append(claim, [record(run, "b", kind="failure")]).wait()
    assert paths(store, claim) == ["c", "a", "b"]
    assert paths(store, claim, "start@1") == ["c", "b"]
    assert paths(store, claim, "start@2") == ["a"]
    assert store.records("no such run") == []


def test_a_path_recorded_twice_keeps_its_first_record_and_the_claim(store: Store, claim: Claim) -> None:
    run = claim.run.uid
    assert store.append(claim, [record(run, "p", b"first")]).wait()
    assert store.append(claim, [record(run, "p", b"second"), record(run, "q")]).wait()
    assert store.append(claim, [record(run, "p", b"third")]).wait()
    assert [(found.path, found.data) for found in store.records(run)] == [("p", b"first"), ("q", b"1")]


def test_notes_are_written_with_the_records(store: Store, claim: Claim) -> None:
    run = claim.run.uid
    written = [note(run, "one", path="p", kind="possibly doubled"), note(run, "two")]
    assert store.append(claim, [record(run, "p")], written).wait()
    assert store.notes(run) == written
    assert store.append(claim, [], [note(run, "three")]).wait()
    assert [found.text for found in store.notes(run)] == ["one", "two", "three"]


def test_a_retracted_record_is_gone(store: Store, claim: Claim) -> None:
    run = claim.run.uid
    made = store.append(claim, [record(run, "p", kind="failure"), record(run, "q")])
    retracted = store.append(claim, [], [], ["p"])
    again = store.append(claim, [record(run, "p", b"again")])
    assert made.wait()
    assert retracted.wait()
    assert again.wait()
    assert [(found.path, found.data) for found in store.records(run)] == [("q", b"1"), ("p", b"again")]


def test_a_lost_claim_records_nothing_notes_nothing_and_retracts_nothing(store: Store, lost: Claim) -> None:
    run = lost.run.uid
    assert store.append(lost, [record(run, "p")]).wait() is False
    assert store.append(lost, [record(run, "p"), record(run, "q")], [note(run)]).wait() is False
    assert store.append(lost, [], [note(run)], ["p"]).wait() is False
    assert store.append(lost, []).wait() is False
    assert store.records(run) == []
    assert store.notes(run) == []


def test_a_lost_claim_in_a_batch_fails_alone(store: Store, lost: Claim) -> None:
    store.start(new_run("order-2")).wait()
    good = claim_one(store, "three")
    tickets = [
        store.append(good, [record(good.run.uid, "a")]),
        store.append(lost, [record(lost.run.uid, "b")]),
        store.append(good, [record(good.run.uid, "c")], [note(good.run.uid)]),
    ]
    assert [ticket.wait() for ticket in tickets] == [True, False, True]
    assert paths(store, good) == ["a", "c"]
    assert paths(store, lost) == []


def test_a_late_writer_may_leave_a_note(store: Store, lost: Claim) -> None:
    store.note([note(lost.run.uid, "late")]).wait()
    assert [found.text for found in store.notes(lost.run.uid)] == ["late"]


def test_a_record_that_cannot_be_written_fails_alone(store: Store, claim: Claim) -> None:
    run = claim.run.uid
    broken = replace(record(run, "broken"), kind="nonsense")  # type: ignore[arg-type]
    before = [store.append(claim, [record(run, f"before-{number}")]) for number in range(3)]
    failing = store.append(claim, [record(run, "with"), broken], [note(run)])
    after = store.append(claim, [record(run, "after")])
    assert all(ticket.wait() for ticket in before)
    with pytest.raises(StoreError):
        failing.wait()
    assert after.wait()
    assert paths(store, claim) == ["before-0", "before-1", "before-2", "after"]
    assert store.notes(run) == []


@pytest.mark.rule("V5")
def test_the_bodys_commit_ends_the_run_and_the_claim(store: Store, other: Store, claim: Claim) -> None:
    assert store.finish(claim, outcome(), [note(claim.run.uid, "end")]).wait() is True
    run = other.get("order-1")
    assert run is not None
    assert (run.status, run.visits, run.result, run.error, run.fault) == (
        "completed",
        {"start": 1},
        b"done",
        None,
        None,
    )
    assert (run.started_at, run.finished_at, run.version) == (1000.5, 1010.0, claim.run.version + 1)
    assert [found.text for found in other.notes(run.uid)] == ["end"]
    assert store.append(claim, [record(run.uid, "late")]).wait() is False


def test_a_fault_is_kept(store: Store, claim: Claim) -> None:
    assert store.finish(claim, outcome("faulted")).wait()
    run = store.get("order-1")
    assert run is not None
    assert (run.status, run.result, run.error, run.fault) == ("faulted", None, b"error", "Traceback")


def test_a_lost_claim_does_not_finish(store: Store, lost: Claim) -> None:
    assert store.finish(lost, outcome(), [note(lost.run.uid)]).wait() is False
    run = store.get("order-1")
    assert run is not None
    assert run.status in ("pending", "running")
    assert store.notes(run.uid) == []


def test_a_run_finishes_once(store: Store, claim: Claim) -> None:
    both = [store.finish(claim, outcome()), store.finish(claim, outcome("faulted"))]
    assert [ticket.wait() for ticket in both] == [True, False]
    assert store.finish(claim, outcome()).wait() is False


def test_a_claim_given_back_does_not_finish(store: Store, claim: Claim) -> None:
    store.release(claim).wait()
    assert store.finish(claim, outcome()).wait() is False


def app_connection(kit: StoreKit) -> sqlite3.Connection:
    """The app's own connection to the main database."""
    connection = sqlite3.connect(kit.url.removeprefix("sqlite:///"), isolation_level=None)
    connection.execute("CREATE TABLE IF NOT EXISTS orders (id TEXT)")
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT INTO orders VALUES ('A-1')")
    return connection


@pytest.mark.rule("W1")
def test_the_apps_rows_and_the_runs_end_are_one_commit(kit: StoreKit, store: Store, claim: Claim) -> None:
    connection = app_connection(kit)
    assert store.append(claim, [record(claim.run.uid, "while the app holds the lock")]).wait()
    assert store.finish_in(connection, claim, outcome(), [note(claim.run.uid, "end")]) is True
    before = store.get("order-1")
    assert before is not None
    assert before.status == "running"
    connection.execute("COMMIT")
    connection.close()
    store.release(claim).wait()
    after = store.get("order-1")
    assert after is not None
    assert (after.status, after.result) == ("completed", b"done")
    assert [found.text for found in store.notes(after.uid)] == ["end"]


@pytest.mark.rule("O7")
def test_a_rollback_of_the_app_leaves_the_run_pending_and_the_records(
    kit: StoreKit, store: Store, claim: Claim
) -> None:
    connection = app_connection(kit)
    store.append(claim, [record(claim.run.uid, "p")]).wait()
    assert store.finish_in(connection, claim, outcome()) is True
    connection.execute("ROLLBACK")
    connection.close()
    assert paths(store, claim) == ["p"]
    assert store.finish(claim, outcome()).wait()


def test_a_claim_given_back_does_not_finish_in_the_apps_transaction(kit: StoreKit, store: Store, claim: Claim) -> None:
    store.release(claim).wait()
    connection = app_connection(kit)
    assert store.finish_in(connection, claim, outcome()) is False
    connection.close()


def test_a_lost_claim_does_not_finish_in_the_apps_transaction(kit: StoreKit, store: Store, lost: Claim) -> None:
    connection = app_connection(kit)
    assert store.finish_in(connection, lost, outcome(), [note(lost.run.uid)]) is False
    connection.execute("COMMIT")
    connection.close()
    assert store.notes(lost.run.uid) == []


@pytest.mark.rule("O25")
def test_an_operator_forgets_and_states_records(store: Store) -> None:
    run, _ = store.start(new_run()).wait()
    claim = claim_one(store)
    store.append(claim, [record(run.uid, "p", b"old"), record(run.uid, "q")]).wait()
    forgotten = note(run.uid, "by ann", path="p", kind="forgotten", at=1.0)
    stated = note(run.uid, "by ann", path="q", kind="recorded by hand", at=2.0)
    assert not store.forget(run.uid, "p", forgotten).wait()
    assert not store.record(record(run.uid, "q", b"new"), stated).wait()
    store.release(claim).wait()
    assert store.forget(run.uid, "p", forgotten).wait()
    assert not store.forget(run.uid, "p", forgotten).wait()
    assert store.record(record(run.uid, "q", b"new"), stated).wait()
    assert store.record(record(run.uid, "r", b"made"), stated).wait()
    assert [(found.path, found.data) for found in store.records(run.uid)] == [("q", b"new"), ("r", b"made")]
    assert store.notes(run.uid) == [forgotten, stated, stated]


def test_an_operator_may_mend_a_run_whose_owner_lost_its_lease(kit: StoreKit, store: Store) -> None:
    run, _ = store.start(new_run()).wait()
    store.register("one", 1060.0).wait()
    store.claim("one", ["fulfil"], 1, kit.now).wait()
    assert not store.record(record(run.uid, "p"), note(run.uid)).wait()
    kit.now = 1060.0
    assert store.record(record(run.uid, "p"), note(run.uid)).wait()


# -------------------------------------------------------------------------------------------------- many at once


def test_fifty_threads_record_at_once(store: Store, other: Store, claim: Claim) -> None:
    answers: list[bool] = []

    def work(name: int) -> None:
        own = [store.append(claim, [record(claim.run.uid, f"{name}/{number}")]).wait() for number in range(20)]
        answers.extend(own)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [True] * 1000
    assert len(set(paths(other, claim))) == 1000


async def test_two_hundred_tasks_record_at_once(store: Store, other: Store, claim: Claim) -> None:
    loop = asyncio.get_running_loop()

    async def work(name: int) -> list[bool]:
        return [
            await store.append(claim, [record(claim.run.uid, f"{name}/{number}")]).future(loop) for number in range(10)
        ]

    answers = await asyncio.gather(*(work(name) for name in range(200)))
    assert answers == [[True] * 10] * 200
    assert len(set(paths(other, claim))) == 2000


async def test_a_lone_task_records_and_lets_others_run(store: Store, claim: Claim) -> None:
    loop = asyncio.get_running_loop()
    turns = 0

    async def neighbour() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    beside = asyncio.create_task(neighbour())
    for number in range(300):
        assert await store.append(claim, [record(claim.run.uid, f"{number}")]).future(loop)
    beside.cancel()
    assert turns > 10
    assert len(paths(store, claim)) == 300


async def test_tasks_and_threads_record_at_once(store: Store, claim: Claim) -> None:
    loop = asyncio.get_running_loop()

    def in_thread(name: int) -> list[bool]:
        return [store.append(claim, [record(claim.run.uid, f"t{name}/{number}")]).wait() for number in range(20)]

    async def in_task(name: int) -> list[bool]:
        return [
            await store.append(claim, [record(claim.run.uid, f"a{name}/{number}")]).future(loop) for number in range(20)
        ]

    answers = await asyncio.gather(
        *(asyncio.to_thread(in_thread, name) for name in range(8)), *(in_task(name) for name in range(20))
    )
    assert answers == [[True] * 20] * 28
    assert len(set(paths(store, claim))) == 28 * 20


async def test_every_write_can_be_awaited(store: Store) -> None:
    loop = asyncio.get_running_loop()
    run, _ = await store.start(new_run()).future(loop)
    await store.register("owner", 1060.0).future(loop)
    assert await store.renew("owner", 1070.0).future(loop)
    (claim,) = await store.claim("owner", ["fulfil"], 1, 1000.0).future(loop)
    await store.release(claim).future(loop)
    await store.note([note(run.uid)]).future(loop)
    assert await store.record(record(run.uid, "p"), note(run.uid)).future(loop)
    assert await store.forget(run.uid, "p", note(run.uid)).future(loop)
    again = store.claim("owner", ["fulfil"], 1, 1000.0)
    (claim,) = await again.future(loop)
    assert await store.finish(claim, outcome("faulted")).future(loop)
    assert await store.redeliver(run.uid, 1020.0).future(loop)
    await store.register("two", LONG).future(loop)
    (claim,) = await store.claim("two", ["fulfil"], 1, 1080.0).future(loop)
    assert await store.finish(claim, outcome()).future(loop)
    assert await store.purge(ended_before=2000.0, limit=10).future(loop) == 1
    await store.retire("owner").future(loop)


async def test_a_future_of_a_write_that_is_done_is_done(store: Store, claim: Claim) -> None:
    loop = asyncio.get_running_loop()
    ticket = store.append(claim, [record(claim.run.uid, "p")])
    ticket.wait()
    assert ticket.future(loop).done()
    assert await ticket.future(loop) is True


async def test_a_cancelled_waiter_does_not_undo_the_write(store: Store, claim: Claim) -> None:
    loop = asyncio.get_running_loop()
    cancelled = store.append(claim, [record(claim.run.uid, "p")]).future(loop)
    cancelled.cancel()
    assert await store.append(claim, [record(claim.run.uid, "q")]).future(loop)
    assert paths(store, claim) == ["p", "q"]


async def test_several_tasks_may_wait_for_one_write(store: Store, claim: Claim) -> None:
    loop = asyncio.get_running_loop()
    ticket = store.append(claim, [record(claim.run.uid, "p")])
    waiting = [ticket.future(loop) for _ in range(4)]
    waiting[0].cancel()
    assert await asyncio.gather(*waiting[1:]) == [True] * 3
    assert await ticket.future(loop)


async def test_an_awaited_write_that_fails_raises(store: Store, claim: Claim) -> None:
    loop = asyncio.get_running_loop()
    broken = replace(record(claim.run.uid, "broken"), kind="nonsense")  # type: ignore[arg-type]
    good = store.append(claim, [record(claim.run.uid, "good")]).future(loop)
    with pytest.raises(StoreError):
        await store.append(claim, [broken]).future(loop)
    assert await good


def test_several_threads_may_wait_for_one_write(store: Store, claim: Claim) -> None:
    answers: list[bool] = []
    for number in range(30):
        ticket = store.append(claim, [record(claim.run.uid, f"{number}")])
        threads = [threading.Thread(target=lambda: answers.append(ticket.wait())) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert answers == [True] * 120


def test_large_results_and_small_ones_are_all_kept(store: Store, claim: Claim) -> None:
    run = claim.run.uid
    tickets = [
        store.append(claim, [record(run, f"{number}", b"x" * (1 << 20 if number % 7 == 0 else 100))])
        for number in range(50)
    ]
    assert all(ticket.wait() for ticket in tickets)
    assert {found.path: len(found.data) for found in store.records(run)} == {
        f"{number}": 1 << 20 if number % 7 == 0 else 100 for number in range(50)
    }
