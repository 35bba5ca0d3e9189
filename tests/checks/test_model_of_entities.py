"""The bodies of entity workflows in the program model: their names, their steps, and what the checks say of them."""

from __future__ import annotations

import pytest
from check_programs import model_of
from entity_texts import FLOW, HEAD, assert_refused, changed, inside

from semel.checks import refusals
from semel.checks.explanation import explanation
from semel.checks.lints import lints
from semel.checks.verdict import verdict
from semel.checks.verdict_json import as_dict


def bodies(text: str) -> list[str]:
    return [f"{body.name}/{body.body}" for body in model_of(text).bodies]


def paths(text: str) -> list[str]:
    return [step.path for body in verdict(model_of(text)).bodies for step in body.steps]


@pytest.mark.rule("W2")
def test_each_hook_is_a_body_named_after_its_state_and_what_happens_there() -> None:
    assert bodies(changed()) == [
        "OrderFlow/PLACED.on_pay",
        "OrderFlow/CHARGED.on_ship",
        "OrderFlow/PLACED.on_cancel_it",
        "OrderFlow/CHARGED.on_cancel_it",
        "OrderFlow/CHARGED.enter",
        "OrderFlow/PLACED.expire",
        "OrderFlow/PLACED.remind_chase",
        "OrderFlow/shipped.finished",
        "OrderFlow/shipped.unfinished",
    ]


@pytest.mark.rule("A9")
def test_the_steps_of_a_body_are_found_through_self_and_through_the_item() -> None:
    assert paths(changed()) == [
        "OrderFlow/PLACED.on_pay@*/OrderFlow.charge#charge",
        "OrderFlow/PLACED.on_pay@*/Order.weigh#weigh",
        "OrderFlow/PLACED.on_cancel_it@*#auto:httpx.post",
        "OrderFlow/CHARGED.on_cancel_it@*#auto:httpx.post",
        "OrderFlow/CHARGED.enter@*#tell",
        "OrderFlow/PLACED.remind_chase@*#chase",
        "OrderFlow/shipped.unfinished@*#late",
    ]


def test_the_right_program_is_neither_refused_nor_linted() -> None:
    model = model_of(changed())
    assert refusals(model) == []
    assert [problem.rule for problem in lints(model)] == []
    assert [one.call for one in verdict(model).unresolved if one.reached] == []


def test_an_arm_that_names_its_state_goes_before_one_for_all_states() -> None:
    own = inside("@on(cancel_it, Stage.PLACED)\ndef at_once(self): return Stage.REVOKED")
    found = {(body.body, body.function) for body in model_of(changed(own)).bodies if body.body.endswith("on_cancel_it")}
    assert found == {
        ("PLACED.on_cancel_it", "shop:OrderFlow.at_once"),
        ("CHARGED.on_cancel_it", "shop:OrderFlow.cancelled"),
    }


@pytest.mark.parametrize(
    "change",
    [
        ("@on(pay", "@semel.on(pay"),
        ("class OrderFlow(Workflow[Order]", "class OrderFlow(semel.Workflow[Order]"),
        ("from semel import App,", "from semel import *\nfrom semel import App,"),
        ("    pay = Event[Payment]()", "    pay: Event[Payment] = semel.Event(payload=Payment)"),
        ("@on(pay, Stage.PLACED)", "@on(pay, START)"),
        ("stage: Mapped[Stage]", 'stage: Mapped["Stage"] = mapped_column()'),
        ("stage: Mapped[Stage]", "stage = mapped_column(sqlalchemy.Enum(Stage))"),
        ("stage: Mapped[Stage]", "stage: Mapped[Stage | None]"),
        ("@app.workflow\n", "@app.workflow()\n"),
    ],
    ids=lambda change: change[1],
)
def test_it_is_found_however_it_is_written(change: tuple[str, str]) -> None:
    text = changed(("WEEK =", "import sqlalchemy\nWEEK ="), ("@dataclass", "START = Stage.PLACED\n@dataclass"), change)
    assert bodies(text) == bodies(changed())
    assert refusals(model_of(text)) == []


def test_a_class_is_registered_by_a_call_and_named_by_its_keyword() -> None:
    text = changed(("@app.workflow\n", ""), ("autostart=True", 'name="orders"')) + "app.workflow(OrderFlow)\n"
    assert bodies(text)[0] == "orders/PLACED.on_pay"
    assert bodies(changed(("@app.workflow\n", ""))) == []


def test_what_a_base_declares_counts_as_declared_by_the_class() -> None:
    base = (
        "class Chased(Workflow[Order]):\n    stop = Event()\n    @on(stop)\n    def stopped(self):\n"
        "        once('stop', lambda: 1)\n        return self.last()\n    def last(self): return Stage.REVOKED\n"
    )
    text = HEAD + base + FLOW.replace("OrderFlow(Workflow[Order]", "OrderFlow(Chased")
    assert "OrderFlow/CHARGED.on_stop@*#stop" in paths(text)
    assert refusals(model_of(text)) == []
    overridden = text.replace("    done = success", "    def stopped(self): return Stage.REVOKED\n    done = success")
    assert ("CHARGED.on_stop", "shop:OrderFlow.stopped") in {
        (body.body, body.function) for body in model_of(overridden).bodies
    }


def test_the_states_of_an_enum_that_is_not_seen_have_their_names() -> None:
    text = changed(
        ("@dataclass", "from shop.stages import Stage\n@dataclass"), ("class Stage(Enum)", "class Hidden(Enum)")
    )
    assert "OrderFlow/PLACED.on_pay" in bodies(text)
    assert "OrderFlow/*.on_cancel_it" in bodies(text)
    assert refusals(model_of(text)) == []


def test_what_is_not_seen_stands_as_a_star() -> None:
    text = changed(("@on(pay, Stage.PLACED)", "@on(pay, *states())"), ("@on(cancel_it)", "@on(EVENTS['x'])"))
    assert {"OrderFlow/*.on_pay", "OrderFlow/PLACED.on_*"} <= set(bodies(text))
    assert refusals(model_of(text)) == []


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ('once("a", lambda: 1)  #~\nonce("a", lambda: 2)  #!', "once-label-used-twice"),
        ("self.charge(1)  #~\nself.charge(2)  #!", "helper-called-twice"),
        ("httpx.post('a')  #~\nhttpx.post('b')  #!", "automatic-call-twice"),
        ("sleep(WEEK)  #~\nsleep(WEEK)  #!", "wait-without-label-twice"),
        ('once("a", lambda: 1, retry=semel.Backoff.constant(WEEK))  #!', "retry-without-max-attempts"),
        ("once(self.run_id, lambda: 1)  #!", "once-label-is-not-a-literal"),
        (
            'with semel.saga("trip") as trip:\n    trip.step("a", lambda: 1, undo=lambda x: print(self))  #!',
            "undo-captures",
        ),
    ],
    ids=lambda value: value if " " not in value else "",
)
def test_a_body_is_refused_for_what_a_function_is_refused_for(text: str, rule: str) -> None:
    lines = "".join(f"        {line}\n" for line in text.split("\n"))
    assert_refused(changed(("    def told(self): ...\n", f"    def told(self):\n{lines}")), rule)


def test_a_body_is_linted_like_a_function() -> None:
    text = changed(("    def told(self): ...", "    def told(self):\n        import time; time.sleep(5)"))
    assert [problem.rule for problem in lints(model_of(text))] == ["workflow-sleep-outside-a-step"]


@pytest.mark.rule("A9")
def test_the_document_and_the_explanation_name_the_body() -> None:
    model = model_of(changed())
    (first, *_) = as_dict(verdict(model))["bodies"]
    assert (first["workflow"], first["body"], first["function"]) == (
        "OrderFlow",
        "PLACED.on_pay",
        "shop:OrderFlow.paid",
    )
    told = explanation(model, "OrderFlow/PLACED.on_pay@3/OrderFlow.charge#charge")
    assert "a step named by once of the workflow OrderFlow" in told
    assert "OrderFlow/PLACED.on_pay@*" in told
    assert "/OrderFlow.charge" in told
    assert "an automatic step" in explanation(model, "OrderFlow/CHARGED.on_cancel_it@1#auto:httpx.post")
