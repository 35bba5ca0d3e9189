"""Marks: a takeover says which steps a dead owner had in flight and left no record of (rule O8)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from semel.store.interface import RunFilter, Store
from semel.testing.conformance import LONG, OwnerProcess, claim_one, new_run, record

Start = Callable[..., OwnerProcess]


def doubled(store: Store, run: str) -> list[str]:
    return [note.path for note in store.notes(run) if note.kind == "possibly doubled"]


@pytest.mark.rule("O8")
def test_a_step_in_flight_in_a_killed_process_is_noted_and_a_recorded_one_is_not(
    store: Store, owner_process: Start
) -> None:
    store.start(new_run("order-1")).wait()
    process = owner_process("one", LONG)
    for command in ("mark p/start@1#a", "append p/start@1#a", "mark p/start@1[0]#b", "mark p/start@1[1]#b"):
        assert process.tell(command).yes
    process.kill()
    store.register("two", LONG).wait()
    (claim,) = store.claim("two", ["fulfil"], 10, 1000.0).wait()
    assert not claim.blind
    assert doubled(store, claim.run.uid) == ["p/start@1[0]#b", "p/start@1[1]#b"]


@pytest.mark.rule("O8")
def test_a_step_is_noted_each_time_it_is_cut_off(store: Store, owner_process: Start) -> None:
    store.start(new_run("order-1")).wait()
    for owner in ("one", "two", "three"):
        process = owner_process(owner, LONG)
        assert process.tell("mark p").yes
        process.kill()
    store.register("four", LONG).wait()
    (claim,) = store.claim("four", ["fulfil"], 10, 1000.0).wait()
    assert doubled(store, claim.run.uid) == ["p", "p", "p"]


@pytest.mark.rule("O8")
def test_a_step_in_flight_when_the_lease_is_lost_is_noted_too(store: Store, other: Store) -> None:
    store.start(new_run("order-1")).wait()
    store.register("owner", 1010.0).wait()
    (claim,) = store.claim("owner", ["fulfil"], 1, 1000.0).wait()
    store.mark(claim, "p")
    store.unmark(store.mark(claim, "q"))
    other.register("two", LONG).wait()
    (taken,) = other.claim("two", ["fulfil"], 10, 1011.0).wait()
    assert taken.takeover
    assert doubled(other, taken.run.uid) == ["p"]


def test_a_claim_given_back_leaves_no_notes(store: Store, other: Store) -> None:
    store.start(new_run("order-1")).wait()
    claim = claim_one(store)
    store.unmark(store.mark(claim, "p"))
    store.append(claim, [record(claim.run.uid, "p")]).wait()
    store.release(claim).wait()
    store.retire("owner").wait()
    other.register("two", LONG).wait()
    (taken,) = other.claim("two", ["fulfil"], 10, 1000.0).wait()
    assert (taken.takeover, taken.blind) == (False, False)
    assert doubled(other, taken.run.uid) == []


@pytest.mark.rule("R11")
def test_a_death_counts_against_the_runs_that_were_driven_and_not_against_those_only_claimed(
    store: Store, owner_process: Start
) -> None:
    store.start(new_run("order-1")).wait()
    owner_process("one", LONG, SEMEL_ONLY_CLAIMS="yes").kill()
    owner_process("two", LONG).kill()
    store.register("three", LONG).wait()
    (claim,) = store.claim("three", ["fulfil"], 10, 1000.0).wait()
    assert (claim.takeover, claim.delivery) == (True, 2)


@pytest.mark.rule("R11")
def test_a_death_after_progress_begins_the_count_anew(store: Store, owner_process: Start) -> None:
    store.start(new_run("order-1")).wait()
    for number in range(3):
        process = owner_process(f"owner-{number}", LONG)
        assert process.tell(f"append p{number}").yes
        process.kill()
    owner_process("last", LONG).kill()
    store.register("next", LONG).wait()
    (claim,) = store.claim("next", ["fulfil"], 10, 1000.0).wait()
    assert claim.delivery == 3, "the third death was the first since the latest record, the last one the second"


def test_a_run_is_running_no_longer_when_its_process_has_ended(store: Store, owner_process: Start) -> None:
    store.start(new_run("order-1")).wait()
    process = owner_process("one", LONG)
    assert [found.status for found in store.list(RunFilter())] == ["running"]
    process.kill()
    found = store.get("order-1")
    assert found is not None
    assert (found.status, store.counts()) == ("pending", {"pending": 1})
    assert [found.status for found in store.list(RunFilter(status="pending"))] == ["pending"]
