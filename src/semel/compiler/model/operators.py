"""Which special methods an expression may run: ``a + b``, ``a[i]``, ``x in a``, ``not a`` and the like."""

from __future__ import annotations

import ast

_BINARY = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.MatMult: "matmul", ast.Div: "truediv", ast.Mod: "mod",
    ast.Pow: "pow", ast.LShift: "lshift", ast.RShift: "rshift", ast.BitOr: "or", ast.BitXor: "xor", ast.BitAnd: "and",
    ast.FloorDiv: "floordiv",
}  # fmt: skip
_COMPARED = {
    ast.Eq: "__eq__", ast.NotEq: "__ne__", ast.Lt: "__lt__", ast.LtE: "__le__", ast.Gt: "__gt__", ast.GtE: "__ge__",
}  # fmt: skip
_UNARY = {ast.UAdd: "__pos__", ast.USub: "__neg__", ast.Invert: "__invert__", ast.Not: "__bool__"}


def operators_of(node: ast.AST) -> list[tuple[ast.expr, list[str]]]:
    """Operands, each with the special methods of it that evaluating ``node`` may run."""
    match node:
        case ast.BinOp(left=left, op=op, right=right):
            name = _BINARY[type(op)]
            return [(left, [f"__{name}__"]), (right, [f"__r{name}__"])]
        case ast.UnaryOp(op=op, operand=operand):
            return [(operand, [_UNARY[type(op)]])]
        case ast.Subscript(value=value):
            return [(value, ["__getitem__"])]
        case ast.AugAssign(target=target, op=op):
            return [(target, [f"__i{_BINARY[type(op)]}__", f"__{_BINARY[type(op)]}__"])]
        case ast.Compare(left=left, ops=ops, comparators=others):
            found: list[tuple[ast.expr, list[str]]] = []
            for before, compared, after in zip([left, *others], ops, others, strict=False):
                if isinstance(compared, ast.In | ast.NotIn):
                    found.append((after, ["__contains__"]))
                elif type(compared) in _COMPARED:
                    found.append((before, [_COMPARED[type(compared)]]))
            return found
    return []
