"""What an expression may be: names, attributes and calls followed through scopes, modules and classes.

Nothing here knows the order of statements: a variable may be whatever is assigned to it anywhere. An annotation is
believed and ends the search.
"""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from . import entity_self, intrinsics, plain
from .annotations import Annotations
from .foreign import result_of_foreign
from .program import Program, last_name
from .scopes import Binding, ClassRecord, FunctionRecord, ModuleRecord, Scope
from .values import (
    NONE,
    UNKNOWN,
    Cls,
    Fn,
    Foreign,
    ForeignInst,
    Inst,
    Many,
    Mod,
    Row,
    Super,
    Table,
    Unknown,
    Value,
    Values,
    uncertain,
    union,
)

if TYPE_CHECKING:
    from .operations import Operations

_BUILTINS = frozenset(dir(builtins))
_PUBLIC = intrinsics.PUBLIC | {
    *("App", "each", "Client", "external", "get", "post", "put", "patch", "delete", "head", "options", "request")
}
_DEEPEST = 40
_MOST_ITEMS = 100


class Inference:
    def __init__(self, program: Program, operations: Operations | None = None) -> None:
        self.program = program
        self.operations = operations
        self.annotations = Annotations(self)
        self._known: dict[int, Values] = {}
        self._names: dict[tuple[int, str], Values] = {}
        self._results: dict[FunctionRecord, Values] = {}
        self._bound: dict[int, Values] = {}
        self._depth = 0
        program.link(lambda cls: [self.base(base, cls) for base in cls.node.bases])
        for known in (self._known, self._names, self._results, self._bound):
            known.clear()

    def base(self, base: ast.expr, cls: ClassRecord) -> Values:
        return self.of(base.value if isinstance(base, ast.Subscript) else base, cls.parent)

    # --------------------------------------------------------------------------------------------------- expressions

    def of(self, node: ast.expr, scope: Scope) -> Values:
        """What the expression may be."""
        found = self._known.get(id(node))
        if found is None:
            if self._depth > _DEEPEST:
                return UNKNOWN
            # What is being worked out adds nothing to itself: `x = f(x)` is whatever else x is.
            self._known[id(node)] = NONE
            self._depth += 1
            try:
                found = self._expression(node, scope)
            finally:
                self._depth -= 1
            self._known[id(node)] = found
        return found

    def _expression(self, node: ast.expr, scope: Scope) -> Values:
        match node:
            case ast.Name(id=name):
                return self.name(name, scope)
            case ast.Attribute(value=value, attr=attribute):
                return self.attribute(self.of(value, scope), attribute)
            case ast.Call():
                return self.call(node, scope)
            case ast.Lambda():
                record = scope.module.lambdas.get(id(node))
                return frozenset({Fn(record)}) if record is not None else UNKNOWN
            case ast.Await(value=value) | ast.NamedExpr(value=value) | ast.Starred(value=value):
                return self.of(value, scope)
            case ast.IfExp(body=body, orelse=orelse):
                return self.of(body, scope) | self.of(orelse, scope)
            case ast.BoolOp(values=values):
                return union([self.of(value, scope) for value in values])
            case ast.Subscript(value=value, slice=index):
                return self.item(self.of(value, scope), index)
            case ast.Constant(value=constant):
                return NONE if constant is None else frozenset({ForeignInst(f"builtins.{type(constant).__name__}")})
            case ast.JoinedStr():
                return frozenset({ForeignInst("builtins.str")})
            case ast.BinOp(left=left, op=operator, right=right):
                return plain.combined(self.of(left, scope), operator, self.of(right, scope)) or UNKNOWN
            case _:
                return self._collection(node, scope)

    def _collection(self, node: ast.expr, scope: Scope) -> Values:
        match node:
            case ast.Tuple(elts=items) if not any(isinstance(item, ast.Starred) for item in items):
                return frozenset({Row(tuple(self.of(item, scope) for item in items[:_MOST_ITEMS]))})
            case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items):
                return frozenset({Many(union([self.of(item, scope) for item in items[:_MOST_ITEMS]]))})
            case ast.ListComp(elt=item) | ast.SetComp(elt=item) | ast.GeneratorExp(elt=item):
                return frozenset({Many(self.of(item, scope))})
            case ast.Dict(values=items):
                return frozenset({Table(union([self.of(item, scope) for item in items[:_MOST_ITEMS]]))})
            case ast.DictComp(value=item):
                return frozenset({Table(self.of(item, scope))})
        return UNKNOWN

    def item(self, values: Values, index: ast.expr) -> Values:
        found: list[Values] = []
        for value in values:
            match value:
                case Row(parts) if isinstance(index, ast.Constant) and isinstance(index.value, int):
                    found.append(parts[index.value] if -len(parts) <= index.value < len(parts) else NONE)
                case Many(items) | Table(items):
                    found.append(frozenset({value}) if isinstance(index, ast.Slice) else items)
                case Cls() | Foreign():
                    found.append(frozenset({value}))
                case Inst(record, exact):
                    methods = self.program.methods(record, "__getitem__", exact=exact)
                    found.extend(self.result(method) for method in methods)
                case ForeignInst(dotted):
                    found.append(plain.items(dotted) or UNKNOWN)
                case _:
                    found.append(UNKNOWN)
        return union(found)

    # --------------------------------------------------------------------------------------------------------- names

    def name(self, name: str, scope: Scope) -> Values:
        here: Scope | None = scope
        while here is not None:
            if name in here.outward:
                return self._in_scope(here.outward[name], name)
            if name in here.bindings and (here is scope or not here.is_class):
                return self._in_scope(here, name)
            here = here.parent
        return self._beyond(name, scope.module, ())

    def _in_scope(self, scope: Scope, name: str) -> Values:
        key = (id(scope), name)
        found = self._names.get(key)
        if found is None:
            self._names[key] = NONE
            found = self._names[key] = self.bindings(scope.bindings.get(name, []))
        return found

    def bindings(self, bindings: list[Binding]) -> Values:
        annotated = [binding for binding in bindings if binding.kind == "annotated"]
        return union([self.binding(binding) for binding in annotated or bindings])

    def member(self, module: ModuleRecord, name: str, seen: tuple[ModuleRecord, ...] = ()) -> Values:
        """``module.name``: what the module binds, a submodule, or what it has by a star import."""
        if name in module.scope.bindings:
            return self._in_scope(module.scope, name)
        submodule = self.program.module(f"{module.name}.{name}", module)
        if submodule is not None:
            return frozenset({Mod(submodule)})
        return self._starred(name, module, (*seen, module))

    def _beyond(self, name: str, module: ModuleRecord, seen: tuple[ModuleRecord, ...]) -> Values:
        found = self._starred(name, module, (*seen, module))
        if found == UNKNOWN and name in _BUILTINS:
            return frozenset({Foreign(f"builtins.{name}")})
        return found

    def _starred(self, name: str, module: ModuleRecord, seen: tuple[ModuleRecord, ...]) -> Values:
        for star in module.stars:
            target = self.program.module(star, module)
            if target is not None and target not in seen and not name.startswith("_"):
                found = self.member(target, name, seen)
                if found != UNKNOWN:
                    return found
            elif target is None and star.partition(".")[0] == "semel" and name in _PUBLIC:
                return frozenset({Foreign(f"semel.{name}")})
        return UNKNOWN

    def binding(self, binding: Binding) -> Values:
        match binding.kind:
            case "function" if binding.function is not None:
                stub = any(last_name(decorator) == "overload" for decorator in binding.function.decorators)
                return NONE if stub else frozenset({Fn(binding.function)})
            case "class" if binding.cls is not None:
                return frozenset({Cls(binding.cls)})
            case "module":
                module = self.program.module(binding.target, binding.scope.module)
                return frozenset({Mod(module) if module is not None else Foreign(binding.target)})
            case "member":
                return self._imported(binding)
            case "parameter":
                return self._parameter(binding)
            case "part" if binding.source is not None:
                return self._part(binding.source, binding.index)
        if binding.node is None:
            return UNKNOWN
        match binding.kind:
            case "value":
                return self.of(binding.node, binding.scope)
            case "annotated":
                return self.annotations.read(binding.node, binding.scope)
            case "element":
                return self.iterate(self.of(binding.node, binding.scope))
            case "enter":
                return self.entered(self.of(binding.node, binding.scope))
        return UNKNOWN

    def _imported(self, binding: Binding) -> Values:
        module = self.program.module(binding.target, binding.scope.module)
        if module is not None:
            return self.member(module, binding.name)
        whole = f"{binding.target}.{binding.name}"
        submodule = self.program.module(whole, binding.scope.module)
        return frozenset({Mod(submodule) if submodule is not None else Foreign(whole)})

    def _parameter(self, binding: Binding) -> Values:
        function = binding.function
        assert function is not None
        if binding.node is not None:
            return self.annotations.read(binding.node, binding.scope)
        if function.owner is not None and binding.name == function.first_parameter:
            class_level = function.node.name in ("__new__", "__init_subclass__", "__class_getitem__") or any(  # type: ignore[union-attr]
                last_name(decorator) == "classmethod" for decorator in function.decorators
            )
            return frozenset({Cls(function.owner) if class_level else Inst(function.owner, False)})
        return UNKNOWN

    def _part(self, source: Binding, index: int) -> Values:
        found: list[Values] = []
        for value in self.binding(source):
            if isinstance(value, Row):
                found.append(value.parts[index] if index < len(value.parts) else NONE)
            else:
                found.append(self.iterate(frozenset({value})))
        return union(found)

    # ---------------------------------------------------------------------------------------------- attributes, calls

    def attribute(self, values: Values, name: str) -> Values:
        return union([self._attribute(value, name) for value in values])

    def _attribute(self, value: Value, name: str) -> Values:
        match value:
            case Mod(record):
                return self.member(record, name)
            case Foreign(dotted, certain):
                return frozenset({Foreign(f"{dotted}.{name}", certain)})
            case ForeignInst(dotted, certain):
                return frozenset({Foreign(f"{dotted}().{name}", certain)})
            case Many() | Row():
                return frozenset({Foreign(f"builtins.list().{name}")})
            case Table():
                return frozenset({Foreign(f"builtins.dict().{name}")})
            case Super(record):
                method = self.program.find_above(record, name)
                foreign = self.program.foreign_base(record)
                if method is None and foreign is not None:
                    return frozenset({Foreign(f"{foreign}.{name}")})
                return frozenset({Fn(method)}) if method is not None else NONE
            case Inst(record, exact):
                return self._of_class(record, name, exact=exact, instance=True)
            case Cls(record):
                return self._of_class(record, name, exact=True, instance=False)
        return UNKNOWN

    def _of_class(self, cls: ClassRecord, name: str, *, exact: bool, instance: bool) -> Values:
        methods = self.program.methods(cls, name, exact=exact)
        if methods:
            read = [self.result(m) if instance and is_property(m) else frozenset({Fn(m)}) for m in methods]
            return union(list(read))
        for entry in self.program.mro(cls):
            if isinstance(entry, ClassRecord) and name in entry.attributes:
                key = id(entry.attributes[name])
                if key not in self._bound:
                    self._bound[key] = NONE
                    self._bound[key] = self.bindings(entry.attributes[name])
                return self._bound[key]
        own = entity_self.attribute(cls, name, self) if instance else None
        if own is not None:
            return own
        foreign = self.program.foreign_base(cls)
        return frozenset({Foreign(f"{foreign}.{name}")}) if foreign is not None else UNKNOWN

    def call(self, node: ast.Call, scope: Scope) -> Values:
        """What a call gives."""
        if isinstance(node.func, ast.Name) and node.func.id == "super" and scope.cls is not None:
            return frozenset({Super(scope.cls)})
        if isinstance(node.func, ast.Attribute):
            for value in self.of(node.func.value, scope):
                if isinstance(value, Table) and (found := _of_table(value, node.func.attr)) is not None:
                    return found
        return self.results(self.of(node.func, scope), node, scope)

    def results(self, callees: Values, node: ast.Call, scope: Scope) -> Values:
        """What the call gives, if it is these that are called."""
        return union([self._call(value, node, scope) for value in callees])

    def _call(self, value: Value, node: ast.Call, scope: Scope) -> Values:
        match value:
            case Fn(record):
                return self.result(record)
            case Cls(record):
                return frozenset({Inst(record, True)})
            case Inst(record, exact):
                return union([self.result(m) for m in self.program.methods(record, "__call__", exact=exact)])
            case Foreign(dotted, certain):
                given = result_of_foreign(self, dotted, node, scope)
                return given if certain else uncertain(given)
        return UNKNOWN

    def result(self, function: FunctionRecord) -> Values:
        """What calling the function gives (awaited, if it is a coroutine function)."""
        found = self._results.get(function)
        if found is None:
            self._results[function] = NONE
            found = self._results[function] = self._result(function)
        return found

    def _result(self, function: FunctionRecord) -> Values:
        node = function.node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is not None:
            return self.annotations.read(node.returns, function.parent, function.owner)
        if function.yielded:
            items = [UNKNOWN if item is None else self.of(item, function.scope) for item in function.yielded]
            return frozenset({Many(union(items))})
        return union([self.of(value, function.scope) for value in function.returned])

    def iterate(self, values: Values) -> Values:
        """What iterating over it gives."""
        found: list[Values] = []
        for value in values:
            match value:
                case Many(items):
                    found.append(items)
                case Row(parts):
                    found.extend(parts)
                case Inst(record, exact):
                    for name in ("__iter__", "__aiter__"):
                        for method in self.program.methods(record, name, exact=exact):
                            results = self.result(method)
                            found.append(UNKNOWN if value in results else self.iterate(results))
                case ForeignInst(dotted):
                    found.append(plain.items(dotted) or UNKNOWN)
                case _:
                    found.append(UNKNOWN)
        return union(found)

    def entered(self, values: Values) -> Values:
        """What ``with values as x`` binds to x."""
        found: list[Values] = []
        for value in values:
            match value:
                case Many(items):
                    found.append(items)
                case Inst(record, exact):
                    for name in ("__enter__", "__aenter__"):
                        found.extend(self.result(m) for m in self.program.methods(record, name, exact=exact))
                case ForeignInst(dotted):
                    inside = self.operations.entered(dotted) if self.operations is not None else None
                    found.append(inside if inside is not None else frozenset({value}))
                case _:
                    found.append(UNKNOWN)
        return union(found)


def _of_table(table: Table, method: str) -> Values | None:
    if method == "values":
        return frozenset({Many(table.items)})
    if method == "items":
        return frozenset({Many(frozenset({Row((UNKNOWN, table.items))}))})
    return table.items if method in ("get", "pop", "setdefault") else None


def is_property(method: FunctionRecord) -> bool:
    return any(last_name(d) in ("property", "cached_property", "abstractproperty") for d in method.decorators)


def only_unknown(values: Values) -> bool:
    return all(isinstance(value, Unknown) for value in values) and bool(values)
