"""Runs, from outside: started once, found, listed, made pending again, purged."""

import subprocess
import sys

import pytest

from semel.errors import RunPurged, StoreError
from semel.store.interface import RunFilter, Store
from semel.testing.conformance import StoreKit, claim_one, new_run, note, outcome, record


def test_a_new_run_is_pending_and_reads_back_as_it_was_given(store: Store) -> None:
    new = new_run()
    run, is_new = store.start(new).wait()
    assert is_new
    assert (run.uid, run.id, run.workflow, run.args, run.seed, run.format) == (
        new.uid, new.id, new.workflow, new.args, new.seed, new.format,
    )  # fmt: skip
    assert (run.status, run.visits, run.created_at) == ("pending", {}, new.created_at)
    assert (run.started_at, run.finished_at, run.result, run.error, run.fault) == (None,) * 5
    assert store.get("order-1") == run


def test_an_id_that_nobody_started_has_no_run(store: Store) -> None:
    assert store.get("order-1") is None


def test_the_same_id_started_twice_is_one_run(store: Store, other: Store) -> None:
    first, _ = store.start(new_run()).wait()
    second, is_new = other.start(new_run(args=b"other")).wait()
    assert not is_new
    assert second == first


def test_the_same_id_started_by_many_in_one_batch_is_new_once(store: Store) -> None:
    tickets = [store.start(new_run()) for _ in range(20)]
    found = [ticket.wait() for ticket in tickets]
    assert [is_new for _, is_new in found] == [True] + [False] * 19
    assert len({run.uid for run, _ in found}) == 1


def test_two_processes_that_start_one_id_at_once_get_one_run(kit: StoreKit, store: Store) -> None:
    program = (
        "import sys\nfrom semel.store import open_store\nfrom semel.testing.conformance import new_run\n"
        "store = open_store(sys.argv[1]); store.open(); sys.stdin.read(1)\n"
        "for n in range(20): run, new = store.start(new_run(f'order-{n}')).wait(); print(run.uid, new)\n"
        "store.close()"
    )
    command = [sys.executable, "-c", program, kit.url]
    both = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for process in both:
        assert process.stdin is not None
        process.stdin.write("x")
        process.stdin.flush()
    answers = [process.communicate()[0].splitlines() for process in both]
    assert len(answers[0]) == len(answers[1]) == 20
    for one, two in zip(*answers, strict=True):
        assert one.split()[0] == two.split()[0]
        assert {one.split()[1], two.split()[1]} == {"True", "False"}


def test_a_uid_that_is_taken_is_refused_and_the_others_of_the_batch_are_not(store: Store) -> None:
    run = new_run()
    store.start(run).wait()
    good = store.start(new_run("order-2"))
    bad = store.start(type(run)(run.uid, "order-3", run.workflow, run.args, run.seed, run.format, run.created_at))
    also_good = store.start(new_run("order-4"))
    assert good.wait()[1]
    with pytest.raises(StoreError):
        bad.wait()
    assert also_good.wait()[1]
    assert store.get("order-3") is None


def test_lists_are_newest_first_and_filtered(store: Store) -> None:
    for number in range(5):
        store.start(new_run(f"order-{number}", created_at=1000.0 + number, workflow="fulfil")).wait()
    store.start(new_run("refund-1", created_at=1002.5, workflow="refund")).wait()

    def ids(**which: object) -> list[str]:
        return [run.id for run in store.list(RunFilter(**which))]  # type: ignore[arg-type]

    assert ids() == ["order-4", "order-3", "refund-1", "order-2", "order-1", "order-0"]
    assert ids(limit=2) == ["order-4", "order-3"]
    assert ids(workflow="refund") == ["refund-1"]
    assert ids(since=1003.0) == ["order-4", "order-3"]
    assert ids(until=1001.0) == ["order-1", "order-0"]
    assert ids(since=1002.5, until=1003.0, workflow="fulfil") == ["order-3"]


def test_a_run_is_running_to_readers_while_a_live_owner_holds_it(kit: StoreKit, store: Store, other: Store) -> None:
    store.start(new_run()).wait()
    store.start(new_run("order-2")).wait()
    store.register("owner", 1060.0).wait()
    store.claim("owner", ["fulfil"], 1, kit.now).wait()

    def seen() -> tuple[object, ...]:
        run = other.get("order-1")
        assert run is not None
        return (
            run.status,
            [run.id for run in other.list(RunFilter(status="running"))],
            [run.id for run in other.list(RunFilter(status="pending"))],
            other.counts(),
        )

    assert seen() == ("running", ["order-1"], ["order-2"], {"running": 1, "pending": 1})
    kit.now = 1060.0
    assert seen() == ("pending", [], ["order-2", "order-1"], {"pending": 2})


def test_starting_a_run_that_is_being_driven_answers_that_it_is_running(store: Store, other: Store) -> None:
    store.start(new_run()).wait()
    claim_one(store)
    assert other.start(new_run()).wait()[0].status == "running"


def test_counts_are_by_status(store: Store) -> None:
    for number, status in enumerate(("completed", "faulted", "cancelled", "completed")):
        store.start(new_run(f"order-{number}")).wait()
        store.finish(claim_one(store), outcome(status)).wait()  # type: ignore[arg-type]
    store.start(new_run("order-9")).wait()
    assert store.counts() == {"completed": 2, "faulted": 1, "cancelled": 1, "pending": 1}


def test_a_change_by_anybody_shows(store: Store, other: Store) -> None:
    before = store.changed()
    assert store.changed() == before
    store.start(new_run()).wait()
    own = store.changed()
    assert own != before
    other.start(new_run("order-2")).wait()
    assert store.changed() != own


def test_the_namespace_is_random_and_the_database_keeps_it(store: Store, other: Store) -> None:
    assert len(store.namespace()) == 32
    assert other.namespace() == store.namespace()


def test_a_store_may_be_opened_and_closed_again(store: Store) -> None:
    store.start(new_run()).wait()
    store.open()
    store.close()
    store.close()
    with pytest.raises(StoreError, match="open"):
        store.get("order-1")
    store.open()
    assert store.get("order-1") is not None


def test_close_commits_what_nobody_has_waited_for(store: Store) -> None:
    store.start(new_run())
    store.close()
    store.open()
    assert store.get("order-1") is not None


@pytest.mark.rule("R11")
def test_a_faulted_run_can_be_delivered_again(store: Store) -> None:
    run, _ = store.start(new_run()).wait()
    store.finish(claim_one(store), outcome("faulted")).wait()
    assert store.redeliver(run.uid, 1020.0).wait()
    again = store.get("order-1")
    assert again is not None
    assert (again.status, again.error, again.fault, again.finished_at) == ("pending", None, None, None)
    assert [(found.kind, found.at) for found in store.notes(run.uid)] == [("redelivered", 1020.0)]
    claim = claim_one(store)
    assert (claim.delivery, claim.takeover) == (1, False)


@pytest.mark.parametrize("status", ["pending", "completed", "cancelled"])
def test_only_a_faulted_run_can_be_delivered_again(store: Store, status: str) -> None:
    run, _ = store.start(new_run()).wait()
    if status != "pending":
        store.finish(claim_one(store), outcome(status)).wait()  # type: ignore[arg-type]
    assert not store.redeliver(run.uid, 1020.0).wait()
    assert not store.redeliver("no such run", 1020.0).wait()
    assert store.notes(run.uid) == []


def test_a_purged_run_leaves_nothing_but_its_id(store: Store) -> None:
    run, _ = store.start(new_run()).wait()
    claim = claim_one(store)
    store.append(claim, [record(run.uid, "p")], [note(run.uid)]).wait()
    store.finish(claim, outcome(), [note(run.uid)]).wait()
    assert store.purge(ended_before=1010.0, limit=10).wait() == 0
    assert store.purge(ended_before=1010.5, limit=10).wait() == 1
    assert store.get("order-1") is None
    assert store.records(run.uid) == []
    assert store.notes(run.uid) == []
    with pytest.raises(RunPurged, match="order-1"):
        store.start(new_run()).wait()


def test_a_purge_takes_as_many_as_it_may_oldest_end_first_and_no_run_that_goes_on(store: Store) -> None:
    for number in range(5):
        store.start(new_run(f"order-{number}")).wait()
        store.finish(claim_one(store), outcome(finished_at=1010.0 + number)).wait()
    store.start(new_run("order-9")).wait()
    assert store.purge(ended_before=2000.0, limit=2).wait() == 2
    assert {run.id for run in store.list(RunFilter())} == {"order-2", "order-3", "order-4", "order-9"}
    assert store.purge(ended_before=2000.0, limit=250).wait() == 3
    assert store.purge(ended_before=2000.0, limit=250).wait() == 0
    assert {run.id for run in store.list(RunFilter())} == {"order-9"}


def test_a_run_started_after_a_purge_is_claimed(store: Store) -> None:
    store.start(new_run("order-1")).wait()
    store.finish(claim_one(store), outcome()).wait()
    store.purge(ended_before=2000.0, limit=10).wait()
    store.start(new_run("order-2")).wait()
    assert claim_one(store).run.id == "order-2"
