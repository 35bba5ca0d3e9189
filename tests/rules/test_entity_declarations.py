"""How an entity workflow is declared, and what is refused when its class is made (rule W2)."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from datetime import timedelta
from types import ModuleType
from typing import Any

import pytest
from entity_refusals import HEAD, REFUSED, SMALL, changed

from semel import App
from semel.errors import NotAllowedHere, Refused, RegistrationError

pytestmark = pytest.mark.rule("W2")

WHOLE = """
class OrderFlow(Workflow[Order], tracks=Order.stage, initial=Stage.PLACED, autostart=True):
    pay = Event[Payment]()
    cancel_it = Event()

    @on(pay, Stage.PLACED)
    def paid(self, payment: Payment) -> Stage:
        return Stage.CHARGED

    @on(cancel_it)
    def cancelled(self) -> Stage:
        return Stage.REVOKED

    @on(cancel_it, Stage.CHARGED)
    def refunded(self) -> Stage:
        return Stage.REVOKED

    @enter(Stage.PLACED, Stage.CHARGED)
    def entered(self) -> None: ...

    @expire(Stage.PLACED, after=week, redeliver=2)
    def too_late(self) -> Stage:
        return Stage.LAPSED

    @remind(Stage.PLACED, after=Order.due, then_every=lambda order: week)
    def chase(self) -> None: ...

    charging = milestone(Stage.CHARGED, since=Stage.PLACED, within=week, retries=2)

    @charging.finished
    def told(self) -> None: ...

    @charging.unfinished
    def late(self) -> None: ...

    lapsed = error(Stage.LAPSED, "never paid")
    revoked = cancel(Stage.REVOKED, "revoked by the seller")
"""

Program = Callable[..., ModuleType]


@pytest.fixture
def whole(program: Program) -> Any:
    return program(HEAD + WHOLE).OrderFlow


@pytest.fixture
def small(program: Program) -> Any:
    return program(HEAD + SMALL).OrderFlow


# ------------------------------------------------------------------------------------------------ what a class declares


def test_a_class_becomes_its_definition(whole: Any) -> None:
    made = whole.__definition__
    assert (made.name, made.cls, made.entity.__name__, made.attribute) == ("OrderFlow", whole, "Order", "stage")
    assert (made.enum.__name__, made.initial.name) == ("Stage", "PLACED")
    assert (made.autostart, made.is_async, made.strict, made.redeliver) == (True, False, False, 0)
    assert (made.on_delete, made.calendar) == ("cancel", None)
    assert {name: payload and payload.__name__ for name, payload in made.events.items()} == {
        "pay": "Payment",
        "cancel_it": None,
    }
    assert set(made.states) == {"PLACED", "CHARGED", "LAPSED", "REVOKED"}
    assert re.fullmatch(r".*program_\d+\.py:\d+", made.place)


def test_the_names_of_bodies_are_made_of_states_events_methods_and_milestones(whole: Any) -> None:
    assert {name: body.method for name, body in whole.__definition__.bodies.items()} == {
        "PLACED.on_pay": "paid",
        "PLACED.on_cancel_it": "cancelled",
        "PLACED.enter": "entered",
        "PLACED.expire": "too_late",
        "PLACED.remind_chase": "chase",
        "CHARGED.on_cancel_it": "refunded",
        "CHARGED.enter": "entered",
        "charging.finished": "told",
        "charging.unfinished": "late",
    }


def test_an_arm_that_names_the_state_goes_before_one_for_all_states(whole: Any) -> None:
    states = whole.__definition__.states
    assert states["CHARGED"].arms["cancel_it"].method == "refunded"
    assert states["PLACED"].arms["cancel_it"].method == "cancelled"
    assert states["LAPSED"].arms == states["REVOKED"].arms == {}


def test_clocks_ends_and_milestones_are_kept_as_they_are_written(whole: Any) -> None:
    placed = whole.__definition__.states["PLACED"]
    assert (placed.expire.after, placed.expire.then_every, placed.expire.body.redeliver) == (timedelta(days=7), None, 2)
    assert placed.reminders["chase"].after == "due"
    assert placed.reminders["chase"].then_every(None) == timedelta(days=7)
    lapsed = whole.__definition__.states["LAPSED"].terminal
    assert (lapsed.attribute, lapsed.kind, lapsed.message) == ("lapsed", "error", "never paid")
    charging = whole.__definition__.milestones["charging"]
    assert [state.name for state in charging.states + charging.since] == ["CHARGED", "PLACED"]
    assert (charging.within, charging.retries, charging.backoff) == (timedelta(days=7), 2, None)
    assert (charging.finished.method, charging.unfinished.method) == ("told", "late")


def test_a_body_takes_the_payload_where_the_event_has_one(whole: Any) -> None:
    bodies = whole.__definition__.bodies
    assert bodies["PLACED.on_pay"].takes_payload
    assert not any(body.takes_payload for name, body in bodies.items() if name != "PLACED.on_pay")


def test_a_body_stays_the_function_that_it_is(whole: Any) -> None:
    assert whole.__definition__.bodies["PLACED.on_pay"].function is vars(whole)["paid"]


def test_all_keywords_of_a_class(program: Program) -> None:
    module = program(
        changed(
            (
                "initial=Stage.PLACED",
                'initial=Stage.PLACED, name="orders", strict=True, on_delete="keep", calendar=Days(), redeliver=3',
            ),
            ("week = ", "class Days:\n    def add(self, start, length): return start + length\n\nweek = "),
        )
    )
    made = module.OrderFlow.__definition__
    assert (made.name, made.strict, made.on_delete) == ("orders", True, "keep")
    assert made.redeliver == 3
    assert made.calendar.add(timedelta(1), timedelta(2)) == timedelta(3)


def test_a_class_with_async_bodies_only(program: Program) -> None:
    assert program((HEAD + WHOLE).replace("    def ", "    async def ")).OrderFlow.__definition__.is_async


@pytest.mark.parametrize(
    ("written", "payload", "carries"),
    [
        ("Event[Payment]()", "Payment", True),
        ("Event(payload=Payment)", "Payment", True),
        ("Event[Payment]('pay')", None, True),
        ("Event('pay', Payment)", "Payment", True),
        ("Event[list[Payment]]()", "list", True),
        ("Event[Payment | None]()", None, True),
        ("Event[Any]()", None, True),
        ("Event['Payment']()", None, True),
        ("Event[None]()", None, False),
        ("Event()", None, False),
    ],
)
def test_the_ways_to_write_an_event(program: Program, written: str, payload: str | None, carries: bool) -> None:
    parameter = "payment: Payment" if carries else ""
    made = program(changed(("Event[Payment]()", written), ("self, payment: Payment", f"self, {parameter}")))
    found = made.OrderFlow.__definition__.events["pay"]
    assert (found and found.__name__) == payload
    assert made.OrderFlow.__definition__.bodies["PLACED.on_pay"].takes_payload is carries


def test_what_a_base_declares_counts_as_declared_by_its_subclasses(program: Program) -> None:
    module = program(
        HEAD
        + """
E = TypeVar("E")

class Cancellable(Workflow[E]):
    cancel_it = Event()

    @on(cancel_it)
    def cancelled(self) -> Stage:
        return Stage.REVOKED

    @enter(Stage.PLACED)
    def placed(self): return "of the base"

    revoked = cancel(Stage.REVOKED, "revoked")

class Paying:
    pay = Event[Payment]()

    @on(pay, Stage.PLACED)
    def paid(self, payment):
        return anything

class OrderFlow(Paying, Cancellable[Order], tracks=Order.stage, initial=Stage.PLACED):
    def placed(self): return "of the subclass"

    @on(Cancellable.cancel_it, Stage.CHARGED)
    def refunded(self) -> Stage:
        return Stage.REVOKED

class InvoiceFlow(Cancellable[Invoice], tracks=Invoice.stage, initial=Stage.PLACED):
    placed = None

    @on(Cancellable.cancel_it, Stage.CHARGED)
    def refunded(self):
        return anything
"""
    )
    orders, invoices = module.OrderFlow.__definition__, module.InvoiceFlow.__definition__
    assert orders.states["PLACED"].enter.function(None) == "of the subclass"
    assert set(orders.events) == {"cancel_it", "pay"}
    assert orders.states["CHARGED"].arms["cancel_it"].method == "refunded"
    assert orders.states["REVOKED"].terminal.attribute == "revoked"
    assert set(invoices.events) == {"cancel_it"}
    assert invoices.states["PLACED"].enter is None
    assert module.OrderFlow.cancel_it.workflow is module.OrderFlow
    assert module.InvoiceFlow.cancel_it.workflow is module.InvoiceFlow
    assert not hasattr(module.Cancellable, "__definition__")


def test_the_class_of_the_item_is_found_through_generic_bases(program: Program) -> None:
    bases = """
E = TypeVar("E")
N = TypeVar("N")

class Noting(Workflow[E], Generic[N, E]): ...
class Named(Noting[N, Order]): ...

"""
    for right in ("Noting[str, Order]", "Named[str]", "Workflow"):
        assert program(
            changed(("\nclass OrderFlow", f"{bases}\nclass OrderFlow"), ("Workflow[Order]", right))
        ).OrderFlow
    for wrong in ("Noting[Order, Invoice]", "Noting[Order, str]"):
        with pytest.raises(RegistrationError, match=r"and tracks Order\.stage, so self\.item would be no"):
            program(changed(("\nclass OrderFlow", f"{bases}\nclass OrderFlow"), ("Workflow[Order]", wrong)))


def test_an_enum_that_only_the_annotation_tells(program: Program) -> None:
    module = program(
        changed(
            ("    stage: Mapped[Stage]\n    note", "    stage: Mapped[Stage | None] = mapped_column(Own)\n    note"),
            ('buyer: Mapped["NotYetDefined"] = relationship()', "pass"),
            ("class Order(Base)", "class Own(TypeDecorator):\n    impl = String\n\nclass Order(Base)"),
        )
    )
    assert module.OrderFlow.__definition__.enum is module.Stage


# ------------------------------------------------------------------------------------------------------ what is refused


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_names_the_place_and_shows_the_fix(program: Program, case: str) -> None:
    changes, told = REFUSED[case]
    with pytest.raises(RegistrationError) as refused:
        program(changed(*changes))
    assert re.search(told, str(refused.value)), str(refused.value)
    assert re.search(r"program_\d+\.py:\d+", str(refused.value))


def test_a_refusal_names_the_line(program: Program) -> None:
    text = changed(("def paid(self, payment: Payment)", "def paid(self)"))
    line = text.splitlines().index("    @on(pay, Stage.PLACED)") + 1
    with pytest.raises(RegistrationError, match=rf"\.py:{line}: OrderFlow\.paid: "):
        program(text)


def test_a_body_may_not_use_variables_of_the_function_round_its_class(program: Program) -> None:
    body = "".join(f"    {line}\n" for line in SMALL.replace("return anything", "return round_it").splitlines())
    with pytest.raises(RegistrationError, match=r"paid: it uses variables of the function round the class.*top level"):
        program(f"{HEAD}\ndef make(round_it):\n{body}\nmake(None)\n")


def test_a_state_whose_name_cannot_stand_in_a_path_is_refused(program: Program) -> None:
    with pytest.raises(RegistrationError, match=r"the state 'a/b' of Stage cannot stand in a path"):
        program(changed(('    LAPSED = "lapsed"', '    vars()["a/b"] = "lapsed"')))


# ------------------------------------------------------------------------------------------- states that can be reached


STATES = """
class OrderFlow(Workflow[Order], tracks=Order.stage, initial=Stage.PLACED):
    go = Event()

    @on(go)
    def went(self):
        BODY

    def helper(self): ...

    @enter(Stage.CHARGED)
    def charged(self) -> None: ...

    lapsed = error(Stage.LAPSED, "never paid")
    revoked = cancel(Stage.REVOKED, "revoked")
"""


@pytest.mark.parametrize(
    "body",
    [
        "return Stage.CHARGED",
        "if self.item.note: return Stage.CHARGED if self.item.id else Stage.LAPSED",
        "return",
        "return None",
        "later = lambda: Stage.CHARGED",
    ],
)
def test_a_state_that_no_body_mentions_is_refused(program: Program, body: str) -> None:
    with pytest.raises(
        RegistrationError, match=r"OrderFlow: Stage\.\w+ cannot be reached.*return Stage\.\w+ in one of"
    ):
        program(HEAD + STATES.replace("BODY", body))


@pytest.mark.parametrize(
    "body",
    [
        "return self.helper()",
        "return [Stage.CHARGED][0]",
        'return Stage["CHARGED"]',
        "state = self.helper()\n        return state",
        "self.item.stage = self.helper()",
        "if self.item.id: return Stage.CHARGED if self.item.note else Stage.LAPSED\n        return Stage.GONE",
        "if self.item.id: return CHARGED\n        return Stage.LAPSED if self.item.note else REVOKED",
        "def inner(): return Stage.CHARGED, Stage.LAPSED\n        return Stage.REVOKED",
    ],
)
def test_a_state_that_may_be_reached_is_not_refused(program: Program, body: str) -> None:
    aliases = "\nCHARGED = Stage.CHARGED\nREVOKED = Stage.REVOKED\n"
    assert program(HEAD + aliases + STATES.replace("BODY", body)).OrderFlow


def test_a_member_of_the_enum_for_which_nothing_is_declared_is_nobodys_business(program: Program) -> None:
    text = STATES.replace("BODY", "return Stage.CHARGED")
    for end in ('    lapsed = error(Stage.LAPSED, "never paid")\n', '    revoked = cancel(Stage.REVOKED, "revoked")\n'):
        text = text.replace(end, "")
    assert program(HEAD + text).OrderFlow


def test_without_its_source_a_body_is_not_judged(program: Program) -> None:
    module = program(HEAD)
    exec(STATES.replace("BODY", "return None"), vars(module))
    assert module.OrderFlow.__definition__


# ---------------------------------------------------------------------------------------------------------- registering


def test_a_class_is_registered_under_its_name(app: App, small: Any) -> None:
    assert app.workflow(small) is small
    assert app.entities == {"OrderFlow": small.__definition__}
    assert small.__app__ is app
    assert app.workflow()(small) is small


def test_what_a_function_is_told_is_refused_for_a_class(app: App, small: Any) -> None:
    with pytest.raises(RegistrationError, match=r"OrderFlow: @app\.workflow\(strict=…\) is for functions; write it at"):
        app.workflow(strict=True)(small)
    with pytest.raises(RegistrationError, match=r"timeout=…\) is for functions; a state's clock .*@expire"):
        app.workflow(timeout=timedelta(days=1))(small)
    assert app.entities == {}


def test_a_base_without_a_column_is_no_workflow(app: App, program: Program) -> None:
    base = program(HEAD + "class Shared(Workflow[Order]): ...\n").Shared
    with pytest.raises(RegistrationError, match=r"Shared \(.*py:\d+\) says not what it tracks.*class Shared\(Workflow"):
        app.workflow(base)


def test_a_name_is_taken_once_by_classes_and_functions(app: App, small: Any, program: Program) -> None:
    other = program(HEAD + SMALL).OrderFlow

    def function() -> None: ...

    app.workflow(small)
    with pytest.raises(RegistrationError, match=r"'OrderFlow' is taken: .*py:\d+ and .*class …\(Workflow\[…\], name="):
        app.workflow(other)
    with pytest.raises(RegistrationError, match=r"'OrderFlow' is taken: .*@app\.workflow\(name="):
        app.workflow(name="OrderFlow")(function)
    app.workflow(name="taken")(function)
    named = program(changed(("initial=", "name='taken', initial="))).OrderFlow
    with pytest.raises(RegistrationError, match=r"'taken' is taken"):
        app.workflow(named)


def test_a_module_that_is_loaded_again_replaces_its_workflow(app: App, program: Program) -> None:
    first = program(HEAD + SMALL, name="reloaded_orders").OrderFlow
    second = program(HEAD + SMALL, name="reloaded_orders").OrderFlow
    app.workflow(first)
    app.workflow(second)
    assert app.entities["OrderFlow"].cls is second


def test_a_step_of_a_body_that_could_not_be_found_again_is_refused(app: App, program: Program) -> None:
    steps = "once('charge', lambda: 1)\n        once('charge', lambda: 2)\n        return anything"
    module = program(changed(("return anything", steps)))
    sys.modules.pop(module.__name__)  # it is no part of the programs of other tests
    with pytest.raises(Refused, match="charge"):
        app.workflow(module.OrderFlow)


def test_an_instance_is_made_by_the_runtime_alone(small: Any) -> None:
    with pytest.raises(NotAllowedHere, match=r"OrderFlow\(\) makes no run: .*OrderFlow\.adopt\(item\)"):
        small()
    made = small.__new__(small)
    for name in ("item", "run_id", "session", "async_session"):
        with pytest.raises(NotAllowedHere, match=rf"self\.{name} is there in the body of a run"):
            getattr(made, name)
    made._item, made._run_id, made._sessions = "the item", "order-1", Sessions()
    assert (made.item, made.run_id, made.session, made.async_session) == ("the item", "order-1", "sync", "async")


class Sessions:
    def session(self) -> str:
        return "sync"

    def async_session(self) -> str:
        return "async"
