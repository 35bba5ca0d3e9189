"""The states of an entity workflow and the ways between them, as its class shows them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from .hooks import ANY, names_of_bodies

_ENDS = ("success", "error", "cancel")


@dataclass(frozen=True, slots=True)
class Way:
    """What happens in a state: an event, or a clock. ``to`` None stays in it."""

    state: str
    what: str
    to: str | None


@dataclass(frozen=True, slots=True)
class EntityStates:
    """One entity workflow. ``ends`` are its terminal states, each with how it ends: "success", "error" or "cancel"."""

    name: str
    initial: str | None
    states: tuple[str, ...]
    ends: Mapping[str, str]
    ways: tuple[Way, ...]


def states_of(
    name: str,
    cls: ast.ClassDef,
    methods: Iterable[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef, frozenset[str]]],
    assigned: Iterable[ast.Assign],
) -> EntityStates:
    """Reads the class; ``methods`` are its own and those of its bases, with the dotted names of their decorators."""
    initial = next((_member(each.value) for each in cls.keywords if each.arg == "initial"), None)
    ends: dict[str, str] = {}
    for statement in assigned:
        call = statement.value
        if isinstance(call, ast.Call) and call.args and _called(call) in _ENDS:
            state = _member(call.args[0])
            if state is not None:
                ends[state] = _called(call)
    bodies = list(_bodies(methods))
    known = dict.fromkeys([*([initial] if initial else []), *(state for state, *_ in bodies if state != ANY), *ends])
    for _, _, _, returned in bodies:
        known |= dict.fromkeys(returned)
    ways: dict[Way, None] = {}
    for state, what, event, returned in bodies:
        own = {of for of, _, other, _ in bodies if other == event and of != ANY}
        for each in [state] if state != ANY else [s for s in known if s not in ends and s not in own]:
            ways |= dict.fromkeys([Way(each, what, to) for to in returned] or [Way(each, what, None)])
    return EntityStates(name, initial, tuple(known), ends, tuple(ways))


def _bodies(
    methods: Iterable[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef, frozenset[str]]],
) -> Iterator[tuple[str, str, str, list[str]]]:
    """State, what happens, the segment of the body, and the states that are returned; milestones belong to no state."""
    for method, node, dotted in methods:
        for decorator in node.decorator_list:
            for body in names_of_bodies(method, decorator, dotted):
                state, _, segment = body.partition(".")
                if segment not in ("finished", "unfinished"):
                    yield state, _told(method, segment, decorator), segment, _returned(node)


def _told(method: str, segment: str, decorator: ast.expr) -> str:
    if segment.startswith("on_"):
        return segment.removeprefix("on_")
    delays = {each.arg: _delay(each.value) for each in getattr(decorator, "keywords", [])}
    after = f" after {delays['after']}" if "after" in delays else ""
    again = f", then every {delays['then_every']}" if "then_every" in delays else ""
    return f"{method}{after}{again}" if segment != "enter" else "enter"


def _delay(node: ast.expr) -> str:
    """``7 days`` of ``timedelta(days=7)``; else the expression as it is written, if it is short."""
    if isinstance(node, ast.Call) and _called(node) == "timedelta" and not node.args:
        parts = [f"{ast.unparse(each.value)} {each.arg}" for each in node.keywords]
        return " ".join(parts)
    text = ast.unparse(node)
    return text if len(text) <= 30 else "a time of the row's"


def _returned(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """The members in what the function itself returns."""
    found: dict[str, None] = {}
    waiting: list[ast.AST] = list(node.body)
    while waiting:
        each = waiting.pop(0)
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            continue
        if isinstance(each, ast.Return) and each.value is not None:
            found |= dict.fromkeys(_members(each.value))
        waiting = [*ast.iter_child_nodes(each), *waiting]
    return list(found)


def _members(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.IfExp):
        yield from _members(node.body)
        yield from _members(node.orelse)
    elif (name := _member(node)) is not None:
        yield name


def _member(node: ast.expr) -> str | None:
    """``PLACED`` of ``Stage.PLACED``."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute):
        return node.attr if not isinstance(node.value, ast.Name) or node.value.id != "self" else None
    return None


def _called(call: ast.Call) -> str:
    func = call.func
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
