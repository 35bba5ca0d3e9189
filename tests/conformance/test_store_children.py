"""Child runs, cancels, and the time that a run may take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from semel.store.interface import Claim, NewRun, Outcome, Run, Store
from semel.testing.conformance import LONG, claim_one, new_run, outcome

PARKED = '{"start@1":{"waits":{"fulfil/start@1#check":{"kind":"child"}}}}'


def row(store: Store, id: str) -> Run:
    found = store.get(id)
    assert found is not None
    return found


def status(store: Store, *ids: str) -> list[str]:
    return [row(store, id).status for id in ids]


def child_of(parent: str, id: str, workflow: str = "check") -> NewRun:
    return replace(new_run(id, workflow=workflow), parent=parent, depth=1)


def park(awaited: Sequence[NewRun] = (), need: int = 0, **changes: Any) -> Outcome:
    """The end of an execution that waits for these children, of which it needs so many."""
    parked = Outcome("parked", {"start": 1}, None, None, None, 1000.5, 1010.0, parked=PARKED)
    return replace(parked, awaited=tuple(child.uid for child in awaited), need=need, **changes)


def end(store: Store, id: str, how: Any = "completed") -> None:
    """Drives the oldest claimable child, which must be the one of this id, to its end."""
    claim = claim_one(store, workflow="check")
    assert claim.run.id == id
    assert store.finish(claim, outcome(how)).wait()
    store.note([]).wait()  # the claim ends behind the commit


@pytest.fixture
def claim(store: Store) -> Claim:
    store.start(new_run("parent")).wait()
    return claim_one(store)


def family(store: Store, *ids: str, need: int | None = None, **changes: Any) -> Run:
    """A parent that has started these children and waits for all of them, or for ``need``."""
    store.start(new_run("parent")).wait()
    claim = claim_one(store)
    children = tuple(child_of(claim.run.uid, id) for id in ids)
    waits = park(children, len(ids) if need is None else need, children=children, **changes)
    assert store.finish(claim, waits).wait()
    store.note([]).wait()
    return row(store, "parent")


# ------------------------------------------------------------------------------------------------------------- children


@pytest.mark.rule("W5")
def test_children_start_with_the_commit_of_their_parent(store: Store, other: Store, claim: Claim) -> None:
    uid = claim.run.uid
    made = (child_of(uid, "a"), child_of(uid, "b"))
    assert other.children(uid) == []
    assert store.finish(claim, park(children=made)).wait()
    found = other.children(uid)
    assert [(run.id, run.uid, run.workflow, run.status) for run in found] == [
        (new.id, new.uid, "check", "pending") for new in made
    ]
    assert [(run.parent, run.depth, run.deadline) for run in found] == [(uid, 1, None)] * 2
    assert (other.children("no such run"), row(other, "parent").parent) == ([], None)


@pytest.mark.rule("W5")
@pytest.mark.parametrize("how", ["completed", "pending"])
def test_children_start_with_a_commit_that_does_not_wait_for_them_too(store: Store, claim: Claim, how: Any) -> None:
    ended = replace(outcome(), status=how, children=(child_of(claim.run.uid, "a"),))
    assert store.finish(claim, ended).wait()
    assert claim_one(store, workflow="check").run.id == "a"


@pytest.mark.rule("W5")
def test_a_child_is_started_once_though_two_deliveries_commit_it(store: Store, claim: Claim) -> None:
    child = child_of(claim.run.uid, "a")
    store.send(claim.run.uid, "go", b"", 1001.0).wait()  # so that the park is none
    assert store.finish(claim, park([child], 1, children=(child,))).wait()
    again = claim_one(store)
    assert store.finish(again, park([child], 1, children=(replace(child, args=b"other"),))).wait()
    (found,) = store.children(claim.run.uid)
    assert (found.uid, found.args) == (child.uid, b"args")


@pytest.mark.rule("W5")
@pytest.mark.parametrize("how", ["completed", "faulted", "cancelled"])
def test_a_parent_wakes_when_the_last_of_the_children_it_waits_for_has_ended(store: Store, how: str) -> None:
    family(store, "a", "b", "c")
    end(store, "a", how)
    end(store, "b")
    assert status(store, "parent") == ["parked"]
    end(store, "c", how)
    assert claim_one(store).run.parked == PARKED


@pytest.mark.rule("W5")
def test_a_parent_that_needs_one_child_wakes_with_the_first(store: Store) -> None:
    family(store, "a", "b", need=1)
    end(store, "a")
    assert claim_one(store).run.id == "parent"
    end(store, "b")
    assert status(store, "parent") == ["running"]


@pytest.mark.rule("W5")
def test_a_child_that_ended_before_its_parent_parked_counts(store: Store, claim: Claim) -> None:
    first, second = (child_of(claim.run.uid, id) for id in ("a", "b"))
    store.send(claim.run.uid, "go", b"", 1001.0).wait()
    assert store.finish(claim, park(children=(first, second))).wait()
    again = claim_one(store)
    end(store, "a")
    assert store.finish(again, park([first, second], 2)).wait()
    assert status(store, "parent") == ["parked"]
    end(store, "b")
    assert status(store, "parent") == ["pending"]


@pytest.mark.rule("W5")
@pytest.mark.parametrize("need", [1, 2])
def test_a_parent_whose_children_have_all_ended_does_not_park(store: Store, claim: Claim, need: int) -> None:
    both = tuple(child_of(claim.run.uid, id) for id in ("a", "b"))
    store.send(claim.run.uid, "go", b"", 1001.0).wait()
    assert store.finish(claim, park(children=both)).wait()
    again = claim_one(store)
    end(store, "a")
    end(store, "b")
    assert store.finish(again, park(both, need)).wait()
    assert claim_one(store).run.id == "parent"


def test_a_child_that_nobody_waits_for_wakes_nobody_who_waits_for_others(store: Store, claim: Claim) -> None:
    awaited, others = child_of(claim.run.uid, "b"), child_of(claim.run.uid, "a")
    assert store.finish(claim, park([awaited], 1, children=(others, awaited))).wait()
    end(store, "a")
    end(store, "b")
    assert claim_one(store).run.id == "parent"


@pytest.mark.rule("W5")
def test_a_parent_that_has_ended_is_left_alone_by_its_children(store: Store, claim: Claim) -> None:
    assert store.finish(claim, replace(outcome(), children=(child_of(claim.run.uid, "a"),))).wait()
    before = row(store, "parent")
    end(store, "a")
    assert row(store, "parent") == before


@pytest.mark.rule("W5")
def test_a_parent_also_wakes_by_its_clock_and_waits_on(store: Store) -> None:
    parent = family(store, "a", due=2000.0)
    assert store.wake_due(2000.0, 10).wait() == 1
    (child,) = store.children(parent.uid)
    assert store.finish(claim_one(store), replace(park(), awaited=(child.uid,), need=1)).wait()
    assert status(store, "parent") == ["parked"]
    end(store, "a")
    assert status(store, "parent") == ["pending"]


def test_purges_take_no_child_of_a_run_that_goes_on_and_no_parent_of_one(store: Store) -> None:
    family(store, "a", "b")
    end(store, "a")
    assert store.purge(ended_before=9000.0, limit=10).wait() == 0, "its parent has not read it yet"
    end(store, "b")
    assert store.finish(claim_one(store), outcome()).wait()
    assert store.purge(ended_before=9000.0, limit=10).wait() == 3


# -------------------------------------------------------------------------------------------------------------- cancels


@pytest.mark.rule("W8")
def test_a_parked_run_is_cancelled_at_once(store: Store, other: Store) -> None:
    parent = family(store, due=2000.0)
    store.start(new_run("beside")).wait()
    assert other.cancel(parent.uid, 1020.0).wait()
    run = row(store, "parent")
    assert (run.status, run.ending, run.finished_at, run.version) == ("cancelled", "cancelled", 1020.0, 3)
    assert store.next_due() is None
    assert store.send(parent.uid, "go", b"", 1021.0).wait() is False
    assert store.events(parent.uid) == []
    assert claim_one(store).run.id == "beside"


@pytest.mark.rule("W8")
def test_a_run_that_is_driven_is_ended_by_its_worker_and_commits_no_more(store: Store, other: Store) -> None:
    store.start(new_run("parent")).wait()
    store.register("owner", LONG).wait()
    (claim,) = store.claim("owner", ["fulfil"], 1, 1000.0).wait()
    uid = claim.run.uid
    assert store.ending([uid]) == []
    assert other.cancel(uid, 1020.0).wait()
    assert (store.ending([uid, "another"]), store.ending(["another"]), store.ending([])) == ([uid], [], [])
    assert status(store, "parent") == ["running"]
    for commit in (outcome(), park(), replace(park(), status="pending")):
        assert store.finish(claim, commit).wait() is False
    store.release(claim).wait()
    again = claim_one(store)
    assert (again.run.ending, again.takeover) == ("cancelled", False)
    assert store.finish(again, outcome("cancelled")).wait()
    assert (store.ending([uid]), status(store, "parent")) == ([], ["cancelled"])


@pytest.mark.rule("W8")
@pytest.mark.parametrize(("ending", "ended"), [("cancelled", "cancelled"), ("timed out", "faulted")])
def test_a_run_that_nobody_has_claimed_is_ended_at_once(store: Store, other: Store, ending: str, ended: str) -> None:
    """It has done nothing, and there may be no worker that knows its workflow."""
    run, _ = store.start(new_run("parent")).wait()
    assert other.cancel(run.uid, 1020.0, ending).wait()
    assert (row(store, "parent").status, row(store, "parent").finished_at) == (ended, 1020.0)
    assert store.send(run.uid, "go", b"", 1021.0).wait() is False
    store.register("owner", LONG).wait()
    assert store.claim("owner", ["fulfil"], 1, 1030.0).wait() == []


@pytest.mark.rule("W8")
def test_the_parent_of_a_child_that_nobody_has_claimed_goes_on_when_it_is_cancelled(store: Store) -> None:
    store.start(new_run("parent")).wait()
    claim = claim_one(store)
    child = replace(new_run("child"), parent=claim.run.uid, depth=1, workflow="unknown here")
    waiting = replace(park(), children=(child,), awaited=(child.uid,), need=1)
    assert store.finish(claim, waiting).wait()
    store.release(claim).wait()
    assert status(store, "parent") == ["parked"]
    assert store.cancel(child.uid, 1020.0).wait()
    assert (status(store, "child"), status(store, "parent")) == (["cancelled"], ["pending"])


@pytest.mark.rule("W8")
def test_a_run_that_was_claimed_and_given_back_is_ended_by_the_worker_that_claims_it(store: Store) -> None:
    store.start(new_run("parent")).wait()
    claim = claim_one(store)
    store.release(claim).wait()
    assert store.cancel(claim.run.uid, 1020.0).wait()
    assert store.send(claim.run.uid, "go", b"", 1021.0).wait() is False
    assert claim_one(store).run.ending == "cancelled"


@pytest.mark.rule("W8")
def test_a_cancel_that_comes_too_late_changes_nothing(store: Store, claim: Claim) -> None:
    assert store.finish(claim, outcome()).wait()
    before = row(store, "parent")
    assert store.cancel(claim.run.uid, 1020.0).wait() is False
    assert store.cancel("no such run", 1020.0).wait() is False
    assert row(store, "parent") == before


@pytest.mark.rule("W8")
def test_a_second_cancel_is_one(store: Store, claim: Claim) -> None:
    assert store.cancel(claim.run.uid, 1020.0).wait()
    before = row(store, "parent")
    assert store.cancel(claim.run.uid, 1030.0, "timed out").wait()
    assert row(store, "parent") == before


@pytest.mark.rule("W8")
def test_a_cancel_reaches_all_generations_below_a_run_and_none_beside_it(store: Store) -> None:
    parent = family(store, "a", "b", "c")
    parked = claim_one(store, workflow="check")
    grandchild = child_of(parked.run.uid, "a/a", "count")
    assert store.finish(parked, park([grandchild], 1, children=(grandchild,))).wait()
    end(store, "b")
    driven = claim_one(store, workflow="check")
    store.start(new_run("beside", workflow="count")).wait()
    assert store.cancel(parent.uid, 1020.0).wait()
    assert status(store, "parent", "a", "b", "c", "beside") == [
        "cancelled", "cancelled", "completed", "running", "pending",
    ]  # fmt: skip
    assert store.finish(driven, outcome()).wait() is False
    assert [row(store, id).ending for id in ("a/a", "c", "beside")] == ["cancelled", "cancelled", None]


@pytest.mark.rule("W5")
@pytest.mark.rule("W8")
def test_a_parent_wakes_for_a_child_that_is_cancelled_alone(store: Store) -> None:
    parent = family(store, "a")
    (child,) = store.children(parent.uid)
    parks = claim_one(store, workflow="check")
    assert store.finish(parks, park()).wait()
    assert store.cancel(child.uid, 1020.0).wait()
    assert status(store, "a", "parent") == ["cancelled", "pending"]


@pytest.mark.rule("W8")
def test_a_parked_run_with_open_undos_is_woken_to_be_ended(store: Store) -> None:
    parent = family(store, due=2000.0, undos=2)
    assert store.cancel(parent.uid, 1020.0).wait()
    claim = claim_one(store)
    assert (claim.run.status, claim.run.ending) == ("pending", "cancelled")


# ------------------------------------------------------------------------------------------------------------ deadlines


@pytest.mark.rule("W8")
def test_a_parked_run_that_is_out_of_time_ends(store: Store) -> None:
    store.start(replace(new_run("late"), deadline=2000.0)).wait()
    assert store.next_due() == 2000.0
    assert store.finish(claim_one(store), park(due=1500.0)).wait()
    assert store.next_due() == 1500.0
    assert store.wake_due(1500.0, 10).wait() == 1
    assert store.finish(claim_one(store), park(due=9000.0)).wait()
    assert store.wake_due(2000.0, 10).wait() == 1
    run = row(store, "late")
    assert (run.status, run.ending, run.finished_at) == ("faulted", "timed out", 2000.0)
    assert store.next_due() is None


@pytest.mark.rule("W8")
def test_a_driven_run_that_is_out_of_time_is_to_be_ended_with_all_below_it(store: Store) -> None:
    store.start(replace(new_run("parent"), deadline=2000.0)).wait()
    claim = claim_one(store)
    child = child_of(claim.run.uid, "a")
    store.send(claim.run.uid, "go", b"", 1001.0).wait()
    assert store.finish(claim, park([child], 1, children=(child,))).wait()
    assert claim_one(store).run.id == "parent"
    assert store.wake_due(2000.0, 10).wait() == 1
    assert [row(store, id).ending for id in ("parent", "a")] == ["timed out", "cancelled"]
    assert store.ending([claim.run.uid]) == [claim.run.uid]


def test_a_child_has_a_deadline_of_its_own(store: Store, claim: Claim) -> None:
    child = replace(child_of(claim.run.uid, "a"), deadline=2000.0)
    assert store.finish(claim, park([child], 1, children=(child,))).wait()
    assert store.finish(claim_one(store, workflow="check"), park()).wait()
    assert store.wake_due(2000.0, 10).wait() == 1
    assert (row(store, "a").ending, status(store, "parent")) == ("timed out", ["pending"])


@pytest.mark.rule("R11")
@pytest.mark.parametrize(("now", "due"), [(1020.0, 2000.0), (2000.0, None)])
def test_a_faulted_run_that_is_delivered_again_has_its_deadline_if_that_is_to_come(
    store: Store, now: float, due: float | None
) -> None:
    run, _ = store.start(replace(new_run("parent"), deadline=2000.0)).wait()
    assert store.finish(claim_one(store), outcome("faulted")).wait()
    assert store.next_due() is None
    assert store.redeliver(run.uid, now).wait()
    assert store.next_due() == due


def test_a_run_that_ends_in_time_has_no_deadline_left(store: Store) -> None:
    store.start(replace(new_run("parent"), deadline=2000.0)).wait()
    assert store.finish(claim_one(store), outcome()).wait()
    assert store.next_due() is None
