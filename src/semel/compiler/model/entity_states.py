"""The states of an entity workflow: the members of the tracked enum, and where the source names them."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from . import enums, texts
from .data import Place
from .entities import Named
from .infer import Inference
from .origins import definition
from .scopes import Binding, ClassRecord, FunctionRecord, Scope
from .values import Cls, Foreign, Inst

_DEEPEST = 10


def tracked(keywords: Mapping[str | None, ast.expr], scope: Scope, inference: Inference) -> ClassRecord | None:
    """The enum that the column ``tracks=`` holds; where that is not seen, the one whose member ``initial=`` is."""
    tracks, initial = keywords.get("tracks"), keywords.get("initial")
    if isinstance(tracks, ast.Attribute) and (owner := _owner(tracks, scope, inference)) is not None:
        for entry in inference.program.mro(owner):
            if isinstance(entry, ClassRecord) and tracks.attr in entry.attributes:
                bindings = entry.attributes[tracks.attr]
                return _enum_of(bindings[0], inference) if len(bindings) == 1 else None
    owner = _owner(initial, scope, inference) if isinstance(initial, ast.Attribute) else None
    return owner if owner is not None and enums.is_enum(owner, inference.program) else None


def _owner(node: ast.Attribute, scope: Scope, inference: Inference) -> ClassRecord | None:
    """The class ``Order`` of ``Order.stage``."""
    owners = [value.record if isinstance(value, Cls) else None for value in inference.of(node.value, scope)]
    return owners[0] if len(owners) == 1 else None


def _enum_of(column: Binding, inference: Inference) -> ClassRecord | None:
    given = column.value if column.kind == "annotated" else column.node
    inside = [n for n in ast.walk(given) if isinstance(n, ast.Name | ast.Attribute)] if given is not None else []
    found = {v.record for n in inside for v in inference.of(n, column.scope) if isinstance(v, Cls)}
    found = {record for record in found if enums.is_enum(record, inference.program)}
    if not found and column.kind == "annotated" and column.node is not None:
        annotated = inference.annotations.read(column.node, column.scope)
        records = {value.record for value in annotated if isinstance(value, Inst)}
        found = {record for record in records if enums.is_enum(record, inference.program)}
    return next(iter(found)) if len(found) == 1 else None


class States:
    """``enum`` is the tracked one, None where it is not seen."""

    def __init__(self, enum: ClassRecord | None, inference: Inference) -> None:
        self.enum = enum
        self.inference = inference
        self.members = enums.members(enum) if enum is not None else None

    def places(self) -> dict[str, Place] | None:
        """The states in order, and where they are; without other names for one of them."""
        if self.enum is None or self.members is None:
            return None
        module = self.enum.module
        return {name: texts.place(module, node) for name, (own, node) in self.members.items() if name == own}

    def all(self, nodes: Sequence[ast.expr], scope: Scope) -> tuple[Named, ...] | None:
        """The states that the expressions are; None where one of them is not seen."""
        found = [self.named(node, scope) for node in nodes]
        return None if None in found else tuple(named for named in found if named is not None)

    def named(self, node: ast.expr, scope: Scope) -> Named | None:
        """The state that ``Stage.PLACED`` is, or a name for that."""
        text, place = texts.text(scope.module, node), texts.place(scope.module, node)
        for _ in range(_DEEPEST):
            found = self._member(node, scope)
            if found is not None:
                return Named(*found, text, place)
            further = definition(node, scope, self.inference)
            if further is None:
                break
            node, scope = further
        name = self._of_unseen(node, scope)
        return Named(name, None, text, place) if name is not None else None

    def _member(self, node: ast.expr, scope: Scope) -> tuple[str, bool | None] | None:
        if not isinstance(node, ast.Attribute):
            return None
        record = _owner(node, scope, self.inference)
        if record is None or not enums.is_enum(record, self.inference.program):
            return None
        if record is self.enum and self.members is not None:
            if node.attr in self.members:
                return self.members[node.attr][0], True
            holders = [entry for entry in self.inference.program.mro(record) if isinstance(entry, ClassRecord)]
            return node.attr, None if any(node.attr in entry.attributes for entry in holders) else False
        if self.enum is None or record is self.enum:
            return node.attr, None
        return node.attr, False if node.attr in (enums.members(record) or ()) else None

    def _of_unseen(self, node: ast.expr, scope: Scope) -> str | None:
        """``PLACED`` of ``Stage.PLACED``, where nothing is seen of the class ``Stage`` but its name."""
        if not isinstance(node, ast.Attribute):
            return None
        names = []
        for value in self.inference.of(node.value, scope):
            if isinstance(value, Foreign):
                names.append(value.name.rpartition(".")[2])
            elif isinstance(value, Cls) and self.inference.program.foreign_base(value.record):
                names.append(value.record.node.name)
        return node.attr if names and all(name[:1].isupper() for name in names) else None

    # ---------------------------------------------------------------------------------------------------- next states

    def after(self, method: FunctionRecord, column: str | None) -> tuple[tuple[str, ...], frozenset[str] | None]:
        """The states that the returns of a method show, and all that it may lead to: None if these may be any.

        All that it mentions counts, as it may give that to a helper. Who sets the column may set any state.
        """
        assert isinstance(method.node, ast.FunctionDef | ast.AsyncFunctionDef)
        shown: dict[str, None] = {}
        seen = [self.returned(node, method.scope, shown) for node in method.returned]
        inside = [node for statement in method.node.body for node in ast.walk(statement)]
        names = [node for node in inside if isinstance(node, ast.Name | ast.Attribute)]
        mentioned = {named.name for node in names if (named := self.named(node, method.scope)) is not None}
        sets = any(
            isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and node.attr == column
            for node in names
        )
        return tuple(shown), frozenset(mentioned) if all(seen) and not sets else None

    def returned(self, node: ast.expr, scope: Scope, shown: dict[str, None]) -> bool:
        """Notes the states that an expression gives; says whether these are all."""
        match node:
            case ast.Constant(value=None):
                return True
            case ast.IfExp(body=body, orelse=orelse):
                both = [self.returned(part, scope, shown) for part in (body, orelse)]
                return all(both)
        named = self.named(node, scope)
        if named is not None:
            shown[named.name] = None
        return named is not None and (named.is_member is True or self.enum is None)
