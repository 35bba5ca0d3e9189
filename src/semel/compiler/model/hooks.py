"""The bodies of an entity workflow, as its class shows them: which method is run in which state, under which name."""

from __future__ import annotations

import ast
from collections.abc import Iterator

#: The decorators of semel that make a method a body, and what the body is called after its state.
_CLOCKS = ("enter", "expire", "remind")
_MILESTONE = ("finished", "unfinished")

#: Stands for the state of an arm for all states, and for one that the source does not show.
ANY, UNSEEN = "*", "?"


def names_of_bodies(method: str, decorator: ast.expr, dotted: frozenset[str]) -> Iterator[str]:
    """The names of the bodies that a decorator makes a method; ``dotted`` are those that it may be of.

    ``PLACED.on_pay`` of ``@on(pay, Stage.PLACED)``, ``shipped.finished`` of ``@shipped.finished``.
    """
    if isinstance(decorator, ast.Attribute) and decorator.attr in _MILESTONE:
        if isinstance(decorator.value, ast.Name):
            yield f"{decorator.value.id}.{decorator.attr}"
        return
    if not isinstance(decorator, ast.Call):
        return
    kind = next((name.rpartition(".")[2] for name in dotted if _is_hook(name)), None)
    if kind == "on" and decorator.args:
        event, *states = decorator.args
        segment = f"on_{_last_name(event) or UNSEEN}"
    elif kind in _CLOCKS:
        states = list(decorator.args)
        segment = f"remind_{method}" if kind == "remind" else str(kind)
    else:
        return
    for name in [_last_name(state) or UNSEEN for state in states] or [ANY]:
        yield f"{name}.{segment}"


def _is_hook(dotted: str) -> bool:
    return dotted.startswith("semel.") and dotted.rpartition(".")[2] in ("on", *_CLOCKS)


def _last_name(node: ast.expr) -> str | None:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None
