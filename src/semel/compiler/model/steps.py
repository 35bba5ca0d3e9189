"""Reads a call that makes a step: its label, what its work is, and how the call should have been written."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from . import texts
from .data import Form, StepKind
from .infer import Inference
from .scopes import Scope
from .values import Foreign

_VALUES = (
    ast.Constant, ast.JoinedStr, ast.Await, ast.BinOp, ast.UnaryOp, ast.Compare, ast.List, ast.Tuple, ast.Dict, ast.Set,
    ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Yield, ast.YieldFrom,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shape:
    """The parts of a call; ``parameter`` is what the work is given, if anything."""

    kind: StepKind
    label: ast.expr | None
    step: ast.expr | None
    parameter: str = ""


def shape(node: ast.Call, form: Form, inference: Inference, scope: Scope) -> Shape:
    """The parts of a call that takes a label and a function."""
    arguments = node.args
    if any(isinstance(argument, ast.Starred) for argument in arguments):
        return Shape("hidden", None, None)
    label = arguments[0] if arguments else None
    if any(keyword.arg is None for keyword in node.keywords):
        return Shape("hidden", label, None)
    if any(keyword.arg in ("label", "step", "scope") for keyword in node.keywords):
        return Shape("keyword", None, None)
    if len(arguments) < 2:
        return Shape("missing", label, None)
    if len(arguments) > (3 if form == "once" else 2):
        return Shape("too many", label, None)
    step = arguments[-1]
    parameter = "session" if form == "transaction" else "key" if len(arguments) == 3 else ""
    return Shape("value" if is_value(step, inference, scope) else "function", label, step, parameter)


def is_value(node: ast.expr, inference: Inference, scope: Scope) -> bool:
    """Whether the expression is visibly a value and not a function: any call but ``functools.partial(…)`` (O4)."""
    match node:
        case ast.Call(func=func):
            return not is_partial(func, inference, scope)
        case ast.IfExp(body=body, orelse=orelse):
            return is_value(body, inference, scope) or is_value(orelse, inference, scope)
        case ast.BoolOp(values=values):
            return any(is_value(value, inference, scope) for value in values)
        case ast.NamedExpr(value=value):
            return is_value(value, inference, scope)
    return isinstance(node, _VALUES)


def is_partial(func: ast.expr, inference: Inference, scope: Scope) -> bool:
    return Foreign("functools.partial") in inference.of(func, scope)


def literal(node: ast.expr | None) -> str | None:
    """The label, if it is a string literal that is not empty (adjacent literals are one)."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value:
        return node.value
    return None


def label_hint(shape: Shape, scope: Scope) -> str:
    """A label to show in a corrected line, made of what the author wrote."""
    known = literal(shape.label)
    if known is not None:
        return known
    words = _words(shape.label, scope)
    if not words and shape.step is not None:
        words = _callee_words(shape.step)
    if not words and shape.label is not None:
        words = _callee_words(shape.label)
    return words or "name-of-this-step"


def _words(node: ast.expr | None, scope: Scope) -> str:
    match node:
        case ast.Constant(value=str() as value):
            found = value
        case ast.JoinedStr(values=values):
            found = "".join(v.value for v in values if isinstance(v, ast.Constant) and isinstance(v.value, str))
        case ast.BinOp(left=left, right=right):
            found = _words(left, scope) or _words(right, scope)
        case ast.Call(func=ast.Attribute(value=value)):
            found = _words(value, scope)
        case ast.Name(id=name):
            found = _constant(name, scope)
        case _:
            return ""
    return re.sub(r"[^\w.]+", "-", re.sub(r"[{%][^}\s]*}?", "", found)).strip("-.")


def _constant(name: str, scope: Scope) -> str:
    here: Scope | None = scope
    while here is not None and name not in here.bindings:
        here = here.parent
    bindings = here.bindings[name] if here is not None else []
    if len(bindings) == 1 and bindings[0].kind == "value":
        return literal(bindings[0].node) or ""
    return ""


def _callee_words(node: ast.expr) -> str:
    match node:
        case ast.Lambda(body=body):
            return _callee_words(body)
        case ast.Await(value=value):
            return _callee_words(value)
        case ast.Call(func=func):
            return _callee_words(func)
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name.strip("_").replace("_", "-")
    return ""


def corrected(node: ast.Call, shape: Shape, scope: Scope, *, awaited: bool) -> str:
    """The call as it should be, with the author's own text of what it does."""
    module = scope.module
    name = texts.text(module, node.func)
    label = f'"{label_hint(shape, scope)}"'
    if shape.kind == "value" and shape.step is not None:
        return _lambda(node, shape, scope, awaited=awaited)
    if shape.kind == "missing" and shape.label is not None and not isinstance(shape.label, ast.Constant | ast.Name):
        work = texts.text(module, shape.label)
        return f"{name}({label}, {work if isinstance(shape.label, ast.Lambda) else f'lambda: {work}'})"
    if shape.kind == "keyword":
        given = {keyword.arg: texts.text(module, keyword.value) for keyword in node.keywords}
        parts = [texts.text(module, argument) for argument in node.args]
        parts += [given[part] for part in ("label", "scope", "step") if part in given]
        parts += [f"{part}={value}" for part, value in given.items() if part not in ("label", "scope", "step")]
        return f"{name}({', '.join(parts)})"
    if shape.kind in ("function", "none") and shape.label is not None:
        return texts.replaced(module, node, shape.label, label)
    return f"{name}({label}, lambda: …)"


def labelled(node: ast.Call, event: ast.expr | None, scope: Scope) -> str:
    """A wait with a label of its own, in words of the event's name."""
    label = _words(event, scope) or "name-of-this-wait"
    return texts.with_label(texts.text(scope.module, node), label)


def _lambda(node: ast.Call, shape: Shape, scope: Scope, *, awaited: bool) -> str:
    module, step = scope.module, shape.step
    assert step is not None
    head = f"lambda {shape.parameter}: " if shape.parameter else "lambda: "
    if isinstance(step, ast.Await) and not _waits(step.value):
        call = texts.replaced(module, node, step, head + texts.text(module, step.value))
        return call if awaited else f"await {call}"
    work = texts.text(module, step)
    if _waits(step):
        function = re.sub(r"\W", "_", label_hint(shape, scope)).strip("_") or "step"
        call = texts.replaced(module, node, step, function)
        prefix = "" if awaited else "await "
        return f"async def {function}({shape.parameter}):\n    return {work}\n\n{prefix}{call}"
    if isinstance(step, ast.NamedExpr | ast.Tuple) and not work.startswith("("):
        work = f"({work})"
    return texts.replaced(module, node, step, head + work)


def _waits(node: ast.expr) -> bool:
    return any(isinstance(child, ast.Await) for child in ast.walk(node))
