"""``workflow-value-read-again-on-retry`` and ``workflow-retried-step-repeats-several-calls``."""

from __future__ import annotations

import textwrap

import pytest
from lint_programs import assert_right, assert_told

READ = "workflow-value-read-again-on-retry"
SEVERAL = "workflow-retried-step-repeats-several-calls"

RETRIED = 'once("charge", lambda: pay(1), retry=POLICY)'

# ----------------------------------------------------------------------------------------------- values that differ


@pytest.mark.rule("E")
@pytest.mark.parametrize(
    "read",
    [
        "ref = uuid.uuid4()",
        "ref = str(uuid.uuid4())",
        'ref = f"A-{uuid.uuid4().hex[:8]}"',
        "ref: str = uuid.uuid4().hex",
        "ref = dt.datetime.now(dt.UTC)",
        "ref = dt.datetime.now(dt.UTC) + dt.timedelta(days=3)",
        "ref = time.time()",
        "ref = random.randint(1, 6)",
        "ref = secrets.token_hex(8)",
        "ref = os.urandom(4)",
        "from uuid import uuid4\nref = uuid4()",
        "ref = (order, uuid.uuid4())",
        "ref = order or uuid.uuid4()",
    ],
)
def test_a_value_read_above_a_retried_step_and_stored_after_it_is_told(read: str) -> None:
    told = assert_told(f'{read}  #!\n{RETRIED}  #~\nonce("mail", lambda: notify_of(ref))  #~', READ)
    assert told.spec == "A5"
    assert told.fix.startswith('ref = once("ref", lambda: ')


@pytest.mark.rule("E")
@pytest.mark.parametrize(
    "store",
    [
        "row.reference = ref",
        'row.reference = f"A-{ref}"',
        'once("mail", lambda: ask(ref))',
        'once("mail", ref, lambda key: ask(key))',
        'httpx.post("https://x.example", json={"id": ref})',
        'run_child("c", child, ref)',
        "notify(ref)",
        "session = app.session()\nsession.add(Row(ref))",
        "session = app.session()\nsession.execute(insert(Row).values(id=ref))",
        "for x in xs:\n    notify(ref)",
        "if order:\n    notify(ref)",
        'key = f"K-{ref}"\nnotify(key)',
    ],
)
def test_every_way_to_store_it_is_seen(store: str) -> None:
    lines = store.split("\n")
    marked = "\n".join(f"    {line}" + ("  #~" if "ref" in line or "key)" in line else "") for line in lines)
    marked = marked.replace('key = f"K-{ref}"  #~', 'key = f"K-{ref}"')
    assert_told(
        f"""
class Row:
    reference: object = None
    def __init__(self, ref: object = None) -> None: ...
@app.workflow
def child(x: object) -> None: ...
@app.workflow
def fulfil(order: str, row: Row, xs: list[str]) -> None:
    ref = uuid.uuid4()  #!
    {RETRIED}  #~
{marked}
""",
        READ,
    )


def test_a_retried_step_in_a_helper_counts() -> None:
    assert_told(
        """
        def charge(ref: str) -> None:
            once("charge", lambda: pay(1), retry=POLICY)
        def new_reference() -> str:
            return uuid.uuid4().hex
        @app.workflow
        def fulfil(order: str) -> None:
            ref = new_reference()  #!
            charge(ref)  #~
            notify(ref)  #~
        """,
        READ,
    )


RIGHT_READS = {
    "in a step of its own": 'ref = once("ref", lambda: str(uuid.uuid4()))\n{retried}\nnotify(ref)',
    "below the retried step": "{retried}\nref = str(uuid.uuid4())\nnotify(ref)",
    "stored above it": "ref = str(uuid.uuid4())\nnotify(ref)\n{retried}",
    "only logged": "import logging\nref = str(uuid.uuid4())\n{retried}\nlogging.info('done %s', ref)",
    "only printed": "began = time.time()\n{retried}\nprint(time.time() - began)",
    "only given to the retried step": 'ref = str(uuid.uuid4())\nonce("pay", lambda: ask(ref), retry=POLICY)',
    "no retry": 'ref = str(uuid.uuid4())\nonce("pay", lambda: ask(ref))\nnotify(ref)',
    "retry of nothing": 'ref = str(uuid.uuid4())\nonce("pay", lambda: ask(ref), retry=None)\nnotify(ref)',
    "in another arm": "ref = str(uuid.uuid4())\nif order:\n    {retried}\nelse:\n    notify(ref)",
    "after a return": "ref = str(uuid.uuid4())\nif order:\n    {retried}\n    return\nnotify(ref)",
    "given a new value": "ref = str(uuid.uuid4())\n{retried}\nref = order\nnotify(ref)",
    "monotonic": "began = time.monotonic()\n{retried}\nnotify(str(time.monotonic() - began))",
    "of a parameter": "ref = order.upper()\n{retried}\nnotify(ref)",
    "compared": "late = time.time() > 5\n{retried}\nnotify(str(late))",
    "looked up by time": "rows = find(dt.datetime.now())\n{retried}\nnotify(str(rows))",
    "of a constant seed": "dice = random.Random(7)\n{retried}\nnotify(str(dice.random()))",
    "the result of a call": 'answer = httpx.get("https://x.example", headers={{"x": uuid.uuid4().hex}})\n{retried}\n'
    "notify(answer.text)",
    "in the lambda of a step": 'once("tag", lambda: ask(uuid.uuid4().hex))\n{retried}\nnotify(order)',
    "another name": "ref = uuid.uuid4()\n{retried}\nnotify(order)",
}


@pytest.mark.parametrize("source", RIGHT_READS.values(), ids=RIGHT_READS)
def test_what_each_attempt_may_read_is_not_told(source: str) -> None:
    head = "def find(day: object) -> list[str]: ...\n@app.workflow\ndef fulfil(order: str) -> None:\n"
    body = source.format(retried=RETRIED)
    assert_right(head + "\n".join(f"    {line}" for line in body.split("\n")))


# ---------------------------------------------------------------------------------------------------- calls that repeat


@pytest.mark.rule("E")
@pytest.mark.parametrize(
    "source",
    [
        """
        @app.workflow
        def fulfil(order: str) -> None:
            once("x", lambda: [httpx.post("https://a.example"), httpx.put("https://b.example")], retry=POLICY)  #!
        """,
        """
        def both(order: str) -> None:
            httpx.post("https://a.example")  #~
            httpx.put("https://b.example")  #~
        @app.workflow
        def fulfil(order: str) -> None:
            once("x", lambda: both(order), retry=POLICY)  #!
        """,
        """
        def both(order: str) -> None:
            reserve(order)
            httpx.put("https://b.example")  #~
        def reserve(order: str) -> None:
            httpx.post("https://a.example")  #~
        @app.workflow
        def fulfil(order: str) -> None:
            once("x", lambda: both(order), retry=POLICY)  #!
        """,
        """
        def each_of(xs: list[str]) -> None:
            for x in xs:
                httpx.post("https://a.example", json=x)  #~
        @app.workflow
        def fulfil(xs: list[str]) -> None:
            once("x", lambda: each_of(xs), retry=POLICY)  #!
        """,
        """
        def both(order: str) -> None:
            if order:
                httpx.post("https://a.example")  #~
            httpx.put("https://b.example")  #~
        @app.workflow
        def fulfil(order: str) -> None:
            once("x", functools.partial(both, order), retry=POLICY)  #!
        """,
        """
        class Pay(Client, base_url="https://pay.example"):
            @post_op("/reserve")
            async def reserve(self, order: str) -> str: ...
            @post_op("/charge")
            async def charge(self, order: str) -> str: ...
        client = Pay()
        async def both(order: str) -> None:
            await client.reserve(order)  #~
            await client.charge(order)  #~
        @app.workflow
        async def fulfil(order: str) -> None:
            await once("x", lambda: both(order), retry=POLICY)  #!
        """,
    ],
)
def test_a_retried_step_that_makes_several_calls_is_told(source: str) -> None:
    told = assert_told("from semel import Client, post as post_op\n" + textwrap.dedent(source), SEVERAL)
    assert told.spec == "R4"
    assert "retry=POLICY)" in told.fix


def test_the_corrected_code_is_a_step_for_each() -> None:
    text = 'once("x", lambda: [httpx.post("https://a.example"), httpx.put("https://b.example")], retry=POLICY)  #!'
    assert assert_told(text, SEVERAL).fix.split("\n") == [
        'once("post", lambda: httpx.post("https://a.example"), retry=POLICY)',
        'once("put", lambda: httpx.put("https://b.example"), retry=POLICY)',
    ]


RIGHT_CALLS = {
    "one call": 'once("x", lambda: httpx.post("https://a.example"), retry=POLICY)',
    "two without a retry": 'once("x", lambda: [httpx.post("https://a.example"), httpx.put("https://b.example")])',
    "one or the other": 'once("x", lambda: httpx.post("/a") if order else httpx.put("/b"), retry=POLICY)',
    "each a step": 'once("x", lambda: httpx.post("/a"), retry=POLICY)\n'
    'once("y", lambda: httpx.put("/b"), retry=POLICY)',
    "a step inside": 'once("x", lambda: [once("y", lambda: httpx.post("/a")), httpx.put("/b")], retry=POLICY)',
    "a call and own code": 'once("x", lambda: ask(httpx.post("/a").text), retry=POLICY)',
    "in a helper, alone": 'once("x", lambda: send(order), retry=POLICY)',
    "in arms of a helper": 'once("x", lambda: choose(order), retry=POLICY)',
    "until it is ready": 'once("x", lambda: poll(order), retry=POLICY)',
    "beside the step": 'httpx.put("/b")\nonce("x", lambda: httpx.post("/a"), retry=POLICY)',
}


@pytest.mark.parametrize("source", RIGHT_CALLS.values(), ids=RIGHT_CALLS)
def test_a_retried_step_that_makes_one_call_is_not_told(source: str) -> None:
    head = """\
def send(order: str) -> str:
    return httpx.post("https://a.example", json=order).text
def choose(order: str) -> str:
    if order:
        return httpx.post("https://a.example").text
    return httpx.put("https://b.example").text
def poll(order: str) -> str:
    while True:
        answer = httpx.get("https://a.example")
        if answer.is_success:
            return answer.text
@app.workflow
def fulfil(order: str) -> None:
"""
    assert_right(head + "\n".join(f"    {line}" for line in source.split("\n")))
