"""Finds results that the codec cannot record: of steps, of bodies and of any function, from annotations and source.

Only what is surely no result is told: of a union, every member must be one; of a class, its kind must be known.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from . import texts
from .callees import Callees
from .data import Place
from .effects import Unrecordable
from .scopes import ClassRecord, FunctionRecord, ModuleRecord, Scope
from .unrecordable_types import GIVES, PLAIN_BASES, RECORD_BASES, ROW_BASES, UNRECORDABLE
from .values import Cls, Fn, Foreign, ForeignInst

_DEEPEST = 5
_FIRST = frozenset({"Annotated", "Required", "NotRequired", "ReadOnly", "Mapped", "Final"})
_ITEMS = frozenset(
    {
        "list", "set", "frozenset", "tuple", "List", "Set", "FrozenSet", "Tuple", "Sequence", "Iterable", "Collection",
        "MutableSequence", "AbstractSet", "MutableSet",
    }
)  # fmt: skip
_TABLES = frozenset({"dict", "Dict", "Mapping", "MutableMapping", "OrderedDict"})
_NO_FIELDS = frozenset({"ClassVar", "InitVar"})


@dataclass(frozen=True, slots=True)
class _Found:
    """A type that cannot be recorded: the author's text of it, why, what to return instead, and where it is."""

    type: str
    reason: str
    advice: str
    part: str
    place: Place


class Results:
    """Notes the results of the steps of one function."""

    def __init__(self, callees: Callees) -> None:
        self.callees = callees
        self.inference = callees.inference
        self.program = callees.program
        self.found: list[Unrecordable] = []
        self._inside: list[ClassRecord] = []  # the classes whose fields are being looked at

    def of_step(self, node: ast.expr, scope: Scope, step: int) -> None:
        """What ``once`` is given."""
        trouble = None
        match node:
            case ast.Lambda(body=body):
                trouble = self._expression(body, scope.module.lambdas[id(node)].scope, 0)
            case ast.Name() | ast.Attribute():
                for value in self.inference.of(node, scope):
                    if isinstance(value, Fn):
                        trouble = trouble or self._function(value.record, 0)
                    elif isinstance(value, Foreign):
                        trouble = trouble or self._foreign(value.name, node, scope.module)
        if trouble is not None:
            self.found.append(_told(trouble, step))

    def of_function(self, record: FunctionRecord) -> list[Unrecordable]:
        """What the function itself gives."""
        trouble = self._function(record, 0) if not isinstance(record.node, ast.Module | ast.Lambda) else None
        return [_told(trouble, None)] if trouble is not None else []

    # ----------------------------------------------------------------------------------------- functions, expressions

    def _function(self, record: FunctionRecord, depth: int) -> _Found | None:
        node = record.node
        if depth > _DEEPEST or isinstance(node, ast.Module):
            return None
        if isinstance(node, ast.Lambda):
            return self._expression(node.body, record.scope, depth + 1)
        if not self._as_it_is(record):
            return None
        if record.yielded:
            text = f"{'async ' if isinstance(node, ast.AsyncFunctionDef) else ''}def {node.name}"
            place = Place(record.module.file, node.lineno, texts.column(record.module, node.lineno, node.col_offset))
            return _Found(text, "a generator", "list({})", "", place)
        if node.returns is not None:
            return self._annotation(node.returns, record.parent, record.module, 0)
        for returned in record.returned:
            trouble = self._expression(returned, record.scope, depth + 1)
            if trouble is not None:
                return trouble
        return None

    def _as_it_is(self, record: FunctionRecord) -> bool:
        """Whether no decorator makes something else of it; those of semel do not."""
        return all(isinstance(d, ast.Attribute | ast.Call) and _name(d) == "workflow" for d in record.decorators) or (
            {_name(d) for d in record.decorators} <= {"staticmethod", "classmethod", "override", "final", "external"}
        )

    def _expression(self, node: ast.expr, scope: Scope, depth: int) -> _Found | None:
        module = scope.module
        match node:
            case ast.Call(func=func):
                return self._call(func, node, scope, depth)
            case ast.Await(value=value):
                return self._expression(value, scope, depth)
            case ast.Lambda():
                return _Found(texts.text(module, node), "a function", "", "", texts.place(module, node))
            case ast.GeneratorExp():
                return _Found(texts.text(module, node), "a generator", "list{}", "", texts.place(module, node))
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                return self._items(items, scope, depth)
            case ast.Dict(values=items):
                return self._items(items, scope, depth)
            case ast.IfExp(body=body, orelse=orelse):
                # A result on one side is enough for the step to be right on that side: both must be wrong.
                one, other = self._expression(body, scope, depth), self._expression(orelse, scope, depth)
                return one if other is not None else None
        values = self.inference.of(node, scope) if isinstance(node, ast.Name | ast.Attribute) else frozenset()
        names = sorted(value.name for value in values if isinstance(value, ForeignInst) and value.name in UNRECORDABLE)
        return self._foreign_type(names[0], node, module) if names and len(names) == len(values) else None

    def _items(self, items: list[ast.expr], scope: Scope, depth: int) -> _Found | None:
        for item in items:
            trouble = self._expression(item, scope, depth + 1) if depth < _DEEPEST else None
            if trouble is not None:
                return replace(trouble, part=f"[…]{trouble.part}")
        return None

    def _call(self, func: ast.expr, node: ast.Call, scope: Scope, depth: int) -> _Found | None:
        values = self.inference.of(func, scope)
        troubles: list[_Found | None] = []
        for value in values:
            match value:
                case Fn(record):
                    troubles.append(self._function(record, depth + 1))
                case Cls(cls):
                    troubles.append(self._class(cls, node, scope.module))
                case Foreign(name):
                    troubles.append(self._foreign(name, node, scope.module))
                case _:
                    return None
        return troubles[0] if troubles and all(trouble is not None for trouble in troubles) else None

    def _foreign(self, name: str, node: ast.expr, module: ModuleRecord) -> _Found | None:
        """What calling something foreign gives."""
        return self._foreign_type(GIVES.get(name, name), node, module)

    def _foreign_type(self, name: str, node: ast.expr, module: ModuleRecord) -> _Found | None:
        advice = UNRECORDABLE.get(name)
        if advice is None:
            return None
        text = texts.text(module, node)
        kind = "a function" if name.endswith(".Callable") else f"of type {name.removeprefix('builtins.')}"
        if name == "builtins.open":
            kind = "an open file"
        return _Found(text, kind, advice, "", texts.place(module, node))

    # ----------------------------------------------------------------------------------------------------- annotations

    def _annotation(self, node: ast.expr, scope: Scope, module: ModuleRecord, depth: int) -> _Found | None:
        if depth > _DEEPEST:
            return None
        match node:
            case ast.Constant(value=str() as text):
                return self._quoted(text, node, scope, module, depth)
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return self._union([left, right], scope, module, depth)
            case ast.Subscript(value=value, slice=inner):
                return self._generic(node, value, inner, scope, module, depth)
            case ast.Name() | ast.Attribute():
                return self._named(node, scope, module, depth)
        return None

    def _quoted(self, text: str, node: ast.expr, scope: Scope, module: ModuleRecord, depth: int) -> _Found | None:
        try:
            inner = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError):
            return None
        place = texts.place(module, node)
        for part in ast.walk(inner):  # so that what is told stands where the string does
            if isinstance(part, ast.expr):
                ast.copy_location(part, node)
        trouble = self._annotation(inner, scope, module, depth + 1)
        return replace(trouble, type=text, place=place) if trouble is not None else None

    def _union(self, members: list[ast.expr], scope: Scope, module: ModuleRecord, depth: int) -> _Found | None:
        first = None
        for member in members:
            if isinstance(member, ast.Constant) and member.value is None:
                continue
            trouble = self._annotation(member, scope, module, depth + 1)
            if trouble is None:
                return None
            first = first or trouble
        return first

    def _generic(
        self, node: ast.expr, value: ast.expr, inner: ast.expr, scope: Scope, module: ModuleRecord, depth: int
    ) -> _Found | None:
        name = _name(value)
        parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        if name in ("Optional", "Union"):
            return self._union(parts, scope, module, depth)
        if name in _FIRST:
            return self._annotation(parts[0], scope, module, depth + 1)
        if name in ("Awaitable", "Coroutine"):
            return self._annotation(parts[-1], scope, module, depth + 1)
        if name in _TABLES:
            parts = parts[-1:]
        if name in _ITEMS or name in _TABLES:
            for part in parts:
                trouble = self._annotation(part, scope, module, depth + 1)
                if trouble is not None:
                    return replace(trouble, part=f"[…]{trouble.part}")
            return None
        trouble = self._named(value, scope, module, depth) if isinstance(value, ast.Name | ast.Attribute) else None
        return replace(trouble, type=texts.text(module, node)) if trouble is not None else None

    def _named(self, node: ast.Name | ast.Attribute, scope: Scope, module: ModuleRecord, depth: int) -> _Found | None:
        troubles: list[_Found | None] = []
        for value in self.inference.of(node, scope):
            match value:
                case Cls(cls):
                    troubles.append(self._class(cls, node, module))
                case Foreign(name):
                    # An awaitable is awaited by the step itself; only of what it gives is anything recorded.
                    known = name in UNRECORDABLE and _name(node) not in ("Awaitable", "Coroutine")
                    troubles.append(self._foreign_type(name, node, module) if known else None)
                case _:
                    troubles.append(None)
        return troubles[0] if troubles and all(trouble is not None for trouble in troubles) else None

    # --------------------------------------------------------------------------------------------------------- classes

    def _class(self, cls: ClassRecord, node: ast.expr, module: ModuleRecord) -> _Found | None:
        entries = self.program.mro(cls)
        foreign = {entry for entry in entries if isinstance(entry, str)}
        text, place = texts.text(module, node), texts.place(module, node)
        if self.program.is_dataclass(cls) or foreign & RECORD_BASES:
            return self._of_fields(cls, text, place)
        if foreign & ROW_BASES:
            return _Found(text, "a row of the database, which belongs to its session", "{}.id", "", place)
        if not foreign <= PLAIN_BASES or any(self._hides(entry) for entry in entries if isinstance(entry, ClassRecord)):
            return None
        if self.program.subclasses(cls) or self.program.is_protocol(cls):
            return None
        return _Found(text, "of a plain class, whose fields semel cannot know (make it a dataclass)", "", "", place)

    def _of_fields(self, cls: ClassRecord, text: str, place: Place) -> _Found | None:
        if cls in self._inside or len(self._inside) > _DEEPEST:
            return None
        self._inside.append(cls)
        found = next(self._fields(cls), None)
        self._inside.pop()
        return _Found(text, found[1].reason, "", f".{found[0]}{found[1].part}", place) if found is not None else None

    def _hides(self, cls: ClassRecord) -> bool:
        """Whether a decorator, a metaclass or a base that is not known may make another kind of class of it."""
        unknown_base = len(self.program.bases(cls)) < len(cls.node.bases)
        return unknown_base or bool(cls.node.decorator_list or cls.node.keywords)

    def _fields(self, cls: ClassRecord) -> Iterator[tuple[str, _Found]]:
        for entry in self.program.mro(cls):
            if not isinstance(entry, ClassRecord):
                continue
            for name, bindings in entry.attributes.items():
                for binding in bindings:
                    if binding.kind != "annotated" or binding.node is None or not binding.scope.is_class:
                        continue
                    if name.startswith("_") or _name(binding.node) in _NO_FIELDS:
                        continue
                    trouble = self._annotation(binding.node, binding.scope, entry.module, 0)
                    if trouble is not None:
                        yield name, trouble


def _told(found: _Found, step: int | None) -> Unrecordable:
    return Unrecordable(step, found.type, found.reason, found.advice, found.part, found.place)


def _name(node: ast.expr) -> str:
    """``Iterator`` of ``Iterator``, ``typing.Iterator`` and ``Iterator[int]``; ``workflow`` of ``@app.workflow(…)``."""
    if isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
