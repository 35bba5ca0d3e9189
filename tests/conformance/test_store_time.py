"""Parks, clocks and events: what lets a run wait, and what wakes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from semel.store.interface import Claim, Event, Outcome, Run, RunFilter, Store
from semel.testing.conformance import LONG, OwnerProcess, StoreKit, claim_one, new_run, note, outcome, record

PARKED = '{"start@1":{"waits":{"fulfil/start@1#sleep":{"kind":"sleep"}}}}'


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


def park(**changes: Any) -> Outcome:
    """The end of an execution that waits."""
    return replace(Outcome("parked", {"start": 1}, None, None, None, 1000.5, 1010.0, parked=PARKED), **changes)


def parked_run(store: Store, id: str, **changes: Any) -> Run:
    """A run that has parked."""
    store.start(new_run(id)).wait()
    assert store.finish(claim_one(store), park(**changes)).wait()
    store.note([]).wait()  # the claim ends behind the commit
    return row(store, id)


def row(store: Store, id: str = "order-1") -> Run:
    found = store.get(id)
    assert found is not None
    return found


def claimed(store: Store, limit: int = 100) -> list[str]:
    store.register("owner", LONG).wait()
    return [claim.run.id for claim in store.claim("owner", ["fulfil"], limit, 1000.0).wait()]


def names(store: Store, run: str) -> list[str]:
    return [event.name for event in store.events(run)]


# ---------------------------------------------------------------------------------------------------------------- parks


@pytest.mark.rule("W6")
@pytest.mark.rule("V5")
def test_a_park_keeps_what_the_run_waits_for_and_counts_the_visit(store: Store, other: Store, claim: Claim) -> None:
    assert store.finish(claim, park(due=2000.0), [note(claim.run.uid, "parks")]).wait()
    run = row(other)
    assert (run.status, run.parked, run.visits) == ("parked", PARKED, {"start": 1})
    assert (run.started_at, run.finished_at, run.version) == (1000.5, None, claim.run.version + 1)
    assert [found.text for found in other.notes(run.uid)] == ["parks"]
    assert other.counts() == {"parked": 1}
    assert [found.id for found in other.list(RunFilter(status="parked"))] == ["order-1"]
    assert claimed(other) == []


@pytest.mark.rule("W6")
def test_what_a_parked_run_waits_for_comes_with_the_claim_of_who_wakes_it(store: Store, other: Store) -> None:
    run = parked_run(store, "order-1", due=2000.0)
    assert store.wake_due(2000.0, 10).wait() == 1
    other.register("two", LONG).wait()
    (again,) = other.claim("two", ["fulfil"], 1, 1000.0, 2000.0).wait()
    assert (again.run.parked, again.run.visits) == (PARKED, {"start": 1})
    assert (again.takeover, again.delivery, again.began_at) == (False, 1, 1000.0)
    assert again.run.version == run.version


@pytest.mark.rule("W6")
@pytest.mark.parametrize("status", ["parked", "pending", "completed"])
def test_a_lost_claim_parks_nothing_and_starts_nothing(store: Store, lost: Claim, status: Any) -> None:
    uid = lost.run.uid
    assert store.send(uid, "go", b"1", 1005.0).wait()
    before = row(store)
    (event,) = store.events(uid)
    store.append(lost, [record(uid, "p")]).wait()
    child = replace(new_run("child"), parent=uid, depth=1, deadline=3000.0)
    changes = {"due": 2000.0, "children": (child,), "taken": (event.seq,), "forget": "start@1", "args": b"other"}
    written = replace(park(**changes), status=status)
    assert store.finish(lost, written, [note(uid)]).wait() is False
    assert row(store) == before
    assert store.get("child") is None
    assert (store.next_due(), store.events(uid), store.children(uid), store.notes(uid)) == (None, [event], [], [])


def test_a_park_is_written_once(store: Store, claim: Claim) -> None:
    assert store.finish(claim, park(due=2000.0)).wait()
    assert store.finish(claim, park(due=2500.0)).wait() is False
    assert store.append(claim, [record(claim.run.uid, "late")]).wait() is False
    assert store.next_due() == 2000.0


def test_the_death_of_an_owner_whose_runs_are_parked_is_none_of_theirs(
    store: Store, owner_process: Callable[..., OwnerProcess]
) -> None:
    parked_run(store, "order-0", due=2000.0)
    store.start(new_run("order-1")).wait()
    owner_process("one", LONG).kill()
    assert row(store, "order-0").status == "parked"
    assert claimed(store) == ["order-1"]


@pytest.mark.rule("R11")
def test_deaths_before_a_park_do_not_count_after_it(store: Store, owner_process: Callable[..., OwnerProcess]) -> None:
    store.start(new_run()).wait()
    owner_process("one", LONG).kill()
    claim = claim_one(store)
    assert claim.delivery == 2
    assert store.finish(claim, park(due=2000.0)).wait()
    store.wake_due(2000.0, 10).wait()
    assert claim_one(store).delivery == 1


# --------------------------------------------------------------------------------------------------------- next visits


@pytest.mark.rule("V2")
def test_the_next_visit_has_other_arguments_and_none_of_the_records_of_the_one_before(
    store: Store, claim: Claim
) -> None:
    uid = claim.run.uid
    store.append(claim, [record(uid, "p"), record(uid, "q", body="start@2")]).wait()
    ended = replace(park(), status="pending", args=b"next", parked='{"start@2":{}}', forget="start@1")
    assert store.finish(claim, ended).wait()
    again = claim_one(store)
    assert (again.run.visit_args, again.run.visits, again.run.parked) == (b"next", {"start": 1}, '{"start@2":{}}')
    assert again.run.args == claim.run.args, "what a start of the same id must equal"
    assert (again.takeover, again.delivery, again.run.version) == (False, 1, claim.run.version + 1)
    assert [found.path for found in store.records(uid)] == ["q"]
    assert row(store).status == "running"


def test_a_next_visit_without_arguments_of_its_own_keeps_those_of_the_one_before(store: Store, claim: Claim) -> None:
    assert store.finish(claim, replace(park(), status="pending")).wait()
    assert claim_one(store).run.args == claim.run.args


def test_a_next_visit_and_a_woken_run_wait_behind_what_is_claimable_already(store: Store) -> None:
    parked_run(store, "woken", due=2000.0)
    store.start(new_run("again")).wait()
    claim = claim_one(store)
    store.start(new_run("fresh")).wait()
    assert store.finish(claim, replace(park(), status="pending")).wait()
    assert store.wake_due(2000.0, 10).wait() == 1
    store.start(new_run("later")).wait()
    assert claimed(store) == ["fresh", "again", "woken", "later"]


# --------------------------------------------------------------------------------------------------------------- clocks


@pytest.mark.rule("W6")
def test_only_the_clocks_that_are_due_wake_and_the_earliest_first(store: Store) -> None:
    for id, due in (("c", 2003.0), ("a", 2001.0), ("d", 2004.0), ("b", 2002.0)):
        parked_run(store, id, due=due)
    parked_run(store, "no clock")
    assert store.next_due() == 2001.0
    assert store.wake_due(2000.9, 10).wait() == 0
    assert store.wake_due(2003.0, 10).wait() == 3
    assert store.next_due() == 2004.0
    assert claimed(store) == ["a", "b", "c"]
    assert [row(store, id).status for id in ("a", "d", "no clock")] == ["running", "parked", "parked"]


@pytest.mark.rule("W6")
def test_a_clock_wakes_once(store: Store) -> None:
    parked_run(store, "order-1", due=2000.0)
    assert store.wake_due(9000.0, 10).wait() == 1
    assert store.wake_due(9000.0, 10).wait() == 0
    assert store.next_due() is None
    assert claimed(store) == ["order-1"]


@pytest.mark.rule("W6")
def test_many_clocks_are_seen_to_in_batches_each_once(store: Store, other: Store) -> None:
    for number in range(7):
        parked_run(store, f"order-{number}", due=2000.0 + number)
    assert [one.wake_due(2100.0, 3).wait() for one in (store, other, store, other)] == [3, 3, 1, 0]
    assert claimed(store) == [f"order-{number}" for number in range(7)]


def test_without_clocks_nothing_is_due(store: Store, claim: Claim) -> None:
    assert store.next_due() is None
    assert store.wake_due(9000.0, 10).wait() == 0
    assert store.finish(claim, outcome()).wait()
    assert store.next_due() is None


@pytest.mark.rule("W9")
def test_a_clock_that_is_set_back_wakes_later_and_what_was_woken_stays_so(store: Store) -> None:
    parked_run(store, "a", due=2000.0)
    parked_run(store, "b", due=2500.0)
    assert store.wake_due(2000.0, 10).wait() == 1
    assert store.wake_due(1000.0, 10).wait() == 0
    assert claimed(store) == ["a"]
    assert store.wake_due(2500.0, 10).wait() == 1


@pytest.mark.rule("W6")
def test_a_park_without_a_clock_drops_the_one_of_the_park_before(store: Store) -> None:
    run = parked_run(store, "order-1", due=2000.0)
    assert store.send(run.uid, "go", b"", 1005.0).wait()
    assert store.finish(claim_one(store), park(due=None)).wait()
    assert store.next_due() is None
    assert store.send(run.uid, "go", b"", 1006.0).wait()
    assert store.finish(claim_one(store), park(due=3000.0)).wait()
    assert store.next_due() == 3000.0


def test_an_ended_run_has_no_clocks(store: Store) -> None:
    run = parked_run(store, "order-1", due=2000.0)
    store.send(run.uid, "go", b"", 1005.0).wait()
    assert store.finish(claim_one(store), outcome()).wait()
    assert store.next_due() is None
    assert store.wake_due(9000.0, 10).wait() == 0
    assert row(store).status == "completed"


@pytest.mark.parametrize("how", ["completed", "parked"])
def test_a_clock_of_a_park_may_come_due_while_the_run_is_driven(store: Store, how: str) -> None:
    run = parked_run(store, "order-1", due=2000.0)
    store.send(run.uid, "go", b"", 1005.0).wait()
    claim = claim_one(store)
    assert store.wake_due(2000.0, 10).wait() == 1
    assert claimed(store) == []
    assert store.finish(claim, outcome() if how == "completed" else park(due=2000.0)).wait()
    assert store.wake_due(2000.0, 10).wait() == (0 if how == "completed" else 1)
    assert claimed(store) == ([] if how == "completed" else ["order-1"])


# --------------------------------------------------------------------------------------------------------------- events


@pytest.mark.rule("W6")
def test_events_are_kept_in_order_until_a_commit_takes_them(store: Store, other: Store, claim: Claim) -> None:
    uid = claim.run.uid
    sent = [("go", b"1", 1001.0), ("stop", b"2", 1002.0), ("go", bytes(range(256)), 1003.0)]
    for number, (name, payload, at) in enumerate(sent):
        assert (store, other)[number % 2].send(uid, name, payload, at).wait()
    first, second, third = store.events(uid)
    assert first.seq < second.seq < third.seq
    assert [first, second, third] == [
        Event(e.seq, uid, *of) for e, of in zip((first, second, third), sent, strict=True)
    ]
    assert store.finish(claim, park(taken=(first.seq, third.seq))).wait()
    assert store.events(uid) == [second]


def test_a_commit_takes_events_of_its_own_run_only(store: Store, claim: Claim) -> None:
    other_run, _ = store.start(new_run("order-2")).wait()
    store.send(other_run.uid, "go", b"", 1001.0).wait()
    (event,) = store.events(other_run.uid)
    assert store.finish(claim, park(taken=(event.seq,))).wait()
    assert store.events(other_run.uid) == [event]


def test_the_number_of_an_event_is_never_used_again(store: Store, claim: Claim) -> None:
    uid = claim.run.uid
    store.send(uid, "go", b"", 1001.0).wait()
    (first,) = store.events(uid)
    assert store.finish(claim, park(taken=(first.seq,))).wait()
    store.send(uid, "go", b"", 1002.0).wait()
    assert [event.seq > first.seq for event in store.events(uid)] == [True]


@pytest.mark.rule("W6")
def test_an_event_wakes_a_parked_run_and_is_there_for_it(store: Store, other: Store) -> None:
    run = parked_run(store, "order-1", due=2000.0)
    assert other.send(run.uid, "go", b"1", 1005.0).wait()
    assert row(store).status == "pending"
    assert claimed(store) == ["order-1"]
    assert names(store, run.uid) == ["go"]
    assert store.wake_due(2000.0, 10).wait() == 1, "its clock is seen to, though it is driven already"


@pytest.mark.rule("W6")
def test_an_event_that_comes_while_the_body_runs_lets_its_park_be_none(store: Store, other: Store) -> None:
    store.start(new_run()).wait()
    claim = claim_one(store)
    assert other.send(claim.run.uid, "go", b"1", 1005.0).wait()
    assert store.finish(claim, park(due=2000.0)).wait()
    again = claim_one(store)
    assert (again.run.parked, again.run.visits) == (PARKED, {"start": 1})
    assert store.finish(again, park(due=2000.0)).wait()
    assert row(store).status == "parked", "this time it had seen the event"


@pytest.mark.rule("W6")
def test_an_event_sent_before_the_first_claim_does_not_keep_the_run_from_parking(store: Store) -> None:
    run, _ = store.start(new_run()).wait()
    assert store.send(run.uid, "go", b"1", 1005.0).wait()
    assert store.finish(claim_one(store), park()).wait()
    assert row(store).status == "parked"
    assert names(store, run.uid) == ["go"]


@pytest.mark.rule("W6")
def test_the_same_event_sent_twice_is_two(store: Store) -> None:
    run = parked_run(store, "order-1")
    for _ in range(2):
        assert store.send(run.uid, "go", b"1", 1005.0).wait()
    first, second = store.events(run.uid)
    assert store.finish(claim_one(store), park(taken=(first.seq,))).wait()
    assert store.events(run.uid) == [second]


def test_an_ended_run_takes_no_events_and_keeps_none(store: Store, claim: Claim) -> None:
    uid = claim.run.uid
    assert store.send(uid, "go", b"1", 1005.0).wait()
    assert store.finish(claim, outcome()).wait()
    assert store.send(uid, "go", b"2", 1006.0).wait() is False
    assert store.events(uid) == []
    assert store.send("no such run", "go", b"", 1006.0).wait() is False
    assert store.events("no such run") == []
    assert row(store).status == "completed"


@pytest.mark.rule("W6")
@pytest.mark.rule("R11")
@pytest.mark.parametrize("timed_out", [False, True])
def test_a_faulted_run_keeps_its_events_for_who_delivers_it_again(store: Store, timed_out: bool) -> None:
    run = parked_run(store, "order-1", due=2000.0)
    store.send(run.uid, "go", b"1", 1005.0).wait()
    assert store.finish(claim_one(store), park() if timed_out else outcome("faulted")).wait()
    if timed_out:
        assert store.cancel(run.uid, 1010.0, "timed out").wait()
        assert row(store).parked == PARKED
    assert (row(store).status, store.next_due()) == ("faulted", None)
    assert store.redeliver(run.uid, 1020.0).wait()
    assert names(store, run.uid) == ["go"]


def test_a_purge_takes_events_clocks_and_transactional_records_with_it(store: Store) -> None:
    run = parked_run(store, "order-1", due=2000.0)
    store.send(run.uid, "go", b"", 1005.0).wait()
    assert store.finish(claim_one(store), outcome("faulted")).wait()
    assert store.purge(ended_before=2000.0, limit=10).wait() == 1
    assert (store.events(run.uid), store.next_due(), store.records(run.uid)) == ([], None, [])


@pytest.mark.rule("R11")
def test_a_parked_run_is_not_delivered_again_by_an_operator(store: Store) -> None:
    run = parked_run(store, "order-1", due=2000.0)
    assert store.redeliver(run.uid, 1020.0).wait() is False
    assert row(store) == run


@pytest.mark.rule("R11")
@pytest.mark.rule("V4")
def test_a_faulted_run_that_had_parked_is_delivered_again_with_what_it_waited_for(store: Store) -> None:
    run = parked_run(store, "order-1", due=2000.0)
    store.wake_due(2000.0, 10).wait()
    assert store.finish(claim_one(store), replace(outcome("faulted"), parked=PARKED)).wait()
    assert store.redeliver(run.uid, 1020.0).wait()
    assert claim_one(store).run.parked == PARKED


def test_forgetting_and_stating_records_of_a_parked_run(store: Store, claim: Claim) -> None:
    uid = claim.run.uid
    store.append(claim, [record(uid, "p"), record(uid, "q")]).wait()
    assert store.forget(uid, "p", note(uid, kind="forgotten")).wait() is False, "it is driven"
    assert store.finish(claim, park()).wait()
    assert store.forget(uid, "p", note(uid, kind="forgotten")).wait()
    assert store.record(record(uid, "q", b"stated"), note(uid, kind="recorded by hand")).wait()
    assert [(found.path, found.data) for found in store.records(uid)] == [("q", b"stated")]


def test_a_park_shows_as_a_change(kit: StoreKit, store: Store, other: Store, claim: Claim) -> None:
    before = other.changed()
    assert store.finish(claim, park(due=2000.0)).wait()
    parked = other.changed()
    assert parked != before
    store.wake_due(2000.0, 10).wait()
    assert other.changed() != parked
