"""A Python twin of every listing of the page ``Automatic durability``, in its order."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from twins import HEAD, Load, arm, kit_of, paths, placed, read

from semel.checks.verdict import verdict
from semel.checks.verdict_json import as_dict
from semel.compiler.model import Source, build
from semel.testing import script

CLIENTS = """
class Mailer(Client, base_url="https://mail.example"):
    @post("/send")
    def send(self, to: str) -> str: ...

class Shipping(Client, base_url="https://ship.example"):
    @post("/book")
    def book(self, id: int) -> str: ...

class Payments(Client, base_url="https://api.payments.example"):
    @post("/charges")
    def charge(self, reference: str, amount: int) -> str: ...

class Assistant(Client, base_url="https://llm.example"):
    @post("/decide")
    def decide(self, summary: str) -> str: ...

mailer, shipping, payments, assistant = Mailer(), Shipping(), Payments(), Assistant()

def notify(order):
    mailer.send(order.reference)          # a durable step, automatically

def notify_both(order):
    mailer.send(order.reference)          # step 1
    shipping.book(order.id)               # step 2

def fulfil(order):
    payments.charge(order.reference, order.total)    # a step: never re-charged on resume
    order.receipt_id = "fulfilled"                   # ordinary work, re-runs freely

def decide_and_charge(order):
    order.receipt_id = assistant.decide(order.reference)
    payments.charge(order.reference, order.total)

def charge(order):
    once("charge", lambda key: httpx.post("https://api.payments.example/keyed", json=key))
"""


def served(net: Any) -> None:
    """Every service answers."""
    for url in ("mail.example/send", "ship.example/book", "api.payments.example/charges", "llm.example/decide"):
        net.on("POST", f"https://{url}").answer(200, json=url.partition(".")[0])
    net.on("POST", "https://api.payments.example/keyed").answer(200, json="charged")


def requests(net: Any) -> list[str]:
    return [sent.path for sent in net.requests]


@pytest.mark.rule("A1")
def test_a_call_in_a_helper_is_a_step_and_nothing_marks_it(program: Load) -> None:
    shop = program(HEAD + CLIENTS + arm("notify(self.item)"))
    with kit_of(shop), script() as net:
        served(net)
        order = placed(shop)
        shop.OrderFlow.pay(order)
        assert paths(shop.OrderFlow.run_of(order)) == ["PLACED.on_pay@1/notify#auto:Mailer.send"]


@pytest.mark.rule("A2")
def test_each_call_is_its_own_step_so_a_crash_between_two_repeats_neither(program: Load) -> None:
    shop = program(HEAD + CLIENTS + arm("notify_both(self.item)"))
    with kit_of(shop) as kit, script() as net:
        served(net)
        order = placed(shop)
        shop.OrderFlow.pay.later(order)
        kit.crash("step.before", "OrderFlow/PLACED.on_pay@1/notify_both#auto:Shipping.book")
        kit.settle()
        assert requests(net) == ["/send", "/book"]
        assert paths(shop.OrderFlow.run_of(order)) == [
            "PLACED.on_pay@1/notify_both#auto:Mailer.send",
            "PLACED.on_pay@1/notify_both#auto:Shipping.book",
        ]


@pytest.mark.rule("A5")
def test_what_is_merely_unrepeatable_is_no_step_and_the_same_when_the_arm_is_delivered_again(program: Load) -> None:
    body = """
seen = (datetime.now().isoformat(), str(uuid4()))
once("keep", lambda: do("keep", *seen))
once("then", lambda: do("then"))
self.item.receipt_id = str(seen)
"""
    shop = program(HEAD + arm(body))
    with kit_of(shop) as kit:
        order = placed(shop)
        shop.fails.append("then")
        with pytest.raises(ConnectionError):
            shop.OrderFlow.pay(order)
        kit.clock.advance(timedelta(hours=1))
        shop.OrderFlow.pay(order)
        assert read(shop, order).receipt_id == str(shop.did[0][1:])
        assert len(paths(shop.OrderFlow.run_of(order))) == 2


@pytest.mark.rule("A6")
def test_outside_of_a_workflow_the_call_simply_happens(program: Load) -> None:
    shop = program(HEAD + CLIENTS + arm("notify(self.item)"))
    with kit_of(shop), script() as net:
        served(net)
        shop.notify(shop.Order())
        assert requests(net) == ["/send"]
        assert shop.app.runs() == []


@pytest.mark.rule("A9")
def test_the_model_gives_the_verdict_and_the_route_to_the_call() -> None:
    told = as_dict(verdict(build([Source("shop", "shop.py", HEAD + CLIENTS + arm("fulfil(self.item)"))])))
    (found,) = (one for one in told["functions"] if one["name"] == "fulfil")
    assert (found["durability"], found["durabilityVia"]) == ("External", "Payments.charge")
    assert json.dumps(told)


@pytest.mark.rule("A1")
def test_an_order_is_fulfilled_and_never_charged_again(program: Load) -> None:
    shop = program(HEAD + CLIENTS + arm("fulfil(self.item)"))
    with kit_of(shop) as kit, script() as net:
        served(net)
        order = placed(shop)
        shop.OrderFlow.pay.later(order)
        kit.crash("body.before_commit")
        kit.settle()
        assert requests(net) == ["/charges"]
        assert read(shop, order).receipt_id == "fulfilled"


@pytest.mark.rule("A11")
def test_what_an_assistant_has_decided_is_never_decided_again(program: Load) -> None:
    shop = program(HEAD + CLIENTS + arm("decide_and_charge(self.item)"))
    with kit_of(shop) as kit, script() as net:
        served(net)
        order = placed(shop)
        shop.OrderFlow.pay.later(order)
        kit.crash("step.before", "OrderFlow/PLACED.on_pay@1/decide_and_charge#auto:Payments.charge")
        kit.settle()
        assert requests(net) == ["/decide", "/charges"]
        assert read(shop, order).receipt_id == "llm"


@pytest.mark.rule("A7")
@pytest.mark.rule("O9")
def test_the_same_call_with_a_key_is_one_step(program: Load) -> None:
    shop = program(HEAD + CLIENTS + arm("charge(self.item)"))
    with kit_of(shop), script() as net:
        served(net)
        order = placed(shop)
        shop.OrderFlow.pay(order)
        assert paths(shop.OrderFlow.run_of(order)) == ["PLACED.on_pay@1/charge#charge"]
        assert len(str(net.requests[0].json())) > 20
