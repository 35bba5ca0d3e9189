"""The session of a body (rules W1, A4, R11): one transaction, which only the body's commit ends."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import String
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from semel import App, once, run_child
from semel.errors import NotAllowedHere

the_app: list[App] = []
done: list[str] = []
broken = {"yes": True}


class Base(DeclarativeBase):
    pass


class Order(Base):
    __tablename__ = "orders"
    name: Mapped[str] = mapped_column(String, primary_key=True)


@pytest.fixture
def shop(app: App) -> Iterator[App]:
    done.clear()
    broken["yes"] = True
    the_app[:] = [app]
    with app.session() as session:
        Base.metadata.create_all(session.connection())
        session.commit()
    return app


def orders(app: App) -> list[str]:
    with app.session() as session:
        return [order.name for order in session.query(Order)]


def break_once() -> None:
    if broken["yes"]:
        raise RuntimeError("broken")


def writes_in_a_block(name: str) -> None:
    with the_app[0].session() as session:
        session.add(Order(name=name))
    break_once()


async def writes_in_an_async_block(name: str) -> None:
    async with the_app[0].async_session() as session:
        session.add(Order(name=name))
    break_once()


@pytest.mark.rule("W1")
@pytest.mark.parametrize("workflow", [writes_in_a_block, writes_in_an_async_block])
def test_a_block_round_the_session_neither_loses_nor_commits_the_rows(shop: App, workflow) -> None:
    shop.workflow(workflow)
    run = shop.start(workflow, "A-1")
    with shop.worker():
        with pytest.raises(RuntimeError):
            run.result(timeout=10)
        assert orders(shop) == []
        broken["yes"] = False
        run.retry()
        run.result(timeout=10)
    assert orders(shop) == ["A-1"]


def commits(name: str) -> None:
    session = the_app[0].session()
    session.add(Order(name=name))
    session.commit()


def begins(name: str) -> None:
    with the_app[0].session().begin():
        pass


async def commits_async(name: str) -> None:
    session = the_app[0].async_session()
    session.add(Order(name=name))
    await session.commit()


def writes_in_a_step(name: str) -> None:
    def write() -> None:
        session = the_app[0].session()
        session.add(Order(name=name))
        session.flush()

    once("write", lambda: write())


@pytest.mark.rule("W1")
@pytest.mark.parametrize("workflow", [commits, begins, commits_async, writes_in_a_step])
def test_what_would_end_the_bodys_transaction_early_or_outlive_it_is_refused(shop: App, workflow) -> None:
    shop.workflow(workflow)
    with shop.worker(), pytest.raises(NotAllowedHere, match="body"):
        shop.start(workflow, "A-1").result(timeout=10)
    assert orders(shop) == []


def reads_in_a_step(name: str) -> object:
    session = the_app[0].session()
    session.add(Order(name=name))
    session.flush()
    found = once("read", lambda: [order.name for order in the_app[0].session().query(Order)])
    with session.begin_nested():
        session.add(Order(name=f"{name}-2"))
    return found


@pytest.mark.rule("A4")
def test_reads_in_a_step_and_savepoints_in_a_body_are_fine(shop: App) -> None:
    shop.workflow(reads_in_a_step)
    with shop.worker():
        assert shop.start(reads_in_a_step, "A-1").result(timeout=10) == ["A-1"]
    assert orders(shop) == ["A-1", "A-1-2"]


def writes_after_a_step(name: str) -> None:
    once("charge", lambda: done.append("charge"))
    session = the_app[0].session()
    session.add(Order(name=name))
    done.append("attempt")


@pytest.mark.rule("R11")
def test_a_locked_database_delivers_the_execution_again(
    shop: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("semel.workflow.session._BUSY", 0.01)
    shop.close()
    shop.workflow(writes_after_a_step)
    run = shop.start(writes_after_a_step, "A-1")
    with closing(sqlite3.connect(tmp_path / "shop.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with shop.worker():
            while done.count("attempt") < 2:
                pass
            other.execute("COMMIT")
            run.result(timeout=30)
    assert done.count("charge") == 1
    assert orders(shop) == ["A-1"]


def test_the_seed_shows_in_no_repr(shop: App) -> None:
    shop.workflow(reads_in_a_step)
    shop.start(reads_in_a_step, "A-1", id="one")
    (row,) = shop.runs()
    assert "seed" not in repr(row)
    assert row.seed.hex() not in repr(row)


async def writes_async(name: str) -> str:
    the_app[0].async_session().add(Order(name=name))
    return name


def has_a_child_that_writes(name: str) -> str:
    the_app[0].session().add(Order(name=f"parent of {name}"))
    return run_child("child", writes_async, name).result()


@pytest.mark.rule("W5")
def test_a_child_that_commits_rows_wakes_its_parent(shop: App) -> None:
    shop.workflow(writes_async)
    shop.workflow(has_a_child_that_writes)
    run = shop.start(has_a_child_that_writes, "A-1")
    with shop.worker():
        assert run.result(timeout=10) == "A-1"
    assert sorted(orders(shop)) == ["A-1", "parent of A-1"]


def test_a_database_that_a_session_makes_is_for_its_user_alone(tmp_path: Path) -> None:
    new = App("private", database=f"sqlite:///{tmp_path / 'private.db'}")
    with new.session() as session:
        Base.metadata.create_all(session.connection())
        session.commit()
    new.close()
    assert (tmp_path / "private.db").stat().st_mode & 0o077 == 0
