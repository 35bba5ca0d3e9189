"""Reads the class of an entity workflow: what its body, and those of its bases, declare."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from . import intrinsics, steps, texts
from .callees import Callees
from .data import Place
from .entities import DeclaredEvent, EntityWorkflow, Hook, HookKind, Milestone, Terminal, TerminalKind
from .entity_states import States, tracked
from .foreign import PLAIN_DECORATORS
from .origins import definition
from .program import last_name
from .scopes import Binding, ClassRecord, FunctionRecord, Scope
from .values import Cls, Foreign

#: Bases that declare nothing.
_EMPTY_BASES = frozenset({"typing.Generic", "typing.Protocol", "abc.ABC", "builtins.object"})
_HOOKS: dict[str, HookKind] = {
    "on": "event",
    "enter": "enter",
    "expire": "expire",
    "remind": "remind",
    "finished": "finished",
    "unfinished": "unfinished",
}
_SEEN = (ast.Assign, ast.AnnAssign, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Pass)


def entity_workflow(cls: ClassRecord, callees: Callees, *, registered: bool) -> EntityWorkflow | None:
    """What the class declares; None where it is no entity workflow, or only a base of some."""
    bases = callees.program.mro(cls)
    if not any(isinstance(base, str) and intrinsics.is_entity_workflow(base) for base in bases):
        return None
    if not registered and not any(keyword.arg == "tracks" for keyword in cls.node.keywords):
        return None
    return _Reading(cls, callees).read()


@dataclass(slots=True)
class _Found:
    events: dict[str, DeclaredEvent] = field(default_factory=dict)
    hooks: list[Hook] = field(default_factory=list)
    milestones: list[Milestone] = field(default_factory=list)
    terminals: list[Terminal] = field(default_factory=list)


class _Reading:
    def __init__(self, cls: ClassRecord, callees: Callees) -> None:
        self.cls = cls
        self.callees = callees
        self.inference = callees.inference
        self.keywords = {keyword.arg: keyword.value for keyword in cls.node.keywords}
        tracks = self.keywords.get("tracks")
        self.column = tracks.attr if isinstance(tracks, ast.Attribute) else None
        self.states = States(tracked(self.keywords, cls.parent, self.inference), self.inference)
        self.found = _Found()
        self.complete = None not in self.keywords and "metaclass" not in self.keywords

    def read(self) -> EntityWorkflow:
        cls, module = self.cls, self.cls.module
        holders = [entry for entry in self.callees.program.mro(cls) if isinstance(entry, ClassRecord)]
        for holder in holders:
            self.look_over(holder)
        names = dict.fromkeys(name for holder in reversed(holders) for name in _own(holder))
        for name in names:
            self.attribute(name, [_own(holder)[name][-1] for holder in holders if name in _own(holder)])
        tracks, initial = self.keywords.get("tracks"), self.keywords.get("initial")
        missing = initial is None or (isinstance(initial, ast.Constant) and initial.value is None)
        return EntityWorkflow(
            name=steps.literal(self.keywords.get("name")) or cls.qualname.replace("<locals>.", ""),
            cls=cls.id,
            place=texts.place(module, cls.node),
            tracks=texts.text(module, tracks) if tracks is not None else None,
            enum=self.states.enum.node.name if self.states.enum is not None else None,
            states=self.states.places(),
            initial=self.states.named(initial, cls.parent) if initial is not None else None,
            has_no_initial=missing and tracks is not None and None not in self.keywords,
            events=self.found.events,
            hooks=tuple(self.found.hooks),
            milestones=tuple(self.found.milestones),
            terminals=tuple(self.found.terminals),
            complete=self.complete,
        )

    def look_over(self, cls: ClassRecord) -> None:
        """Whether all that the class declares is seen."""
        for base in cls.node.bases:
            for value in self.inference.base(base, cls) or [None]:
                known = isinstance(value, Cls) or (
                    isinstance(value, Foreign)
                    and (value.name in _EMPTY_BASES or intrinsics.is_entity_workflow(value.name))
                )
                self.complete = self.complete and known
        for statement in cls.node.body:
            text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            self.complete = self.complete and (text or isinstance(statement, _SEEN))
        if any(len(bindings) > 1 for bindings in _own(cls).values()):
            self.complete = False

    def attribute(self, name: str, bindings: list[Binding]) -> None:
        """What a name of the class is: its bindings are its own and those of its bases, the one that counts first."""
        first = bindings[0]
        if first.function is not None:
            marked = next((b.function for b in bindings if b.function and self.marks(b.function)), first.function)
            for node, kind in self.marks(marked):
                self.hook(first.function, marked, node, kind)
            for node in first.function.decorators:
                self.complete = self.complete and self.is_foreign(node, first.scope)
            return
        given = first.value if first.kind == "annotated" else first.node
        if not isinstance(given, ast.Call):
            # `pay = shared.pay` may be an event, and so may a part of what is unpacked.
            nothing = first.kind == "class" or (first.kind == "annotated" and given is None)
            plain = first.kind in ("value", "annotated") and not isinstance(given, ast.Name | ast.Attribute | None)
            self.complete = self.complete and (nothing or plain)
            return
        match self.declaration(given.func, first.scope):
            case "Event":
                self.found.events[name] = DeclaredEvent(
                    _payload(given, first.scope), texts.place(first.scope.module, given)
                )
            case "milestone":
                self.found.milestones.append(self.milestone(name, given, first.scope))
            case "success" | "error" | "cancel" as end:
                self.found.terminals.append(self.terminal(name, end, given, first.scope))
            case _:
                self.complete = self.complete and self.is_foreign(given, first.scope)

    def milestone(self, name: str, node: ast.Call, scope: Scope) -> Milestone:
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        since = given.get("since")
        several = since.elts if isinstance(since, ast.Tuple | ast.List) else [since] if since is not None else []
        return Milestone(
            name,
            texts.place(scope.module, node),
            self.states.all(node.args, scope),
            self.states.all(several, scope),
            self.delay(given.get("within"), scope),
        )

    def terminal(self, name: str, kind: TerminalKind, node: ast.Call, scope: Scope) -> Terminal:
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        parts: dict[str | None, ast.expr] = {**given, **dict(zip(("state", "message"), node.args, strict=False))}
        state = self.states.named(parts["state"], scope) if "state" in parts else None
        return Terminal(name, kind, state, steps.literal(parts.get("message")), texts.place(scope.module, node))

    def is_foreign(self, node: ast.expr, scope: Scope) -> bool:
        """Whether it is surely no code of the user's, which may declare whatever it likes."""
        values = self.inference.of(node.func if isinstance(node, ast.Call) else node, scope)
        return bool(values) and all(isinstance(value, Foreign) for value in values)

    def declaration(self, func: ast.expr, scope: Scope) -> str | None:
        """``on`` of ``semel.on``, however it was imported."""
        values = self.inference.of(func.value if isinstance(func, ast.Subscript) else func, scope)
        names = [intrinsics.declaration(value.name) if isinstance(value, Foreign) else None for value in values]
        return names[0] if len(names) == 1 else None

    # ----------------------------------------------------------------------------------------------------------- hooks

    def marks(self, method: FunctionRecord) -> list[tuple[ast.expr, HookKind]]:
        """The decorators that make the method a body, the lowest first."""
        found = []
        for node in reversed(method.decorators):
            name = self.declaration(node.func if isinstance(node, ast.Call) else node, method.parent)
            if name in _HOOKS:
                found.append((node, _HOOKS[name]))
        return found

    def hook(self, method: FunctionRecord, marked: FunctionRecord, node: ast.expr, kind: HookKind) -> None:
        scope = marked.parent
        args, keywords = (node.args, node.keywords) if isinstance(node, ast.Call) else ([], [])
        given = {keyword.arg: keyword.value for keyword in keywords}
        event = milestone = None
        if kind == "event" and args:
            event, args = _last_name(args[0]), args[1:]
        elif isinstance(node, ast.Attribute):
            milestone = _last_name(node.value)
        wrapped = self.is_wrapped(method) or self.is_wrapped(marked)
        self.complete = self.complete and not wrapped
        assert isinstance(method.node, ast.FunctionDef | ast.AsyncFunctionDef)
        following, leads = self.states.after(method, self.column)
        self.found.hooks.append(
            Hook(
                kind=kind,
                function=method.id,
                method=method.node.name,
                place=_place(method),
                states=self.states.all(args, scope),
                event=event,
                milestone=milestone,
                after=self.delay(given.get("after"), scope),
                then_every=self.delay(given.get("then_every"), scope),
                next=following,
                leads=None if wrapped else leads,
                wrapped=wrapped,
            )
        )

    def is_wrapped(self, method: FunctionRecord) -> bool:
        for node in method.decorators:
            func = node.func if isinstance(node, ast.Call) else node
            values = self.inference.of(func, method.parent)
            plain = all(isinstance(value, Foreign) and value.name in PLAIN_DECORATORS for value in values)
            if not (plain and values) and self.declaration(func, method.parent) not in _HOOKS:
                return True
        return False

    def delay(self, node: ast.expr | None, scope: Scope) -> str | None:
        """``7 days`` of ``timedelta(days=7)``, or of a name for that; else as it is written, in one line."""
        if node is None or (isinstance(node, ast.Constant) and node.value is None):
            return None
        made: tuple[ast.expr, Scope] | None = (node, scope)
        while made is not None:
            words = _length(made[0])
            if words:
                return words
            made = definition(*made, self.inference) if isinstance(made[0], ast.Name) else None
        return " ".join(texts.text(scope.module, node).split())


def _own(cls: ClassRecord) -> dict[str, list[Binding]]:
    """What the body of the class binds, without what methods set on ``self``."""
    own = {name: [b for b in bindings if b.scope is cls.scope] for name, bindings in cls.scope.bindings.items()}
    return {name: bindings for name, bindings in own.items() if bindings}


def _payload(node: ast.Call, scope: Scope) -> str | None:
    given = node.func.slice if isinstance(node.func, ast.Subscript) else None
    given = next((keyword.value for keyword in node.keywords if keyword.arg == "payload"), given)
    if given is None or (isinstance(given, ast.Constant) and given.value is None):
        return None
    return texts.text(scope.module, given)


def _last_name(node: ast.expr) -> str | None:
    """``pay`` of ``pay`` and ``Base.pay``."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else None


def _place(method: FunctionRecord) -> Place:
    assert isinstance(method.node, ast.stmt)
    return texts.place(method.module, method.node)


def _length(node: ast.expr) -> str | None:
    """``7 days`` of ``timedelta(days=7)``."""
    if not isinstance(node, ast.Call) or last_name(node) != "timedelta":
        return None
    parts = [*zip(("days", "seconds"), node.args, strict=False), *((k.arg, k.value) for k in node.keywords)]
    words = []
    for unit, value in parts:
        if unit is None or not isinstance(value, ast.Constant) or not isinstance(value.value, int | float):
            return None
        words.append(f"{value.value} {unit.removesuffix('s') if value.value == 1 else unit}")
    return " ".join(words)
