"""``workflow-call-not-resolved`` (O19): a call that the source leaves open is not the only way to steps.

Most calls that cannot be resolved lead nowhere that matters, so a call is told only with evidence: the program has
functions with steps that no call is known to lead to, and this is how they could be reached.
"""

from __future__ import annotations

from collections.abc import Iterator

from semel.checks.paths import name_of
from semel.checks.problem import Problem
from semel.compiler.model import Call, Function, Model
from semel.compiler.model.effects import Unresolved
from semel.compiler.model.routes import Routes

from .telling import route_places, who

RULE = "workflow-call-not-resolved"

_MOST_NAMED = 3


def check(model: Model, routes: Routes) -> Iterator[Problem]:
    open_functions = _never_called(model)
    if not open_functions:
        return
    for function in model.functions.values():
        if function.id not in routes:
            continue
        for unresolved in function.effects.unresolved:
            if unresolved.within is None:
                targets = _targets(model, unresolved, open_functions)
                if targets:
                    yield _problem(model, routes, function, unresolved, targets)


def _never_called(model: Model) -> list[Function]:
    """Functions that hold steps, are no bodies, and that no call is known to lead to, though something names them."""
    called = {c.function for function in model.functions.values() for call in function.calls for c in call.candidates}
    referred = frozenset().union(*(function.effects.referred for function in model.functions.values()))
    roots = set(model.roots)
    found = []
    for function in model.functions.values():
        if function.kind in ("lambda", "module") or function.id in called | roots or not model.holds_steps(function.id):
            continue
        if function.name.startswith("__") or function.operation is not None:
            continue
        if function.kind == "method" or function.id in referred or _is_registered(model, function):
            found.append(function)
    return found


def _is_registered(model: Model, function: Function) -> bool:
    """Whether a decorator of the program itself takes the function: ``@handles("mail")``."""
    own = {other.name for other in model.functions.values() if other.kind == "function"}
    names = [decorator.partition("(")[0].rpartition(".")[2] for decorator in function.decorators]
    return bool(names) and all(name in own for name in names)


def _targets(model: Model, unresolved: Unresolved, open_functions: list[Function]) -> list[Function]:
    if unresolved.kind == "method":
        named = [function for function in open_functions if function.kind == "method"]
        return [function for function in named if function.name == unresolved.name and not unresolved.owners]
    if unresolved.kind == "getattr" and unresolved.owners:
        return [function for function in open_functions if function.owner in unresolved.owners]
    fitting = [function for function in open_functions if function.kind == "function"]
    return [function for function in fitting if unresolved.arguments <= len(function.parameters)]


def _problem(
    model: Model, routes: Routes, function: Function, unresolved: Unresolved, targets: list[Function]
) -> Problem:
    call = next((call for call in function.calls if call.site == unresolved.site and call.how == "call"), None)
    why = f" ({call.lost})" if call is not None and call.lost else ""
    named = ", ".join(f"{name_of(target)} (line {target.place.line})" for target in targets[:_MOST_NAMED])
    more = f" and {len(targets) - _MOST_NAMED} more" if len(targets) > _MOST_NAMED else ""
    message = (
        f"The source does not show what `{unresolved.text}` in {who(model, routes, function)} calls{why}. It may lead "
        f"to the steps of {named}{more}, to which nothing else does. Their paths cannot be checked before a run: two "
        f"that are the same are found only when the second is reached, and stop the run there. Name the functions "
        f"where they are called, or annotate what holds them."
    )
    others = (*[target.place for target in targets[:_MOST_NAMED]], *route_places(routes, function))
    return Problem(RULE, "O19", message, unresolved.place, others, _fix(call, targets))


def _fix(call: Call | None, targets: list[Function]) -> str:
    wait = "await " if call is not None and call.awaited else ""
    lines = ["match …:"]
    for target in targets[:_MOST_NAMED]:
        owner = "self." if target.kind == "method" else ""
        lines.append(f"    case …:\n        {wait}{owner}{target.name}(…)")
    return "\n".join(lines)
