"""Finds what would end any exception: handlers of everything that do not raise again, and jumps in a ``finally``.

A park and a cancel travel through a body as exceptions below ``BaseException``. Whatever ends those hides them from the
code that comes after.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from . import texts
from .callees import Callees
from .data import Place
from .effects import Handler
from .scopes import FunctionRecord, ModuleRecord, Scope
from .values import Foreign, Value

_APART = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_BASE = Foreign("builtins.BaseException")


def handlers(record: FunctionRecord, callees: Callees) -> Iterator[Handler]:
    """All of one function, in the order of the source."""
    if not isinstance(record.node, ast.Lambda):
        reading = _Reading(record, callees)
        for node in statements(record.node.body):
            yield from reading.of(node)


def statements(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """The statements at any depth, without those of functions and classes inside."""
    waiting = list(reversed(body))
    while waiting:
        node = waiting.pop()
        if isinstance(node, _APART) or not isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            continue
        yield node
        waiting.extend(reversed(list(ast.iter_child_nodes(node))))


class _Reading:
    def __init__(self, record: FunctionRecord, callees: Callees) -> None:
        self.record = record
        self.module: ModuleRecord = record.module
        self.scope: Scope = record.scope
        self.callees = callees
        self.inference = callees.inference

    def of(self, node: ast.AST) -> Iterator[Handler]:
        if isinstance(node, ast.Try | ast.TryStar):
            first, last = node.body[0].lineno, _last_line(node.body)
            for handler in node.handlers:
                if self.catches_base(handler.type) and not self.lets_go(handler, node):
                    yield self.handler(handler, first, last, grouped=isinstance(node, ast.TryStar))
            last = max(_last_line(block) for block in (node.body, node.orelse, *(h.body for h in node.handlers)))
            for jump in _jumps(node.finalbody):
                yield self.final(jump, first, last)
        elif isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                call = item.context_expr
                if isinstance(call, ast.Call) and self.suppresses_base(call):
                    fixed = texts.text(self.module, call.func) + "(Exception)"
                    text = texts.text(self.module, call)
                    first, last = node.body[0].lineno, _last_line(node.body)
                    yield Handler("suppress", texts.place(self.module, call), text, fixed, first, last)

    def handler(self, node: ast.ExceptHandler, first: int, last: int, *, grouped: bool) -> Handler:
        place = Place(self.module.file, node.lineno, texts.column(self.module, node.lineno, node.col_offset))
        word = "except*" if grouped else "except"
        caught = f" {texts.text(self.module, node.type)}" if node.type is not None else ""
        name = f" as {node.name}" if node.name else ""
        return Handler("except", place, f"{word}{caught}{name}:", f"{word} Exception{name}:", first, last)

    def final(self, jump: ast.stmt, first: int, last: int) -> Handler:
        start, end = (jump.lineno, jump.col_offset), (jump.end_lineno or jump.lineno, jump.end_col_offset or 0)
        text = texts.span(self.module, start, end)
        fixed = f"finally:\n    …\n{text}    # after the finally, where an exception does not come by"
        return Handler("finally", texts.place(self.module, jump), text, fixed, first, last)

    # ------------------------------------------------------------------------------------------------------ what it is

    def catches_base(self, kind: ast.expr | None) -> bool:
        if kind is None:
            return True
        kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
        return any(_BASE in self.inference.of(one, self.scope) for one in kinds)

    def suppresses_base(self, call: ast.Call) -> bool:
        values: frozenset[Value] = self.inference.of(call.func, self.scope)
        if Foreign("contextlib.suppress") not in values:
            return False
        return any(_BASE in self.inference.of(argument, self.scope) for argument in call.args)

    def lets_go(self, handler: ast.ExceptHandler, node: ast.Try | ast.TryStar) -> bool:
        """Whether the handler raises, leaves the process, or hands the exception on to be raised elsewhere."""
        kept = False
        for statement in statements(handler.body):
            if isinstance(statement, ast.Raise):
                return True
            for call in _calls(statement):
                if isinstance(call.func, ast.Attribute) and call.func.attr == "set_exception":
                    return True
                if self.callees.of(call.func, self.scope, awaited=True).leaves:
                    return True
            kept = kept or (handler.name is not None and _keeps(statement, handler.name))
        return kept and self.raises_after(node)

    def raises_after(self, node: ast.Try | ast.TryStar) -> bool:
        end = node.end_lineno or node.lineno
        assert not isinstance(self.record.node, ast.Lambda)
        later = statements(self.record.node.body)
        return any(isinstance(statement, ast.Raise) and statement.lineno > end for statement in later)


def _calls(statement: ast.AST) -> Iterator[ast.Call]:
    """The calls that stand in the statement itself, not in the blocks that it has."""
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.expr):
            yield from (node for node in ast.walk(child) if isinstance(node, ast.Call))


def _keeps(statement: ast.AST, name: str) -> bool:
    """``failure = error`` and ``failures.append(error)``."""
    match statement:
        case ast.Assign(value=value) | ast.AnnAssign(value=value):
            return value is not None and any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(value))
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="append" | "put" | "add"), args=[ast.Name(id=given)])):
            return given == name
    return False


def _jumps(body: list[ast.stmt], *, in_loop: bool = False) -> Iterator[ast.stmt]:
    """The jumps that leave the block: ``return``, and ``break`` and ``continue`` of a loop round it."""
    for node in body:
        match node:
            case ast.Return():
                yield node
            case ast.Break() | ast.Continue():
                if not in_loop:
                    yield node
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                pass
            case ast.For() | ast.AsyncFor() | ast.While():
                yield from _jumps(node.body, in_loop=True)
                yield from _jumps(node.orelse, in_loop=in_loop)
            case _:
                blocks = [getattr(node, name, []) for name in ("body", "orelse", "finalbody")]
                blocks += [part.body for name in ("handlers", "cases") for part in getattr(node, name, [])]
                for block in blocks:
                    yield from _jumps(block, in_loop=in_loop)


def _last_line(body: list[ast.stmt]) -> int:
    return max((statement.end_lineno or statement.lineno for statement in body), default=0)
