"""Waits, children, sagas and transactions: their labels (O4, O13, O14), their derived names (A8), and the calls that
lead to them (O18)."""

from __future__ import annotations

import pytest
from check_programs import Marks, marks
from wait_programs import assert_refused, assert_right, model_of, program

from semel.checks import refusals
from semel.checks.verdict import verdict

TWICE = "once-label-used-twice"
LITERAL = "once-label-is-not-a-literal"
VALUE = "once-step-is-a-value"
UNNAMED = "wait-without-label-twice"
HELPER = "helper-called-twice"


@pytest.mark.rule("O14")
@pytest.mark.parametrize(
    "text",
    [
        'sleep(DAY, label="rest")  #~\nsleep_until(b, label="rest")  #!',
        'once("rest", lambda: pay())  #~\nsleep(DAY, label="rest")  #!',
        'if a:\n    run_child("check", check, a)  #~\nelse:\n    run_child("check", check, b)  #!',
        'run_child("check", check, a)  #~\nonce("check", lambda: pay())  #!',
        'wait_for("paid", label="x")  #~\nwait_first([], label="x")  #!',
        'transaction("reserve", lambda session: pay())  #~\ntransaction("reserve", lambda session: pay())  #!',
        'with saga("trip") as t:\n    t.step("a", lambda: pay())  #~\n    t.step("a", lambda: pay(2))  #!',
        'with saga("trip"):  #~\n    pass\nwith saga("trip"):  #!\n    pass',
        'once("sleep", lambda: pay())  #~\nsleep(DAY)  #!',
        'sleep(DAY)  #~\nonce("sleep", lambda: pay())  #!',
        'wait_for("paid")  #~\nwait_for("refunded", label="wait_for:paid")  #!',
        'import semel\nsemel.sleep(DAY, label="a")  #~\nsemel.sleep(DAY, label="a")  #!',
    ],
)
def test_a_label_is_the_only_one_of_its_name(text: str) -> None:
    assert_refused(text, TWICE)


@pytest.mark.rule("O14")
@pytest.mark.parametrize(
    "text",
    [
        'with saga("a") as t:\n    t.step("x", lambda: pay())\nwith saga("b") as t:\n    t.step("x", lambda: pay())',
        'once("x", lambda: pay())\nwith saga("trip") as t:\n    t.step("x", lambda: pay())',
        'with saga("x") as t:\n    t.step("x", lambda: pay())',
        'once("a", lambda: sleep(DAY, label="rest"))\nsleep(DAY, label="rest")',
        'run_child("a", check, a)\nrun_child("b", check, a)',
    ],
)
def test_the_same_label_in_two_scopes_is_two_steps(text: str) -> None:
    assert_right(text)


@pytest.mark.rule("O14")
def test_the_corrected_line_of_a_wait_has_another_label() -> None:
    fixed = assert_refused('sleep(DAY, label="rest")  #~\nsleep(DAY, label="rest")  #!', TWICE).fix
    assert fixed.startswith('sleep(DAY, label="rest-2")')
    fixed = assert_refused('once("sleep", lambda: pay())  #~\nsleep(DAY)  #!', TWICE).fix
    assert fixed.startswith('sleep(DAY, label="sleep-2")')


LITERALS = {
    "sleep(DAY, label=a)  #!": 'label="a"',
    'sleep(DAY, label=f"rest-{a}")  #!': 'label="rest"',
    'sleep_until(b, label="rest-" + a)  #!': 'label="rest"',
    'wait_for("paid", label=a)  #!': 'label="a"',
    'wait_first([], label="a" + "b")  #!': 'label="a"',
    "run_child(a, check, b)  #!": 'run_child("a", check, b)',
    'with saga(f"trip-{a}"):  #!\n    pass': 'saga("trip")',
    'with saga("trip") as t:\n    t.step(a, lambda: pay())  #!': 't.step("pay", lambda: pay())',
    "transaction(a, lambda session: pay())  #!": 'transaction("pay", lambda session: pay())',
    'wait_for(f"paid-{a}")  #!': 'wait_for(f"paid-{a}", label="paid")',
    'wait_for("paid" + str(a), timeout=DAY)  #!': 'wait_for("paid" + str(a), timeout=DAY, label="paid")',
    'sleep(DAY, label="")  #!': 'label="name-of-this-step"',
}


@pytest.mark.rule("O13")
@pytest.mark.parametrize(("text", "fix"), LITERALS.items(), ids=range(len(LITERALS)))
def test_a_label_is_a_literal(text: str, fix: str) -> None:
    assert fix in assert_refused(text, LITERAL).fix


@pytest.mark.rule("O13")
@pytest.mark.parametrize(
    "text",
    [
        "wait_for(PAID)",
        "wait_for(EVENT)",
        "wait_for(a)",
        'wait_for(Event("paid"))',
        'wait_for(Event[int]("paid"), label="x")',
        'wait_for(f"paid-{a}", label="paid")',
        "sleep(DAY, label=None)",
        'a.run_child(b)\na.saga(f"{b}")\na.sleep(1, label=b)',
        "import time\ndef sleep(x, label=None): ...\nsleep(1, label=a)",
    ],
)
def test_an_event_may_be_named_where_it_is_defined(text: str) -> None:
    assert_right(text)


@pytest.mark.rule("O4")
@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ('with saga("t") as t:\n    t.step("flight", pay(a))  #!', 't.step("flight", lambda: pay(a))'),
        ('transaction("reserve", pay(a))  #!', 'transaction("reserve", lambda session: pay(a))'),
        ('with saga("t") as t:\n    t.step("flight")  #!', 't.step("flight", lambda: …)'),
        ('transaction("reserve", a, lambda key: pay())  #!', 'transaction("reserve", lambda: …)'),
    ],
)
def test_the_work_of_a_step_is_a_function(text: str, fix: str) -> None:
    problem = assert_refused(text, VALUE)
    assert fix in problem.fix
    assert "once" not in problem.message


# ------------------------------------------------------------------------------------------------------- derived names


@pytest.mark.rule("A8")
@pytest.mark.parametrize(
    "text",
    [
        "sleep(DAY)  #~\nsleep(DAY)  #!",
        "sleep(DAY)  #~\nsleep(1, label=None)  #!",
        "await sleep_async(DAY)  #~\nsleep(DAY)  #!",
        "sleep_until(a)  #~\nsleep_until(b)  #!",
        'wait_for("paid")  #~\nwait_for("paid", timeout=DAY)  #!',
        "wait_for(PAID)  #~\nwait_for(EVENT)  #!",
        "wait_for(EVENT)  #~\nwait_for(TYPED)  #!",
        "wait_first([])  #~\nwait_first([])  #!",
        "import semel\nsemel.sleep(DAY)  #~\nsleep(DAY)  #!",
        "from semel.workflow.sleep import sleep as rest\nrest(DAY)  #~\nsleep(DAY)  #!",
        "if a:\n    sleep(DAY)  #~\nsleep(DAY)  #!",
        'try:\n    wait_for("paid")  #~\nexcept Down:\n    wait_for("paid")  #!',
        "for x in xs:\n    sleep(DAY)  #~\n    sleep(DAY)  #!",
        "once('x', lambda: [sleep(DAY),  #~\n    sleep(DAY)])  #!",
        "await asyncio.gather(sleep_async(1),  #~\n    sleep_async(2))  #!",
    ],
)
def test_two_waits_of_one_name_are_refused(text: str) -> None:
    assert_refused(text, UNNAMED)


@pytest.mark.rule("A8")
def test_the_message_names_both_lines_and_the_label() -> None:
    text = "sleep(DAY)  #~\npay()\nsleep(timedelta(days=2))  #!"
    problem = assert_refused(text, UNNAMED)
    found: Marks = marks(program(text))
    assert f"lines {found.others[0]} and {found.place[0]}" in problem.message
    assert problem.fix.startswith('sleep(timedelta(days=2), label="second")')
    assert problem.spec == "A8"


@pytest.mark.rule("A8")
@pytest.mark.parametrize(
    "text",
    [
        "sleep(DAY)",
        'sleep(DAY)\nsleep(DAY, label="again")',
        "sleep(DAY)\nsleep_until(a)",
        'wait_for("paid")\nwait_for("shipped")',
        "wait_for(a)\nwait_for(b)",
        "for x in xs:\n    sleep(DAY)",
        "for x in xs:\n    sleep(DAY)\nsleep(DAY)",
        "if a:\n    sleep(DAY)\nelse:\n    sleep(2)",
        "if a:\n    sleep(DAY)\n    return\nsleep(2)",
        "if a:\n    sleep(DAY)\n    stop()\nsleep(2)",
        "match a:\n    case 1:\n        wait_for(PAID)\n    case _:\n        wait_for(PAID)",
        "once('x', lambda: sleep(DAY))\nsleep(DAY)",
        "await sleep_async(1) if a else await sleep_async(2)",
        "a.sleep(1)\na.sleep(2)",
        "import time\nonce('a', lambda: time.sleep(1))\nonce('b', lambda: time.sleep(1))",
    ],
)
def test_waits_that_have_two_paths_are_right(text: str) -> None:
    assert_right(text)


@pytest.mark.rule("A8")
def test_an_event_of_another_module_has_its_name() -> None:
    events = "from semel import Event\npaid = Event[int]('paid')\nclass Events:\n    paid: Event[int] = Event('paid')\n"
    text = program("import events\nfrom events import Events, paid\nwait_for(events.paid)\nwait_for(Events.paid)\n")
    assert [problem.rule for problem in refusals(model_of(text, events=events))] == [UNNAMED]


# -------------------------------------------------------------------------------------------------------------- helpers


@pytest.mark.rule("O18")
@pytest.mark.parametrize(
    "helper",
    [
        "sleep(DAY)",
        'wait_for("paid")',
        'run_child("check", check, 1)',
        'transaction("reserve", lambda session: None)',
        'with saga("t") as t:\n        t.step("a", lambda: pay())',
    ],
)
def test_a_helper_that_holds_a_wait_is_not_called_twice(helper: str) -> None:
    body = f"def helper(x):\n    {helper}\n@app.workflow\ndef fulfil(a):\n    helper(1)  #~\n    helper(2)  #!\n"
    assert_refused(body, HELPER)
    assert_right(f"def helper(x):\n    {helper}\n@app.workflow\ndef fulfil(a):\n    for x in a:\n        helper(x)\n")


@pytest.mark.rule("O18")
def test_a_helper_that_only_waits_for_children_may_be_called_twice() -> None:
    assert_right(
        "def both(x: Child[int], y: Child[int]):\n    return wait_all([x, y]), x.result()\n"
        "@app.workflow\ndef fulfil(a):\n"
        '    both(run_child("a", check, a), run_child("b", check, a))\n'
        '    both(run_child("c", check, a), run_child("d", check, a))\n'
    )


# ------------------------------------------------------------------------------------------------------------ the model


@pytest.mark.rule("A9")
def test_the_model_lists_them_with_their_paths() -> None:
    text = program(
        """
        def rest() -> None:
            sleep(DAY)
        @app.workflow
        def fulfil(a, xs):
            rest()
            wait_for(EVENT)
            wait_for("shipped", label="out")
            child = run_child("check", check, a)
            wait_first([child])
            transaction("reserve", lambda session: pay())
            for x in xs:
                with saga("book-trip") as trip:
                    trip.step("flight", lambda: notify(x), undo=cancel)
                    for y in xs:
                        trip.step("hotel", lambda: pay(y), undo=cancel)
            return child.result()
        """
    )
    told = verdict(model_of(text))
    steps = {step.path.removeprefix("fulfil/start@*"): step for step in told.bodies[-1].steps}
    assert list(steps) == [
        "/rest#sleep",
        "#wait_for:paid",
        "#out",
        "#check",
        "#wait_first",
        "#reserve",
        "[*]/book-trip#flight",
        "[*]/book-trip/flight/notify#send",
        "[*]/book-trip[*]#hotel",
    ]
    kinds = ["wait", "wait", "wait", "child", "wait", "transaction", "saga step", "once", "saga step"]
    assert [step.kind for step in steps.values()] == kinds
    assert all(step.certain for step in steps.values())
    labels = [None, None, "out", "check", None, "reserve", "flight", "send", "hotel"]
    assert [step.label for step in steps.values()] == labels
    rest = next(one for one in told.functions if one.function.name == "rest")
    assert (rest.durability, rest.via) == ("Step", "sleep")


@pytest.mark.rule("W7")
def test_an_undo_is_run_by_itself_and_checked_like_a_body() -> None:
    assert_refused(
        """
        def cancel_flight(flight):
            notify(1)  #~
            notify(2)  #!
        @app.workflow
        def fulfil(a):
            with saga("t") as t:
                t.step("flight", lambda: pay(), undo=cancel_flight)
        """,
        HELPER,
    )
