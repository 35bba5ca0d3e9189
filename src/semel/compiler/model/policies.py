"""Reads what a step is given besides its work: the policy of its retries, and the undo of a saga's step."""

from __future__ import annotations

import ast
import builtins

from . import intrinsics, steps, texts
from .data import Retry, Undo, UndoFault
from .infer import Inference
from .origins import origin
from .program import last_name
from .scopes import FunctionRecord, Scope
from .values import Fn, Foreign, Inst, Unknown, Value

_MAKERS = frozenset({"exponential", "constant", "linear"})
_OTHERS = frozenset({"cap", "jitter"})
_PARTIALS = frozenset({"partial", "partialmethod"})


def retry(node: ast.Call, scope: Scope, inference: Inference) -> Retry | None:
    """What ``retry=`` of a step is, ``undo_retry=`` of one of a saga; None where there is none."""
    given = next((k.value for k in node.keywords if k.arg in ("retry", "undo_retry")), None)
    if given is None or (isinstance(given, ast.Constant) and given.value is None):
        return None
    policy, where = origin(given, scope, inference)
    definition = texts.expression(where.module, policy)
    return Retry(texts.expression(scope.module, given), _bounded(given, scope, inference), definition)


def _bounded(node: ast.expr, scope: Scope, inference: Inference) -> bool | None:
    """Whether a policy has ``max_attempts``; None where that is not to be seen."""
    node, scope = origin(node, scope, inference)
    match node:
        case ast.Call(func=ast.Attribute(attr="max_attempts")):
            return True
        case ast.Call(func=ast.Attribute(value=value, attr=name) as func):
            made = [v.name for v in inference.of(func, scope) if isinstance(v, Foreign)]
            if name in _MAKERS and any(intrinsics.is_backoff(dotted) for dotted in made):
                return False
            return _bounded(value, scope, inference) if name in _OTHERS else None
        case ast.IfExp(body=body, orelse=orelse):
            both = {_bounded(body, scope, inference), _bounded(orelse, scope, inference)}
            return False if False in both else None if None in both else True
    return None


def event_name(node: ast.expr, scope: Scope, inference: Inference) -> str | None:
    """The name of the event that the expression is, or names."""
    node, scope = origin(node, scope, inference)
    match node:
        case ast.Constant():
            return steps.literal(node)
        case ast.Call(func=func, args=[first, *_]):
            kind = func.value if isinstance(func, ast.Subscript) else func
            if any(isinstance(v, Foreign) and intrinsics.is_event(v.name) for v in inference.of(kind, scope)):
                return steps.literal(origin(first, scope, inference)[0])
    return None


# ------------------------------------------------------------------------------------------------------------- an undo


def undo(node: ast.Call, scope: Scope, inference: Inference) -> Undo | None:
    """What ``undo=`` of a saga's step is; None where there is none."""
    given = next((k.value for k in node.keywords if k.arg == "undo"), None)
    if given is None or (isinstance(given, ast.Constant) and given.value is None):
        return None
    values = inference.of(given, scope)
    faults: list[UndoFault | None] = [_fault(given, value, scope, inference) for value in values]
    known = bool(values) and not any(isinstance(value, Unknown) for value in values)
    fault = _written(given) or (faults[0] if known and all(faults) else None)
    functions = () if fault else tuple(sorted(v.record.id for v in values if isinstance(v, Fn)))
    code, inside = _code(given, values, scope)
    captured = tuple(sorted(_captured(code, inside))) if fault and code is not None else ()
    shown = isinstance(given, ast.Lambda) and len(given.args.args) == 1 and not captured
    parameter = given.args.args[0].arg if isinstance(given, ast.Lambda) and len(given.args.args) == 1 else ""
    work = texts.text(scope.module, given.body) if shown and isinstance(given, ast.Lambda) else ""
    return Undo(texts.expression(scope.module, given), fault, captured, functions, parameter, work)


def _written(node: ast.expr) -> UndoFault | None:
    """What is wrong with it however it is resolved."""
    match node:
        case ast.Lambda():
            return "lambda"
        case ast.Call(func=func):
            return "partial" if last_name(func) in _PARTIALS else "call"
    return None


def _fault(node: ast.expr, value: Value, scope: Scope, inference: Inference) -> UndoFault | None:
    match value:
        case Fn(record):
            if isinstance(record.node, ast.Lambda):
                return "lambda"
            if "<locals>" in record.qualname:
                return "nested"
            return "bound" if _is_bound(node, record, scope, inference) else None
        case Inst():
            return "object"
        case Foreign(name) if "()." in name and isinstance(node, ast.Attribute):
            return "bound"
    return None


def _is_bound(node: ast.expr, record: FunctionRecord, scope: Scope, inference: Inference) -> bool:
    kinds = {last_name(decorator) for decorator in record.decorators}
    if record.owner is None or not isinstance(node, ast.Attribute) or "staticmethod" in kinds:
        return False
    return "classmethod" in kinds or any(isinstance(v, Inst) for v in inference.of(node.value, scope))


def _code(node: ast.expr, values: frozenset[Value], scope: Scope) -> tuple[ast.AST | None, Scope]:
    """The code of an undo that is written in the body."""
    if isinstance(node, ast.Lambda | ast.Call):
        return node, scope
    records = [v.record for v in values if isinstance(v, Fn) and "<locals>" in v.record.qualname]
    return (records[0].node, records[0].parent) if records else (None, scope)


def _captured(code: ast.AST, scope: Scope) -> set[str]:
    """The names of functions round the code that it uses."""
    own = {node.arg for node in ast.walk(code) if isinstance(node, ast.arg)}
    own |= {n.id for n in ast.walk(code) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    used = {n.id for n in ast.walk(code) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)} - own
    return {name for name in used if not hasattr(builtins, name) and _is_local(name, scope)}


def _is_local(name: str, scope: Scope) -> bool:
    here: Scope | None = scope
    while here is not None and here.function is not None:
        if name in here.bindings:
            return True
        here = here.parent
    return False
