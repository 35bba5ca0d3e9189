"""The hidden names of a twin, and small builders of nodes that use them.

None is an identifier, so no user code can use one by chance. Each node is placed where the user's own expression is, so
that tracebacks, coverage and breakpoints show nothing else.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T", bound=ast.AST)

_CALL_BEGINS_WITH_NULL = sys.version_info < (3, 13)

PATH = ".p"

CALL = ".c"
AWAITED = ".ca"
FRAMED = ".f"
FRAMED_AWAITED = ".fa"
ARGUMENT = ".a"
STARRED = ".as"
KEYWORDS = ".ak"
NUMBERED = ".e"
NUMBERED_ASYNC = ".ea"
ITERATED = ".i"
ITERATED_ASYNC = ".ia"
ENTERED = ".w"
ENTERED_ASYNC = ".wa"
UNHIDDEN = ".h"

#: The same helpers where the iterable or the manager is not made by a call right there.
KEPT = {name: f"{name}k" for name in (NUMBERED, NUMBERED_ASYNC, ITERATED, ITERATED_ASYNC, ENTERED, ENTERED_ASYNC)}

HELPERS = (
    *(CALL, AWAITED, FRAMED, FRAMED_AWAITED, ARGUMENT, STARRED, KEYWORDS),
    *(NUMBERED, NUMBERED_ASYNC, ITERATED, ITERATED_ASYNC, ENTERED, ENTERED_ASYNC, UNHIDDEN, *KEPT.values()),
)


def placed(new: T, at: ast.AST) -> T:
    """Gives ``new`` the position of ``at``."""
    return ast.copy_location(new, at)


def load(name: str, at: ast.AST) -> ast.Name:
    return placed(ast.Name(name, ast.Load()), at)


def store(name: str, at: ast.AST) -> ast.Name:
    return placed(ast.Name(name, ast.Store()), at)


def helper(name: str, arguments: Sequence[ast.expr], at: ast.AST) -> ast.Call:
    """A call of a hidden helper."""
    return placed(ast.Call(load(name, at), list(arguments), []), at)


def with_path(name: str, first: ast.expr, passes: Sequence[str], at: ast.AST) -> ast.Call:
    """``helper(.p, first, *passes)``; it begins where ``first`` does."""
    arguments = [load(PATH, first), first, *[load(number, at) for number in passes]]
    return placed(ast.Call(load(name, first), arguments, []), at)


def beside(node: ast.expr) -> ast.expr:
    """Where a helper stands that is called with ``node``: on its line, and on none if it has several.

    An instruction that has no line takes that of the one before it, so that no line is seen twice.
    """
    if node.lineno == node.end_lineno:
        return node
    position = ast.Constant(None)
    position.lineno = position.end_lineno = position.col_offset = position.end_col_offset = -1
    return position


def begun(callee: ast.expr, at: ast.expr) -> ast.expr:
    """``callee`` as the first part of a call, where it spans several lines and so is on none.

    Before 3.13 a call begins with an instruction at the place of its callee; the constant test, which leaves no
    instruction, puts it on the line where the expression begins.
    """
    if _CALL_BEGINS_WITH_NULL and callee.lineno == -1:
        test = placed(ast.Constant(True), at)
        return placed(ast.IfExp(test, callee, placed(ast.Constant(None), at)), at)
    return callee


def number(value: int, at: ast.AST) -> ast.Constant:
    return placed(ast.Constant(value), at)


def advanced(counter: str, at: ast.AST) -> ast.NamedExpr:
    """``(counter := counter + 1)``."""
    return placed(ast.NamedExpr(store(counter, at), advance(counter, at)), at)


def advance(counter: str, at: ast.AST) -> ast.BinOp:
    """``counter + 1``."""
    return placed(ast.BinOp(load(counter, at), placed(ast.Add(), at), number(1, at)), at)


def assign(name: str, value: ast.expr, at: ast.AST) -> ast.Assign:
    return placed(ast.Assign([store(name, at)], value), at)


def pair(counter: str, target: ast.expr) -> ast.Tuple:
    """The loop target ``(counter, target)``."""
    return placed(ast.Tuple([store(counter, target), target], ast.Store()), target)
