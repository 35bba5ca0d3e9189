"""What must not type-check: each marked line has to be refused by both type checkers. Never run."""

from __future__ import annotations

from semel import App, Client, each, get, once, post

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


class Payments(Client, base_url="https://api.payments.example"):
    @post("/charges")
    def charge(self, reference: str, amount: int) -> str:
        raise NotImplementedError

    @get("/charges")
    async def charges(self, status: str) -> list[str]:
        raise NotImplementedError

    @get  # wrong: the path is missing
    def without_path(self) -> None: ...  # wrong for mypy: what stands here is no method any more

    @get(7)  # wrong: the path is a str
    def numbered(self) -> None: ...


class Odd(Client, base_url=7): ...  # wrong: the base URL is a str


class Unknown(Client, base="https://api.payments.example"): ...  # wrong: there is no such setting


payments = Payments(timeout="5")  # wrong: the timeout is a number
payments.charge("A")  # wrong: an argument is missing
payments.charge("A", "1")  # wrong: a str where an int belongs
payments.charge("A", 1, key="k")  # wrong: there is no such parameter
receipt: int = payments.charge("A", 1)  # wrong: the result is a str
once("charge it", lambda: payments.charge(1, 1))  # wrong: an int where a str belongs


async def ask() -> None:
    for one in payments.charges("open"):  # wrong: it is not awaited
        print(one)
    once("ask it", lambda: payments.refund())  # wrong: there is no such operation
