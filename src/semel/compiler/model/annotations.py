"""What an annotation says a value may be."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from .aws import of_stub
from .scopes import ClassRecord, Scope
from .values import NONE, UNKNOWN, Cls, Foreign, ForeignInst, Inst, Many, Row, Table, Values, union

if TYPE_CHECKING:
    from .infer import Inference

_TABLES = frozenset({"dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "DefaultDict", "OrderedDict"})
_SAME = frozenset(
    {"Annotated", "Final", "ClassVar", "Required", "NotRequired", "ReadOnly", "InitVar", "Awaitable", "Mapped"}
)
_RESULT_LAST = frozenset({"Coroutine"})
_MANY = frozenset(
    {
        "list", "set", "frozenset", "deque", "List", "Set", "FrozenSet", "Deque", "Sequence", "MutableSequence",
        "Iterable", "Iterator", "Collection", "AbstractSet", "MutableSet", "Generator", "AsyncIterable",
        "AsyncIterator", "AsyncGenerator", "Reversible", "KeysView", "ValuesView", "Queue",
    }
)  # fmt: skip
#: Names of typing that say nothing about what can be called on the value.
_OPEN = frozenset({"Any", "object", "TypeVar", "Callable", "Hashable", "Literal", "LiteralString", "ParamSpec", "Self"})


class Annotations:
    def __init__(self, inference: Inference) -> None:
        self.inference = inference
        self._parsed: dict[str, ast.expr | None] = {}
        self._following: set[int] = set()

    def read(self, node: ast.expr, scope: Scope, owner: ClassRecord | None = None) -> Values:
        """The values that the annotation allows; ``owner`` is the class that ``Self`` means."""
        match node:
            case ast.Constant(value=None):
                return NONE
            case ast.Constant(value=str() as text):
                parsed = self._parse(text)
                return self.read(parsed, scope, owner) if parsed is not None else UNKNOWN
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return self.read(left, scope, owner) | self.read(right, scope, owner)
            case ast.Subscript(value=value, slice=inner):
                return self._generic(value, inner, scope, owner)
            case ast.Name() | ast.Attribute():
                return self._named(node, scope, owner)
        return UNKNOWN

    def _parse(self, text: str) -> ast.expr | None:
        if text not in self._parsed:
            try:
                self._parsed[text] = ast.parse(text.strip(), mode="eval").body
            except (SyntaxError, ValueError):
                self._parsed[text] = None
        return self._parsed[text]

    def _named(self, node: ast.Name | ast.Attribute, scope: Scope, owner: ClassRecord | None) -> Values:
        name = node.id if isinstance(node, ast.Name) else node.attr
        if name == "Self":
            cls = owner or scope.cls
            return frozenset({Inst(cls, False)}) if cls is not None else UNKNOWN
        alias = self._alias(node, scope)
        if alias is not None:
            return alias
        found: list[Values] = []
        for value in self.inference.of(node, scope):
            match value:
                case Cls(record):
                    found.append(frozenset({Inst(record, False)}))
                case Foreign(dotted):
                    found.append(self._foreign(dotted))
                case _:
                    found.append(UNKNOWN)
        return union(found) if found else UNKNOWN

    def _foreign(self, dotted: str) -> Values:
        name = dotted.rpartition(".")[2]
        if name in _OPEN:
            return UNKNOWN
        if name in ("NoReturn", "Never"):
            return NONE
        if name in _TABLES:
            return frozenset({Table(UNKNOWN)})
        if (made := of_stub(dotted)) is not None:
            return frozenset({ForeignInst(made)})
        return frozenset({Many(UNKNOWN) if name in _MANY or name == "tuple" else ForeignInst(dotted)})

    def _alias(self, node: ast.Name | ast.Attribute, scope: Scope) -> Values | None:
        """``Handler = Order | Invoice`` and ``type Handler = …``."""
        if not isinstance(node, ast.Name):
            return None
        here: Scope | None = scope
        while here is not None and node.id not in here.bindings:
            here = here.parent
        bindings = here.bindings[node.id] if here is not None else []
        if len(bindings) != 1 or bindings[0].node is None or id(bindings[0]) in self._following:
            return None
        binding = bindings[0]
        assert binding.node is not None
        if binding.kind == "alias" or (binding.kind == "value" and isinstance(binding.node, ast.BinOp | ast.Subscript)):
            self._following.add(id(binding))
            try:
                return self.read(binding.node, binding.scope)
            finally:
                self._following.discard(id(binding))
        return None

    def _generic(self, value: ast.expr, inner: ast.expr, scope: Scope, owner: ClassRecord | None) -> Values:
        name = value.attr if isinstance(value, ast.Attribute) else value.id if isinstance(value, ast.Name) else ""
        parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        if not parts:
            return UNKNOWN
        if name in ("Optional", "Union"):
            return union([self.read(part, scope, owner) for part in parts])
        if name in _SAME:
            return self.read(parts[0], scope, owner)
        if name in _RESULT_LAST:
            return self.read(parts[-1], scope, owner)
        if name in ("type", "Type"):
            allowed = self.read(parts[0], scope, owner)
            return frozenset(Cls(v.record) for v in allowed if isinstance(v, Inst)) or UNKNOWN
        if name in _TABLES:
            return frozenset({Table(self.read(parts[-1], scope, owner))})
        if name in ("tuple", "Tuple"):
            if len(parts) == 2 and isinstance(parts[1], ast.Constant) and parts[1].value is ...:
                return frozenset({Many(self.read(parts[0], scope, owner))})
            return frozenset({Row(tuple(self.read(part, scope, owner) for part in parts))})
        if name in _MANY:
            return frozenset({Many(self.read(parts[0], scope, owner))})
        if name in _OPEN:
            return UNKNOWN
        return self.read(value, scope, owner)
