"""The calls of a twin: each goes through a helper that looks at the real callee, with the passes round the call."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from . import hidden
from .hidden import load, placed, with_path
from .pure import PURE_NAMES, PURE_WITHOUT_KEY, SEES_LOCALS

_MAY_BE_FUNCTION = (
    *(ast.Name, ast.Attribute, ast.Lambda, ast.Call, ast.Subscript, ast.IfExp, ast.BoolOp, ast.NamedExpr),
    *(ast.Await, ast.Yield, ast.YieldFrom),
)
_RUNS_CODE = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.ListComp, ast.SetComp, ast.DictComp, ast.Starred)


class CallTransformer(ast.NodeTransformer):
    """Transforms calls; what encloses them is the part of its heir.

    ``first`` is the name of the function's first argument; ``is_user`` says of an object whether it is a user function
    or class.
    """

    def __init__(
        self, bound: set[str], module_globals: dict[str, Any], is_user: Callable[[object], bool], first: str | None
    ) -> None:
        self.emitted = 0  # how many helpers could reach a step
        self._bound = bound
        self._globals = module_globals
        self._is_user = is_user
        self._first = first
        self._passes: list[str] = []
        self._framed = 0  # above 0 where a hidden variable cannot be assigned in an expression
        self._class_counters: list[list[str]] = []  # counters of loops in class bodies, innermost class last
        self._names = 0

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        for statement in body:
            result: ast.stmt | list[ast.stmt] = self.visit(statement)
            done.extend(result if isinstance(result, list) else [result])
        return done

    def _fresh(self, kind: str) -> str:
        self._names += 1
        return f".{kind}{self._names}"

    def _counter(self) -> str:
        name = self._fresh("n")
        if self._class_counters:
            self._class_counters[-1].append(name)
        return name

    def visit_Call(self, node: ast.Call) -> ast.expr:
        return self._call(node, awaited=False)

    def visit_Await(self, node: ast.Await) -> ast.expr:
        if isinstance(node.value, ast.Call):
            node.value = self._call(node.value, awaited=True)
            return node
        self.generic_visit(node)
        return node

    def _call(self, node: ast.Call, *, awaited: bool) -> ast.expr:
        if self._is_zero_argument_super(node):
            assert self._first is not None
            node.args = [load("__class__", node), load(self._first, node)]
            return node
        untouched, sees_locals = self._is_untouched(node), self._sees_locals(node)
        if untouched:
            self.generic_visit(node)
            return hidden.helper(hidden.UNHIDDEN, [node], node) if sees_locals else node
        at = call_position(node)
        function: ast.expr = self.visit(node.func)
        framed = bool(self._framed) or self._is_surely_user(node.func)
        name = (hidden.FRAMED_AWAITED if awaited else hidden.FRAMED) if framed else None
        name = name or (hidden.AWAITED if awaited else hidden.CALL)
        self.emitted += 1
        callee: ast.expr = with_path(name, function, self._passes, hidden.beside(function))
        if framed or not any(wrap for _, wrap in _parts(node)):
            node.args = [self.visit(argument) for argument in node.args]
            for keyword in node.keywords:
                keyword.value = self.visit(keyword.value)
        else:
            site = self._fresh("s")
            callee = placed(ast.NamedExpr(hidden.store(site, callee), callee), callee)
            self._arguments(node, site)
        node.func = hidden.begun(callee, function)
        return placed(node, at)

    def _arguments(self, node: ast.Call, site: str) -> None:
        """Wraps what foreign code may call back, and what may run code before the callee is called.

        The last one lets go of the callee, so that nothing lives longer than in the plain function.
        """
        parts = _parts(node)
        last = max(index for index, (_, wrap) in enumerate(parts) if wrap)
        done: list[ast.expr] = []
        for index, (helper, wrap) in enumerate(parts):
            part = [*node.args, *node.keywords][index]
            holder = part if isinstance(part, ast.Starred | ast.keyword) else None
            value: ast.expr = self.visit(holder.value if holder is not None else part)
            if wrap:
                at = hidden.beside(value)
                arguments: list[ast.expr] = [load(site, at), value]
                if index == last:
                    nothing = placed(ast.Constant(None), at)
                    arguments.append(placed(ast.NamedExpr(hidden.store(site, at), nothing), at))
                value = hidden.helper(helper, arguments, at)
            if holder is not None:
                holder.value = value
            done.append(part if isinstance(part, ast.Starred) else value)
        node.args = done[: len(node.args)]

    def _is_global(self, name: str) -> bool:
        return name not in self._bound

    def _is_builtin(self, name: str) -> bool:
        return self._is_global(name) and name not in self._globals

    def _is_zero_argument_super(self, node: ast.Call) -> bool:
        return (
            isinstance(node.func, ast.Name)
            and node.func.id == "super"
            and not node.args
            and not node.keywords
            and self._first is not None
            and self._is_builtin("super")
        )

    def _is_untouched(self, node: ast.Call) -> bool:
        function = node.func
        if isinstance(function, ast.Name):
            name = function.id
            if name.startswith("@"):
                return True
            if not self._is_builtin(name):
                return False
            if name in PURE_NAMES or name == "super":
                return True
            return name in PURE_WITHOUT_KEY and not node.keywords
        if isinstance(function, ast.Attribute):
            owner = function.value
            if isinstance(owner, ast.Name):
                return owner.id.startswith("@")  # pytest's own names in rewritten asserts
            return isinstance(owner, ast.Constant | ast.JoinedStr)
        return False

    def _sees_locals(self, node: ast.Call) -> bool:
        return (
            isinstance(node.func, ast.Name)
            and node.func.id in SEES_LOCALS
            and not node.args
            and not self._class_counters
            and self._is_builtin(node.func.id)
        )

    def _is_surely_user(self, function: ast.expr) -> bool:
        if isinstance(function, ast.Name):
            return self._is_global(function.id) and self._is_user(self._globals.get(function.id))
        return isinstance(function, ast.Attribute) and (
            isinstance(function.value, ast.Name) and function.value.id == self._first and self._first in ("self", "cls")
        )


def _parts(node: ast.Call) -> list[tuple[str, bool]]:
    """For each argument the helper that looks at it, and whether it must."""
    return [
        *[
            (hidden.STARRED, True) if isinstance(value, ast.Starred) else (hidden.ARGUMENT, _matters(value))
            for value in node.args
        ],
        *[
            (hidden.ARGUMENT, _matters(keyword.value)) if keyword.arg is not None else (hidden.KEYWORDS, True)
            for keyword in node.keywords
        ],
    ]


def _matters(argument: ast.expr) -> bool:
    if isinstance(argument, _MAY_BE_FUNCTION):
        return True
    return any(isinstance(child, _RUNS_CODE) for child in ast.walk(argument))


def call_position(node: ast.Call) -> ast.expr:
    """Where the interpreter places a call: one of a method on a line of its own begins at the method's name."""
    function = node.func
    if not isinstance(function, ast.Attribute) or node.lineno == function.end_lineno:
        return node
    assert function.end_lineno is not None
    assert function.end_col_offset is not None
    moved = placed(ast.Constant(None), node)
    moved.lineno = function.end_lineno
    moved.col_offset = function.end_col_offset - len(function.attr)
    return moved
