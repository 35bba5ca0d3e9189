"""Owners and claims: who drives which run, and what becomes of a run whose owner dies."""

from collections.abc import Callable

import pytest

from semel.store.interface import Store
from semel.testing.conformance import LONG, OwnerProcess, claim_one, new_run, note, outcome, record

Start = Callable[..., OwnerProcess]


def start(store: Store, *ids: str, workflow: str = "fulfil") -> None:
    for id in ids:
        store.start(new_run(id, workflow=workflow)).wait()


def claimed(store: Store, owner: str, *workflows: str, limit: int = 10, now: float = 1000.0) -> list[str]:
    return [claim.run.id for claim in store.claim(owner, workflows or ["fulfil"], limit, now).wait()]


def test_claims_are_of_the_oldest_pending_runs_of_the_named_workflows(store: Store) -> None:
    store.register("owner", LONG).wait()
    start(store, "a", "b")
    start(store, "c", workflow="refund")
    start(store, "d")
    start(store, "e", workflow="other")
    assert claimed(store, "owner", "fulfil", "refund", limit=3) == ["a", "b", "c"]
    assert claimed(store, "owner", "fulfil", "refund") == ["d"]
    assert claimed(store, "owner", "fulfil", "refund") == []
    assert claimed(store, "owner", "unknown") == []
    assert claimed(store, "owner", "other", limit=0) == []


def test_a_run_is_claimed_by_one_owner_only(store: Store, other: Store) -> None:
    store.register("one", LONG).wait()
    other.register("two", LONG).wait()
    start(store, *(f"order-{number}" for number in range(30)))
    first = claimed(store, "one", limit=10)
    second = claimed(other, "two", limit=10)
    third = claimed(store, "one", limit=100)
    assert len(first) == len(second) == len(third) == 10
    assert len({*first, *second, *third}) == 30


def test_a_first_claim_is_no_takeover_and_says_so(store: Store) -> None:
    start(store, "order-1")
    claim = claim_one(store)
    assert (claim.run.id, claim.owner, claim.delivery, claim.takeover) == ("order-1", "owner", 1, False)
    assert claim.run.status == "pending"


def test_who_is_no_owner_claims_nothing(store: Store) -> None:
    start(store, "order-1")
    assert claimed(store, "nobody") == []


def test_an_ended_run_is_not_claimed(store: Store, other: Store) -> None:
    start(store, "order-1")
    store.finish(claim_one(store), outcome()).wait()
    other.register("two", LONG).wait()
    assert claimed(other, "two") == []
    assert claimed(store, "owner") == []


@pytest.mark.rule("R11")
def test_a_claim_given_back_is_claimed_again_and_counts_as_no_death(store: Store, other: Store) -> None:
    start(store, "a", "b")
    first = claim_one(store)
    store.release(first).wait()
    other.register("two", LONG).wait()
    second = other.claim("two", ["fulfil"], 1, 1000.0).wait()[0]
    assert second.run.id == first.run.id
    assert (second.delivery, second.takeover) == (1, False)
    assert second.epoch > first.epoch


def test_an_owner_that_retires_gives_its_claims_back(store: Store, other: Store) -> None:
    start(store, "a", "b")
    store.register("owner", LONG).wait()
    assert claimed(store, "owner") == ["a", "b"]
    store.retire("owner").wait()
    other.register("two", LONG).wait()
    claims = other.claim("two", ["fulfil"], 10, 1000.0).wait()
    assert [(claim.run.id, claim.delivery, claim.takeover) for claim in claims] == [("a", 1, False), ("b", 1, False)]
    assert not store.renew("owner", LONG).wait()


@pytest.mark.rule("R11")
def test_a_run_is_taken_over_when_the_lease_of_its_owner_is_over(store: Store, other: Store) -> None:
    start(store, "order-1")
    store.register("one", 1060.0).wait()
    (first,) = store.claim("one", ["fulfil"], 1, 1000.0).wait()
    other.register("two", LONG).wait()
    assert claimed(other, "two", now=1059.9) == []
    (second,) = other.claim("two", ["fulfil"], 1, 1060.0).wait()
    assert (second.run.id, second.takeover) == ("order-1", True)
    assert second.epoch > first.epoch
    assert second.run.version > first.run.version
    assert not store.renew("one", 2000.0).wait()


def test_a_lease_that_is_renewed_keeps_the_runs(store: Store, other: Store) -> None:
    start(store, "order-1")
    store.register("one", 1060.0).wait()
    claimed(store, "one")
    assert store.renew("one", 1120.0).wait()
    other.register("two", LONG).wait()
    assert claimed(other, "two", now=1119.0) == []


@pytest.mark.rule("A5")
def test_a_run_keeps_the_time_of_its_first_claim_through_every_later_one(store: Store, other: Store) -> None:
    start(store, "order-1")
    store.register("one", 1060.0).wait()
    (first,) = store.claim("one", ["fulfil"], 1, 1000.0, 7000.0).wait()
    assert first.began_at == 7000.0
    store.release(first).wait()
    (again,) = store.claim("one", ["fulfil"], 1, 1010.0, 7010.0).wait()
    assert again.began_at == 7000.0, "given back"
    other.register("two", LONG).wait()
    (taken,) = other.claim("two", ["fulfil"], 1, 1070.0, 7070.0).wait()
    assert (taken.takeover, taken.began_at) == (True, 7000.0)
    assert other.finish(taken, outcome("faulted")).wait()
    assert other.redeliver(taken.run.uid, 1080.0).wait()
    (retried,) = other.claim("two", ["fulfil"], 1, 1090.0, 7090.0).wait()
    assert retried.began_at == 7000.0


@pytest.mark.rule("A5")
def test_a_run_that_is_known_by_a_stated_record_alone_begins_when_it_is_claimed(store: Store) -> None:
    start(store, "order-1")
    run = store.get("order-1")
    assert run is not None
    stated = record(run.uid, "fulfil/start@1#charge")
    assert store.record(stated, note(run.uid, kind="recorded by hand")).wait()
    assert claim_one(store, now=1234.0).began_at == 1234.0


@pytest.mark.rule("R11")
def test_deaths_are_counted_through_a_clean_stop_in_between(store: Store) -> None:
    start(store, "order-1")
    deliveries = []
    for death in range(3):
        store.register(f"dies-{death}", 1010.0).wait()
        (claim,) = store.claim(f"dies-{death}", ["fulfil"], 1, 1000.0).wait()
        store.mark(claim, "")
        deliveries.append(claim.delivery)
        store.register(f"stops-{death}", 1030.0).wait()
        (claim,) = store.claim(f"stops-{death}", ["fulfil"], 1, 1020.0).wait()
        deliveries.append(claim.delivery)
        store.retire(f"stops-{death}").wait()
    assert deliveries == [1, 2, 2, 3, 3, 4]


def test_a_dead_owners_runs_of_other_workflows_wait_for_a_worker_that_knows_them(store: Store) -> None:
    start(store, "order-1")
    start(store, "refund-1", workflow="refund")
    store.register("one", 1010.0).wait()
    assert claimed(store, "one", "fulfil", "refund") == ["order-1", "refund-1"]
    store.register("two", LONG).wait()
    assert claimed(store, "two", "refund", now=1020.0) == ["refund-1"]
    (claim,) = store.claim("two", ["fulfil"], 1, 1020.0).wait()
    assert (claim.run.id, claim.takeover) == ("order-1", True)


def test_a_killed_process_loses_its_runs_at_once(store: Store, owner_process: Start) -> None:
    start(store, "order-1", "order-2")
    process = owner_process("one", LONG)
    assert process.claimed == "order-1"
    store.register("two", LONG).wait()
    assert claimed(store, "two", limit=1) == ["order-2"]
    assert process.tell("append p").yes
    process.kill()
    (claim,) = store.claim("two", ["fulfil"], 10, 1000.0).wait()
    assert (claim.run.id, claim.delivery, claim.takeover) == ("order-1", 2, True)
    assert [found.path for found in store.records(claim.run.uid)] == ["p"]


def test_a_stopped_process_keeps_its_runs_for_its_lease_and_is_fenced_when_it_goes_on(
    store: Store, owner_process: Start
) -> None:
    start(store, "order-1")
    process = owner_process("one", 1060.0)
    assert process.tell("append before").yes
    process.stop()
    store.register("two", LONG).wait()
    assert claimed(store, "two", now=1059.0) == []
    (claim,) = store.claim("two", ["fulfil"], 1, 1061.0).wait()
    process.go_on()
    assert not process.tell("append after").yes
    assert not process.tell("finish").yes
    assert not process.tell("renew 2000").yes
    assert [found.path for found in store.records(claim.run.uid)] == ["before"]
    assert store.finish(claim, outcome()).wait()


def test_a_run_that_a_dead_owner_had_finished_is_not_taken_over(store: Store, owner_process: Start) -> None:
    start(store, "order-1")
    process = owner_process("one", LONG)
    assert process.tell("finish").yes
    process.kill()
    store.register("two", LONG).wait()
    assert claimed(store, "two") == []
    run = store.get("order-1")
    assert run is not None
    assert run.status == "completed"


def test_two_that_take_over_at_once_do_not_both_get_the_run(store: Store, other: Store) -> None:
    start(store, *(f"order-{number}" for number in range(20)))
    store.register("dead", 1010.0).wait()
    assert len(claimed(store, "dead", limit=20)) == 20
    store.register("one", LONG).wait()
    other.register("two", LONG).wait()
    tickets = [
        (store if number % 2 else other).claim("one" if number % 2 else "two", ["fulfil"], 5, 1020.0)
        for number in range(8)
    ]
    claims = [claim for ticket in tickets for claim in ticket.wait()]
    claims += store.claim("one", ["fulfil"], 20, 1020.0).wait()
    assert len(claims) == len({claim.run.uid for claim in claims}) == 20
    assert {claim.takeover for claim in claims} == {True}


def test_a_claim_finds_the_free_run_behind_many_that_are_held(store: Store, other: Store) -> None:
    start(store, *(f"order-{number}" for number in range(150)))
    store.register("one", LONG).wait()
    held = store.claim("one", ["fulfil"], 149, 1000.0).wait()
    other.register("two", LONG).wait()
    assert claimed(other, "two", limit=1) == ["order-149"]
    assert claimed(other, "two", limit=1) == []
    store.release(held[3]).wait()
    start(store, "order-150")
    assert claimed(other, "two", limit=10) == ["order-3", "order-150"]


def test_records_of_a_killed_owner_are_there_for_the_next(store: Store, other: Store) -> None:
    start(store, "order-1")
    store.register("one", 1010.0).wait()
    (first,) = store.claim("one", ["fulfil"], 1, 1000.0).wait()
    assert store.append(first, [record(first.run.uid, "a"), record(first.run.uid, "b")]).wait()
    other.register("two", LONG).wait()
    (second,) = other.claim("two", ["fulfil"], 1, 1020.0).wait()
    assert [found.path for found in other.records(second.run.uid, "start@1")] == ["a", "b"]


@pytest.mark.rule("R11")
def test_an_owner_outlives_a_wall_clock_that_jumps_ahead_by_more_than_its_lease(store: Store) -> None:
    start(store, "order-1", "order-2")
    store.register("one", 1060.0).wait()
    (first,) = store.claim("one", ["fulfil"], 1, 1000.0).wait()
    (second,) = store.claim("one", ["fulfil"], 10, 100_000.0).wait()
    assert [(claim.run.id, claim.takeover) for claim in (first, second)] == [("order-1", False), ("order-2", False)]
    for claim in (first, second):
        assert store.append(claim, [record(claim.run.uid, "p")]).wait()
        assert store.finish(claim, outcome()).wait()
    assert store.renew("one", 100_060.0).wait()


def test_a_run_that_was_found_but_could_not_be_had_is_found_again(store: Store) -> None:
    start(store, "order-1")
    assert claimed(store, "one") == []
    store.register("one", LONG).wait()
    assert claimed(store, "one") == ["order-1"]
