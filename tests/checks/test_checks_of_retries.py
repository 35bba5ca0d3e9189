"""Retries, what a step may do while it waits, and the undos of sagas: rules R2, R8, W11 and W7."""

from __future__ import annotations

import pytest
from wait_programs import assert_refused, assert_right, marks, model_of, program

from semel.checks import function_refusals, refusals

ENDLESS = "retry-without-max-attempts"
RETRIED = "retried-step-waits"
CALLS_OUT = "step-waits-and-calls-out"
CAPTURES = "undo-captures"

# ------------------------------------------------------------------------------------------------- R2: how often in all


@pytest.mark.rule("R2")
@pytest.mark.parametrize(
    ("text", "fix"),
    [
        (
            'once("pay", lambda: pay(), retry=Backoff.exponential(DAY))  #!',
            'once("pay", lambda: pay(), retry=Backoff.exponential(DAY).max_attempts(4))',
        ),
        (
            'once("pay", lambda key: pay(key), retry=Backoff.linear(DAY).cap(DAY).jitter())  #!',
            "retry=Backoff.linear(DAY).cap(DAY).jitter().max_attempts(4))",
        ),
        (
            'import semel\nonce("pay", pay, retry=semel.Backoff.constant(DAY))  #!',
            "retry=semel.Backoff.constant(DAY).max_attempts(4))",
        ),
        (
            'once("pay", pay, retry=POLICY if a else Backoff.constant(DAY))  #!',
            "",
        ),
        (
            'slow = Backoff.constant(DAY)  #~\nonce("pay", pay, retry=slow)  #!',
            "slow = Backoff.constant(DAY).max_attempts(4)",
        ),
        (
            'slow = Backoff.constant(DAY)\nonce("pay", pay, retry=slow.cap(DAY))  #!',
            "retry=slow.cap(DAY).max_attempts(4))",
        ),
        (
            'with saga("t") as t:\n    t.step("f", pay, undo=cancel, undo_retry=Backoff.constant(DAY))  #!',
            "undo_retry=Backoff.constant(DAY).max_attempts(4))",
        ),
    ],
)
def test_a_policy_without_max_attempts_is_refused_with_the_corrected_line(text: str, fix: str) -> None:
    problem = assert_refused(text, ENDLESS)
    assert problem.spec == "R2"
    assert fix in problem.fix


@pytest.mark.rule("R2")
def test_a_policy_of_another_module_is_looked_at() -> None:
    policies = "from semel import Backoff\nfrom datetime import timedelta\nSLOW = Backoff.constant(timedelta(1))\n"
    text = program('import policies\nonce("pay", pay, retry=policies.SLOW)')
    (problem,) = refusals(model_of(text, policies=policies))
    assert problem.rule == ENDLESS
    assert [place.file for place in problem.others] == ["policies.py"]
    assert refusals(model_of(text, policies=policies.replace("(1))", "(1)).max_attempts(4)"))) == []


@pytest.mark.rule("R2")
def test_it_is_an_error_when_the_module_is_imported() -> None:
    text = program('once("pay", pay, retry=Backoff.constant(DAY))')
    assert [problem.rule for problem in function_refusals(model_of(text), "shop")] == [ENDLESS]


@pytest.mark.rule("R2")
@pytest.mark.parametrize(
    "text",
    [
        'once("pay", pay, retry=Backoff.constant(DAY).max_attempts(4))',
        'once("pay", pay, retry=Backoff.constant(DAY).max_attempts(4).cap(DAY).jitter())',
        'once("pay", pay, retry=POLICY)',
        'once("pay", pay, retry=POLICY.jitter())',
        'once("pay", pay, retry=None)',
        'once("pay", pay, retry=a)',
        'once("pay", pay, retry=a.policy())',
        'slow = Backoff.constant(DAY)\nonce("pay", pay, retry=slow.max_attempts(3))',
        "slow = Backoff.constant(DAY)\nslow = slow.max_attempts(3)\nonce('pay', pay, retry=slow)",
        'import mine\nonce("pay", pay, retry=mine.Backoff.constant(DAY))',
        'once("pay", pay, timeout=DAY)',
        "Backoff.exponential(DAY)",
    ],
)
def test_a_policy_that_says_how_often_is_right(text: str) -> None:
    assert_right(text)


# --------------------------------------------------------------------------------------------- R8: a retry, and no wait


@pytest.mark.rule("R8")
@pytest.mark.parametrize(
    "text",
    [
        'once("x", lambda: sleep(DAY), retry=POLICY)  #! #~',
        'once("x", lambda: pay(wait_for("paid")), retry=POLICY)  #! #~',
        'await once("x", lambda: wait_for_async("paid"), retry=POLICY)  #! #~',
        'once("x",  #!\n    lambda: run_child("check", check, a),  #~\n    retry=POLICY)',
        'child = run_child("check", check, a)\nonce("x", lambda: child.result(), retry=POLICY)  #! #~',
        'await once("x", lambda: run_child("c", check, a).result_async(), retry=POLICY)  #! #~',
        'c = [run_child("check", check, x) for x in xs]\nonce("x", lambda: wait_all(c), retry=POLICY)  #! #~',
        'c = [run_child("check", check, x) for x in xs]\nonce("x", lambda: wait_first(c), retry=POLICY)  #! #~',
        'once("x", lambda: once("y", lambda: sleep(DAY)), retry=POLICY)  #! #~',
        'once("x", partial(sleep, DAY), retry=a)  #! #~',
    ],
)
def test_a_retried_step_that_waits_is_refused(text: str) -> None:
    # A line that is both places has one mark for each.
    whole = text.replace("#! #~", "#!")
    if whole == text:
        problem = assert_refused(text, RETRIED)
    else:
        (problem,) = refusals(model_of(program(whole)))
        assert problem.rule == RETRIED
        assert [problem.place.line] == marks(program(whole)).place
        assert {place.line for place in problem.others} == {problem.place.line}
    assert problem.spec == "R8"
    assert "Two ways out" in problem.message


@pytest.mark.rule("R8")
def test_a_wait_in_a_helper_is_found_and_the_message_says_where() -> None:
    problem = assert_refused(
        """
        def settle(x):
            pay(x)
            rest()  #~
        def rest():
            sleep(DAY)  #~
        @app.workflow
        def fulfil(a):
            once("settle",  #!
                lambda: settle(a),  #~
                retry=POLICY)
        """,
        RETRIED,
    )
    assert "through rest" in problem.message
    assert "sleep(DAY)" in problem.fix


@pytest.mark.rule("R8")
def test_both_ways_out_are_printed_with_the_policy_and_the_label() -> None:
    text = 'await once("charge", lambda: wait_for_async("paid"), retry=POLICY)'
    (problem,) = refusals(model_of(program(text)))
    child, outside = problem.fix.split("# or the wait stands outside of the step:\n")
    assert "async def charge_run(…):" in child
    assert 'return await once("charge", lambda: …, retry=POLICY)' in child
    assert 'await run_child("charge", charge_run, …).result_async()' in child
    assert outside == 'await wait_for_async("paid")\nawait once("charge", lambda: …, retry=POLICY)'


@pytest.mark.rule("R8")
@pytest.mark.parametrize(
    "text",
    [
        'once("x", lambda: pay(), retry=POLICY)\nsleep(DAY)',
        'once("x", lambda: sleep(DAY))',
        'once("x", lambda: sleep(DAY), retry=None)',
        'once("x", lambda: a.sleep(DAY), retry=POLICY)',
        "import time\nonce('x', lambda: time.sleep(1), retry=POLICY)",
        'score = run_child("score", check, a).result()\nonce("x", lambda: pay(score), retry=POLICY)',
        'once("x", lambda: [y.result() for y in xs], retry=POLICY)',
        'with saga("t") as t:\n    t.step("f", lambda: wait_for("paid"), undo=cancel, undo_retry=POLICY)',
    ],
)
def test_a_retry_and_a_wait_apart_are_right(text: str) -> None:
    assert_right(text)


@pytest.mark.rule("R8")
def test_a_wait_that_is_only_perhaps_reached_is_left_to_the_run() -> None:
    assert_right(
        """
        class Quick:
            def go(self): pay()
        class Slow:
            def go(self): sleep(DAY)
        def go(one: Quick | Slow): one.go()
        @app.workflow
        def fulfil(a):
            once("go", lambda: go(a), retry=POLICY)
        """
    )


# ------------------------------------------------------------------------------------------ W11: a wait, and a call out


@pytest.mark.rule("W11")
@pytest.mark.parametrize(
    "text",
    [
        """
        once("x", lambda: [httpx.get("https://x.example"), wait_for("paid")])  #!
        """,
        """
        once("x",  #!
            lambda: pay(httpx.get("https://x.example").json(),  #~
                run_child("check", check, a).result()))  #~
        """,
        """
        once("x",  #!
            lambda: [httpx.get("https://x.example"),  #~
                once("y", lambda: sleep(DAY))])  #~
        """,
        """
        once("x",  #!
            lambda: [sleep(DAY),  #~
                httpx.get("https://x.example")])  #~
        """,
    ],
)
def test_a_step_that_waits_and_calls_out_is_refused(text: str) -> None:
    if "#~" in text:
        assert assert_refused(text, CALLS_OUT).spec == "W11"
    else:
        (problem,) = refusals(model_of(program(text)))
        assert (problem.rule, [problem.place.line]) == (CALLS_OUT, marks(program(text)).place)
        assert 'once("call", lambda: httpx.get("https://x.example"))' in problem.fix


@pytest.mark.rule("W11")
def test_a_wait_in_a_helper_counts_and_a_call_in_a_helper_does_not() -> None:
    assert_refused(
        """
        def approved():
            return wait_for("approved")  #~
        @app.workflow
        def fulfil(a):
            once("x",  #!
                lambda: [httpx.post("https://x.example"),  #~
                    approved()])  #~
        """,
        CALLS_OUT,
    )
    assert_right(
        """
        def approve():
            httpx.post("https://x.example")
            wait_for("approved")
        @app.workflow
        def fulfil(a):
            once("x", lambda: approve())
        """
    )


@pytest.mark.rule("W11")
@pytest.mark.parametrize(
    "text",
    [
        'once("x", lambda: run_child("check", check, a).result())',
        'once("x", lambda: httpx.get("https://x.example"))\nsleep(DAY)',
        'once("x", lambda: [once("ask", lambda: httpx.get("https://x.example")), wait_for("paid")])',
        'once("x", lambda: httpx.get("https://x.example") if a else wait_for("paid"))',
        'once("x", lambda: [a.get("https://x.example"), wait_for("paid")])',
    ],
)
def test_a_step_that_only_waits_or_only_calls_is_right(text: str) -> None:
    assert_right(text)


# --------------------------------------------------------------------------------------------------------- W7: the undo


@pytest.mark.rule("W7")
@pytest.mark.parametrize(
    ("text", "what", "fix"),
    [
        ('trip.step("flight", pay, undo=lambda f: cancel(f))', "a lambda", "def cancel_flight(f: …)"),
        ('trip.step("flight", pay, undo=lambda f: pay(f, a))', "holds `a`", "let the step return what is needed"),
        ('trip.step("flight", pay, undo=partial(cancel, a))', "a partial", "undo=cancel_flight"),
        ('trip.step("flight", pay, undo=functools.partial(cancel, a))', "a partial", "undo=cancel_flight"),
        ('def back(f): cancel(f)\ntrip.step("flight", pay, undo=back)', "a function of the body", "def back("),
        ('def back(f): cancel(a)\ntrip.step("flight", pay, undo=back)', "holds `a`", "def back("),
        ('trip.step("flight", pay, undo=desk.cancel)', "a method bound to an object", "undo=cancel"),
        ('trip.step("flight", pay, undo=Desk.of_class)', "a method bound to an object", "undo=of_class"),
        ('trip.step("flight", pay, undo=web.delete)', "a method bound to an object", "undo=delete"),
        ('trip.step("flight", pay, undo=short)', "a lambda", "undo=cancel_flight"),
        ('trip.step("flight", pay, undo=a.undo_of(b))', "what a call gives", "undo=cancel_flight"),
        ('trip.step("flight", pay, undo=desk)', "an object", "undo=cancel_flight"),
    ],
)
def test_an_undo_that_is_no_function_of_a_module_is_refused(text: str, what: str, fix: str) -> None:
    desk = """\
class Desk:
    def cancel(self, flight): ...
    @classmethod
    def of_class(cls, flight): ...
    def __call__(self, flight): ...
desk = Desk()
web = httpx.Client()
short = lambda flight: cancel(flight)
@app.workflow
def fulfil(a, b):
    with saga("book") as trip:
"""
    whole = program(desk + "\n".join(f"        {line}" for line in text.split("\n")))
    (problem,) = refusals(model_of(whole))
    assert (problem.rule, problem.spec) == (CAPTURES, "W7")
    assert what in problem.message
    assert fix in problem.fix
    assert 'trip.step("flight", pay, undo=' in problem.fix
    assert len(problem.others) == 1


@pytest.mark.rule("W7")
def test_the_corrected_code_of_a_lambda_is_its_own() -> None:
    text = 'with saga("book") as trip:\n    trip.step("flight", lambda: pay(a), undo=lambda f: cancel(f))'
    (problem,) = refusals(model_of(program(text)))
    function = "def cancel_flight(f: …) -> None:    # at the top level of the module\n    cancel(f)"
    assert problem.fix == f'{function}\n\ntrip.step("flight", lambda: pay(a), undo=cancel_flight)'


@pytest.mark.rule("W7")
@pytest.mark.parametrize(
    "undo",
    ["cancel", "desks.cancel", "desks.Desk.static", "desks.Desk.cancel", "a", "a.cancel", "None", "cancel if a else b"],
)
def test_an_undo_that_is_a_function_of_a_module_is_right(undo: str) -> None:
    text = program(f'import desks\nwith saga("book") as trip:\n    trip.step("flight", lambda: pay(), undo={undo})')
    desks = "def cancel(f): ...\nclass Desk:\n    def cancel(self): ...\n    @staticmethod\n    def static(f): ...\n"
    assert refusals(model_of(text, desks=desks)) == []


@pytest.mark.rule("W7")
def test_a_saga_in_an_async_body_is_read_the_same() -> None:
    text = 'async with saga("book") as trip:\n    await trip.step("flight", lambda: ask(), undo=lambda f: cancel(f))'
    (problem,) = refusals(model_of(program(text)))
    assert problem.rule == CAPTURES
    assert problem.fix.endswith('await trip.step("flight", lambda: ask(), undo=cancel_flight)')
