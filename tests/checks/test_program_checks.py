"""The refusals that take the whole program, besides two calls of one helper."""

from __future__ import annotations

import pytest
from check_programs import assert_refused, assert_right, found, marks, model_of, program

from semel.checks import refusals

NAMES = "two-functions-of-one-name"
NO_PATH = "step-where-no-path-leads"
THREAD = "step-in-a-bare-thread"

TWO_MODULES = """\
from semel import App
import mail, post
app = App("x")
@app.workflow
def fulfil(a):
    {body}
"""
SENDS = "from semel import once\ndef send(x):\n    once('send', lambda: x)\n"


@pytest.mark.rule("O18")
@pytest.mark.parametrize(
    "body",
    [
        "mail.send(1)\n    post.send(2)",
        "if a:\n        mail.send(1)\n    else:\n        post.send(2)",
        "return mail.send(1) if a else post.send(2)",
    ],
)
def test_two_functions_of_one_name_are_refused_also_in_exclusive_arms(body: str) -> None:
    problems = refusals(model_of(TWO_MODULES.format(body=body), mail=SENDS, post=SENDS))
    assert [problem.rule for problem in problems] == [NAMES]
    files = {place.file for place in problems[0].others}
    assert files == {"shop.py", "mail.py", "post.py"}
    assert "Rename" in problems[0].message


@pytest.mark.rule("O18")
@pytest.mark.parametrize(
    ("body", "post"),
    [
        ("mail.send(1)\n    post.send(2)", "def send(x): ...\n"),
        ("mail.send(1)\n    for x in a: post.send(2)", SENDS),
        ("mail.send(1)\n    post.deliver(2)", SENDS + "def deliver(x):\n    send(x)\n"),
    ],
)
def test_functions_of_one_name_with_different_paths_are_fine(body: str, post: str) -> None:
    assert refusals(model_of(TWO_MODULES.format(body=body), mail=SENDS, post=post)) == []


@pytest.mark.rule("O18")
def test_two_lambdas_given_to_one_foreign_function_are_told_to_take_names() -> None:
    key = 'sorted(xs, key=lambda x: once("rank", lambda: ask(x)))'
    problems = refusals(model_of(program(f"{key}\n{key}")))
    assert [problem.rule for problem in problems] == [NAMES]
    assert "Give each a name of its own" in problems[0].message
    assert problems[0].fix.startswith("def ")


def test_one_name_defined_in_two_ways_is_one_function() -> None:
    assert_right(
        """
        if sys.platform == "win32":
            def tell(): once("tell", lambda: pay())
        else:
            def tell(): once("tell", lambda: pay())
        @app.workflow
        def fulfil(a): tell()
        """
    )


LOST = {
    "a property": """
        class Order:
            @property
            def total(self): return once("total", lambda: pay()) #!
        @app.workflow
        def fulfil(a):
            order = Order()
            return order.total #~
    """,
    "a cached property": """
        class Order:
            @functools.cached_property
            def total(self): return once("total", lambda: pay()) #!
        @app.workflow
        def fulfil(order: Order):
            return order.total #~
    """,
    "an operator": """
        class Basket:
            def __add__(self, other): return once("add", lambda: pay()) #!
        @app.workflow
        def fulfil(basket: Basket):
            return basket + 1 #~
    """,
    "a comparison": """
        class Basket:
            def __eq__(self, other): return once("same", lambda: pay()) #!
        @app.workflow
        def fulfil(basket: Basket):
            return basket == 1 #~
    """,
    "an item": """
        class Basket:
            def __getitem__(self, key): return once("item", lambda: pay()) #!
        @app.workflow
        def fulfil(basket: Basket):
            return basket["x"] #~
    """,
    "a dataclass after its construction": """
        from dataclasses import dataclass
        @dataclass
        class Order:
            x: int
            def __post_init__(self): once("new", lambda: pay()) #!
        @app.workflow
        def fulfil(a):
            return Order(1) #~
    """,
    "a cached function": """
        @functools.lru_cache(maxsize=None)
        def rate(): return once("rate", lambda: ask()) #!
        @app.workflow
        def fulfil(a):
            return rate() #~
    """,
    "a function that a property calls": """
        class Order:
            @property
            def total(self): return notify() #~
        @app.workflow
        def fulfil(order: Order):
            return order.total #~
    """,
}

LED = {
    "a property without a step": """
        class Order:
            @property
            def total(self): return pay()
        @app.workflow
        def fulfil(order: Order): return order.total
    """,
    "a property that no body reads": """
        class Order:
            @property
            def total(self): return once("total", lambda: pay())
        def script(order: Order): return order.total
    """,
    "an attribute of the same name elsewhere": """
        class Order:
            @property
            def total(self): return once("total", lambda: pay())
        class Basket:
            total: int = 0
        @app.workflow
        def fulfil(basket: Basket, other): return basket.total, other.total
    """,
    "construction, entering, calling, iterating": """
        class Lease:
            def __init__(self): once("init", lambda: pay())
            def __enter__(self): once("enter", lambda: pay())
            def __exit__(self, *_): once("exit", lambda: pay())
            def __call__(self): once("call", lambda: pay())
            def __iter__(self): return self
            def __next__(self): return once("next", lambda: pay())
        @app.workflow
        def fulfil(a):
            lease = Lease()
            with lease:
                lease()
            for x in lease: plain(x)
    """,
    "a cached function without a step": """
        @functools.cache
        def rate(): return ask()
        @app.workflow
        def fulfil(a): return rate()
    """,
    "a cached function that no body calls": """
        @functools.cache
        def rate(): return once("rate", lambda: ask())
    """,
}


@pytest.mark.rule("O15")
@pytest.mark.parametrize("text", LOST.values(), ids=LOST)
def test_a_step_that_no_call_leads_to_is_refused(text: str) -> None:
    if "#!" in text:
        assert_refused(text, NO_PATH)
    else:
        assert len(found(program(text), NO_PATH)) == 1


@pytest.mark.rule("O15")
@pytest.mark.parametrize("text", LED.values(), ids=LED)
def test_a_step_that_a_call_leads_to_is_fine(text: str) -> None:
    assert_right(text)


@pytest.mark.rule("O20")
@pytest.mark.parametrize(
    "text",
    [
        "threading.Thread(target=notify, args=(1,)).start() #!",
        "thread = threading.Thread(target=lambda: notify(1)) #!\nthread.start()",
        "threading.Timer(5, notify).start() #!",
        "pass\nclass Later(threading.Thread):\n    def run(self): notify(1)\nLater().start() #!",
        "import multiprocessing\nmultiprocessing.Process(target=notify).start() #!",
        "from threading import Thread as T\nT(None, notify).start() #!",
        "threading.Thread(target=partial(notify, 1)).start() #!",
    ],
)
def test_a_bare_thread_with_steps_is_refused(text: str) -> None:
    problems = found(program(text), THREAD)
    assert len(problems) == 1
    assert [problem.place.line for problem in problems] == marks(program(text)).place
    assert problems[0].others
    assert "pool" in problems[0].message


@pytest.mark.rule("O20")
@pytest.mark.parametrize(
    "text",
    [
        "threading.Thread(target=plain).start()",
        'once("all", lambda: threading.Thread(target=notify).start())',
        "with futures.ThreadPoolExecutor() as pool:\n    pool.submit(notify, 1)",
        "def start(): threading.Thread(target=notify).start()\nonce('all', start)",
        "def script(): threading.Thread(target=notify).start()",
        "pass\nclass Later(threading.Thread):\n    def run(self): plain(1)\nLater().start()\nnotify()",
    ],
)
def test_other_threads_are_fine(text: str) -> None:
    assert_right(text)
