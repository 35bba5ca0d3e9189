"""Which expressions are file paths, and which of those are scratch: under a temporary folder of the body's own."""

from __future__ import annotations

import ast

from .effect_names import PATH_CLASSES, PATH_TO_PATH
from .infer import Inference
from .scopes import Binding, Scope
from .values import Foreign, ForeignInst

_DEEPEST = 6


class FilePaths:
    def __init__(self, inference: Inference) -> None:
        self.inference = inference

    def is_path(self, node: ast.expr, scope: Scope, depth: int = 0) -> bool:
        """Whether the expression is surely a ``pathlib.Path``."""
        if any(isinstance(v, ForeignInst) and v.name in PATH_CLASSES for v in self.inference.of(node, scope)):
            return True
        if depth > _DEEPEST:
            return False
        match node:
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                return self.is_path(left, scope, depth + 1) or self.is_path(right, scope, depth + 1)
            case ast.Attribute(value=value, attr=name) | ast.Call(func=ast.Attribute(value=value, attr=name)):
                if name in PATH_TO_PATH:
                    return self.is_path(value, scope, depth + 1)
                return name in ("cwd", "home") and self._is_path_class(value, scope)
            case ast.Name(id=name):
                nodes = [
                    (b.node, b.scope) for b in bindings_of(name, scope) if b.kind == "value" and b.node is not None
                ]
                return bool(nodes) and all(self.is_path(node, where, depth + 1) for node, where in nodes)
        return False

    def _is_path_class(self, node: ast.expr, scope: Scope) -> bool:
        return any(isinstance(v, Foreign) and v.name in PATH_CLASSES for v in self.inference.of(node, scope))

    def is_scratch(self, node: ast.expr, scope: Scope, depth: int = 0) -> bool:
        """Whether the expression speaks of something that ``tempfile`` made, or of the null device."""
        for part in ast.walk(node):
            match part:
                case ast.Constant(value="/dev/null"):
                    return True
                case ast.Attribute() | ast.Name():
                    names = [v.name for v in self.inference.of(part, scope) if isinstance(v, Foreign | ForeignInst)]
                    if any(name == "os.devnull" or name.startswith("tempfile.") for name in names):
                        return True
            if isinstance(part, ast.Name) and depth < _DEEPEST:
                for binding in bindings_of(part.id, scope):
                    source = binding.source if binding.source is not None else binding
                    made = source.node if source.kind in ("value", "enter") else None
                    if made is not None and self.is_scratch(made, source.scope, depth + 1):
                        return True
        return False


def bindings_of(name: str, scope: Scope) -> list[Binding]:
    """How the name gets its value, in the nearest scope that gives it one."""
    here: Scope | None = scope
    while here is not None:
        if name in here.bindings and (here is scope or not here.is_class):
            return here.bindings[name]
        here = here.parent
    return []
