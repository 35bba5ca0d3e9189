"""Rules W2 to W4: a run follows a row, and what happens to the row happens in the row's own commit."""

from __future__ import annotations

from datetime import timedelta

import pytest
from entity_programs import SHOP, Load, kit_of, paths, place, seen

from semel.errors import EventNotTaken, PayloadChanged, WorkflowFailed


@pytest.mark.rule("W3")
def test_inserting_a_row_starts_its_run_in_the_same_commit(program: Load) -> None:
    shop = program(SHOP)
    with kit_of(shop):
        with shop.app.session() as session:
            orders = [shop.Order() for _ in range(3)]
            session.add_all(orders)
            session.flush()
            assert [order.stage for order in orders] == [shop.Stage.PLACED] * 3
            assert not shop.app.runs()
            session.commit()
        assert sorted(row.id for row in shop.app.runs()) == ["OrderFlow/1", "OrderFlow/2", "OrderFlow/3"]
        with shop.app.session() as session:
            session.add(shop.Order())
            session.flush()
            session.rollback()
        assert len(shop.app.runs()) == 3


@pytest.mark.rule("W4")
def test_an_event_runs_its_arm_in_the_caller_and_the_next_states_enter_is_left_to_a_worker(program: Load) -> None:
    shop = program(SHOP)
    with kit_of(shop) as kit:
        order = place(shop)
        raised = shop.OrderFlow.pay(order, 5)
        assert (raised.state, raised.parked) == (shop.Stage.CHARGED, False)
        assert seen(shop, order) == ("CHARGED", "charged 5")
        assert shop.did == ["charge"]
        kit.settle()
        assert shop.did == ["charge", "thank"]
        assert shop.OrderFlow.ship(order).state is shop.Stage.SHIPPED
        assert raised.run.result() == "on its way"


@pytest.mark.rule("V1")
def test_the_paths_name_the_state_the_body_and_the_visit(program: Load) -> None:
    shop = program(SHOP)
    with kit_of(shop) as kit:
        order = place(shop)
        run = shop.OrderFlow.run_of(order)
        shop.OrderFlow.note(order, "a")
        shop.OrderFlow.note(order, "b")
        kit.advance(timedelta(days=5))
        shop.OrderFlow.pay(order, 5)
        kit.settle()
        assert paths(run) == [
            "OrderFlow/PLACED.on_note@1#write",
            "OrderFlow/PLACED.on_note@1#tell",
            "OrderFlow/PLACED.on_note@2#write",
            "OrderFlow/PLACED.on_note@2#tell",
            "OrderFlow/PLACED.remind_chase@1#mail",
            "OrderFlow/PLACED.remind_chase@2#mail",
            "OrderFlow/PLACED.on_pay@1#charge",
            "OrderFlow/CHARGED.enter@1#thank",
        ]


@pytest.mark.rule("V4")
@pytest.mark.rule("W4")
def test_a_fault_travels_to_the_caller_and_raising_the_event_again_finds_what_was_done(program: Load) -> None:
    shop = program(SHOP)
    with kit_of(shop):
        order = place(shop)
        shop.fails.append("tell")
        with pytest.raises(ConnectionError, match="tell"):
            shop.OrderFlow.note(order, "a")
        assert seen(shop, order) == ("PLACED", None)
        shop.OrderFlow.note(order, "a")
        assert seen(shop, order) == ("PLACED", "a")
        assert shop.did == ["write a", "tell", "tell"]


@pytest.mark.rule("V7")
def test_another_payload_is_not_the_same_delivery(program: Load) -> None:
    shop = program(SHOP)
    with kit_of(shop):
        order = place(shop)
        shop.fails.append("tell")
        with pytest.raises(ConnectionError):
            shop.OrderFlow.note(order, "a")
        with pytest.raises(PayloadChanged, match=r"PLACED\.on_note@1#write.*again=True"):
            shop.OrderFlow.note(order, "b")
        shop.OrderFlow.note(order, "b", again=True)
        assert seen(shop, order) == ("PLACED", "b")
        assert shop.did == ["write a", "tell", "write b", "tell"]
        assert paths(shop.OrderFlow.run_of(order))[-1] == "OrderFlow/PLACED.on_note@2#tell"


@pytest.mark.rule("V7")
def test_a_change_of_state_counts_the_visits_of_what_had_failed_there(program: Load) -> None:
    shop = program(SHOP)
    with kit_of(shop) as kit:
        order = place(shop)
        run = shop.OrderFlow.run_of(order)
        shop.fails.append("tell")
        with pytest.raises(ConnectionError):
            shop.OrderFlow.note(order, "a")
        shop.OrderFlow.pay(order, 5)
        kit.settle()
        row = shop.app.runs()[0]
        assert row.visits["PLACED.on_note"] == 1
        assert run.status == "parked"


@pytest.mark.rule("R1")
@pytest.mark.rule("W10")
def test_a_retry_parks_the_arm_and_the_same_event_is_refused_meanwhile(program: Load) -> None:
    shop = program(SHOP)
    with kit_of(shop) as kit:
        order = place(shop)
        shop.fails += ["charge", "charge"]
        raised = shop.OrderFlow.pay(order, 5)
        assert (raised.state, raised.parked) == (shop.Stage.PLACED, True)
        assert seen(shop, order) == ("PLACED", None)
        with pytest.raises(EventNotTaken, match=r"PLACED\.on_pay@1.*later"):
            shop.OrderFlow.pay(order, 5)
        shop.OrderFlow.note(order, "meanwhile")
        assert seen(shop, order) == ("PLACED", "meanwhile")
        kit.advance(timedelta(seconds=6))
        assert seen(shop, order) == ("CHARGED", "charged 5")
        assert shop.did == ["charge", "write meanwhile", "tell", "charge", "charge", "thank"]


@pytest.mark.rule("W10")
def test_a_change_of_state_abandons_what_is_parked_there(program: Load) -> None:
    shop = program(SHOP)
    with kit_of(shop) as kit:
        order = place(shop)
        shop.fails.append("charge")
        shop.OrderFlow.pay(order, 5)
        run = shop.OrderFlow.run_of(order)
        shop.OrderFlow.revoke(order)
        kit.advance(timedelta(days=30))
        assert shop.did == ["charge"]
        assert (run.status, seen(shop, order)) == ("cancelled", ("REVOKED", None))


@pytest.mark.rule("W4")
def test_an_event_raised_later_is_delivered_by_a_worker_and_waits_its_turn(program: Load) -> None:
    shop = program(SHOP)
    with kit_of(shop) as kit:
        order = place(shop)
        shop.fails.append("write a")
        with shop.app.session() as session:
            mine = session.get(shop.Order, order.id)
            shop.OrderFlow.note.later(mine, "lost", session=session)
            session.rollback()
            shop.OrderFlow.note.later(mine, "b", session=session)
            assert shop.did == []
            session.commit()
        shop.OrderFlow.note.later(order, "c")
        kit.settle()
        assert shop.did == ["write b", "tell", "write c", "tell"]
        assert seen(shop, order) == ("PLACED", "c")


@pytest.mark.rule("W4")
def test_an_event_that_the_state_no_longer_takes_is_dropped_with_a_note(program: Load) -> None:
    shop = program(SHOP)
    with kit_of(shop) as kit:
        order = place(shop)
        shop.OrderFlow.pay.later(order, 5)
        shop.OrderFlow.pay.later(order, 6)
        kit.settle()
        run = shop.OrderFlow.run_of(order)
        assert seen(shop, order) == ("CHARGED", "charged 5")
        assert [(note.kind, note.text) for note in run.notes()] == [
            ("event dropped", "the event 'pay' was raised, and the state CHARGED does not take it")
        ]


@pytest.mark.rule("W2")
def test_a_reminder_repeats_and_the_clock_of_the_state_ends_it(program: Load) -> None:
    shop = program(SHOP)
    with kit_of(shop) as kit:
        order = place(shop)
        run = shop.OrderFlow.run_of(order)
        counts = []
        for _ in range(8):
            kit.advance(timedelta(days=1))
            counts.append(shop.did.count("mail"))
        assert counts == [0, 0, 1, 1, 2, 2, 2, 2]
        assert seen(shop, order) == ("LAPSED", None)
        with pytest.raises(WorkflowFailed, match="never paid"):
            run.result()


@pytest.mark.rule("W2")
def test_a_worker_that_was_off_for_a_week_fires_a_reminder_once(program: Load) -> None:
    shop = program(SHOP.replace("after=timedelta(days=7)", "after=timedelta(days=70)"))
    with kit_of(shop) as kit:
        place(shop)
        kit.clock.advance(timedelta(days=10))
        kit.settle()
        assert shop.did == ["mail"]
        kit.advance(timedelta(days=1))
        assert shop.did == ["mail", "mail"]


@pytest.mark.rule("R11")
def test_a_clock_whose_body_faults_waits_for_an_operator_and_the_row_goes_on(program: Load) -> None:
    shop = program(SHOP)
    with kit_of(shop) as kit:
        order = place(shop)
        run = shop.OrderFlow.run_of(order)
        shop.fails.append("mail")
        kit.advance(timedelta(days=3))
        assert run.status == "parked"
        assert "ConnectionError: mail" in (shop.app.runs()[0].fault or "")
        shop.OrderFlow.note(order, "still here")
        assert run.retry()
        kit.settle()
        assert shop.did == ["mail", "write still here", "tell", "mail"]
        assert shop.app.runs()[0].fault is None
        kit.advance(timedelta(days=2))
        assert paths(run)[-1] == "OrderFlow/PLACED.remind_chase@2#mail"
