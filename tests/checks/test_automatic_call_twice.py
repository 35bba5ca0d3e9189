"""Rule A8: when two calls of one operation are one path too many, and when they are not."""

from __future__ import annotations

import pytest
from check_programs import assert_refused, assert_right, found, model_of, program

from semel.checks import refusals

RULE = "automatic-call-twice"
pytestmark = pytest.mark.rule("A8")

IMPORTS = "import httpx, requests, smtplib\n"

REFUSED = {
    "in a row": """
        httpx.post("a") #~
        httpx.post("b") #!
    """,
    "in one expression": """
        return (
            httpx.get("a").text #~
            + httpx.get("b").text) #!
    """,
    "on two clients": """
        one, two = httpx.Client(), httpx.Client()
        one.post("a") #~
        two.post("b") #!
    """,
    "in an arm and after it": """
        if a:
            httpx.post("a") #~
        httpx.post("b") #!
    """,
    "in the test of an if and in its arm": """
        if httpx.get("a").is_success: #~
            httpx.get("b") #!
    """,
    "in a try and its except": """
        try:
            httpx.get("a") #~
        except httpx.HTTPError:
            httpx.get("b") #!
    """,
    "in one pass of a loop": """
        for x in xs:
            httpx.get("a") #~
            httpx.get(x) #!
    """,
    "in two loops one after the other": """
        for x in xs:
            httpx.get("a") #~
        for x in xs:
            httpx.get(x) #!
    """,
    "one on a thread": """
        async def both():
            await asyncio.to_thread(httpx.get, "a") #~
            httpx.get("b") #!
        await both()
    """,
    "through a partial": """
        ask = partial(httpx.get, "a")
        ask() #~
        httpx.get("b") #!
    """,
    "a third time": """
        once("named", lambda: httpx.get("a"))
        httpx.get("b") #~
        httpx.get("c") #!
    """,
    "mail": """
        smtplib.SMTP("a").send_message("x") #~
        smtplib.SMTP("b").send_message("y") #!
    """,
}

RIGHT = {
    "one of them named": """
        httpx.post("a")
        once("second", lambda: httpx.post("b"))
    """,
    "both named": """
        once("first", lambda: httpx.post("a"))
        once("second", httpx.post)
    """,
    "different operations": """
        httpx.get("a")
        httpx.post("b")
        requests.get("c")
        httpx.Client().get("d")
        await httpx.AsyncClient().get("e")
    """,
    "in arms that exclude each other": """
        if a:
            httpx.post("a")
        elif b:
            httpx.post("b")
        else:
            httpx.post("c")
    """,
    "in cases": """
        match a:
            case 1: httpx.post("a")
            case _: httpx.post("b")
    """,
    "in a conditional expression": """
        return httpx.post("a") if a else httpx.post("b")
    """,
    "after a return": """
        if a:
            return httpx.post("a")
        return httpx.post("b")
    """,
    "after a function that never returns": """
        if a:
            httpx.post("a")
            stop()
        httpx.post("b")
    """,
    "after a continue": """
        for x in xs:
            if x:
                httpx.post("a")
                continue
            httpx.post("b")
    """,
    "in one loop": """
        for x in xs:
            httpx.post(x)
    """,
    "in loops of different depth": """
        httpx.post("a")
        for x in xs:
            httpx.post(x)
    """,
    "in two functions": """
        def one(): httpx.post("a")
        def two(): httpx.post("b")
        one()
        two()
        httpx.post("c")
    """,
    "twice in one named step": """
        once("both", lambda: (httpx.post("a"), httpx.post("b")))
    """,
    "on a client that nothing is known of": """
        a.post("a")
        a.post("b")
    """,
    "on one of two kinds of client": """
        def tell(client: httpx.Client | requests.Session):
            client.post("a")
            client.post("b")
        tell(a)
    """,
    "on a client with a transport of its own": """
        client = httpx.Client(transport=a)
        client.post("a")
        client.post("b")
    """,
    "on a fake": """
        class Fake:
            def post(self, url): ...
        client = Fake()
        client.post("a")
        client.post("b")
    """,
    "given to a function that calls it back": """
        list(map(httpx.get, xs))
        list(map(httpx.get, xs))
    """,
    "what does not leave": """
        httpx.Client()
        httpx.Client().close()
        httpx.Client().close()
        httpx.Request("GET", "a")
        httpx.Request("GET", "a")
    """,
}

CLIENT = """\
from semel import App, Client, external, once, post
app = App("shop")
class Payments(Client, base_url="https://pay.example"):
    @post("/charges")
    def charge(self, amount): ...
payments = Payments()
@external
def legacy(x): ...
@app.workflow
def fulfil(a):
"""


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_two_calls_of_one_operation_are_refused(text: str) -> None:
    problem = assert_refused(_body(text), RULE)
    assert "once(" in problem.fix


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT)
def test_calls_that_have_paths_of_their_own_are_fine(text: str) -> None:
    assert_right(_body(text))


def _body(text: str) -> str:
    lines = text.strip("\n").split("\n")
    indent = len(lines[0]) - len(lines[0].lstrip())
    return "\n".join([IMPORTS.strip(), *[line[indent:] for line in lines]])


@pytest.mark.parametrize("call", ["payments.charge(a)", "legacy(a)"])
def test_operations_of_a_client_and_declared_functions_are_no_different(call: str) -> None:
    problems = refusals(model_of(f"{CLIENT}    {call}\n    {call}\n"))
    assert [problem.rule for problem in problems] == [RULE]
    assert refusals(model_of(f"{CLIENT}    {call}\n    once('again', lambda: {call})\n")) == []


def test_the_message_names_both_lines_the_operation_and_the_fix() -> None:
    text = program(_body('client = httpx.Client()\nclient.post("a")\nclient.post(url="b", json={"x": a})'))
    (problem,) = found(text, RULE)
    assert problem.spec == "A8"
    assert "httpx.Client.post twice" in problem.message
    assert f"lines {problem.others[0].line} and {problem.place.line}" in problem.message
    assert problem.fix.startswith('once("second", lambda: client.post(url="b", json={"x": a}))')


def test_the_fix_of_an_awaited_call_is_awaited_and_its_label_is_free() -> None:
    text = program(
        _body(
            """
            client = httpx.AsyncClient()
            once("second", lambda: 1)
            await client.post("a")
            await client.post("b")
            """
        )
    )
    (problem,) = found(text, RULE)
    assert problem.fix.startswith('await once("third", lambda: client.post("b"))')


def test_a_function_that_no_body_leads_to_is_left_alone() -> None:
    assert_right(
        "def script():\n    import httpx\n    httpx.get('a')\n    httpx.get('b')\n@app.workflow\ndef fulfil(a): ..."
    )


# -------------------------------------------------------------- automatic steps count wherever steps do (O18, O15, O20)


@pytest.mark.rule("O18")
def test_a_helper_with_an_automatic_step_is_not_called_twice() -> None:
    problem = assert_refused(
        """
        @app.workflow
        def fulfil(a):
            tell(1) #~
            tell(2) #!
        def tell(x):
            import httpx
            httpx.post("a", json=x)
        """,
        "helper-called-twice",
    )
    assert "the call of httpx.post of tell" in problem.message


@pytest.mark.rule("O18")
def test_a_helper_whose_call_may_be_answered_by_a_double_is_left_to_run_time() -> None:
    assert_right(
        """
        @app.workflow
        def fulfil(a, client):
            tell(client)
            tell(client)
        def tell(client):
            client.post("a")
        """
    )
    text = "from httpx import Client, MockTransport\n@app.workflow\ndef fulfil(a):\n    tell(1)\n    tell(2)\n"
    assert_right(text + "def tell(x): Client(transport=MockTransport(x)).get('a')\n")


@pytest.mark.rule("O15")
@pytest.mark.parametrize(
    "text",
    [
        "class O:\n    @property\n    def rate(self): return httpx.get('a')\n@app.workflow\ndef fulfil(o: O): o.rate\n",
        "@functools.lru_cache\ndef rate(): return httpx.get('a')\n@app.workflow\ndef fulfil(a): rate()\n",
        "class Order:\n    def __add__(self, other): httpx.get('a')\n@app.workflow\ndef fulfil(o: Order): o + 1\n",
    ],
)
def test_a_call_that_no_path_leads_to_is_refused(text: str) -> None:
    problems = refusals(model_of(program(f"{text}import httpx")))
    assert [problem.rule for problem in problems] == ["step-where-no-path-leads"]


@pytest.mark.rule("O20")
def test_a_bare_thread_that_makes_a_call_is_refused() -> None:
    text = _body("def tell(): httpx.get('a')\nthreading.Thread(target=tell).start()")
    assert [problem.rule for problem in refusals(model_of(program(text)))] == ["step-in-a-bare-thread"]


def test_a_cached_client_is_no_step() -> None:
    assert_right(
        """
        @app.workflow
        def fulfil(a):
            client().get("a")
        @functools.cache
        def client():
            import httpx
            return httpx.Client()
        """
    )
