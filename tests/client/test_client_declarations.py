"""What is wrong with a declaration is told when the class is made: the place, the reason, and the fix."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path

import pytest

from semel import Client, get
from semel.errors import ClientDeclarationError

HEAD = """
from __future__ import annotations
from dataclasses import dataclass
from decimal import Decimal
from functools import wraps
from typing import Annotated, Any, Awaitable, Callable, Iterator, TYPE_CHECKING, TypeVar
import httpx
import pydantic
from semel import *
if TYPE_CHECKING:
    from decimal import Context
T = TypeVar("T")
class Plain: ...
class Model(pydantic.BaseModel): ...
@dataclass
class Line:
    sku: str
@dataclass
class Odd:
    plain: Plain
"""


def shop(*lines: str) -> str:
    return "\n".join(['class Shop(Client, base_url="https://shop.example"):', *(f"    {line}" for line in lines)])


#: The declaration, and what the message must say: the reason and the fix.
WRONG = [
    (shop('@get("/a/{b}")', "def a(self) -> None: ..."), "names {b}", "def a(self, b: str, …)"),
    (shop('@get("a")', "def a(self) -> None: ..."), 'must start with "/"', 'write "/a"'),
    (shop('@get("")', "def a(self) -> None: ..."), 'must start with "/"', 'write "/"'),
    (shop('@get("/a/{b")', "def a(self, b: str) -> None: ..."), "brace", 'write "/charges/{reference}"'),
    (shop('@get("/a/{}")', "def a(self, b: str) -> None: ..."), "{} is not the name", "write {reference}"),
    (shop('@get("/{b}/{b}")', "def a(self, b: str) -> None: ..."), "names one parameter twice", ""),
    (shop('@get("/a/../b")', "def a(self) -> None: ..."), 'segment "." or ".."', "write the path it leads to"),
    (shop('@get("/a?b=c")', "def a(self) -> None: ..."), "has a query", "Annotated[str, Query]"),
    (shop('@get("/a b")', "def a(self) -> None: ..."), "no URL has", "write '/a%20b'"),
    (shop('@get("/{b}")', "def a(self, b: str | None) -> None: ..."), "cannot be str | None there", "give it str"),
    (shop('@get("/{b}")', "def a(self, b: list[str]) -> None: ..."), "cannot be list[str] there", "give it str"),
    (shop('@get("/{b}")', "def a(self, b: Annotated[str, Query]) -> None: ..."), "is marked Query", "take one"),
    (shop('@get("/a")', "def a(self, b) -> None: ..."), "b has no annotation", "write b: str"),
    (shop('@get("/a")', "def a(self): ..."), "result has no annotation", "def a(…) -> None"),
    (shop('@get("/a")', "def a(self, *b: str) -> None: ..."), "what *b would send", "name each parameter"),
    (shop('@get("/a")', "def a(self, **b: str) -> None: ..."), "what **b would send", "name each parameter"),
    (shop('@get("/a")', "def a() -> None: ..."), "has no self", "write def a(self, …)"),
    (shop('@get("/a")', "def a(*, b: str) -> None: ..."), "has no self", "write def a(self, …)"),
    (shop('@get("/a")', "def a(self, b: Line) -> None: ..."), "b is in the query, and cannot be Line", "a list"),
    (shop('@get("/a")', "def a(self, b: dict[str, str]) -> None: ..."), "cannot be dict[str, str]", "a list"),
    (shop('@get("/a")', "def a(self, b: Any) -> None: ..."), "cannot be Any", "a list"),
    (shop('@get("/a")', "def a(self, b: Annotated[Line, Body]) -> None: ..."), "GET sends no body", "use @post"),
    (shop('@head("/a")', "def a(self, b: Annotated[str, BodyField]) -> None: ..."), "HEAD sends no body", "@post"),
    (shop('@delete("/a")', "def a(self, b: Line) -> None: ..."), "in the query", "Annotated[…, Body]"),
    (shop('@post("/a")', "def a(self, b: Line, c: Line) -> None: ..."), "two bodies", "mark them BodyField"),
    (
        shop('@post("/a")', "def a(self, b: Annotated[int, Body], c: Annotated[int, Body]) -> None: ..."),
        "two bodies",
        "mark them BodyField",
    ),
    (shop('@post("/a")', "def a(self, b: Line, c: int) -> None: ..."), "no place for c", "Annotated[Line, BodyField]"),
    (shop('@post("/a")', "def a(self, b: Plain) -> None: ..."), "Plain has no form in JSON", "a dataclass"),
    (shop('@post("/a")', "def a(self, b: Odd) -> None: ..."), "Plain has no form in JSON", "a dataclass"),
    (shop('@post("/a")', "def a(self, b: list[T]) -> None: ..."), "~T says nothing", "write the type itself"),
    (shop('@post("/a")', "def a(self, b: Annotated[str, Body, Query]) -> None: ..."), "marked Body and Query", "take"),
    (shop('@get("/a")', "def a(self, b: Annotated[str, Query] | None) -> None: ..."), "inside its type", "Annotated["),
    (shop('@get("/a")', "def a(self, b: list[Annotated[str, Query]]) -> None: ..."), "inside its type", "Annotated["),
    (shop('@get("/a")', 'def a(self, b: Annotated[str, Header("a b")]) -> None: ...'), "no header's name", "write"),
    (shop('@get("/a")', 'def a(self, b: Annotated[str, Header("Host")]) -> None: ...'), "the connection", "take it"),
    (shop('@get("/a")', "def a(self, b: Annotated[list[str], Header]) -> None: ..."), "b is a header", "give it str"),
    (
        shop('@get("/a")', 'def a(self, b: str, c: Annotated[str, Query("b")]) -> None: ...'),
        "b and c are both the query 'b'",
        "give one of them another name",
    ),
    (shop('@get("/a")', "def a(self) -> Plain: ..."), "its result: Plain has no form in JSON", "a dataclass"),
    (shop('@get("/a")', "def a(self) -> list[T]: ..."), "its result: ~T says nothing", "write the type itself"),
    (shop('@get("/a")', "def a(self) -> Iterator[int]: ..."), "its result: Iterator has no form", "a dataclass"),
    (shop('@get("/a")', "def a(self) -> Awaitable[int]: ..."), "its result: Awaitable has no form", "a dataclass"),
    (shop('@get("/a")', "def a(self) -> bytes | None: ..."), "bytes is the answer as it is", "write it alone"),
    (shop('@get("/a")', "def a(self) -> httpx.Response | None: ..."), "Response is the answer", "write it alone"),
    (shop('@get("/a")', "def a(self) -> Model | Plain: ..."), "beside what pydantic cannot", "pydantic models"),
    (shop('@get("/a")', "def a(self) -> Line | dict[str, str]: ..."), "its result: Type unions", ""),
    (shop('@head("/a")', "def a(self) -> int: ..."), "answer to HEAD has no body", "None, or httpx.Response"),
    (
        shop('@get("/a")', "def a(self) -> Context: ..."),
        "'Context', which is not defined",
        "outside of `if TYPE_CHECKING`",
    ),
    (shop('@get("/a")', "def a(self, b: Later) -> None: ..."), "'Later', which is not defined", "above the class"),
    (shop('@get("/a")', "def a(self, b: '1 +') -> None: ..."), "an annotation is no type", ""),
    (shop('@get("/a")', "def a(self) -> int: return 1"), "has a body", "write `...`"),
    (shop('@get("/a")', "def a(self) -> int:", "    print(1)", "    ..."), "has a body", "write `...`"),
    (shop('@get("/a")', "async def a(self) -> int: return 1"), "has a body", "write `...`"),
    (shop('@get("/a")', "def a(self) -> int: yield 1"), "has a body", "write `...`"),
    (shop('@get("/a")', 'def a(self) -> int: raise ValueError("x")'), "has a body", "write `...`"),
    (shop('@get("/a")', '@post("/a")', "def a(self) -> int: ..."), "second method", "declare two functions"),
    (shop('@get("/a")', "@staticmethod", "def a() -> int: ..."), "on a staticmethod", "directly above"),
    (shop('@get("/a")', "@property", "def a(self) -> int: ..."), "on a property", "directly above"),
    (shop('@get("/a")', "class A: ..."), "on a type", "directly above"),
    (shop("@get", "def a(self) -> int: ..."), "@get takes the path", 'write @get("/a")'),
    (shop("@get(None)", "def a(self) -> int: ..."), "@get takes the path", 'write @get("/charges")'),
    ('@get("/a")\ndef a() -> int: ...', "outside of a class", "class …(Client, base_url=…)"),
    ('def f():\n    @get("/a")\n    def a() -> int: ...\nf()', "outside of a class", "class …(Client, base_url=…)"),
    (shop('@get("/a")', "def close(self) -> None: ..."), "close is a Client's own", "name the operation otherwise"),
    (shop('@get("/a")', "def a(self) -> None: ...", "b = a"), "it is also called b", "declare a function"),
    ('class Other:\n    @get("/a")\n    def a(self) -> int: ...', "Other is no Client", "write class Other(Client"),
    ('class Shop(Client, base_url="/v1"): ...', "base_url must be absolute", 'write "https://v1"'),
    ('class Shop(Client, base_url="shop.example"): ...', "must be absolute", 'write "https://shop.example"'),
    ('class Shop(Client, base_url="ftp://shop.example"): ...', "must be absolute", 'write "https://shop.example"'),
    ('class Shop(Client, base_url=""): ...', "must be absolute", 'write "https://host"'),
    ('class Shop(Client, base_url="https://a b"): ...', "holds a space", ""),
    ('class Shop(Client, base_url="https://a:x"): ...', "is no URL", ""),
    ('class Shop(Client, base_url="https://u:secret@a"): ...', "which logs would show", "auth="),
    ('class Shop(Client, base_url="https://a?b=c"): ...', "holds a query", "parameter"),
    ("class Shop(Client, base_url=7): ...", "must be a str", ""),
    ('class Shop(Client, base_url="https://a", base_url_env="A"): ...', "both given", "take one"),
    ('class Shop(Client, base_url_env=""): ...', "name of a variable", "PAYMENTS_URL"),
    ("class Shop(Client, timeout=0): ...", "seconds above 0, not 0", "timeout=10"),
    ('class Shop(Client, timeout="5"): ...', "seconds above 0", "timeout=10"),
    ("class Shop(Client, timeout=True): ...", "seconds above 0", "timeout=10"),
    ('class Shop(Client, auth="secret"): ...', "auth is Bearer", "Env("),
    ('class Shop(Client, headers={"a": 1}): ...', "the header 'a' must be a str", "Env("),
    ('class Shop(Client, headers=["a"]): ...', "headers are a dict", "Env("),
    ("class Shop(Client, decisions=404): ...", "decisions are statuses, not 404", "decisions=(404, 409)"),
    ('class Shop(Client, decisions=["404"]): ...', "'404' among the decisions", "decisions=(404, 409)"),
    ("class Shop(Client, decisions=[200]): ...", "no status that an operation raises over", "decisions=(404, 409)"),
]


@pytest.mark.parametrize(("source", "why", "fix"), WRONG, ids=[f"{n}-{why}" for n, (_, why, _) in enumerate(WRONG)])
def test_a_wrong_declaration_is_refused_with_place_reason_and_fix(program, source, why, fix) -> None:
    with pytest.raises((ClientDeclarationError, RuntimeError)) as raised:
        program(HEAD + source)
    error = raised.value
    if type(error) is RuntimeError:  # what Python 3.11 makes of an error in __set_name__
        assert sys.version_info < (3, 12)
        error = error.__cause__
    assert isinstance(error, ClientDeclarationError)
    message = str(error)
    assert why in message
    assert fix in message
    assert "secret" not in message
    if "on a" not in why and "takes the path" not in why:
        place = re.match(r"(.*\.py):(\d+): ", message)
        assert place is not None
        line = Path(place[1]).read_text().splitlines()[int(place[2]) - 1].strip()
        assert line.startswith(("@", "class Shop", "def f")), line


GOOD = [
    "def a(self) -> None: ...",
    'def a(self) -> None: "Says what it is for."',
    'def a(self) -> None:\n        """Says what it is for."""\n        ...',
    "def a(self) -> None: pass",
    "def a(self) -> int: raise NotImplementedError",
    "async def a(self) -> int: ...",
    'async def a(self) -> int: "Says what it is for."',
    "async def a(self) -> int: raise NotImplementedError",
    "def a(this, /, b: str = '', *, c: int = 1) -> Any: ...",
    "def a(self, b: str, /) -> object: ...",
    "def a(self, b: list[str] | str | None = None, c: tuple[int, ...] = ()) -> list[Model]: ...",
    "def a(self) -> 'Line | None': ...",
]


@pytest.mark.parametrize("source", GOOD)
def test_a_body_that_says_nothing_is_fine(program, source) -> None:
    program(HEAD + shop('@get("/a")', source))


class Shop(Client, base_url="https://shop.example"):
    @get("/orders/{order}")
    def order(self, order: str, *, since: int = 1) -> int:
        """One order."""

    @get("/orders")
    async def orders(self) -> list[int]: ...


def test_an_operation_looks_like_what_its_author_wrote() -> None:
    assert inspect.isfunction(Shop.order)
    assert (Shop.order.__name__, Shop.order.__qualname__, Shop.order.__module__) == ("order", "Shop.order", __name__)
    assert Shop.order.__doc__ == "One order."
    assert str(inspect.signature(Shop.order)) == "(self, order: 'str', *, since: 'int' = 1) -> 'int'"
    assert not hasattr(Shop.order, "__wrapped__")
    assert not inspect.iscoroutinefunction(Shop.order)
    assert inspect.iscoroutinefunction(Shop.orders)


@pytest.mark.rule("A8")
def test_its_code_is_semel_s() -> None:
    assert Shop.order.__globals__["__name__"].partition(".")[0] == "semel"
    assert Shop.orders.__globals__["__name__"].partition(".")[0] == "semel"


def test_a_class_in_a_function_finds_the_names_there() -> None:
    from dataclasses import dataclass

    @dataclass
    class Line:
        sku: str

    class Local(Client, base_url="https://shop.example"):
        @get("/lines")
        def lines(self) -> list[Line]: ...

    assert Local(base_url="https://other.example")


def test_operations_are_inherited_and_settings_too() -> None:
    class Sub(Shop, timeout=3):
        @get("/more")
        def more(self) -> int: ...

    assert repr(Sub()) == f"<{Sub.__qualname__} https://shop.example>"
    assert Sub.order is Shop.order


def test_a_class_of_the_author_s_own_between_keeps_the_place(program) -> None:
    with pytest.raises(ClientDeclarationError, match=r"program_\d+\.py:\d+: Shop: timeout") as raised:
        program("""
            from semel import Client
            class Base(Client):
                def __init_subclass__(cls, **others):
                    super().__init_subclass__(**others)
            class Shop(Base, timeout=-1): ...
        """)
    line = int(re.findall(r"\.py:(\d+):", str(raised.value))[0])
    assert line == 6
