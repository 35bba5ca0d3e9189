"""What must not type-check: each marked line has to be refused by both type checkers. Never run."""

from __future__ import annotations

from semel import App, each, once

app = App("shop")


def charge(amount: int, key: str = "") -> int:
    return amount


@app.workflow
def fulfil(order: str, amount: int) -> str:
    label = order + "!"
    number: str = once("charge", lambda: charge(amount))  # wrong: the step's type is int
    once(label, lambda: charge(amount))  # wrong for pyright: not a literal (mypy does not know LiteralString)
    once("value", charge(amount))  # wrong: a value and not a step
    once("scoped", 1.5, lambda key: charge(amount, key))  # wrong: a float is no scope
    once("none")  # wrong: no step
    for line in each([1, 2], key=lambda one: one.name):  # wrong: an int has no name
        print(line)
    return number


app.start(fulfil, "A")  # wrong: an argument is missing
app.start(fulfil, "A", "1")  # wrong: a str where an int belongs
app.start(fulfil, "A", 1, id=7)  # wrong: the id is a str
wrong: int = app.start(fulfil, "A", 1).result()  # wrong: the result is a str
app.workflow(name=1)  # wrong: the name is a str
