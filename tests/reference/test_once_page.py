"""A Python twin of every listing of the page ``Workflow.Once``, in its order: it runs, is refused, or is linted so."""

from __future__ import annotations

from datetime import timedelta

import pytest
from twins import HEAD, Load, arm, kit_of, paths, placed, read

from semel.checks import refusals
from semel.checks.lints import lints
from semel.compiler.model import Source, build
from semel.errors import Refused
from semel.testing import script


def charged_with(shop, kit, order=None):
    """The steps of an order that was paid, and its run."""
    order = order or placed(shop)
    shop.OrderFlow.pay(order)
    kit.settle()
    return shop.OrderFlow.run_of(order)


@pytest.mark.rule("O5")
@pytest.mark.parametrize(
    "body",
    [
        'once("charge", lambda: do("step"))',
        'once("charge", lambda key: do("step"))',
        'once("charge", self.item.id, lambda key: do("step"))',
        'once("charge", lambda: do("step"), retry=Backoff.exponential(timedelta(seconds=2)).max_attempts(4))',
    ],
)
def test_the_signature_has_four_forms(program: Load, body: str) -> None:
    shop = program(HEAD + arm(body))
    with kit_of(shop) as kit:
        assert paths(charged_with(shop, kit)) == ["PLACED.on_pay@1#charge"]
        assert shop.did == ["step"]


@pytest.mark.rule("O4")
def test_a_step_that_is_a_value_is_refused_as_it_would_run_first(program: Load) -> None:
    with pytest.raises(Refused, match=r"(?s)do.*lambda: do\("):
        program(HEAD + arm('once("charge", do("charge"))'))


@pytest.mark.rule("O9")
def test_the_key_of_a_step_is_the_same_for_every_attempt_and_another_one_for_another_run(program: Load) -> None:
    shop = program(HEAD + arm('once("charge", lambda key: do("charge", key))\nonce("then", lambda: do("then"))'))
    with kit_of(shop) as kit:
        shop.fails.append("charge")
        order = placed(shop)
        with pytest.raises(ConnectionError):
            shop.OrderFlow.pay(order)
        charged_with(shop, kit, order)
        charged_with(shop, kit)
        first, again, other = [key for what, key in (each for each in shop.did if each != "then")]
        assert first == again != other


@pytest.mark.rule("R1")
def test_a_retried_step_is_tried_on_a_growing_wait_and_recorded_once(program: Load) -> None:
    body = 'once("charge", lambda: do("charge"), retry=Backoff.exponential(timedelta(seconds=2)).max_attempts(4))'
    shop = program(HEAD + arm(body))
    with kit_of(shop) as kit:
        order = placed(shop)
        shop.fails += ["charge"] * 3
        assert shop.OrderFlow.pay(order).parked
        began, times = kit.clock(), []
        while read(shop, order).stage is shop.Stage.PLACED:
            kit.advance(timedelta(seconds=1))
            if len(shop.did) > len(times) + 1:
                times.append(kit.clock() - began)
        assert times == [2, 6, 14]


@pytest.mark.rule("R2")
def test_a_policy_without_an_end_is_refused_with_the_corrected_line(program: Load) -> None:
    body = 'once("charge", lambda: do("charge"), retry=Backoff.exponential(timedelta(seconds=2)))'
    with pytest.raises(Refused, match=r"(?s)no max_attempts.*for\s+ever.*max_attempts\(4\)"):
        program(HEAD + arm(body))


PROCESSOR = """
def ask_processor(order):
    answer = httpx.post("https://pay.example/charge", content=order.reference)
    if answer.status_code != 200:
        raise ConnectionError(f"the processor answered {answer.status_code}")
    return answer.text
"""


@pytest.mark.rule("R4")
def test_a_retry_asks_everything_inside_the_step_again_and_the_path_says_which_attempt(program: Load) -> None:
    shop = program(
        HEAD
        + PROCESSOR
        + arm(
            'self.item.receipt_id = once("charge", lambda: ask_processor(self.item),'
            " retry=Backoff.exponential(timedelta(seconds=2)).max_attempts(4))"
        )
    )
    with kit_of(shop) as kit, script() as net:
        asked = net.on("POST", "https://pay.example/charge")
        asked.answers([_answer(503), _answer(200, "receipt-7")])
        order = placed(shop)
        shop.OrderFlow.pay(order)
        kit.advance(timedelta(seconds=2))
        assert read(shop, order).receipt_id == "receipt-7"
        assert "PLACED.on_pay@1/charge~1/ask_processor#auto:httpx.post" in paths(shop.OrderFlow.run_of(order))


def _answer(status: int, text: str = ""):
    from semel import Answer

    return Answer.of(status, text=text)


@pytest.mark.rule("O10")
def test_a_scope_is_the_same_key_in_every_run_and_another_one_for_another_step(program: Load) -> None:
    body = """
once("charge", self.item.reference, lambda key: do("charge", key))
once("refund", self.item.reference, lambda key: do("refund", key))
"""
    shop = program(HEAD + arm(body))
    with kit_of(shop) as kit:
        charged_with(shop, kit)
        charged_with(shop, kit)
        keys = dict(shop.did)
        assert shop.did == [*keys.items()] * 2
        assert keys["charge"] != keys["refund"]


@pytest.mark.rule("O15")
@pytest.mark.rule("O16")
def test_a_path_is_the_body_its_visit_the_functions_and_the_label_and_each_pass_is_a_step(program: Load) -> None:
    helpers = """
def charge(line):
    once("charge-card", lambda: do(f"charge {line}"))
"""
    shop = program(HEAD + helpers + arm('for line in ["a", "b", "c"]:\n    charge(line)'))
    with kit_of(shop) as kit:
        shop.fails.append("charge c")
        order = placed(shop)
        with pytest.raises(ConnectionError):
            shop.OrderFlow.pay(order)
        assert paths(charged_with(shop, kit, order)) == [
            f"PLACED.on_pay@1[{number}]/charge#charge-card" for number in range(3)
        ]
        assert shop.did == ["charge a", "charge b", "charge c", "charge c"]


@pytest.mark.rule("O14")
def test_two_steps_of_one_body_have_two_labels(program: Load) -> None:
    shop = program(HEAD + arm('once("charge-card", lambda key: do(1))\nonce("send-receipt", lambda: do(2))'))
    with kit_of(shop) as kit:
        assert paths(charged_with(shop, kit)) == ["PLACED.on_pay@1#charge-card", "PLACED.on_pay@1#send-receipt"]
    with pytest.raises(Refused, match=r"(?s)label \"x\".*share one record"):
        program(HEAD + arm('once("x", lambda: do(1))\nonce("x", lambda: do(2))'))


MAILER = """
class Mailer(Client, base_url="https://mail.example"):
    @post("/send")
    def send(self, to: str) -> str: ...

mailer = Mailer()

def notify_one(to, what):
    mailer.send(to)
"""


@pytest.mark.rule("A1")
def test_a_call_is_a_step_named_after_it_with_nothing_to_write(program: Load) -> None:
    shop = program(HEAD + MAILER + arm('mailer.send("ann")'))
    with kit_of(shop) as kit, script() as net:
        net.on("POST", "https://mail.example/send").answer(200, json="sent")
        assert paths(charged_with(shop, kit)) == ["PLACED.on_pay@1#auto:Mailer.send"]


@pytest.mark.rule("A8")
def test_two_calls_of_one_operation_are_refused_and_one_of_them_named_is_enough(program: Load) -> None:
    shop = program(HEAD + MAILER + arm('once("to-primary", lambda: mailer.send("primary"))\nmailer.send("backup")'))
    with kit_of(shop) as kit, script() as net:
        net.on("POST", "https://mail.example/send").answer(200, json="sent")
        assert paths(charged_with(shop, kit)) == ["PLACED.on_pay@1#to-primary", "PLACED.on_pay@1#auto:Mailer.send"]
    shop = program(HEAD + MAILER + arm('mailer.send("primary")\nmailer.send("backup")'))
    with pytest.raises(Refused, match=r"(?s)Mailer\.send twice.*Name one of them"):
        shop.app.check()


EXCLUSIVE = """
if self.item.severity >= 3:
    notify_one("ann", "critical")
elif self.item.severity == 2:
    notify_one("ann", "major")
else:
    notify_one("ann", "minor")
"""


@pytest.mark.rule("O18")
def test_calls_in_exclusive_branches_are_one_call_and_one_alongside_is_refused(program: Load) -> None:
    shop = program(HEAD + MAILER + arm(EXCLUSIVE))
    with kit_of(shop) as kit, script() as net:
        net.on("POST", "https://mail.example/send").answer(200, json="sent")
        assert paths(charged_with(shop, kit)) == ["PLACED.on_pay@1/notify_one#auto:Mailer.send"]
    shop = program(
        HEAD
        + MAILER
        + arm('if self.item.severity >= 3:\n    notify_one("ann", "critical")\nnotify_one("ann", "always")')
    )
    with pytest.raises(Refused, match=r"(?s)notify_one holds steps.*called twice"):
        shop.app.check()


APPROVED = """
@app.workflow
class OrderFlow(Workflow[Order], tracks=Order.stage, initial=Stage.PLACED, autostart=True):
    @enter(Stage.PLACED)
    def approved(self) -> Stage:
        receipt = once("charge", lambda: do("charge"))
        self.item.receipt_id = receipt
        return Stage.CHARGED

    shipped = success(Stage.CHARGED, "shipped")
"""


@pytest.mark.rule("O2")
@pytest.mark.parametrize("point", ["step.recorded", "body.before_commit"])
def test_a_process_that_dies_after_the_charge_does_not_charge_again(program: Load, point: str) -> None:
    shop = program(HEAD + APPROVED)
    with kit_of(shop) as kit:
        order = placed(shop)
        kit.crash(point)
        kit.settle()
        assert shop.did == ["charge"]
        assert (read(shop, order).stage, read(shop, order).receipt_id) == (shop.Stage.CHARGED, "charge")


WHOLE = """
def charge(order):
    do("charge")
    return "receipt-" + order.reference

@app.workflow
class OrderFlow(Workflow[Order], tracks=Order.stage, initial=Stage.PLACED, autostart=True):
    pay = Event()

    @on(pay, Stage.PLACED)
    def paid(self) -> Stage:
        # Four attempts in total, 2 s, then 4 s, then 8 s, and never twice on success, because it is still a step.
        self.item.receipt_id = once("charge", lambda: charge(self.item),
                                    retry=Backoff.exponential(timedelta(seconds=2)).max_attempts(4))
        return Stage.CHARGED

    charged = success(Stage.CHARGED, "paid")
"""


@pytest.mark.rule("W2")
def test_the_whole_workflow(program: Load) -> None:
    shop = program(HEAD + WHOLE)
    with kit_of(shop) as kit:
        order = placed(shop)
        shop.fails += ["charge"] * 2
        shop.OrderFlow.pay(order)
        run = shop.OrderFlow.run_of(order)
        assert kit.finish(run) == "completed"
        assert run.result() == "paid"
        assert read(shop, order).receipt_id == "receipt-A-1"
        assert shop.did == ["charge"] * 3


@pytest.mark.rule("R9")
def test_a_retry_that_is_spent_ends_the_arm_and_the_row_stays_where_it_was(program: Load) -> None:
    shop = program(HEAD + WHOLE)
    with kit_of(shop) as kit:
        order = placed(shop)
        shop.fails += ["charge"] * 4
        shop.OrderFlow.pay(order)
        run = shop.OrderFlow.run_of(order)
        kit.advance(timedelta(seconds=14))
        assert (run.status, read(shop, order).stage) == ("parked", shop.Stage.PLACED)
        assert "ConnectionError: charge" in (shop.app.runs()[0].fault or "")


@pytest.mark.rule("O1")
def test_expensive_work_that_leaves_nothing_is_not_redone_either(program: Load) -> None:
    body = 'once("build-quarterly-report", lambda: do("report"))\nonce("then", lambda: do("then"))'
    shop = program(HEAD + arm(body))
    with kit_of(shop) as kit:
        shop.fails.append("then")
        order = placed(shop)
        with pytest.raises(ConnectionError):
            shop.OrderFlow.pay(order)
        charged_with(shop, kit, order)
        assert shop.did == ["report", "then", "then"]


VISITS = """
@app.workflow
def check(order: int) -> str:
    return do("check")

@app.workflow
class OrderFlow(Workflow[Order], tracks=Order.stage, initial=Stage.PLACED, autostart=True):
    turn = Event()

    @on(turn)
    def turned(self) -> Stage:
        return Stage.CHARGED if self.item.stage is Stage.PLACED else Stage.PLACED

    @enter(Stage.PLACED)
    def asking(self) -> None:
        run_child("check", check, self.item.id).result()

    @remind(Stage.PLACED, after=timedelta(days=1), then_every=timedelta(days=1))
    def poll(self) -> None:
        once("poll", lambda: do("poll"))
"""


@pytest.mark.rule("V2")
@pytest.mark.rule("V3")
def test_each_execution_is_its_own_set_of_steps_and_starts_its_own_child(program: Load) -> None:
    shop = program(HEAD + VISITS)
    with kit_of(shop) as kit:
        order = placed(shop)
        kit.settle()
        shop.OrderFlow.turn(order)
        shop.OrderFlow.turn(order)
        kit.advance(timedelta(days=2))
        assert sorted(row.id for row in shop.app.runs(workflow="check")) == [
            "OrderFlow/1/PLACED.enter@1#check",
            "OrderFlow/1/PLACED.enter@2#check",
        ]
        assert paths(shop.OrderFlow.run_of(order))[-2:] == ["PLACED.remind_poll@1#poll", "PLACED.remind_poll@2#poll"]


def model_of(text: str):
    return build([Source("shop", "shop.py", text)])


def test_a_retried_step_that_waits_is_refused() -> None:
    body = (
        'once("x", lambda: run_child("y", do).result(), retry=Backoff.constant(timedelta(seconds=1)).max_attempts(2))'
    )
    assert [problem.rule for problem in refusals(model_of(HEAD + arm(body)))] == ["retried-step-waits"]


def test_an_unrepeatable_value_read_above_a_retried_step_and_stored_is_linted() -> None:
    body = """
reference = str(uuid4())
once("charge", lambda: do("charge"), retry=Backoff.constant(timedelta(seconds=1)).max_attempts(2))
self.item.reference = reference
"""
    found = [problem.rule for problem in lints(model_of(HEAD + arm(body)))]
    assert "workflow-value-read-again-on-retry" in found


def test_a_retried_step_that_makes_several_calls_is_linted() -> None:
    helper = """
def both():
    httpx.post("https://pay.example/charge")
    httpx.get("https://mail.example/send")
"""
    body = 'once("charge", lambda: both(), retry=Backoff.constant(timedelta(seconds=1)).max_attempts(2))'
    found = [problem.rule for problem in lints(model_of(HEAD + helper + arm(body)))]
    assert "workflow-retried-step-repeats-several-calls" in found
