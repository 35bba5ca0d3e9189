"""The one expression that a name stands for: a constant of a module, followed through imports and classes."""

from __future__ import annotations

import ast

from .infer import Inference
from .paths import bindings_of
from .scopes import Binding, Scope
from .values import Cls, Inst, Mod

_DEEPEST = 10


def origin(node: ast.expr, scope: Scope, inference: Inference, depth: int = 0) -> tuple[ast.expr, Scope]:
    """The expression and its scope; the node itself where it is no name, or may stand for several things."""
    found: list[Binding] = []
    match node:
        case ast.Name(id=name):
            found = bindings_of(name, scope)
        case ast.Attribute(value=value, attr=name):
            for owner in inference.of(value, scope):
                match owner:
                    case Mod(record):
                        found += record.scope.bindings.get(name, [])
                    case Cls(cls) | Inst(cls, _):
                        found += cls.attributes.get(name, [])
    if len(found) != 1 or depth > _DEEPEST:
        return node, scope
    return _of_binding(found[0], inference, depth + 1) or (node, scope)


def _of_binding(binding: Binding, inference: Inference, depth: int) -> tuple[ast.expr, Scope] | None:
    match binding.kind:
        case "value" | "enter" if binding.node is not None:
            return origin(binding.node, binding.scope, inference, depth)
        case "annotated" if binding.value is not None:
            return origin(binding.value, binding.scope, inference, depth)
        case "member":
            module = inference.program.module(binding.target, binding.scope.module)
            there = module.scope.bindings.get(binding.name, []) if module is not None else []
            return _of_binding(there[0], inference, depth + 1) if len(there) == 1 and depth <= _DEEPEST else None
    return None
