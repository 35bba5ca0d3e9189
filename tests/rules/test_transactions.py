"""Transactional steps: W13."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import String, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column
from time_scene import Scene

from semel import App, sleep, sleep_async, transaction, transaction_async
from semel.engine import points
from semel.engine.execution import Execution
from semel.engine.halt import Halt
from semel.errors import NotAllowedHere, ResultNotRecordable

the_app: list[App] = []
calls: list[str] = []
broken: set[str] = set()

DAY = timedelta(days=1)


class Base(DeclarativeBase):
    pass


class Stock(Base):
    __tablename__ = "stock"
    name: Mapped[str] = mapped_column(String, primary_key=True)
    left: Mapped[int]


@pytest.fixture
def shop(scene: Scene) -> Iterator[App]:
    calls.clear()
    broken.clear()
    the_app[:] = [scene.app]
    with scene.app.session() as session:
        Base.metadata.create_all(session.connection())
        session.add(Stock(name="tea", left=10))
        session.commit()
    yield scene.app
    points.watch(None)


def left(app: App) -> int:
    with app.session() as session:
        return session.scalars(select(Stock.left)).one()


def take(session: Session, number: int) -> int:
    calls.append("take")
    stock = session.get_one(Stock, "tea")
    stock.left -= number
    if "take" in broken:
        session.flush()
        raise ValueError("no more tea")
    return stock.left


def reserve_then_wait() -> int:
    there = transaction("reserve", lambda session: take(session, 3))
    sleep(DAY)
    return there


@pytest.mark.rule("W13")
def test_its_writes_are_seen_while_the_body_waits_and_are_made_once(scene: Scene, shop: App) -> None:
    run = scene.start(reserve_then_wait)
    assert (run.status, left(shop)) == ("parked", 7)
    scene.again(run, DAY)
    assert (run.result(), left(shop), calls) == (7, 7, ["take"])


async def take_async(session: AsyncSession, number: int) -> int:
    calls.append("take")
    stock = await session.get_one(Stock, "tea")
    stock.left -= number
    return stock.left


async def reserve_async() -> int:
    there = await transaction_async("reserve", lambda session: take_async(session, 4))
    await sleep_async(DAY)
    return there


@pytest.mark.rule("W13")
def test_in_an_async_body(scene: Scene, shop: App) -> None:
    run = scene.start(reserve_async)
    assert left(shop) == 6
    scene.again(run, DAY)
    assert (run.result(), left(shop), calls) == (6, 6, ["take"])


class _CutOff:
    """Ends the delivery at a point, as the death of its process would: nothing more is recorded or committed."""

    def __init__(self, point: str) -> None:
        self.point = point
        self.hits = 0

    def hit(self, name: str, path: str) -> None:
        if name == self.point:
            self.hits += 1
            if self.hits == 1:
                raise executions[-1].halt(Halt("lease lost"))


executions: list[Any] = []


@pytest.mark.rule("W13")
@pytest.mark.parametrize(
    "point", ["step.before", "transaction.before_commit", "transaction.after_commit", "body.before_commit"]
)
def test_a_delivery_that_is_cut_off_anywhere_makes_them_once(
    scene: Scene, shop: App, point: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Execution.__init__

    def remember(self: Execution, **options: Any) -> None:
        made(self, **options)
        executions.append(self)

    monkeypatch.setattr(Execution, "__init__", remember)
    cut = _CutOff(point)
    points.watch(cut)
    try:
        run = scene.start(reserve_then_wait)
    except BaseException:  # at the body's commit nothing is there to take it
        run = shop.run("one")
    scene.settle()
    scene.again(run, DAY)
    assert cut.hits > 0
    assert (run.result(), left(shop)) == (7, 7)
    assert not [note for note in shop.store.notes(run.uid) if note.kind == "possibly doubled"]


def handled() -> str:
    try:
        transaction("reserve", lambda session: take(session, 3))
    except ValueError as error:
        return str(error)
    return "reserved"


@pytest.mark.rule("W13")
def test_what_a_failed_one_has_written_is_rolled_back(scene: Scene, shop: App) -> None:
    broken.add("take")
    run = scene.start(handled)
    assert (run.result(), left(shop)) == ("no more tea", 10)


def fails_afterwards() -> None:
    transaction("reserve", lambda session: take(session, 3))
    if "later" in broken:
        raise ValueError("later")


@pytest.mark.rule("W13")
def test_its_writes_stay_when_the_body_fails_and_are_not_made_again(scene: Scene, shop: App) -> None:
    broken.add("later")
    run = scene.start(fails_afterwards)
    assert (run.status, left(shop)) == ("faulted", 7)
    broken.clear()
    run.retry()
    scene.settle()
    assert (run.status, left(shop), calls) == ("completed", 7, ["take"])


def several() -> list[int]:
    return [transaction("reserve", lambda session: take(session, number)) for number in (1, 2, 3)]


def test_in_a_loop_each_is_one_of_its_own(scene: Scene, shop: App) -> None:
    assert scene.start(several).result() == [9, 7, 4]


def test_its_record_is_in_the_apps_own_database(scene: Scene, shop: App, tmp_path: Path) -> None:
    run = scene.start(fails_afterwards)
    assert run.status == "completed"
    with closing(sqlite3.connect(tmp_path / "shop.db")) as connection:
        (path,) = connection.execute("SELECT path FROM semel_steps").fetchone()
    assert path.endswith("#reserve")


def forgets_and_runs_again() -> int:
    there = transaction("reserve", lambda session: take(session, 1))
    if "later" in broken:
        raise ValueError("later")
    return there


@pytest.mark.rule("O25")
def test_a_forgotten_one_runs_again(scene: Scene, shop: App) -> None:
    broken.add("later")
    run = scene.start(forgets_and_runs_again)
    run.forget(shop.store.records(run.uid)[0].path)
    broken.clear()
    run.retry()
    scene.settle()
    assert (run.result(), left(shop)) == (8, 8)


# ---------------------------------------------------------------------------------------------------------- bad input


def after_a_write() -> None:
    session = the_app[0].session()
    session.add(Stock(name="coffee", left=1))
    session.flush()
    transaction("reserve", lambda other: take(other, 1))


@pytest.mark.rule("W13")
def test_after_a_write_of_the_body_it_is_refused_rather_than_waited_for(scene: Scene, shop: App) -> None:
    run = scene.start(after_a_write)
    with pytest.raises(NotAllowedHere, match="before that write"):
        run.result()
    assert left(shop) == 10


def after_a_read() -> int:
    session = the_app[0].session()
    assert session.get_one(Stock, "tea").left == 10
    there = transaction("reserve", lambda other: take(other, 1))
    session.add(Stock(name="coffee", left=there))
    return there


def test_after_a_read_and_before_a_write_it_is_fine(scene: Scene, shop: App) -> None:
    assert scene.start(after_a_read).result() == 9


hidden: dict[str, Any] = {"object": object, "commit": lambda session: session.commit(), "async": take_async}


def unrecordable() -> None:
    transaction("reserve", lambda session: [take(session, 1), hidden["object"]()])


def test_a_result_that_cannot_be_recorded_rolls_it_back(scene: Scene, shop: App) -> None:
    run = scene.start(unrecordable)
    with pytest.raises(ResultNotRecordable, match="rolled back"):
        run.result()
    assert left(shop) == 10


def commits_itself() -> None:
    transaction("reserve", lambda session: hidden["commit"](session))


def test_a_commit_in_it_is_refused(scene: Scene, shop: App) -> None:
    with pytest.raises(NotAllowedHere, match="commit"):
        scene.start(commits_itself).result()


def is_async() -> Any:
    return transaction("reserve", lambda session: hidden["async"](session, 1))


def test_async_work_in_a_sync_one_is_refused(scene: Scene, shop: App) -> None:
    with pytest.raises(TypeError, match="transaction_async"):
        scene.start(is_async).result()
    assert left(shop) == 10


def test_outside_of_a_run_it_says_what_to_write() -> None:
    with pytest.raises(NotAllowedHere, match="Outside of a run"):
        transaction("reserve", lambda session: None)
