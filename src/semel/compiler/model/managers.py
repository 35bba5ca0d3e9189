"""Whether a ``with`` may catch what is raised in it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from . import foreign
from .flow import Catches
from .scopes import FunctionRecord, Scope
from .values import Fn, Foreign, ForeignInst, Inst, Value

if TYPE_CHECKING:
    from .callees import Callees


def catches(manager: ast.expr, scope: Scope, callees: Callees) -> Catches:
    """Of a manager that the model cannot see into, it is assumed that it may catch a ``raise``."""
    inference = callees.inference
    values: set[Value] = set(inference.of(manager, scope))
    if isinstance(manager, ast.Call):
        made_by = inference.of(manager.func, scope)
        values |= {ForeignInst(value.name) for value in made_by if isinstance(value, Foreign)}
        generators = [value.record for value in made_by if isinstance(value, Fn)]
        if generators and all(callees.decorator_names(g) & foreign.CONTEXT_MANAGERS for g in generators):
            return _most([_generator(g) for g in generators])
    found: list[Catches] = []
    for value in values:
        match value:
            case ForeignInst(name):
                found.append("any" if name in foreign.CATCH else "never" if name in foreign.NEVER_CATCH else "raised")
            case Inst(cls, exact):
                methods = [m for n in ("__exit__", "__aexit__") for m in callees.program.methods(cls, n, exact=exact)]
                found.append(_most([_exit(method) for method in methods]))
            case _:
                found.append("raised")
    return _most(found)


def _most(found: list[Catches]) -> Catches:
    if "any" in found:
        return "any"
    return "raised" if "raised" in found or not found else "never"


def _exit(method: FunctionRecord) -> Catches:
    """``__exit__`` catches by returning something true; of what a call returns nothing is known."""
    answers = [value for value in method.returned if not (isinstance(value, ast.Constant) and not value.value)]
    if not answers:
        return "never"
    return "raised" if all(isinstance(value, ast.Call | ast.Await) for value in answers) else "any"


def _generator(function: FunctionRecord) -> Catches:
    """A ``@contextmanager`` function catches with a ``try`` round its ``yield``."""
    node = function.node
    return _most([_block(node.body, "never")]) if isinstance(node.body, list) else "raised"


def _block(statements: list[ast.stmt], around: Catches) -> Catches:
    found: list[Catches] = ["never"]
    for statement in statements:
        inside = around
        match statement:
            case ast.Try(handlers=handlers):
                caught: Catches = "any" if any(not _raises(h.body) for h in handlers) else "never"
                inside = _most([around, caught])
                found.append(_block(statement.body, inside))
                others = (statement.orelse, statement.finalbody, *(h.body for h in handlers))
                found.extend(_block(block, around) for block in others)
                continue
            case ast.With() | ast.AsyncWith() if around == "never":
                inside = "raised"
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                continue
        blocks = [getattr(statement, name, []) for name in ("body", "orelse")]
        if any(blocks):
            found.extend(_block(block, inside) for block in blocks)
        elif any(isinstance(part, ast.Yield | ast.YieldFrom) for part in ast.walk(statement)):
            found.append(inside)
    return _most(found)


def _raises(body: list[ast.stmt]) -> bool:
    return isinstance(body[-1], ast.Raise)
