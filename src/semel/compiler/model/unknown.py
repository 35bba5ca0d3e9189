"""Says of a call that could not be resolved what is not known about it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from . import texts
from .values import Foreign, Unknown

if TYPE_CHECKING:
    from .infer import Inference
    from .scopes import Binding, Scope


def why_unknown(callee: ast.expr, scope: Scope, inference: Inference) -> str:
    """One clause, such as "`client` is a parameter without an annotation"."""
    node = callee
    while isinstance(node, ast.Attribute) and Unknown() in inference.of(node.value, scope):
        node = node.value
    text = texts.text(scope.module, node)
    shown = text if len(text) <= 40 and "\n" not in text else f"{text.split(chr(10))[0][:37]}…"
    match node:
        case ast.Name(id=name):
            return _of_name(name, scope)
        case ast.Attribute(attr=name):
            return f"nothing shows what the attribute {name} of `{shown.rpartition('.')[0]}` is"
        case ast.Call(func=func):
            made_by = sorted(v.name.replace("()", "") for v in inference.of(func, scope) if isinstance(v, Foreign))
            return f"nothing shows what {f'{made_by[0]}(…)' if made_by else f'`{shown}`'} gives"
        case ast.Subscript():
            return f"`{shown}` is looked up when it runs"
    return f"nothing shows what `{shown}` is"


def _of_name(name: str, scope: Scope) -> str:
    here: Scope | None = scope
    while here is not None and name not in here.bindings:
        here = here.parent
    bindings: list[Binding] = here.bindings[name] if here is not None else []
    kinds = {binding.kind for binding in bindings}
    if not kinds:
        return f"nothing in the module defines `{name}`"
    if kinds == {"parameter"}:
        annotated = any(binding.node is not None for binding in bindings)
        return f"the annotation of `{name}` does not say what it is" if annotated else f"`{name}` has no annotation"
    if kinds == {"element"}:
        return f"nothing shows what the items that `{name}` runs through are"
    return f"nothing shows what `{name}` is"
