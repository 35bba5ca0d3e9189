"""Visits, the body's transaction, redelivery and deploys: V1–V6, W1, W12, R11, A4, A6, D1, D4."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from semel import App, once
from semel.errors import RecordUnreadable, RunFaulted, UnreachedSteps

done: list[str] = []
broken = {"yes": True}


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    done.clear()
    broken["yes"] = True
    return


def do(what: str, result: object = None) -> object:
    done.append(what)
    return result


def break_once() -> None:
    if broken["yes"]:
        raise RuntimeError("broken")


def mend_and_retry(run) -> object:
    broken["yes"] = False
    assert run.retry()
    return run.result(timeout=10)


# --------------------------------------------------------------------------------------------------------------- visits


def charge() -> object:
    receipt = once("charge", lambda: do("charge", "receipt"))
    break_once()
    return receipt


@pytest.mark.rule("V1")
@pytest.mark.rule("V4")
@pytest.mark.rule("V5")
def test_a_visit_is_counted_when_its_execution_has_ended_and_not_before(app: App) -> None:
    app.workflow(charge)
    run = app.start(charge, id="one")
    with app.worker():
        with pytest.raises(RuntimeError):
            run.result(timeout=10)
        assert app.store.get("one").visits == {}
        mend_and_retry(run)
    assert app.store.get("one").visits == {"start": 1}
    assert [record.path for record in run.steps()] == ["charge/start@1#charge"]


@pytest.mark.rule("V1")
@pytest.mark.rule("O3")
def test_the_next_visit_of_a_body_is_new_work(app: App, tmp_path: Path) -> None:
    app.workflow(charge)
    broken["yes"] = False
    run = app.start(charge, id="one")
    with app.worker():
        run.result(timeout=10)
    with closing(
        sqlite3.connect(tmp_path / "shop.db", isolation_level=None)
    ) as database:  # no function workflow begins a second visit by itself yet
        database.execute("UPDATE semel_runs SET status = 'pending', result = NULL, finished_at = NULL")
    with app.worker():
        run.result(timeout=10)
    assert [record.path for record in run.steps()] == ["charge/start@1#charge", "charge/start@2#charge"]
    assert done == ["charge", "charge"]


# ----------------------------------------------------------------------------------------------- the body's transaction


class Rows:
    """A table of the app's own, through plain SQLAlchemy."""

    def __init__(self, app: App) -> None:
        self.app = app
        with app.session() as session:
            session.connection().exec_driver_sql("CREATE TABLE orders (name TEXT, receipt TEXT)")
            session.commit()

    def all(self) -> list[tuple[str, str]]:
        with self.app.session() as session:
            return [tuple(row) for row in session.connection().exec_driver_sql("SELECT name, receipt FROM orders")]


the_app: list[App] = []


def insert(session, name: str, receipt: object) -> None:
    session.connection().exec_driver_sql("INSERT INTO orders VALUES (?, ?)", (name, receipt))


def writes_rows(name: str) -> None:
    session = the_app[0].session()
    insert(session, name, "before")
    receipt = once("charge", lambda: do("charge", "receipt"))
    insert(session, name, receipt)
    break_once()


@pytest.mark.rule("W1")
@pytest.mark.rule("A4")
def test_only_the_last_attempt_of_a_body_commits_its_rows(app: App) -> None:
    the_app[:] = [app]
    rows = Rows(app)
    app.workflow(writes_rows)
    run = app.start(writes_rows, "A-1")
    with app.worker():
        with pytest.raises(RuntimeError):
            run.result(timeout=10)
        assert rows.all() == []
        mend_and_retry(run)
    assert rows.all() == [("A-1", "before"), ("A-1", "receipt")]
    assert done == ["charge"]


async def writes_rows_async(name: str) -> None:
    session = the_app[0].async_session()
    connection = await session.connection()
    await connection.exec_driver_sql("INSERT INTO orders VALUES (?, ?)", (name, "async"))
    break_once()


@pytest.mark.rule("W1")
def test_an_async_body_commits_its_rows_with_the_run(app: App) -> None:
    the_app[:] = [app]
    rows = Rows(app)
    app.workflow(writes_rows_async)
    run = app.start(writes_rows_async, "A-1")
    with app.worker():
        with pytest.raises(RuntimeError):
            run.result(timeout=10)
        assert rows.all() == []
        mend_and_retry(run)
    assert rows.all() == [("A-1", "async")]


def violates_a_constraint() -> None:
    session = the_app[0].session()
    connection = session.connection()
    connection.exec_driver_sql("INSERT INTO orders VALUES ('A', 'kept?')")
    with session.begin_nested():
        connection.exec_driver_sql("INSERT INTO orders VALUES ('B', 'in a savepoint')")
    raise RuntimeError("after the savepoint")


@pytest.mark.rule("W1")
def test_a_savepoint_is_no_commit(app: App) -> None:
    the_app[:] = [app]
    rows = Rows(app)
    app.workflow(violates_a_constraint)
    run = app.start(violates_a_constraint)
    with app.worker(), pytest.raises(RuntimeError, match="after the savepoint"):
        run.result(timeout=10)
    assert rows.all() == []


# ------------------------------------------------------------------------------------------------------------ unreached


def takes_another_way() -> None:
    if broken["yes"]:
        once("old way", lambda: do("old way"))
    else:
        once("new way", lambda: do("new way"))
    break_once()


@pytest.mark.rule("W12")
def test_a_step_that_the_committed_attempt_did_not_reach_is_listed(app: App, caplog: pytest.LogCaptureFixture) -> None:
    app.workflow(takes_another_way)
    run = app.start(takes_another_way)
    with app.worker():
        with pytest.raises(RuntimeError):
            run.result(timeout=10)
        mend_and_retry(run)
    assert ("unreached", "takes_another_way/start@1#old way") in [(note.kind, note.path) for note in run.notes()]
    assert "old way" in caplog.text


@pytest.mark.rule("W12")
def test_a_strict_workflow_faults_instead(app: App) -> None:
    app.workflow(strict=True)(takes_another_way)
    run = app.start(takes_another_way)
    with app.worker():
        with pytest.raises(RuntimeError):
            run.result(timeout=10)
        broken["yes"] = False
        run.retry()
        with pytest.raises(UnreachedSteps, match="old way"):
            run.result(timeout=10)


def outer() -> object:
    value = once("outer", lambda: nested())
    break_once()
    return value


def nested() -> object:
    return once("inner", lambda: do("inner", 3))


@pytest.mark.rule("W12")
@pytest.mark.rule("O2")
def test_steps_inside_a_found_step_are_not_unreached(app: App) -> None:
    app.workflow(strict=True)(outer)
    run = app.start(outer)
    with app.worker():
        with pytest.raises(RuntimeError):
            run.result(timeout=10)
        assert mend_and_retry(run) == 3
    assert [record.path for record in run.steps()] == ["outer/start@1/outer/nested#inner", "outer/start@1#outer"]
    assert "unreached" not in [note.kind for note in run.notes()]


# ----------------------------------------------------------------------------------------------------------- redelivery


attempts: list[int] = []


def needs_three_attempts() -> int:
    once("first", lambda: do("first"))
    attempts.append(1)
    if len(attempts) < 3:
        raise RuntimeError("not yet")
    return len(attempts)


@pytest.mark.rule("R11")
def test_a_policy_delivers_a_faulted_execution_again(app: App) -> None:
    attempts.clear()
    app.workflow(redeliver=2)(needs_three_attempts)
    run = app.start(needs_three_attempts)
    with app.worker():
        assert run.result(timeout=10) == 3
    assert done == ["first"]
    assert [note.kind for note in run.notes()] == ["redelivered", "redelivered"]


@pytest.mark.rule("R11")
def test_without_a_policy_the_fault_reaches_the_caller_as_itself(app: App) -> None:
    attempts.clear()
    app.workflow(needs_three_attempts)
    run = app.start(needs_three_attempts)
    with app.worker(), pytest.raises(RuntimeError, match="not yet") as raised:
        run.result(timeout=10)
    assert "needs_three_attempts" in "".join(raised.value.__notes__), "with the traceback of the run"
    assert run.status == "faulted"


def raises_what_cannot_be_recorded() -> None:
    class Local(Exception):
        pass

    raise Local("local")


@pytest.mark.rule("R11")
def test_a_fault_that_cannot_be_recorded_arrives_as_text(app: App) -> None:
    app.workflow(raises_what_cannot_be_recorded)
    run = app.start(raises_what_cannot_be_recorded)
    with app.worker(), pytest.raises(RunFaulted, match="Local: local"):
        run.result(timeout=10)


# -------------------------------------------------------------------------------------------------------------- deploys

BEFORE = """
    from semel import once

    done = []

    def fulfil(order):
        receipt = once("charge", lambda: done.append("charge") or "receipt")
        notify(order)
        raise RuntimeError("broken")

    def notify(order):
        for line in ["a", "b"]:
            once("mail", lambda: done.append(f"mail {line}"))
"""

AFTER = """
    from semel import once
    from {helpers} import notify

    done = []

    def check(order):
        return once("check", lambda: done.append("check"))

    def fulfil(order):
        check(order)
        [notify(order) for _ in ()]
        notify(order)
        receipt = once("charge", lambda: done.append("charge") or "receipt")
        return receipt
"""

HELPERS = """
    from semel import once

    done = []

    def notify(order):
        [once("mail", lambda: done.append(f"mail {line}")) for line in ["a", "b", "c"]]
"""


@pytest.mark.rule("D1")
@pytest.mark.rule("O17")
def test_a_run_in_flight_finds_by_name_what_it_has_done_after_a_deploy(new_app, program) -> None:
    old = program(BEFORE)
    first = new_app("shop")
    first.workflow(old.fulfil)
    run = first.start(old.fulfil, "A-1", id="A-1")
    with first.worker(), pytest.raises(RuntimeError):
        run.result(timeout=10)
    assert old.done == ["charge", "mail a", "mail b"]
    first.close()

    helpers = program(HELPERS)
    new = program(AFTER.format(helpers=helpers.__name__))
    from semel.compiler import add_package

    add_package(helpers.__name__)
    second = new_app("shop")
    second.workflow(new.fulfil)
    again = second.run("A-1")
    again.retry()
    with second.worker():
        assert again.result(timeout=10) == "receipt"
    assert new.done == ["check"], "moved, reordered and rewritten as a comprehension, and found all the same"
    assert helpers.done == ["mail c"]


TYPED = """
    from dataclasses import dataclass, field
    from semel import once

    broken = [{broken}]

    @dataclass
    class {name}:
        number: str
        {extra}

    def fulfil():
        receipt = once("charge", lambda: {name}("R-1"))
        if broken[0]:
            raise RuntimeError("broken")
        return repr(receipt)
"""


def deployed(new_app, program, extra: str, name: str = "Receipt", **options: object):
    old = program(TYPED.format(broken=True, name="Receipt", extra=""), name="typed_shop")
    first = new_app("shop")
    first.workflow(old.fulfil)
    run = first.start(old.fulfil, id="A-1")
    with first.worker(), pytest.raises(RuntimeError):
        run.result(timeout=10)
    first.close()
    new = program(TYPED.format(broken=False, name=name, extra=extra), name="typed_shop")
    if name != "Receipt":
        options["aliases"] = {"Receipt": getattr(new, name)}
    second = new_app("shop", **options)
    second.workflow(new.fulfil)
    again = second.run("A-1")
    again.retry()
    with second.worker():
        return again.result(timeout=10)


@pytest.mark.rule("D4")
def test_a_recorded_type_may_move_and_gain_fields_with_defaults(new_app, program) -> None:
    assert deployed(new_app, program, extra="currency: str = 'EUR'") == "Receipt(number='R-1', currency='EUR')"


@pytest.mark.rule("D4")
def test_a_recorded_type_may_be_renamed_with_an_alias(new_app, program) -> None:
    assert deployed(new_app, program, extra="", name="Invoice") == "Invoice(number='R-1')"


@pytest.mark.rule("D4")
def test_a_value_that_no_longer_fits_is_an_error_that_names_the_path(new_app, program) -> None:
    with pytest.raises(RecordUnreadable, match=r"fulfil/start@1#charge"):
        deployed(new_app, program, extra="currency: str")


def violates(card: str) -> None:
    session = the_app[0].session()
    connection = session.connection()
    connection.exec_driver_sql("CREATE TABLE cards (number TEXT UNIQUE)")
    for _ in range(2):
        connection.exec_driver_sql("INSERT INTO cards VALUES (?)", (card,))


@pytest.mark.rule("W1")
def test_a_database_error_is_told_without_its_parameters(app: App, caplog: pytest.LogCaptureFixture) -> None:
    the_app[:] = [app]
    app.workflow(violates)
    run = app.start(violates, "4242 4242")
    with app.worker(), pytest.raises(RunFaulted, match="UNIQUE constraint failed") as raised:
        run.result(timeout=10)
    row = app.store.get(run.id)
    assert row is not None
    for text in (str(raised.value), row.fault, caplog.text):
        assert "4242" not in (text or "")
