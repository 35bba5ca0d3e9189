"""What a call's value is given to, found from the place of the call in running code."""

from __future__ import annotations

import ast
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path as FilePath
from types import CodeType
from typing import Any

import pytest

import semel
from semel.compiler import targets


def named(statements: str) -> list[str]:
    """The names of the calls of ``here`` in a function of these statements, in the order in which they are made."""
    text = "def function(here, do, thing, items, log):\n" + textwrap.indent(textwrap.dedent(statements), "    ")
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.FunctionDef)
    scope: dict[str, Any] = {}
    exec(compile(text, "<targets>", "exec"), scope)
    targets.note(scope["function"].__code__, node)
    found: list[str] = []

    def here(*args: object, **kwargs: object) -> int:
        frame = sys._getframe(1)
        found.append(targets.target((frame.f_code, frame.f_lasti)))
        return len(found)

    class Thing:
        def put(self, *args: object, **kwargs: object) -> object:
            return args[0] if args else self

    scope["function"](here, lambda *args, **kwargs: args[0] if args else None, Thing(), [1, 2], Thing())
    return found


@pytest.mark.parametrize(
    ("statements", "name"),
    [
        ("order_id = here()", "order_id"),
        ("order_id: int = here()", "order_id"),
        ("total = 0\ntotal += here()", "total"),
        ("a = b = here()", "a"),
        ("thing.id = here()", "thing.id"),
        ("thing.inner = {}\nthing.inner['k'] = here()", "thing.inner['k']"),
        ("if (drawn := here()) > 0: pass", "drawn"),
        ("order = do(id=here())", "order.do.id"),
        ("order = thing.put(do(id=here()))", "order.put.do.id"),
        ("order = {'id': here()}", "order.['id']"),
        ("order_id = str(here())", "order_id"),
        ("order_id = f'order-{here():>3}'", "order_id"),
        ("order_id = here().bit_length()", "order_id"),
        ("order_id = -here() + 1 if True else 0", "order_id"),
        ("do(here())", "do(here()).do"),
        ("here()", "here()"),
        ("return here()", "return"),
        ("return do(here())", "return.do"),
        ("if here() < 5: pass", "if here() < 5"),
        ("while here() < 0: pass", "while here() < 0"),
        ("assert here() < 5", "assert here() < 5"),
        ("for item in range(here() - here()): pass", "for item.range"),
        ("def inner(x=here()): pass", "def inner"),
        ("inner = lambda x=here(): x", "inner"),
        ("match here():\n    case other: pass", "match here()"),
        ("match 1:\n    case other if here(): pass", "match here()"),
        ("class Inner:\n    id = here()", "id"),
        ("order = thing.put(\n    1,\n    id=here(\n    ),\n)", "order.put.id"),
        ("order = (\n    thing.put()\n    .put(id=here())\n    .put()\n)", "order.put.id"),
    ],
)
def test_a_value_is_known_by_what_it_is_given_to(statements: str, name: str) -> None:
    assert named(statements)[0] == name


def test_values_that_are_unpacked_at_once_are_told_apart() -> None:
    assert named("a, (b, c) = here(), (here(), here())") == ["a", "b", "c"]
    assert named("a, *b = here(), here(), here()") == ["(a, *b)"] * 3


def test_values_of_comprehensions_are_known_by_what_the_whole_is_given_to() -> None:
    assert named("ids = [here() for _ in items]") == ["ids", "ids"]
    assert named("ids = {item: here() for item in items}") == ["ids", "ids"]
    assert named("ids = tuple(here() for _ in items)") == ["ids", "ids"]


def test_two_calls_that_are_given_to_nothing_are_known_by_their_statements() -> None:
    assert named("log.put('a', here())\nlog.put('b', here())") == [
        "log.put('a', here()).put",
        "log.put('b', here()).put",
    ]


def test_a_name_does_not_depend_on_the_line() -> None:
    assert named("\n\n# moved\norder_id = here()") == named("order_id = here()")


@pytest.mark.parametrize(
    ("statements", "loop"),
    [
        ("note()", None),
        ("for _ in items: note()", None),
        ("while note() < 0: pass", "while"),
        ("while True:\n    if note() > 0: break", "while"),
        ("while note() < 0:\n    time.sleep(1)", "sleeping"),
        ("while True:\n    if note() > 0: break\n    event.wait(1)", "sleeping"),
        ("while not items:\n    log(note())\n    time.sleep(1)", "while"),
    ],
)
def test_a_loop_that_waits_is_known_by_its_code(statements: str, loop: str | None) -> None:
    text = "def function(note, items, time, event, log):\n" + textwrap.indent(statements, "    ")
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.FunctionDef)
    code = next(part for part in compile(text, "<targets>", "exec").co_consts if isinstance(part, CodeType))
    targets.note(code, node)
    call = next(n for n in ast.walk(node) if isinstance(n, ast.Call) and ast.unparse(n) == "note()")
    place = (call.lineno, call.end_lineno, call.col_offset, call.end_col_offset)
    offset = next(index for index, at in enumerate(code.co_positions()) if at == place) * 2
    assert targets.loop_round((code, offset)) == loop


PROGRAM = """
from uuid import uuid4
from semel import App

app = App("shop")

@app.workflow
def flow():
    a = uuid4()
    b = uuid4(); c = [uuid4() for _ in range(2)]
    with open("seen.txt", "a") as seen:
        print(a, b, *c, file=seen)
    if len(open("seen.txt").readlines()) < 2:
        raise RuntimeError

if __name__ == "__main__":
    run = app.start(flow, id="one")
    run.retry()
    with app.worker():
        try:
            run.result(timeout=60)
        except RuntimeError:
            pass
"""


@pytest.mark.rule("A5")
def test_an_interpreter_that_keeps_no_columns_reads_the_same_each_time(tmp_path: FilePath) -> None:
    (tmp_path / "shop.py").write_text(PROGRAM)
    command: Callable[[], Any] = lambda: subprocess.run(  # noqa: E731
        [sys.executable, "-X", "no_debug_ranges", "shop.py"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(FilePath(semel.__file__).parents[1])},
        check=True,
        capture_output=True,
    )
    command()
    command()
    first, second = (tmp_path / "seen.txt").read_text().splitlines()
    assert first == second
    assert len({*first.split()}) == 4
