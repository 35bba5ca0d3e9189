"""``workflow-result-cannot-be-recorded``: from annotations and from what the source shows."""

from __future__ import annotations

import asyncio
import collections
import fractions
import importlib
import io
import re
import subprocess
import sys
import threading
import types

import pytest
from lint_programs import assert_right, assert_told

from semel.codec import Codec
from semel.codec.registry import TypeRegistry
from semel.compiler.model.unrecordable_types import UNRECORDABLE

RULE = "workflow-result-cannot-be-recorded"


@pytest.mark.rule("O23")
@pytest.mark.parametrize(
    "source",
    [
        'once("ls", lambda: subprocess.run(["ls"]))  #!',
        'once("read", lambda: open("a"))  #!',
        'once("lock", lambda: threading.Lock())  #!',
        'once("lock", threading.Lock)  #!',
        'once("items", lambda: (x for x in xs))  #!',
        'once("items", lambda: map(str, xs))  #!',
        'once("later", lambda: lambda: ask())  #!',
        'once("pair", lambda: [1, collections.deque()])  #!',
        'once("client", lambda: httpx.Client())  #!',
        'once("found", lambda: {"bytes": io.BytesIO()})  #!',
        'if xs:\n    once("which", lambda: range(3) if order else iter(xs))  #!',
        'once("start", lambda: app.start(fulfil, order, path, xs))  #!',
        'def lines() -> Iterator[str]: ...  #~\nonce("lines", lambda: lines())  #!',
        'def lines():  #~\n    yield 1\nonce("lines", lines)  #!',
        "def a_lock():\n    return threading.Lock()  #~\nonce('lock', a_lock)  #!",
        'async def socket_of() -> socket.socket: ...\nawait once("socket", lambda: socket_of())  #!',
        'def both() -> tuple[str, "TextIO"]: ...\nonce("both", lambda: both())  #!',
        'def many() -> dict[str, list[Callable[[], int]]]: ...\nonce("many", both := many)  #!',
        'def either() -> threading.Lock | threading.Event | None: ...\nonce("either", either)  #!',
    ],
)
def test_a_step_whose_result_cannot_be_recorded_is_told(source: str) -> None:
    assert_told(source, RULE)


@pytest.mark.rule("O23")
@pytest.mark.parametrize(
    "source",
    [
        """
        @app.workflow
        def fulfil(order: str) -> Iterator[str]: ...  #!
        """,
        """
        @app.workflow(name="other")
        async def fulfil(order: str) -> "list[Session]": ...  #!
        """,
        """
        class Receipt:
            def __init__(self, id: str) -> None:
                self.id = id
        @app.workflow
        def fulfil(order: str) -> Receipt:  #!
            return Receipt("a")
        """,
        """
        @dataclass
        class Inner:
            lock: threading.Lock
        @dataclass
        class Receipt:
            id: str
            inner: Inner
        @app.workflow
        def fulfil(order: str) -> Receipt: ...  #!
        """,
        """
        class Base(DeclarativeBase): ...
        class Order(Base):
            __tablename__ = "orders"
        @app.workflow
        def fulfil(order: str) -> Order: ...  #!
        """,
        """
        from semel import external
        @external
        def connect() -> socket.socket: ...  #!
        @app.workflow
        def fulfil(order: str) -> None:
            connect()
        """,
    ],
)
def test_a_body_and_an_external_function_whose_result_cannot_be_recorded_are_told(source: str) -> None:
    assert_told(source, RULE)


def test_a_part_is_named() -> None:
    problem = assert_told(
        """
        @dataclass
        class Receipt:
            id: str
            locks: list[threading.Lock]
        @app.workflow
        def fulfil(order: str) -> Receipt: ...  #!
        """,
        RULE,
    )
    assert ".locks[…]" in problem.message


@pytest.mark.parametrize(
    ("source", "fix"),
    [
        ('once("ls", lambda: subprocess.run(["ls"]))  #!', 'once("ls", lambda: subprocess.run(["ls"]).returncode)'),
        (
            'once("ls", lambda: subprocess.run(["ls"], capture_output=True))  #!',
            'once("ls", lambda: subprocess.run(["ls"], capture_output=True).stdout)',
        ),
        ('once("items", lambda: (x for x in xs))  #!', 'once("items", lambda: list(x for x in xs))'),
        ('def lines() -> Iterator[str]: ...\nonce("a", lines)  #!', 'once("a", lambda: list(lines()))'),
        ('once("a", lambda: app.start(fulfil, order))  #!', 'once("a", lambda: app.start(fulfil, order).id)'),
    ],
)
def test_the_corrected_line_gives_back_data(source: str, fix: str) -> None:
    assert assert_told(source, RULE).fix == fix


@pytest.mark.parametrize(
    "source",
    [
        'once("ls", lambda: subprocess.run(["ls"]).returncode)',
        'once("read", lambda: open("a").read())',
        'once("sum", lambda: sum(x for x in [1, 2]))',
        'once("list", lambda: list(map(str, xs)))',
        'once("get", lambda: httpx.get("https://a.example"))',
        'once("start", lambda: app.start(fulfil, order, path, xs).id)',
        'def either() -> str | threading.Lock: ...\nonce("either", either)',
        'def some() -> list[str]: ...\nonce("some", some)',
        'def any_() -> Any: ...\nonce("any", any_)',
        'def items() -> Iterator[str]: ...\nonce("items", lambda: list(items()))',
        'once("which", lambda: ask() if order else threading.Lock())',
        'once("path", lambda: path / "a")',
        'async def found() -> str: ...\nawait once("found", lambda: found())',
        'once("none", lambda: None)',
        'T = list[str]\ndef typed() -> T: ...\nonce("typed", typed)',
        'once("error", lambda: ValueError)',
    ],
)
def test_a_result_that_can_be_recorded_or_is_not_known_is_not_told(source: str) -> None:
    assert_right(source)


def test_classes_that_are_recorded_are_not_told() -> None:
    assert_right(
        """
        import enum, pydantic, abc
        class Kind(enum.Enum):
            A = 1
        class Pair(NamedTuple):
            a: int
            kind: Kind
        class Row(TypedDict):
            a: int
        class Model(pydantic.BaseModel):
            a: int
            _lock: threading.Lock
        class Shape(abc.ABC):
            @abc.abstractmethod
            def area(self) -> int: ...
        @dataclass
        class Square(Shape):
            side: int
            made: ClassVar[threading.Lock]
            def area(self) -> int:
                return self.side
        class Thing(SomeBase): ...
        @some_decorator
        class Made: ...
        @dataclass
        class Tree:
            children: list["Tree"]
            pair: Pair
        @app.workflow
        def fulfil(order: str) -> tuple[Kind, Pair, Row, Model, Shape, Thing, Made, Tree]: ...
        """
    )


MADE = {
    "builtins.range": range(3),
    "builtins.map": map(str, []),
    "builtins.bytearray": bytearray(b"a"),
    "builtins.complex": 1j,
    "collections.deque": collections.deque(),
    "collections.Counter": collections.Counter(),
    "collections.defaultdict": collections.defaultdict(int),
    "fractions.Fraction": fractions.Fraction(1, 2),
    "io.BytesIO": io.BytesIO(),
    "re.Pattern": re.compile("a"),
    "re.Match": re.match("a", "a"),
    "subprocess.CompletedProcess": subprocess.CompletedProcess([], 0),
    "threading.Lock": threading.Lock(),
    "threading.Event": threading.Event(),
    "asyncio.Event": asyncio.Event(),
    "types.SimpleNamespace": types.SimpleNamespace(),
    "types.ModuleType": io,
}


@pytest.mark.rule("O23")
@pytest.mark.parametrize("name", MADE)
def test_the_codec_refuses_what_the_table_says(name: str) -> None:
    from semel.codec.errors import NotEncodable

    assert name in UNRECORDABLE
    with pytest.raises(NotEncodable):
        Codec(TypeRegistry(lambda: frozenset({__name__}))).encode(MADE[name])


_STANDARD = sorted(name for name in UNRECORDABLE if name.partition(".")[0] in sys.stdlib_module_names)


@pytest.mark.parametrize("name", [name for name in _STANDARD if name != "itertools.batched"])
def test_the_names_of_the_table_are_right(name: str) -> None:
    module, _, attribute = name.rpartition(".")
    assert hasattr(importlib.import_module(module), attribute), name
