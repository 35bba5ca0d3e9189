"""The one expression that a name stands for: a constant of a module, followed through imports and classes."""

from __future__ import annotations

import ast

from .infer import Inference
from .paths import bindings_of
from .scopes import Binding, Scope
from .values import Cls, Inst, Mod

_DEEPEST = 10


def origin(node: ast.expr, scope: Scope, inference: Inference) -> tuple[ast.expr, Scope]:
    """The expression and its scope; the node itself where it is no name, or may stand for several things."""
    for _ in range(_DEEPEST):
        further = definition(node, scope, inference)
        if further is None:
            break
        node, scope = further
    return node, scope


def definition(node: ast.expr, scope: Scope, inference: Inference) -> tuple[ast.expr, Scope] | None:
    """What a name is bound to, one step back; None where it is no name, or may stand for several things."""
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
    return _given_to(found[0], inference) if len(found) == 1 else None


def _given_to(binding: Binding, inference: Inference) -> tuple[ast.expr, Scope] | None:
    """The expression whose value a name gets, followed through imports."""
    for _ in range(_DEEPEST):
        match binding.kind:
            case "value" | "enter" if binding.node is not None:
                return binding.node, binding.scope
            case "annotated" if binding.value is not None:
                return binding.value, binding.scope
            case "member":
                module = inference.program.module(binding.target, binding.scope.module)
                there = module.scope.bindings.get(binding.name, []) if module is not None else []
                if len(there) != 1:
                    return None
                binding = there[0]
            case _:
                return None
    return None
