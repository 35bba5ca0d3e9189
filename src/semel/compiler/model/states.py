"""The states of an entity workflow and the ways between them, as its class shows them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from .data import Place
from .hooks import ANY, UNSEEN, names_of_bodies

#: The members of the enum of a name, None where it is not to be seen.
Enums = Callable[[str], "tuple[str, ...] | None"]

_ENDS = ("success", "error", "cancel")


@dataclass(frozen=True, slots=True)
class Way:
    """What happens in a state: an event, or a clock. ``to`` None stays in it."""

    state: str
    what: str
    to: str | None


@dataclass(frozen=True, slots=True)
class Hook:
    """A method that is a body in a state; ``state`` is "*" for all states, and "?" where it is not to be seen.

    ``segment`` is the rest of the body's name: ``on_pay``, ``enter``. ``returns`` are the states that it is seen to
    return, None if it may return others.
    """

    method: str
    state: str
    segment: str
    place: Place
    is_async: bool
    returns: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class EntityStates:
    """One entity workflow. ``ends`` are its terminal states, each with how it ends: "success", "error" or "cancel".

    ``members`` are all states of the enum, None where it is not to be seen; ``named`` are those that the declaration
    names, each with a place. ``events`` are those that it declares; ``ends_at`` has each end, also a second one.
    ``hidden`` says that keywords of the class are not to be seen.
    """

    name: str
    place: Place
    enum: str
    initial: str | None
    states: tuple[str, ...]
    ends: Mapping[str, str]
    ways: tuple[Way, ...]
    members: tuple[str, ...] | None
    named: tuple[tuple[str, Place], ...]
    events: tuple[tuple[str, Place], ...]
    hooks: tuple[Hook, ...]
    ends_at: tuple[tuple[str, Place], ...]
    hidden: bool


@dataclass(frozen=True, slots=True)
class Method:
    """A method of the class or of a base: ``dotted`` are the names that its decorators may be of."""

    name: str
    node: ast.FunctionDef | ast.AsyncFunctionDef
    dotted: frozenset[str]
    place: Callable[[ast.expr], Place]


@dataclass(frozen=True, slots=True)
class Assigned:
    """``pay = Event()`` in the class or in a base."""

    node: ast.Assign
    place: Callable[[ast.expr], Place]


def states_of(
    name: str, place: Place, cls: ast.ClassDef, methods: Iterable[Method], assigned: Iterable[Assigned], enums: Enums
) -> EntityStates:
    """Reads the class; ``enums`` gives the members of an enum by its name."""
    methods = list(methods)
    at_the_class = next((each.value for each in cls.keywords if each.arg == "initial"), None)
    initial = None if at_the_class is None else _member(at_the_class)
    named: list[tuple[str, Place]] = [] if initial is None else [(initial, place)]
    ends: dict[str, str] = {}
    ends_at: list[tuple[str, Place]] = []
    events: list[tuple[str, Place]] = []
    for each in assigned:
        call = each.node.value
        if isinstance(call, ast.Subscript):
            continue
        if isinstance(call, ast.Call):
            called = _called(call)
            state = _member(call.args[0]) if call.args else None
            if called in _ENDS and state is not None:
                ends[state] = called
                ends_at.append((state, each.place(call)))
                named.append((state, each.place(call)))
            elif called == "Event" and isinstance(each.node.targets[0], ast.Name):
                events.append((each.node.targets[0].id, each.place(call)))
    hooks = list(_hooks(methods))
    named += [(hook.state, hook.place) for hook in hooks if hook.state not in (ANY, UNSEEN)]
    bodies = list(_bodies(methods))
    shown = [state for state, *_ in bodies if state not in (ANY, UNSEEN)]
    first = [] if initial is None else [initial]
    known: dict[str, None] = dict.fromkeys([*first, *shown, *ends])
    for _, _, _, returned in bodies:
        known |= dict.fromkeys(returned)
    ways: dict[Way, None] = {}
    for state, what, event, returned in bodies:
        own = {of for of, _, other, _ in bodies if other == event and of not in (ANY, UNSEEN)}
        for of in [state] if state not in (ANY, UNSEEN) else [s for s in known if s not in ends and s not in own]:
            ways |= dict.fromkeys([Way(of, what, to) for to in returned] or [Way(of, what, None)])
    enum = ast.unparse(at_the_class.value) if isinstance(at_the_class, ast.Attribute) else ""
    return EntityStates(
        name=name,
        place=place,
        enum=enum,
        initial=initial,
        states=tuple(known),
        ends=ends,
        ways=tuple(ways),
        members=enums(enum) if enum else None,
        named=tuple(named),
        events=tuple(events),
        hooks=tuple(hooks),
        ends_at=tuple(ends_at),
        hidden=any(each.arg is None for each in cls.keywords),
    )


def _hooks(methods: Iterable[Method]) -> Iterator[Hook]:
    for method in methods:
        returns = _all_returned(method.node)
        is_async = isinstance(method.node, ast.AsyncFunctionDef)
        for decorator in method.node.decorator_list:
            for body in names_of_bodies(method.name, decorator, method.dotted):
                state, _, segment = body.partition(".")
                if segment in ("finished", "unfinished"):
                    state = ANY
                yield Hook(method.name, state, segment, method.place(decorator), is_async, returns)


def _bodies(methods: Iterable[Method]) -> Iterator[tuple[str, str, str, list[str]]]:
    """State, what happens, the segment of the body, and the states that are returned; milestones belong to no state."""
    for method in methods:
        for decorator in method.node.decorator_list:
            for body in names_of_bodies(method.name, decorator, method.dotted):
                state, _, segment = body.partition(".")
                if segment not in ("finished", "unfinished"):
                    yield state, _told(method.name, segment, decorator), segment, _returned(method.node)


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
    return list(dict.fromkeys(name for value in _returns(node) for name in _members(value)))


def _all_returned(node: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, ...] | None:
    """The same; None if it may return something else."""
    found: dict[str, None] = {}
    for value in _returns(node):
        if not _is_seen(value):
            return None
        found |= dict.fromkeys(_members(value))
    return tuple(found)


def _returns(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.expr]:
    waiting: list[ast.AST] = list(node.body)
    while waiting:
        each = waiting.pop(0)
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            continue
        if isinstance(each, ast.Return) and each.value is not None:
            yield each.value
        waiting = [*ast.iter_child_nodes(each), *waiting]


def _is_seen(node: ast.expr) -> bool:
    if isinstance(node, ast.IfExp):
        return _is_seen(node.body) and _is_seen(node.orelse)
    return (isinstance(node, ast.Constant) and node.value is None) or _member(node) is not None


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
