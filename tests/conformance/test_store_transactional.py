"""Runs that begin with records, and records that commit with the app's rows."""

from __future__ import annotations

import sqlite3
import uuid
from dataclasses import replace

import pytest
from msgspec.structs import replace as changed

from semel.store.interface import Claim, Record, Run, Store
from semel.testing.conformance import LONG, StoreKit, claim_one, new_run, note, outcome, record


def row(store: Store) -> Run:
    found = store.get("order-1")
    assert found is not None
    return found


@pytest.fixture
def claim(store: Store) -> Claim:
    store.start(new_run()).wait()
    return claim_one(store)


def test_a_run_may_begin_with_records(store: Store, other: Store) -> None:
    new = new_run()
    given = [record(new.uid, "p"), record(new.uid, "q", kind="failure")]
    run, is_new = store.start(new, given).wait()
    assert (run.id, is_new) == ("order-1", True)
    assert other.records(new.uid) == given
    claim = claim_one(other)
    assert other.append(claim, [record(new.uid, "p", b"other"), record(new.uid, "r")]).wait()
    assert [(found.path, found.data) for found in store.records(new.uid)] == [("p", b"1"), ("q", b"1"), ("r", b"1")]
    assert claim.began_at == 1000.0


def test_a_run_that_was_there_already_keeps_its_own_records(store: Store) -> None:
    first, _ = store.start(new_run()).wait()
    second = new_run()
    found, is_new = store.start(second, [record(second.uid, "p")]).wait()
    assert (found.uid, is_new) == (first.uid, False)
    assert store.records(first.uid) == []


def app_connection(kit: StoreKit) -> sqlite3.Connection:
    """The app's own connection to the main database, in a transaction."""
    connection = sqlite3.connect(kit.url.removeprefix("sqlite:///"), isolation_level=None)
    connection.execute("CREATE TABLE IF NOT EXISTS orders (id TEXT)")
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT INTO orders VALUES ('A-1')")
    return connection


def step(kit: StoreKit, store: Store, claim: Claim, path: str, how: str = "COMMIT", at: float = 1002.5) -> bool:
    connection = app_connection(kit)
    try:
        return store.step_in(connection, claim, made_at(record(claim.run.uid, path), at))
    finally:
        connection.execute(how)
        connection.close()


def made_at(of: Record, at: float) -> Record:
    return changed(of, finished_at=at)


@pytest.mark.rule("W13")
def test_the_record_of_a_transactional_step_commits_with_the_apps_rows(
    kit: StoreKit, store: Store, other: Store, claim: Claim
) -> None:
    uid = claim.run.uid
    assert step(kit, store, claim, "rolled back", "ROLLBACK")
    assert (other.records(uid), row(other).transactional) == ([], 0)
    assert step(kit, store, claim, "p", at=1002.0)
    store.append(claim, [made_at(record(uid, "q"), 1003.0)]).wait()
    assert step(kit, store, claim, "r", at=1004.0)
    assert step(kit, store, claim, "p", at=1005.0), "a second record of a path changes nothing"
    assert [found.path for found in other.records(uid)] == ["p", "q", "r"]
    assert [found.path for found in other.records(uid, "start@1")] == ["p", "q", "r"]
    assert other.records(uid, "start@2") == []
    assert [found.path for found in other.records(uid, transactional=False)] == ["q"]
    assert row(other).transactional > 0
    assert store.finish(claim, outcome()).wait(), "the run's version is still the claim's"


@pytest.mark.rule("W13")
def test_a_lost_claim_records_no_transactional_step(kit: StoreKit, store: Store, other: Store) -> None:
    store.start(new_run()).wait()
    store.register("one", 1010.0).wait()
    (lost,) = store.claim("one", ["fulfil"], 1, 1000.0).wait()
    other.register("two", LONG).wait()
    (claim,) = other.claim("two", ["fulfil"], 1, 1020.0).wait()
    assert step(kit, store, lost, "p") is False
    assert store.records(claim.run.uid) == []
    assert store.cancel(claim.run.uid, 1020.0).wait()
    assert step(kit, other, claim, "p") is False, "a run that is to be ended"


@pytest.mark.rule("W13")
@pytest.mark.rule("V2")
def test_the_next_visit_has_no_transactional_records_of_the_one_before(
    kit: StoreKit, store: Store, claim: Claim
) -> None:
    assert step(kit, store, claim, "p")
    ended = replace(outcome(), status="pending")
    assert store.finish(claim, ended).wait()
    again = claim_one(store)
    assert [found.path for found in store.records(again.run.uid)] == ["p"]
    assert store.finish(again, replace(ended, forget="start@1")).wait()
    assert store.records(again.run.uid) == []


@pytest.mark.rule("V2")
def test_a_next_visit_that_commits_with_the_apps_rows_has_no_records_of_the_one_before_either(
    kit: StoreKit, store: Store, claim: Claim
) -> None:
    store.append(claim, [record(claim.run.uid, "p"), record(claim.run.uid, "q", body="start@2")]).wait()
    connection = app_connection(kit)
    assert store.finish_in(connection, claim, replace(outcome(), status="pending", forget="start@1"))
    connection.execute("COMMIT")
    connection.close()
    store.release(claim, "start@1").wait()
    again = claim_one(store)
    assert (again.takeover, again.run.version) == (False, claim.run.version + 1)
    assert [found.path for found in store.records(again.run.uid)] == ["q"]


@pytest.mark.rule("O25")
@pytest.mark.rule("W13")
def test_a_transactional_record_is_forgotten_and_noted(kit: StoreKit, store: Store, claim: Claim) -> None:
    uid = claim.run.uid
    forgotten = note(uid, "by hand", path="p", kind="forgotten")
    assert step(kit, store, claim, "p")
    assert step(kit, store, claim, "q")
    assert store.forget(uid, "p", forgotten).wait() is False, "it is driven"
    assert store.finish(claim, outcome("faulted")).wait()
    assert store.forget(uid, "p", forgotten).wait() is True
    assert store.forget(uid, "p", forgotten).wait() is False
    assert store.forget(uuid.uuid4().hex, "q", forgotten).wait() is False
    assert [found.path for found in store.records(uid)] == ["q"]
    assert store.notes(uid) == [forgotten]
