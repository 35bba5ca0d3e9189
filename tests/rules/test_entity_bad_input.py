"""What goes wrong with rows and events is said with the row, the state and the remedy; and nothing is lost."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from entity_programs import HEAD, SHOP, Load, kit_of, paths, place, seen
from sqlalchemy import insert, text, update

from semel.errors import (
    EntityGone,
    EntityNotFollowed,
    EntityStateChanged,
    EventNotTaken,
    NotAllowedHere,
    RegistrationError,
    RunBusy,
)

pytestmark = pytest.mark.rule("W2")


def test_an_event_in_a_state_that_does_not_take_it_names_row_state_and_who_would(program: Load) -> None:
    shop = program(SHOP)
    with kit_of(shop):
        order = place(shop)
        with pytest.raises(
            EventNotTaken, match=r"OrderFlow\.ship on Order 1: .* PLACED, which does not.*; CHARGED would"
        ):
            shop.OrderFlow.ship(order)
        assert shop.OrderFlow.pay(order, 1).state is shop.Stage.CHARGED


def test_a_payload_of_the_wrong_type_is_refused_before_anything_runs(program: Load) -> None:
    shop = program(SHOP)
    with kit_of(shop):
        order = place(shop)
        with pytest.raises(TypeError, match=r"OrderFlow\.pay carries a int, not a str"):
            shop.OrderFlow.pay(order, "5")
        with pytest.raises(TypeError, match=r"OrderFlow\.pay"):
            shop.OrderFlow.pay.later(order)
        with pytest.raises(TypeError, match=r"OrderFlow\.pay is for a Order, not for a str"):
            shop.OrderFlow.pay("order", 5)
        assert shop.did == []


def test_only_the_run_writes_the_state(program: Load) -> None:
    shop = program(SHOP)
    with kit_of(shop), shop.app.session() as session:
        with pytest.raises(EntityStateChanged, match=r"begins in Stage\.PLACED.*not in Stage\.CHARGED"):
            shop.Order(stage=shop.Stage.CHARGED)
        order = shop.Order(stage=shop.Stage.PLACED)
        session.add(order)
        session.commit()
        with pytest.raises(NotAllowedHere, match=r"Order 1: Order\.stage = Stage\.CHARGED.*OrderFlow\.pay"):
            order.stage = shop.Stage.CHARGED
        with pytest.raises(NotAllowedHere, match=r"update\(Order\) would write Order\.stage"):
            session.execute(update(shop.Order).values(stage=shop.Stage.CHARGED))
        with pytest.raises(NotAllowedHere, match=r"session\.add_all"):
            session.execute(insert(shop.Order), [{"stage": shop.Stage.PLACED}])
        session.execute(update(shop.Order).values(note="free to write"))
        session.commit()
    assert order.stage is shop.Stage.PLACED


def test_a_state_written_by_hand_faults_the_run_with_the_remedy_and_can_be_adopted(program: Load) -> None:
    shop = program(SHOP)
    with kit_of(shop) as kit:
        order = place(shop)
        run = shop.OrderFlow.run_of(order)
        with shop.app.session() as session:
            session.execute(text("UPDATE orders SET stage = 'CHARGED'"))
            session.commit()
        with pytest.raises(
            EntityStateChanged, match=r"Order 1 is in the state CHARGED.*has brought it to PLACED.*adopt"
        ):
            shop.OrderFlow.note(order, "x")
        kit.settle()
        assert run.status == "parked"
        kit.advance(timedelta(days=3))
        assert run.status == "faulted"
        with pytest.raises(EntityStateChanged, match="has brought it to PLACED"):
            run.result()
        with pytest.raises(EventNotTaken, match=r"has faulted \(.*has brought it to PLACED.*run\.retry\(\)"):
            shop.OrderFlow.note(order, "x")
        adopted = shop.OrderFlow.adopt(order)
        assert adopted.id.startswith("OrderFlow/1~")
        kit.settle()
        assert shop.did == ["thank"]
        assert shop.OrderFlow.ship(order).state is shop.Stage.SHIPPED


def test_a_row_without_a_run_is_adopted(program: Load) -> None:
    shop = program(SHOP)
    with kit_of(shop):
        with shop.app.session() as session:
            session.execute(text("INSERT INTO orders (id, stage) VALUES (7, 'PLACED')"))
            session.commit()
            order = session.get(shop.Order, 7)
            with pytest.raises(EntityNotFollowed, match=r"no run of OrderFlow follows Order 7.*adopt"):
                shop.OrderFlow.pay(order, 5)
        assert shop.OrderFlow.run_of(order) is None
        run = shop.OrderFlow.adopt(order)
        assert shop.OrderFlow.adopt(order).uid == run.uid
        assert shop.OrderFlow.pay(order, 5).state is shop.Stage.CHARGED


def test_an_event_on_a_deleted_row_says_so_and_its_run_has_ended(program: Load) -> None:
    shop = program(SHOP)
    with kit_of(shop) as kit:
        order = place(shop)
        run = shop.OrderFlow.run_of(order)
        with shop.app.session() as session:
            mine = session.get(shop.Order, order.id)
            session.delete(mine)
            session.flush()
            with pytest.raises(EntityGone, match="Order 1 was deleted"):
                shop.OrderFlow.pay(mine, 5, session=session)
            session.commit()
        with pytest.raises(EventNotTaken, match="is to end"):
            shop.OrderFlow.pay(order, 5)
        kit.settle()
        assert run.status == "cancelled"


def test_a_key_used_again_begins_a_run_of_its_own(program: Load) -> None:
    shop = program(SHOP)
    with kit_of(shop) as kit:
        order = place(shop)
        shop.OrderFlow.note(order, "first")
        with shop.app.session() as session:
            session.execute(text("DELETE FROM orders"))
            session.commit()
        again = place(shop, id=order.id)
        assert shop.OrderFlow.run_of(again).id.startswith("OrderFlow/1~")
        shop.OrderFlow.note(again, "first")
        assert shop.did == ["write first", "tell"] * 2
        kit.settle()
        assert sorted(row.status for row in shop.app.runs()) == ["cancelled", "parked"]


@pytest.mark.parametrize("policy", ["refuse", "keep"])
def test_what_deleting_a_row_does_is_declared(program: Load, policy: str) -> None:
    shop = program(SHOP.replace("autostart=True)", f"autostart=True, on_delete={policy!r})"))
    with kit_of(shop) as kit, shop.app.session() as session:
        order = shop.Order()
        session.add(order)
        session.commit()
        run = shop.OrderFlow.run_of(order)
        session.delete(order)
        if policy == "refuse":
            with pytest.raises(
                NotAllowedHere, match=r"Order 1 cannot be deleted: OrderFlow follows it, in the state PLACED"
            ):
                session.flush()
            session.rollback()
            return
        session.commit()
        kit.settle()
        assert run.status == "parked"
        kit.advance(timedelta(days=3))
        with pytest.raises(EntityGone, match="there is no Order 1 in the database"):
            run.result()


def test_an_object_without_a_row_is_refused(program: Load) -> None:
    shop = program(SHOP)
    with kit_of(shop), pytest.raises(EntityGone, match="this Order has no row yet"):
        shop.OrderFlow.pay(shop.Order(), 5)


def test_a_stale_object_is_only_a_name_of_its_row(program: Load) -> None:
    shop = program(SHOP)
    with kit_of(shop):
        order = place(shop)  # detached
        with shop.app.session() as session:
            stale = session.get(shop.Order, order.id)
            shop.OrderFlow.note(order, "new")
            assert stale.note is None
            shop.OrderFlow.pay(stale, 5, session=session)
            session.commit()
        assert seen(shop, order) == ("CHARGED", "charged 5")


def test_changes_that_are_not_committed_want_the_session(program: Load) -> None:
    shop = program(SHOP)
    with kit_of(shop):
        order = place(shop)
        with shop.app.session() as session:
            mine = session.get(shop.Order, order.id)
            mine.note = "changed"
            with pytest.raises(NotAllowedHere, match=r"OrderFlow\.pay\(…, session=session\)"):
                shop.OrderFlow.pay(mine, 5)
            with pytest.raises(NotAllowedHere, match="not committed"):
                shop.OrderFlow.pay.later(mine, 5)
            shop.OrderFlow.pay(mine, 5, session=session)
            session.commit()
        assert seen(shop, order)[0] == "CHARGED"


COMMITS = SHOP.replace('        once("tell", lambda: do("tell"))\n', "        self.session.commit()\n")


@pytest.mark.parametrize("joined", [True, False])
def test_an_arm_does_not_commit_by_itself(program: Load, *, joined: bool) -> None:
    shop = program(COMMITS)
    with kit_of(shop):
        order = place(shop)
        with shop.app.session() as session:
            mine = session.get(shop.Order, order.id)
            with pytest.raises(NotAllowedHere, match=r"commit\(\) in"):
                shop.OrderFlow.note(mine, "x", session=session if joined else None)
            session.rollback()
        assert seen(shop, order) == ("PLACED", None)


def test_an_enum_whose_member_was_renamed_faults_the_runs_in_it_with_the_remedy(program: Load) -> None:
    shop = program(SHOP, "renamed_shop")
    url = ""
    with kit_of(shop) as kit:
        place(shop)
        url = kit.database
        renamed = program(
            SHOP.replace("PLACED", "ORDERED").replace('App("shop")', f'App("shop", database={url!r}, now=lambda: 2e9)'),
            "renamed_shop",
        )
        with renamed.app.worker(), pytest.raises(EntityStateChanged, match=r"'PLACED'.*no member.*ORDERED.*old name"):
            renamed.app.run("OrderFlow/1").result(timeout=30)
        renamed.app.close()


def test_a_body_that_is_gone_while_an_execution_of_it_waits_faults_the_run_with_the_remedy(program: Load) -> None:
    shop = program(SHOP)
    with kit_of(shop) as kit:
        order = place(shop)
        shop.fails.append("charge")
        shop.OrderFlow.pay(order, 5)
        del shop.OrderFlow.__definition__.bodies["PLACED.on_pay"]
        kit.advance(timedelta(seconds=2))
        with pytest.raises(
            EntityStateChanged, match=r"has begun PLACED\.on_pay@1.*has no body PLACED\.on_pay any more"
        ):
            shop.OrderFlow.run_of(order).result()


def test_a_body_that_returns_something_else_than_a_state_faults(program: Load) -> None:
    shop = program(
        SHOP.replace("return Stage.SHIPPED\n", "return 'SHIPPED'\n").replace("shipped = success", "_ = success")
    )
    with kit_of(shop):
        order = place(shop)
        shop.OrderFlow.pay(order, 5)
        with pytest.raises(NotAllowedHere, match=r"CHARGED\.on_ship@1 returned 'SHIPPED'.*a member of Stage"):
            shop.OrderFlow.ship(order)


SLOW = (
    HEAD
    + """
import threading

begun, goes_on = threading.Event(), threading.Event()


def slow() -> str:
    begun.set()
    goes_on.wait(30)
    return "slow"


@app.workflow
class OrderFlow(Workflow[Order], tracks=Order.stage, initial=Stage.PLACED, autostart=True):
    pay = Event()
    note = Event[str]()

    @on(pay, Stage.PLACED)
    def paid(self) -> Stage:
        once("slow", slow)
        return Stage.CHARGED

    @on(note, Stage.PLACED, Stage.CHARGED)
    def noted(self, text: str) -> None:
        self.item.note = text
"""
)


@pytest.mark.rule("W4")
def test_two_callers_at_once_are_one_after_the_other(program: Load) -> None:
    shop = program(SLOW)
    with kit_of(shop):
        order = place(shop)
        told: list[Any] = []
        first = threading.Thread(target=lambda: told.append(shop.OrderFlow.pay(order)))
        first.start()
        assert shop.begun.wait(30)
        second = threading.Thread(target=lambda: told.append(shop.OrderFlow.note(order, "second")))
        second.start()
        shop.goes_on.set()
        first.join(30)
        second.join(30)
        assert [raised.state.name for raised in told] == ["CHARGED", "CHARGED"]
        assert seen(shop, order) == ("CHARGED", "second")


@pytest.mark.rule("W4")
def test_who_waits_for_a_run_that_is_not_let_go_gets_a_clear_error(
    program: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    from semel.entities import raising

    monkeypatch.setattr(raising, "_PATIENCE", 0.1)
    shop = program(SHOP)
    with kit_of(shop):
        order = place(shop)
        with shop.app.session() as session:
            mine = session.get(shop.Order, order.id)
            shop.OrderFlow.note(mine, "held", session=session)
            with pytest.raises(RunBusy, match=r"Order 1.*still open.*later"):
                shop.OrderFlow.note(order, "other")
            session.commit()
        shop.OrderFlow.note(order, "other")
        assert seen(shop, order) == ("PLACED", "other")


@pytest.mark.rule("W4")
def test_several_events_in_one_transaction_are_each_seen_by_the_next(program: Load) -> None:
    shop = program(SHOP)
    with kit_of(shop) as kit:
        order = place(shop)
        with shop.app.session() as session:
            mine = session.get(shop.Order, order.id)
            shop.OrderFlow.note(mine, "one", session=session)
            shop.OrderFlow.note(mine, "two", session=session)
            shop.OrderFlow.pay(mine, 5, session=session)
            session.commit()
        kit.settle()
        assert seen(shop, order) == ("CHARGED", "charged 5")
        assert paths(shop.OrderFlow.run_of(order))[::2] == [
            "OrderFlow/PLACED.on_note@1#write",
            "OrderFlow/PLACED.on_note@2#write",
            "OrderFlow/PLACED.on_pay@1#charge",
        ]


COMPOSITE = (
    HEAD.replace(
        "    id: Mapped[int] = mapped_column(primary_key=True)\n",
        "    shop: Mapped[str] = mapped_column(primary_key=True)\n    id: Mapped[int] = "
        "mapped_column(primary_key=True)\n"
        "    sent: Mapped[Stage]\n",
    )
    + """
@app.workflow
class OrderFlow(Workflow[Order], tracks=Order.stage, initial=Stage.PLACED, autostart=True):
    pay = Event()

    @on(pay, Stage.PLACED)
    def paid(self) -> Stage:
        return Stage.CHARGED


@app.workflow
class Sending(Workflow[Order], tracks=Order.sent, initial=Stage.PLACED, autostart=True):
    send = Event()

    @on(send, Stage.PLACED)
    def sends(self) -> Stage:
        return Stage.SHIPPED

    done = success(Stage.SHIPPED, "sent")
"""
)


def test_a_composite_key_and_two_workflows_that_follow_one_row(program: Load) -> None:
    shop = program(COMPOSITE)
    with kit_of(shop) as kit:
        order = place(shop, shop="north", id=5)
        assert sorted(row.id for row in shop.app.runs()) == ["OrderFlow/north,5", "Sending/north,5"]
        shop.OrderFlow.pay(order)
        shop.Sending.send(order)
        kit.settle()
        with shop.app.session() as session:
            row = session.get(shop.Order, ("north", 5))
            assert (row.stage, row.sent) == (shop.Stage.CHARGED, shop.Stage.SHIPPED)


ENDS_ITS_SESSION = SHOP.replace('        once("tell", lambda: do("tell"))\n', "        END\n")


@pytest.mark.rule("W4")
@pytest.mark.parametrize(
    "end",
    [
        "self.session.close()",
        "self.session.rollback()",
        "self.session.expunge_all()",
        "self.session.expunge(self.item)",
    ],
)
def test_a_body_that_undoes_what_it_wrote_is_told_so_and_row_and_run_stay_together(program: Load, end: str) -> None:
    shop = program(ENDS_ITS_SESSION.replace("END", end))
    with kit_of(shop) as kit:
        order = place(shop)
        with shop.app.session() as session:
            mine = session.get(shop.Order, order.id)
            with pytest.raises(NotAllowedHere, match=r"so what it wrote is gone.*begin_nested"):
                shop.OrderFlow.note(mine, "x", session=session)
        shop.OrderFlow.revoke(order)
        kit.settle()
        assert seen(shop, order)[0] == "REVOKED"


@pytest.mark.rule("V7")
def test_an_event_for_a_worker_does_not_find_what_was_done_for_another_payload(program: Load) -> None:
    shop = program(SHOP)
    with kit_of(shop) as kit:
        order = place(shop)
        shop.fails.append("tell")
        with pytest.raises(ConnectionError):
            shop.OrderFlow.note(order, "a")
        shop.OrderFlow.note.later(order, "b")
        kit.settle()
        assert shop.did == ["write a", "tell", "write b", "tell"]
        assert seen(shop, order) == ("PLACED", "b")


def test_a_state_that_is_written_as_it_is_is_no_change(program: Load) -> None:
    shop = program(SHOP)
    with kit_of(shop), shop.app.session() as session, shop.app.session() as other:
        order = place(shop)
        detached = session.get(shop.Order, order.id)
        session.expunge(detached)
        detached.note = "kept"
        other.merge(detached)
        other.commit()
        assert seen(shop, order) == ("PLACED", "kept")


def test_a_row_without_autostart_begins_in_the_first_state_too(program: Load) -> None:
    shop = program(SHOP.replace(", autostart=True", ""))
    with kit_of(shop):
        order = place(shop)
        assert shop.OrderFlow.run_of(order) is None
        shop.OrderFlow.adopt(order)
        assert shop.OrderFlow.pay(order, 5).state is shop.Stage.CHARGED


TWICE = (
    HEAD
    + """
@app.workflow
class OrderFlow(Workflow[Order], tracks=Order.stage, initial=Stage.PLACED): ...

@app.workflow
class Other(Workflow[Order], tracks=Order.stage, initial=Stage.PLACED): ...
"""
)


def test_two_workflows_that_follow_one_column_are_refused(program: Load) -> None:
    with pytest.raises(RegistrationError, match=r"Other and OrderFlow .* both track Order\.stage"):
        program(TWICE)


INHERITS = (
    HEAD
    + """
from sqlalchemy import DateTime, ForeignKey

class Parcel(Order):
    __tablename__ = "parcels"
    id: Mapped[int] = mapped_column(ForeignKey("orders.id"), primary_key=True)
    way: Mapped[Stage]
    due_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))

@app.workflow
class ParcelFlow(Workflow[Parcel], tracks=Parcel.way, initial=Stage.PLACED, autostart=True):
    again = Event()

    @on(again, Stage.PLACED)
    def anew(self) -> Stage:
        return Stage.PLACED

    @expire(Stage.PLACED, after=Parcel.due_at)
    def late(self) -> Stage:
        return Stage.LAPSED

    lapsed = error(Stage.LAPSED, "late")
"""
)


def test_a_class_that_inherits_its_table_is_followed_and_a_clock_at_a_time_of_the_row_is_kept(program: Load) -> None:
    shop = program(INHERITS)
    with kit_of(shop) as kit, shop.app.session() as session:
        due = kit.clock.now() + timedelta(days=2)
        parcels = [shop.Parcel(stage=shop.Stage.PLACED, due_at=due) for _ in range(2)]
        session.add_all(parcels)
        session.commit()
        for parcel in parcels:
            assert shop.ParcelFlow.again(parcel).state is shop.Stage.PLACED
        kit.advance(timedelta(days=3))
        session.expire_all()
        assert [parcel.way for parcel in parcels] == [shop.Stage.LAPSED] * 2
