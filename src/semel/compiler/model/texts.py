"""The author's own text of an expression, and where it stands."""

from __future__ import annotations

import ast

from .data import Expression, Place
from .scopes import ModuleRecord


def place(module: ModuleRecord, node: ast.expr | ast.stmt | ast.comprehension) -> Place:
    if isinstance(node, ast.comprehension):
        node = node.target
    return Place(module.file, node.lineno, column(module, node.lineno, node.col_offset))


def column(module: ModuleRecord, line: int, offset: int) -> int:
    """The column in characters, from 1, of a byte offset."""
    return characters(module, line, offset) + 1


def characters(module: ModuleRecord, line: int, offset: int) -> int:
    text = module.lines[line - 1] if line <= len(module.lines) else ""
    return offset if text.isascii() else len(text.encode()[:offset].decode(errors="replace"))


def text(module: ModuleRecord, node: ast.expr) -> str:
    """The source of the expression, without parentheses round it."""
    end_line = node.end_lineno or node.lineno
    return span(module, (node.lineno, node.col_offset), (end_line, node.end_col_offset or 0))


def span(module: ModuleRecord, start: tuple[int, int], end: tuple[int, int]) -> str:
    first = characters(module, *start)
    last = characters(module, *end)
    if start[0] == end[0]:
        return module.lines[start[0] - 1][first:last]
    lines = module.lines[start[0] - 1 : end[0]]
    return "\n".join([lines[0][first:], *lines[1:-1], lines[-1][:last]])


def expression(module: ModuleRecord, node: ast.expr) -> Expression:
    return Expression(text(module, node), place(module, node))


def replaced(module: ModuleRecord, whole: ast.expr, part: ast.expr, new: str) -> str:
    """The text of ``whole`` with ``new`` in place of ``part``, and of the parentheses round it."""
    start, end = (whole.lineno, whole.col_offset), (whole.end_lineno or 0, whole.end_col_offset or 0)
    before = span(module, start, (part.lineno, part.col_offset))
    after = span(module, (part.end_lineno or 0, part.end_col_offset or 0), end)
    return before + new + after


def with_label(call: str, label: str) -> str:
    """The text of a call with a label more."""
    start = call.removesuffix(")").rstrip().removesuffix(",")
    return f'{start}{"" if start.endswith("(") else ", "}label="{label}")'
