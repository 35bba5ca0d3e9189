"""Rules O4, O13 and O14: what one call of ``once``, or one function, shows by itself."""

from __future__ import annotations

import pytest
from check_programs import assert_refused, assert_right, found, model_of, program

from semel.checks import function_refusals, refusals

VALUE = "once-step-is-a-value"
LITERAL = "once-label-is-not-a-literal"
TWICE = "once-label-used-twice"

VALUES = {
    'once("charge", pay(a))': 'once("charge", lambda: pay(a))',
    'once("charge", app.pay(a, total=1))': 'once("charge", lambda: app.pay(a, total=1))',
    'once("charge", a.id, pay(a))': 'once("charge", a.id, lambda key: pay(a))',
    'once("charge", pay)()  # fine\nonce("other", pay())': 'once("other", lambda: pay())',
    'once("charge", None)': 'once("charge", lambda: None)',
    'once("charge", f"{a}")': 'once("charge", lambda: f"{a}")',
    'once("charge", a + 1)': 'once("charge", lambda: a + 1)',
    'once("charge", -a)': 'once("charge", lambda: -a)',
    'once("charge", a == 1)': 'once("charge", lambda: a == 1)',
    'once("charge", [pay(x) for x in xs])': 'once("charge", lambda: [pay(x) for x in xs])',
    'once("charge", (pay(x) for x in xs))': 'once("charge", lambda: (pay(x) for x in xs))',
    'once("charge", (a, b))': 'once("charge", lambda: (a, b))',
    'once("charge", pay(a) if b else ask)': 'once("charge", lambda: pay(a) if b else ask)',
    'once("charge", b or pay(a))': 'once("charge", lambda: b or pay(a))',
    'once("charge", (paid := pay(a)))': 'once("charge", (lambda: (paid := pay(a))))',
    'once("charge", partial(pay, a)())': 'once("charge", lambda: partial(pay, a)())',
    'await once("charge", await pay(a))': 'once("charge", lambda: pay(a))',
    'x = once("charge", await pay(a))': 'await once("charge", lambda: pay(a))',
    'await once("charge", 1 + (await pay(a)))': "async def charge():\n    return 1 + (await pay(a))",
    'once("charge",\n    pay(a,\n        b))': 'once("charge",\n        lambda: pay(a,\n            b))',
    'once("charge")': 'once("charge", lambda: …)',
    "once(lambda: pay(a))": 'once("pay", lambda: pay(a))',
    "once(pay(a))": 'once("pay", lambda: pay(a))',
    "once()": 'once("name-of-this-step", lambda: …)',
    'once("charge", a, b, pay)': 'once("charge", lambda: …)',
    "once(*a)": "lambda: …",
    'once("charge", *a)': "lambda: …",
    'once("charge", **a)': 'once("charge", lambda: …)',
    'once(label="charge", step=lambda: pay(a))': 'once("charge", lambda: pay(a))',
    'import semel as s\ns.once("charge", pay(a))': 's.once("charge", lambda: pay(a))',
    'from semel import once as o\no("charge", pay(a))': 'o("charge", lambda: pay(a))',
    'once("Gebühr für zwölf", pay(a))': 'once("Gebühr für zwölf", lambda: pay(a))',
    'tell = once\ntell("charge", pay(a))': 'tell("charge", lambda: pay(a))',
}

FUNCTIONS = [
    'once("charge", lambda: pay(a))',
    'once("charge", lambda key: pay(a, key))',
    'once("charge", a.id, lambda key: pay(a, key))',
    'once("charge", (a.id, 1), lambda key: pay(a, key))',
    'once("charge", pay)',
    'once("charge", a.pay)',
    'once("charge", partial(pay, a))',
    'once("charge", functools.partial(pay, a))',
    'once("charge", pay if a else ask)',
    'once("charge", (lambda: pay(a)) if a else (lambda: ask(a)))',
    'once("charge", a["pay"])',
    'once("charge", b or pay)',
    'once("charge", lambda: pay(a), retry=b.max_attempts(4))',
    'await once("charge", lambda: pay(a))',
    'once("charge", lambda: [pay(x) for x in xs])',
    'import functools as ft\nonce("charge", ft.partial(pay, a))',
    "def once(x): ...\nonce(pay(a))",
    'a.once("charge", pay(a))',
]


@pytest.mark.rule("O4")
@pytest.mark.parametrize(("text", "fix"), VALUES.items(), ids=range(len(VALUES)))
def test_a_step_that_is_no_function_is_refused_with_the_corrected_line(text: str, fix: str) -> None:
    problems = found(program(text), VALUE)
    assert len(problems) == 1, text
    assert fix in problems[0].fix
    assert problems[0].spec == "O4"


@pytest.mark.rule("O4")
@pytest.mark.rule("O5")
@pytest.mark.parametrize("text", FUNCTIONS)
def test_a_lambda_a_function_or_a_partial_is_right(text: str) -> None:
    assert_right(text)


@pytest.mark.rule("O4")
def test_the_message_says_that_the_call_would_have_run_first() -> None:
    problem = assert_refused('once("charge", pay(a)) #!', VALUE)
    assert "`pay` would have run first" in problem.message


@pytest.mark.rule("O4")
@pytest.mark.parametrize(
    "head",
    [
        "from semel import *\n",
        "from semel.workflow.once import once\n",
        "from tools import once\n",
        "from tools import *\n",
        "import tools\nonce = tools.once\n",
    ],
)
def test_once_is_known_however_it_is_imported(head: str) -> None:
    text = f'{head}def f(x):\n    once("charge", pay(x))\n'
    problems = refusals(model_of(text, tools="from semel import once\n"))
    assert [problem.rule for problem in problems] == [VALUE]


@pytest.mark.rule("E")
@pytest.mark.parametrize(
    "text", ["once('x', pay())\n", "class A:\n    y = once('x', pay())\n", "f = lambda: once('x', pay())\n"]
)
def test_once_outside_of_a_workflow_is_read_too(text: str) -> None:
    model = model_of("from semel import once\n" + text)
    assert [problem.rule for problem in function_refusals(model, "shop")] == [VALUE]
    assert function_refusals(model, "other") == []


LABELS = {
    "once(a, lambda: pay(b)) #!": '"pay"',
    'once(f"charge-{a}", lambda: pay(b)) #!': '"charge"',
    'once("charge-" + a, lambda: pay(b)) #!': '"charge"',
    'once("charge-%s" % a, lambda: pay(b)) #!': '"charge"',
    'once("charge-{}".format(a), lambda: pay(b)) #!': '"charge"',
    'once("", lambda: pay(b)) #!': '"pay"',
    'once(b"charge", lambda: pay(b)) #!': '"pay"',
    "once(5, lambda: pay(b)) #!": '"pay"',
    'once("a" if a else "b", lambda: pay(b)) #!': '"pay"',
    "once(str(a), lambda: pay(b)) #!": '"',
    'LABEL = "charge"\nonce(LABEL, lambda: pay(b)) #!': '"charge"',
    "once(a.label, b.id, lambda key: pay(key)) #!": '"',
}


@pytest.mark.rule("O13")
@pytest.mark.parametrize(("text", "label"), LABELS.items())
def test_a_label_that_is_no_string_literal_is_refused(text: str, label: str) -> None:
    problem = assert_refused(text, LITERAL)
    assert problem.spec == "O13"
    assert f"once({label}" in problem.fix


@pytest.mark.rule("O13")
@pytest.mark.parametrize(
    "text",
    [
        'once("charge", pay)',
        "once('a' 'b', pay)",
        'once(("charge"), pay)',
        'once(r"charge", pay)',
        'once("""a""", pay)',
    ],
)
def test_a_string_literal_is_a_label(text: str) -> None:
    assert_right(text)


@pytest.mark.rule("O13")
def test_a_value_under_a_label_that_is_no_literal_is_mended_in_both_places() -> None:
    problems = refusals(model_of(program('once(f"charge-{a}", pay(a))')))
    assert sorted(problem.rule for problem in problems) == [LITERAL, VALUE]


SHARED = {
    "in a row": """
        once("charge", lambda: pay(1)) #~
        once("charge", lambda: pay(2)) #!
    """,
    "in arms that exclude each other": """
        if a:
            once("charge", lambda: pay(1)) #~
        else:
            once("charge", lambda: pay(2)) #!
    """,
    "in cases": """
        match a:
            case 1:
                once("charge", lambda: pay(1)) #~
            case 2:
                once("charge", lambda: pay(2)) #!
    """,
    "after a return": """
        if a:
            return once("charge", lambda: pay(1)) #~
        return once("charge", lambda: pay(2)) #!
    """,
    "in a loop and outside": """
        for x in xs:
            once("charge", lambda: pay(x)) #~
        once("charge", lambda: pay(2)) #!
    """,
    "one inside the other": """
        once("charge", lambda: #~
            once("charge", lambda: pay(2))) #!
    """,
    "twice in one lambda": """
        once("both", lambda: (once("charge", lambda: pay(1)), #~
            once("charge", lambda: pay(2)))) #!
    """,
    "by parts of a literal": """
        once("char" "ge", lambda: pay(1)) #~
        once("charge", lambda: pay(2)) #!
    """,
    "in a nested function": """
        def inner():
            once("charge", lambda: pay(1)) #~
            once("charge", lambda: pay(2)) #!
        once("charge", inner)
    """,
}

APART = {
    "two labels": 'once("a", lambda: pay(1))\nonce("b", lambda: pay(2))',
    "labels are compared exactly": 'once("Charge", lambda: pay(1))\nonce("charge", lambda: pay(2))',
    "under two labels": """
        once("a", lambda: once("charge", lambda: pay(1)))
        once("c", lambda: once("charge", lambda: pay(2)))
    """,
    "inside a step and outside": """
        once("a", lambda: once("charge", lambda: pay(1)))
        once("charge", lambda: pay(2))
    """,
    "in two functions": """
        def other(): once("charge", lambda: pay(1))
        @app.workflow
        def fulfil(a):
            other()
            once("charge", lambda: pay(2))
    """,
    "in a nested function and round it": """
        def inner(): once("charge", lambda: pay(1))
        inner()
        once("charge", lambda: pay(2))
    """,
    "in two methods": """
        class Flow:
            def one(self): once("charge", lambda: pay(1))
            def two(self): once("charge", lambda: pay(1))
    """,
}


@pytest.mark.rule("O14")
@pytest.mark.parametrize("text", SHARED.values(), ids=SHARED)
def test_two_steps_of_one_label_are_refused(text: str) -> None:
    problem = assert_refused(text, TWICE)
    assert str(problem.place.line) in problem.message
    assert str(problem.others[0].line) in problem.message


@pytest.mark.rule("O14")
@pytest.mark.parametrize("text", APART.values(), ids=APART)
def test_steps_that_can_be_told_apart_are_fine(text: str) -> None:
    assert_right(text)
