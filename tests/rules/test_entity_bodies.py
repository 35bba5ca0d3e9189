"""What a body of an entity workflow may do is what any body may: steps, waits, children, sagas; sync and async."""

from __future__ import annotations

from datetime import timedelta

import pytest
from entity_programs import HEAD, SHOP, Load, kit_of, paths, place, seen

from semel.errors import EventNotTaken, NotAllowedHere

WAITS = (
    HEAD
    + """
@app.workflow
def check(order_id: int) -> str:
    return f"checked {order_id}"


@app.workflow
class OrderFlow(Workflow[Order], tracks=Order.stage, initial=Stage.PLACED, autostart=True):
    pay = Event()
    wait = Event()
    trip = Event()
    revoke = Event()

    @on(pay, Stage.PLACED)
    def paid(self) -> Stage:
        self.item.note = run_child("check", check, self.item.id).result()
        return Stage.CHARGED

    @on(wait, Stage.PLACED)
    def waits(self) -> None:
        sleep(timedelta(hours=1))
        self.item.note = f"got {wait_for('news')}"

    @on(trip, Stage.PLACED)
    def trips(self) -> None:
        with saga("trip") as trip:
            trip.step("flight", lambda: do("flight"), undo=cancel_flight)
            sleep(timedelta(days=1))
            trip.step("hotel", lambda: do("hotel"), undo=cancel_flight)

    @on(revoke)
    def revoked(self) -> Stage:
        return Stage.REVOKED

    charged = success(Stage.CHARGED, "paid")
    gone = cancel(Stage.REVOKED, "revoked")


def cancel_flight(result: object) -> None:
    do(f"undo {result}")
"""
)

ASYNC = (
    WAITS.replace("    def ", "    async def ")
    .replace("run_child(", "await run_child(")
    .replace(".result()", ".result_async()")
    .replace("        sleep(", "        await sleep_async(")
    .replace("            sleep(", "            await sleep_async(")
    .replace("wait_for('news')", "await wait_for_async('news')")
    .replace("with saga(", "async with saga(")
    .replace("            trip.step(", "            await trip.step(")
    .replace("@app.workflow\ndef check", "@app.workflow\nasync def check")
)


@pytest.mark.rule("W5")
@pytest.mark.rule("V3")
def test_an_arm_waits_for_a_child_and_its_state_changes_when_that_has_ended(program: Load) -> None:
    shop = program(WAITS)
    with kit_of(shop) as kit:
        order = place(shop)
        assert shop.OrderFlow.pay(order).parked
        assert [row.id for row in shop.app.runs()] == ["OrderFlow/1/PLACED.on_pay@1#check", "OrderFlow/1"]
        kit.settle()
        assert seen(shop, order) == ("CHARGED", "checked 1")
        assert shop.OrderFlow.run_of(order).result() == "paid"


@pytest.mark.rule("W6")
def test_an_arm_sleeps_and_waits_for_what_is_sent_to_its_run(program: Load) -> None:
    shop = program(WAITS)
    with kit_of(shop) as kit:
        order = place(shop)
        run = shop.OrderFlow.run_of(order)
        shop.OrderFlow.wait(order)
        run.send("news", "early")
        kit.advance(timedelta(minutes=59))
        assert seen(shop, order) == ("PLACED", None)
        kit.advance(timedelta(minutes=1))
        assert seen(shop, order) == ("PLACED", "got early")
        shop.OrderFlow.wait(order)
        kit.advance(timedelta(hours=1))
        run.send("news", "late")
        kit.settle()
        assert seen(shop, order) == ("PLACED", "got late")


@pytest.mark.rule("W10")
def test_two_arms_wait_at_once_and_each_goes_on_by_itself(program: Load) -> None:
    shop = program(WAITS)
    with kit_of(shop) as kit:
        order = place(shop)
        shop.OrderFlow.wait(order)
        shop.OrderFlow.trip(order)
        kit.advance(timedelta(hours=2))
        assert shop.did == ["flight"]
        shop.OrderFlow.run_of(order).send("news", "x")
        kit.settle()
        assert seen(shop, order) == ("PLACED", "got x")
        kit.advance(timedelta(days=1))
        assert shop.did == ["flight", "hotel"]


@pytest.mark.rule("W10")
@pytest.mark.rule("W7")
def test_a_saga_of_an_abandoned_arm_is_undone_before_the_run_ends(program: Load) -> None:
    shop = program(WAITS)
    with kit_of(shop) as kit:
        order = place(shop)
        run = shop.OrderFlow.run_of(order)
        shop.OrderFlow.trip(order)
        shop.OrderFlow.revoke(order)
        assert run.status == "pending"
        kit.settle()
        assert shop.did == ["flight", "undo flight"]
        assert run.status == "cancelled"
        kit.advance(timedelta(days=2))
        assert shop.did == ["flight", "undo flight"]


@pytest.mark.rule("W10")
def test_the_children_of_an_abandoned_arm_are_cancelled(program: Load) -> None:
    shop = program(
        WAITS.replace('    return f"checked {order_id}"', "    sleep(timedelta(days=9))\n    return 'checked'")
    )
    with kit_of(shop) as kit:
        order = place(shop)
        shop.OrderFlow.pay(order)
        kit.settle()
        shop.OrderFlow.revoke(order)
        kit.settle()
        assert {row.workflow: row.status for row in shop.app.runs()} == {"OrderFlow": "cancelled", "check": "cancelled"}


@pytest.mark.rule("W8")
def test_cancelling_the_run_undoes_its_open_sagas(program: Load) -> None:
    shop = program(WAITS)
    with kit_of(shop) as kit:
        order = place(shop)
        run = shop.OrderFlow.run_of(order)
        shop.OrderFlow.trip(order)
        assert run.cancel()
        kit.settle()
        assert shop.did == ["flight", "undo flight"]
        assert run.status == "cancelled"
        with pytest.raises(EventNotTaken, match="has ended"):
            shop.OrderFlow.revoke(order)


@pytest.mark.rule("W4")
async def test_async_bodies_do_the_same(program: Load) -> None:
    shop = program(ASYNC)
    with kit_of(shop) as kit:
        order, other = place(shop), place(shop)
        with pytest.raises(NotAllowedHere, match=r"call_async"):
            shop.OrderFlow.pay(order)
        assert (await shop.OrderFlow.pay.call_async(order)).parked
        await shop.OrderFlow.trip.call_async(other)
        await kit.settle_async()
        assert seen(shop, order) == ("CHARGED", "checked 1")
        await shop.OrderFlow.revoke.later_async(other)
        await kit.settle_async()
        assert shop.did == ["flight", "undo flight"]
        assert seen(shop, other)[0] == "REVOKED"


SENDS = (
    HEAD
    + """
@app.workflow
class OrderFlow(Workflow[Order], tracks=Order.stage, initial=Stage.PLACED, autostart=True):
    pay = Event[int]()
    close = Event()

    @on(pay, Stage.PLACED)
    def paid(self, other: int) -> None:
        once("step", lambda: do("step"))
        item = self.session.get(Order, other)
        raised = OrderFlow.close(item)
        self.item.note = raised.state.name
        sleep(timedelta(hours=1))
        once("last", lambda: do("last"))

    @on(close, Stage.PLACED)
    def closed(self) -> Stage:
        return Stage.CHARGED

    charged = success(Stage.CHARGED, "closed")
"""
)


@pytest.mark.rule("W4")
def test_an_event_raised_in_a_body_takes_effect_at_its_commit(program: Load) -> None:
    shop = program(SENDS)
    with kit_of(shop) as kit:
        order, other = place(shop), place(shop)
        shop.fails.append("last")
        assert shop.OrderFlow.pay(order, other.id).parked
        kit.advance(timedelta(minutes=59))
        assert seen(shop, other)[0] == "PLACED"
        kit.advance(timedelta(minutes=1))
        assert (seen(shop, order), seen(shop, other)) == (("PLACED", None), ("PLACED", None))
        assert shop.OrderFlow.run_of(order).retry()
        kit.settle()
        assert seen(shop, order) == ("PLACED", "PLACED")
        assert seen(shop, other)[0] == "CHARGED"
        assert shop.OrderFlow.run_of(other).notes() == []


MILESTONES = (
    HEAD
    + """
@app.workflow
class OrderFlow(Workflow[Order], tracks=Order.stage, initial=Stage.PLACED, autostart=True):
    pay = Event()
    ship = Event()
    shipped = milestone(Stage.SHIPPED, since=Stage.CHARGED, within=timedelta(days=5), retries=2,
                        backoff=Backoff.constant(timedelta(days=1)))

    @on(pay, Stage.PLACED)
    def paid(self) -> Stage:
        return Stage.CHARGED

    @on(ship, Stage.CHARGED)
    def sent(self) -> Stage:
        return Stage.SHIPPED

    @shipped.finished
    def told(self) -> None:
        once("tell", lambda: do("finished"))

    @shipped.unfinished
    def late(self) -> None:
        once("tell", lambda: do("unfinished"))

    done = success(Stage.SHIPPED, "shipped")
"""
)


@pytest.mark.rule("W2")
def test_a_milestone_that_is_not_reached_in_time_says_so_as_often_as_it_retries(program: Load) -> None:
    shop = program(MILESTONES)
    with kit_of(shop) as kit:
        order = place(shop)
        kit.advance(timedelta(days=100))
        assert shop.did == []
        shop.OrderFlow.pay(order)
        kit.advance(timedelta(days=4))
        assert shop.did == []
        counts = []
        for _ in range(5):
            kit.advance(timedelta(days=1))
            counts.append(len(shop.did))
        assert counts == [1, 2, 3, 3, 3]
        shop.OrderFlow.ship(order)
        run = shop.OrderFlow.run_of(order)
        assert run.status == "pending"
        kit.settle()
        assert run.result() == "shipped"
        assert shop.did[-1] == "finished"
        assert paths(run) == [
            "OrderFlow/shipped.unfinished@1#tell",
            "OrderFlow/shipped.unfinished@2#tell",
            "OrderFlow/shipped.unfinished@3#tell",
            "OrderFlow/shipped.finished@1#tell",
        ]


@pytest.mark.rule("W2")
def test_a_milestone_that_is_reached_in_time_says_nothing_more(program: Load) -> None:
    shop = program(MILESTONES)
    with kit_of(shop) as kit:
        order = place(shop)
        shop.OrderFlow.pay(order)
        shop.OrderFlow.ship(order)
        kit.advance(timedelta(days=100))
        assert shop.did == ["finished"]


DELAYS = (
    HEAD.replace("    note: Mapped[str | None]\n", "    note: Mapped[str | None]\n    days: Mapped[int | None]\n")
    + """
class Weekdays:
    def add(self, start: datetime, length: timedelta) -> datetime:
        while length > timedelta(0):
            start += timedelta(days=1)
            length -= timedelta(days=1) * (start.weekday() < 5)
        return start


@app.workflow
class OrderFlow(
    Workflow[Order], tracks=Order.stage, initial=Stage.PLACED, autostart=True, calendar=Weekdays()
):
    @expire(Stage.PLACED, after=lambda order: None if order.days is None else timedelta(days=order.days))
    def too_late(self) -> Stage:
        return Stage.LAPSED

    lapsed = error(Stage.LAPSED, "never paid")
"""
)


@pytest.mark.rule("W2")
def test_a_delay_may_depend_on_the_row_and_count_only_the_time_that_counts(program: Load) -> None:
    shop = program(DELAYS)
    with kit_of(shop) as kit:  # the clock begins on a Wednesday
        order, never = place(shop, days=3), place(shop)
        kit.advance(timedelta(days=4))
        assert seen(shop, order)[0] == "PLACED"
        kit.advance(timedelta(days=1))
        assert seen(shop, order)[0] == "LAPSED"
        kit.advance(timedelta(days=900))
        assert seen(shop, never)[0] == "PLACED"


REENTERED = (
    HEAD
    + """
@app.workflow
class OrderFlow(Workflow[Order], tracks=Order.stage, initial=Stage.PLACED, autostart=True):
    turn = Event()

    @on(turn)
    def turned(self) -> Stage:
        return Stage.CHARGED if self.item.stage is Stage.PLACED else Stage.PLACED

    @enter(Stage.PLACED)
    def placed(self) -> None:
        once("hello", lambda: do("hello"))

    @expire(Stage.PLACED, after=timedelta(days=1))
    def late(self) -> Stage:
        return Stage.CHARGED
"""
)


@pytest.mark.rule("V2")
def test_a_state_entered_again_is_new_work_and_its_clock_begins_anew(program: Load) -> None:
    shop = program(REENTERED)
    with kit_of(shop) as kit:
        order = place(shop)
        kit.settle()
        shop.OrderFlow.turn(order)
        kit.advance(timedelta(hours=23))
        shop.OrderFlow.turn(order)
        kit.advance(timedelta(hours=23))
        assert seen(shop, order)[0] == "PLACED"
        kit.advance(timedelta(hours=1))
        assert seen(shop, order)[0] == "CHARGED"
        row = shop.app.runs()[0]
        assert row.visits == {"PLACED.enter": 2, "PLACED.on_turn": 1, "CHARGED.on_turn": 1, "PLACED.expire": 1}
        assert paths(shop.OrderFlow.run_of(order)) == [
            "OrderFlow/PLACED.enter@1#hello",
            "OrderFlow/PLACED.enter@2#hello",
        ]


@pytest.mark.rule("W4")
def test_the_enter_of_a_state_runs_before_an_event_that_comes_first(program: Load) -> None:
    shop = program(REENTERED)
    with kit_of(shop):
        order = place(shop)
        shop.OrderFlow.turn(order)
        assert shop.did == ["hello"]


TIMES = (
    HEAD.replace("    note: Mapped[str | None]\n", "    note: Mapped[str | None]\n    at: Mapped[float | None]\n")
    + """
@app.workflow
class OrderFlow(Workflow[Order], tracks=Order.stage, initial=Stage.PLACED, autostart=True):
    wait = Event()
    drop = Event()

    @on(wait)
    def waits(self) -> None:
        began = datetime.now(UTC)
        sleep(timedelta(hours=1))
        self.item.at = began.timestamp()

    @on(drop)
    def drops(self) -> None:
        self.session.delete(self.item)
        self.session.flush()
"""
)


@pytest.mark.rule("A5")
def test_the_time_that_an_execution_began_is_the_same_when_it_goes_on(program: Load) -> None:
    shop = program(TIMES)
    with kit_of(shop) as kit:
        order = place(shop)
        kit.advance(timedelta(days=9))
        began = kit.clock()
        shop.OrderFlow.wait(order)
        kit.advance(timedelta(hours=1))
        with shop.app.session() as session:
            assert session.get(shop.Order, order.id).at == began


@pytest.mark.rule("W2")
def test_a_body_does_not_delete_its_own_row(program: Load) -> None:
    shop = program(TIMES)
    with kit_of(shop):
        order = place(shop)
        with pytest.raises(
            NotAllowedHere, match=r"Order 1 cannot be deleted by its own run \(OrderFlow/PLACED\.on_drop@1"
        ):
            shop.OrderFlow.drop(order)
        assert seen(shop, order) == ("PLACED", None)


@pytest.mark.rule("W4")
async def test_plain_bodies_are_raised_from_coroutines_too(program: Load) -> None:
    shop = program(SHOP)
    with kit_of(shop) as kit:
        order = place(shop)
        await shop.OrderFlow.note.call_async(order, "alone")
        assert seen(shop, order) == ("PLACED", "alone")
        async with shop.app.async_session() as session:
            mine = await session.get(shop.Order, order.id)
            with pytest.raises(NotAllowedHere, match="call_async"):
                shop.OrderFlow.note(mine, "x", session=session)
            await shop.OrderFlow.note.call_async(mine, "joined", session=session)
            await session.rollback()
            assert seen(shop, order) == ("PLACED", "alone")
            await shop.OrderFlow.note.call_async(mine, "joined", session=session)
            await shop.OrderFlow.note.later_async(mine, "later", session=session)
            await session.commit()
        assert seen(shop, order) == ("PLACED", "joined")
        await kit.settle_async()
        assert seen(shop, order) == ("PLACED", "later")
        run = await shop.OrderFlow.run_of_async(order)
        assert (await shop.OrderFlow.adopt_async(order)).uid == run.uid


@pytest.mark.rule("W4")
async def test_an_object_of_an_open_async_session_is_no_hindrance_if_nothing_was_changed(program: Load) -> None:
    shop = program(SHOP)
    with kit_of(shop):
        order = place(shop)
        async with shop.app.async_session() as session:
            mine = await session.get(shop.Order, order.id)
            await shop.OrderFlow.note.call_async(mine, "read")
            mine.note = "changed"
            with pytest.raises(NotAllowedHere, match="not committed"):
                await shop.OrderFlow.note.call_async(mine, "again")
        assert seen(shop, order) == ("PLACED", "read")
