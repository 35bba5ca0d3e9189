"""The members of a Python enum, as the source of its class shows them."""

from __future__ import annotations

import ast

from .program import Program, last_name
from .scopes import ClassRecord


def is_enum(cls: ClassRecord, program: Program) -> bool:
    """Whether the class derives from one of the standard library's enums."""
    return any(isinstance(base, str) and base.startswith("enum.") for base in program.mro(cls))


def members(cls: ClassRecord) -> dict[str, tuple[str, ast.expr]] | None:
    """Each name in order, with the member's own name (another one for an alias) and the name's node.

    None where the class does more than to list its members.
    """
    found: dict[str, tuple[str, ast.expr]] = {}
    values: dict[str, str] = {}
    for statement in cls.node.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name) as target], value=value):
                pass
            case ast.AnnAssign(target=ast.Name(id=name) as target, value=ast.expr() as value):
                pass
            case ast.FunctionDef(decorator_list=decorators) if not any(last_name(d) == "member" for d in decorators):
                continue
            case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.AnnAssign(value=None):
                continue
            case _:
                return None
        if name.startswith("_"):
            return None
        if isinstance(value, ast.Name) and value.id in found:
            found[name] = (found[value.id][0], target)
        elif isinstance(value, ast.Call) and last_name(value) == "auto":
            found[name] = (name, target)
        elif _is_constant(value):
            found[name] = (values.setdefault(ast.dump(value), name), target)
        else:
            return None
    return found or None


def _is_constant(value: ast.expr) -> bool:
    if isinstance(value, ast.Tuple):
        return all(_is_constant(part) for part in value.elts)
    return isinstance(value, ast.Constant) or (isinstance(value, ast.UnaryOp) and _is_constant(value.operand))
