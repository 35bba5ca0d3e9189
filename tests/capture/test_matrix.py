"""The matrix of docs/reference/calls.md: its page, the tests that it names, and that each file of capture/ counts."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from matrix import BAD_COLUMNS, COLUMNS, MATRIX, Cell, Table
from matrix_bad import BAD, SITUATIONS

from semel.capture import digest, headers
from semel.capture._httpx_like import LARGEST_PART
from semel.capture.exchange import MAX_BYTES
from semel.capture.unpacked import UNPACKED_LIMIT

HERE = Path(__file__).parent
PAGE = (HERE.parents[1] / "docs" / "reference" / "calls.md").read_text()

ALL: list[Cell] = [found for table in (MATRIX, BAD) for row in table.values() for found in row.values()]
ALL += SITUATIONS.values()
TESTS = sorted({test for found in ALL for test in found.tests})


# ---------------------------------------------------------------------------------------------- each cell has its tests


@cache
def tree_of(file: str) -> ast.Module:
    return ast.parse((HERE / file).read_text())


@cache
def words_of(file: str) -> frozenset[str]:
    """The strings in a file, and the functions of the programs that they name."""
    words = {node.value for node in ast.walk(tree_of(file)) if isinstance(node, ast.Constant)}
    strings = {word for word in words if isinstance(word, str)}
    for program in [f"{word}.py" for word in strings if word.isidentifier() and (HERE / f"{word}.py").exists()]:
        functions = (ast.FunctionDef, ast.AsyncFunctionDef)
        strings |= {node.name for node in tree_of(program).body if isinstance(node, functions)}
    return frozenset(strings)


def files_of_test(file: str, names: list[str]) -> list[str]:
    """The files in which the test of this name is defined; a class may have it from another one."""
    for node in tree_of(file).body:
        if not isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) or node.name != names[0]:
            continue
        if not isinstance(node, ast.ClassDef):
            return [file] if names[1:] == [] else []
        if any(isinstance(part, ast.FunctionDef) and part.name == names[1] for part in node.body):
            return [file]
        bases = {ast.unparse(base) for base in node.bases}
        imports = [part for part in tree_of(file).body if isinstance(part, ast.ImportFrom)]
        modules = [f"{part.module}.py" for part in imports if bases & {alias.name for alias in part.names}]
        return [found for module in modules for base in bases for found in files_of_test(module, [base, names[1]])]
    return []


@pytest.mark.parametrize("test", TESTS)
def test_each_test_that_a_cell_names_is_there(test: str) -> None:
    name, _, case = test.partition("[")
    file, *names = name.split("::")
    found = files_of_test(file, names)
    assert found, f"there is no {name}"
    if case:
        assert case.removesuffix("]") in words_of(found[0]), f"it has no case {case.removesuffix(']')!r}"


@pytest.mark.parametrize("table", [MATRIX, BAD], ids=["the matrix", "bad answers"])
def test_a_cell_has_no_test_only_where_the_library_has_no_such_thing(table: Table) -> None:
    for name, row in table.items():
        for column, found in row.items():
            assert (found.says == "n/a") == (found.tests == ()), f"{name}, {column}"


# ------------------------------------------------------------------------------------------------------------- the page


def section(title: str) -> str:
    return PAGE.partition(f"\n{title}\n")[2].partition("\n#")[0]


def table_of(title: str) -> list[list[str]]:
    lines = [line for line in section(title).splitlines() if line.startswith("|")]
    rows = [[field.strip() for field in line.strip("|").split("|")] for line in lines]
    return [rows[0], *rows[2:]]


@pytest.mark.parametrize(
    ("title", "columns", "table"),
    [("## The matrix", COLUMNS, MATRIX), ("### Answers that are no good", BAD_COLUMNS, BAD)],
)
def test_the_page_has_these_rows_and_columns_and_no_empty_cell(
    title: str, columns: tuple[str, ...], table: Table
) -> None:
    head, *rows = table_of(title)
    assert head == ["", *columns]
    assert rows == [[name, *(found.says for found in row.values())] for name, row in table.items()]
    assert all(field for row in rows for field in row)


def test_the_page_has_the_other_situations() -> None:
    _, *rows = table_of("### Other situations")
    assert rows == [[name, found.says] for name, found in SITUATIONS.items()]


def test_each_note_of_a_cell_is_on_the_page() -> None:
    notes = {mark for found in ALL for mark in re.findall("[¹²³⁴⁵⁶⁷⁸⁹]", found.says)}
    assert {line[0] for line in section("## Notes").splitlines() if line[:1] in set("¹²³⁴⁵⁶⁷⁸⁹")} == notes


def quoted(title: str) -> list[str]:
    return re.findall("`([^`]+)`", section(title))


def test_the_page_lists_the_headers_that_are_recorded_and_those_that_never_are() -> None:
    starts = {f"{start}*" for start in headers.ALLOWED_STARTS}
    assert sorted(quoted("### Headers that are recorded")) == sorted(headers.ALLOWED | starts)
    assert sorted(quoted("### Headers that are never recorded")) == sorted(headers.NEVER)


def test_the_page_lists_the_parts_of_a_query_that_do_not_count() -> None:
    assert sorted(quoted("### Parts of a query that do not count")) == sorted(digest.VOLATILE)


def test_the_page_tells_the_limits() -> None:
    limits = section("## Limits")
    for bytes_ in (MAX_BYTES, UNPACKED_LIMIT, LARGEST_PART):
        assert f"**{bytes_ // 2**20} MiB**" in limits
