"""Power cuts, as SIGKILL: what was acknowledged is there, and nothing is there by halves."""

from pathlib import Path

import pytest
import store_programs

from semel.errors import RunPurged
from semel.store.sqlite import Sqlite
from semel.testing.conformance import LONG, claim_one, new_run, outcome, record


@pytest.fixture
def opened(database: Path) -> Sqlite:
    """A store on the database, opened by the test when the process is dead."""
    return Sqlite(database, lease_clock=lambda: 1000.0)


@pytest.mark.parametrize("point", ["journal.in_batch", "journal.after_commit"])
@pytest.mark.parametrize("hit", [3, 10, 40])
def test_a_group_commit_that_dies_loses_no_acknowledged_record_and_halves_no_append(
    database: Path, opened: Sqlite, point: str, hit: int
) -> None:
    opened.open()
    opened.start(new_run()).wait()
    process = store_programs.start(store_programs.APPEND_PAIRS, database, crash_at=f"{point}:{hit}")
    out, errors = process.communicate()
    assert process.returncode == -9, errors
    uid, *acknowledged = out.splitlines()
    there = {found.path for found in opened.records(uid)}
    assert {f"{path}/{half}" for path in acknowledged for half in "ab"} <= there
    assert {path[:-1] + "a" for path in there} == {path for path in there if path.endswith("a")}
    assert {path[:-1] + "b" for path in there} == {path for path in there if path.endswith("b")}
    if point == "journal.after_commit":
        assert len(there) > 2 * len(acknowledged)
    opened.register("two", LONG).wait()
    (claim,) = opened.claim("two", ["fulfil"], 1, 1000.0).wait()
    assert (claim.takeover, claim.delivery) == (True, 2)
    opened.close()


@pytest.mark.parametrize("point", ["main.in_batch", "main.after_commit"])
def test_starts_that_die_lose_no_acknowledged_run(database: Path, opened: Sqlite, point: str) -> None:
    process = store_programs.start(store_programs.START_RUNS, database, crash_at=f"{point}:7")
    out, errors = process.communicate()
    assert process.returncode == -9, errors
    opened.open()
    for id in out.splitlines():
        assert opened.get(id) is not None
    opened.close()


@pytest.mark.parametrize(("point", "status"), [("main.in_batch:1", "pending"), ("main.after_commit:1", "completed")])
def test_a_process_that_dies_in_the_bodys_commit(database: Path, opened: Sqlite, point: str, status: str) -> None:
    opened.open()
    opened.start(new_run()).wait()
    program = "store.open(); store.finish(claim_one(store), outcome()).wait()"
    process = store_programs.start(program, database, crash_at=point)
    process.communicate()
    assert process.returncode == -9
    opened.register("two", LONG).wait()
    claims = opened.claim("two", ["fulfil"], 1, 1000.0).wait()
    run = opened.get("order-1")
    assert run is not None
    assert run.status == ("running" if status == "pending" else status)
    assert [claim.takeover for claim in claims] == ([True] if status == "pending" else [])
    opened.close()


@pytest.mark.rule("R11")
@pytest.mark.parametrize(
    "point", ["journal.after_commit:2", "main.in_batch:1", "main.after_commit:1", "journal.in_batch:3"]
)
def test_a_takeover_that_dies_half_way_counts_the_dead_owner_once(database: Path, opened: Sqlite, point: str) -> None:
    opened.open()
    run, _ = opened.start(new_run()).wait()
    opened.register("one", 1010.0).wait()
    (first,) = opened.claim("one", ["fulfil"], 1, 1000.0).wait()
    opened.mark(first, "")
    program = "store.open(); store.register('two', LONG).wait(); store.claim('two', ['fulfil'], 1, 1020.0).wait()"
    process = store_programs.start(program, database, crash_at=point)
    process.communicate()
    assert process.returncode == -9
    opened.register("three", LONG).wait()
    (claim,) = opened.claim("three", ["fulfil"], 1, 1020.0).wait()
    assert (claim.delivery, claim.takeover) == (2, True)
    assert not opened.append(first, [record(run.uid, "late")]).wait()
    assert not opened.finish(first, outcome()).wait()
    assert opened.finish(claim, outcome()).wait()
    opened.close()


@pytest.mark.parametrize(
    "point",
    ["main.in_batch:1", "main.after_commit:1", "journal.in_batch:1", "journal.after_commit:1", "main.in_batch:2"],
)
def test_a_purge_that_dies_half_way_is_finished_by_the_next(database: Path, opened: Sqlite, point: str) -> None:
    opened.open()
    run, _ = opened.start(new_run()).wait()
    claim = claim_one(opened)
    opened.append(claim, [record(run.uid, "p")]).wait()
    opened.finish(claim, outcome("faulted")).wait()
    process = store_programs.start(
        "store.open(); store.purge(ended_before=2000.0, limit=5).wait()", database, crash_at=point
    )
    process.communicate()
    assert process.returncode == -9
    if point != "main.in_batch:1":
        assert not opened.redeliver(run.uid, 1500.0).wait()
    assert opened.purge(ended_before=2000.0, limit=5).wait() == 1
    assert opened.get("order-1") is None
    assert opened.records(run.uid) == []
    with pytest.raises(RunPurged):
        opened.start(new_run()).wait()
    opened.close()


def test_a_process_killed_from_outside_loses_no_acknowledged_record(database: Path, opened: Sqlite) -> None:
    opened.open()
    opened.start(new_run()).wait()
    process = store_programs.start(store_programs.APPEND_PAIRS, database)
    assert process.stdout is not None
    uid = process.stdout.readline().strip()
    acknowledged = [process.stdout.readline().strip() for _ in range(300)]
    process.kill()
    rest, _ = process.communicate()
    acknowledged += rest.splitlines()
    there = {found.path for found in opened.records(uid)}
    complete = [path for path in acknowledged if path.count("/") == 1]
    assert {f"{path}/{half}" for path in complete[:-1] for half in "ab"} <= there
    opened.close()
