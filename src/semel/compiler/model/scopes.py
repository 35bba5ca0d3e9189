"""The names of a program and what binds them: the first of the two walks that build the model.

``declare`` walks a whole module once and notes, for each scope, every binding of every name; for each class its methods
and attributes; for each function what it returns. Nothing is resolved here: an assignment keeps its expression.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from .seams import DOUBLE_NAMES

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Kind = Literal[
    "function",
    "class",
    "module",
    "member",
    "value",
    "element",
    "enter",
    "part",
    "parameter",
    "annotated",
    "alias",
    "opaque",
]


@dataclass(slots=True)
class Binding:
    """One way a name gets a value, with what is needed to look it up in ``scope``.

    ``member`` and ``module`` are imports (``target`` is the module, ``name`` the member). ``element`` is an item of
    what the expression ``node`` gives, ``enter`` what entering it gives, ``part`` item ``index`` of ``source``;
    ``value`` is what an annotated name is given.
    """

    kind: Kind
    scope: Scope
    node: ast.expr | None = None
    function: FunctionRecord | None = None
    cls: ClassRecord | None = None
    target: str = ""
    name: str = ""
    index: int = -1
    source: Binding | None = None
    value: ast.expr | None = None


class Scope:
    """A module, class or function scope. Comprehensions share their function's."""

    __slots__ = ("bindings", "cls", "function", "module", "outward", "parent")

    def __init__(
        self,
        module: ModuleRecord,
        parent: Scope | None,
        cls: ClassRecord | None = None,
        function: FunctionRecord | None = None,
    ) -> None:
        self.module = module
        self.parent = parent
        self.cls = cls
        self.function = function
        self.bindings: dict[str, list[Binding]] = {}
        self.outward: dict[str, Scope] = {}

    @property
    def is_class(self) -> bool:
        return self.cls is not None and self.function is None

    def bind(self, name: str, binding: Binding) -> None:
        self.outward.get(name, self).bindings.setdefault(name, []).append(binding)


@dataclass(slots=True, eq=False)
class FunctionRecord:
    id: str
    node: FunctionNode | ast.Module
    module: ModuleRecord
    qualname: str
    parent: Scope
    owner: ClassRecord | None
    scope: Scope = field(init=False)
    decorators: list[ast.expr] = field(default_factory=list)
    returned: list[ast.expr] = field(default_factory=list)
    yielded: list[ast.expr | None] = field(default_factory=list)

    @property
    def first_parameter(self) -> str | None:
        """The name of ``self`` or ``cls`` in a method."""
        if self.owner is None or not isinstance(self.node, ast.FunctionDef | ast.AsyncFunctionDef):
            return None
        if any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in self.decorators):
            return None
        arguments = [*self.node.args.posonlyargs, *self.node.args.args]
        return arguments[0].arg if arguments else None


@dataclass(slots=True, eq=False)
class ClassRecord:
    id: str
    node: ast.ClassDef
    module: ModuleRecord
    qualname: str
    parent: Scope
    scope: Scope = field(init=False)
    methods: dict[str, FunctionRecord] = field(default_factory=dict)
    attributes: dict[str, list[Binding]] = field(default_factory=dict)


class ModuleRecord:
    """One module: its tree, its scope, and everything declared in it."""

    def __init__(self, name: str, file: str, text: str, tree: ast.Module, *, is_package: bool) -> None:
        self.name = name
        self.file = file
        self.text = text
        self.lines = text.split("\n")
        self.tree = tree
        self.is_package = is_package
        self.scope = Scope(self, None)
        self.stars: list[str] = []
        self.functions: list[FunctionRecord] = []
        self.classes: list[ClassRecord] = []
        self.lambdas: dict[int, FunctionRecord] = {}
        self.class_nodes: dict[int, ClassRecord] = {}
        self.body = FunctionRecord(f"{name}:<module>", tree, self, "<module>", self.scope, None)
        self.body.scope = self.scope
        self.names: dict[str, int] = {}
        self.mentions_semel = "semel" in text
        self.has_doubles = any(name in text for name in DOUBLE_NAMES)

    def new_id(self, qualname: str) -> str:
        count = self.names[qualname] = self.names.get(qualname, 0) + 1
        return f"{self.name}:{qualname}" + (f"~{count}" if count > 1 else "")

    def absolute(self, level: int, module: str | None) -> str:
        """The module that ``from ..module import`` means here."""
        if level == 0:
            return module or ""
        parts = self.name.split(".")
        drop = level - 1 if self.is_package else level
        base = parts[: len(parts) - drop] if drop < len(parts) or drop == 0 else []
        return ".".join([*base, *([module] if module else [])])


def declare(module: ModuleRecord) -> None:
    """Fills the module's scopes."""
    walk = _Declare(module)
    walk.block(module.tree.body, module.scope)


class _Declare:
    def __init__(self, module: ModuleRecord) -> None:
        self.module = module

    def block(self, statements: list[ast.stmt], scope: Scope) -> None:
        for statement in statements:
            self.any(statement, scope)

    def any(self, node: ast.AST, scope: Scope) -> None:
        visit = _VISITS.get(type(node))
        if visit is not None:
            visit(self, node, scope)
        else:
            self.children(node, scope)

    def children(self, node: ast.AST, scope: Scope) -> None:
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                for item in value:
                    if isinstance(item, ast.AST):
                        self.any(item, scope)
            elif isinstance(value, ast.AST):
                self.any(value, scope)

    def leaf(self, node: ast.AST, scope: Scope) -> None:
        pass

    # ------------------------------------------------------------------------------------------ functions and classes

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        for expression in [*node.decorator_list, *node.args.defaults, *(d for d in node.args.kw_defaults if d)]:
            self.any(expression, scope)
        record = self.record(node, node.name, scope)
        record.decorators = node.decorator_list
        scope.bind(node.name, Binding("function", scope, function=record))
        if scope.is_class and scope.cls is not None:
            self.method(scope.cls, record)
        self.parameters(node.args, record)
        _declare_outward(node.body, record.scope)
        self.block(node.body, record.scope)

    def method(self, owner: ClassRecord, record: FunctionRecord) -> None:
        node = record.node
        assert not isinstance(node, ast.Module | ast.Lambda)
        accessor = any(isinstance(d, ast.Attribute) and d.attr in ("setter", "deleter") for d in node.decorator_list)
        if accessor:
            owner.methods[f"{node.name}.{_accessor(node)}"] = record
        else:
            owner.methods[node.name] = record

    def record(self, node: FunctionNode, name: str, scope: Scope) -> FunctionRecord:
        if scope.function is not None:
            qualname = f"{scope.function.qualname}.<locals>.{name}"
        elif scope.cls is not None:
            qualname = f"{scope.cls.qualname}.{name}"
        else:
            qualname = name
        owner = scope.cls if scope.is_class else None
        record = FunctionRecord(self.module.new_id(qualname), node, self.module, qualname, scope, owner)
        record.scope = Scope(self.module, scope, scope.cls, record)
        self.module.functions.append(record)
        return record

    def parameters(self, arguments: ast.arguments, record: FunctionRecord) -> None:
        named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        for argument in named:
            record.scope.bind(
                argument.arg,
                Binding("parameter", record.parent, argument.annotation, function=record, name=argument.arg),
            )
        for star in (arguments.vararg, arguments.kwarg):
            if star is not None:
                record.scope.bind(star.arg, Binding("opaque", record.parent))

    def a_lambda(self, node: ast.Lambda, scope: Scope) -> None:
        for default in [*node.args.defaults, *(d for d in node.args.kw_defaults if d)]:
            self.any(default, scope)
        record = self.record(node, "<lambda>", scope)
        record.returned.append(node.body)
        self.module.lambdas[id(node)] = record
        self.parameters(node.args, record)
        self.any(node.body, record.scope)

    def a_class(self, node: ast.ClassDef, scope: Scope) -> None:
        for expression in [*node.decorator_list, *node.bases, *(k.value for k in node.keywords)]:
            self.any(expression, scope)
        prefix = ""
        if scope.function is not None:
            prefix = f"{scope.function.qualname}.<locals>."
        elif scope.cls is not None:
            prefix = f"{scope.cls.qualname}."
        qualname = prefix + node.name
        record = ClassRecord(self.module.new_id(qualname), node, self.module, qualname, scope)
        record.scope = Scope(self.module, scope, record)
        record.attributes = record.scope.bindings
        self.module.classes.append(record)
        self.module.class_nodes[id(node)] = record
        scope.bind(node.name, Binding("class", scope, cls=record))
        self.block(node.body, record.scope)

    # ------------------------------------------------------------------------------------------------------- bindings

    def an_import(self, node: ast.Import, scope: Scope) -> None:
        for alias in node.names:
            if alias.asname:
                scope.bind(alias.asname, Binding("module", scope, target=alias.name))
            else:
                root = alias.name.partition(".")[0]
                scope.bind(root, Binding("module", scope, target=root))

    def an_import_from(self, node: ast.ImportFrom, scope: Scope) -> None:
        target = self.module.absolute(node.level, node.module)
        for alias in node.names:
            if alias.name == "*":
                self.module.stars.append(target)
            else:
                scope.bind(alias.asname or alias.name, Binding("member", scope, target=target, name=alias.name))

    def assign(self, node: ast.Assign, scope: Scope) -> None:
        self.any(node.value, scope)
        for target in node.targets:
            self.bind(target, Binding("value", scope, node.value), scope)

    def annotated(self, node: ast.AnnAssign, scope: Scope) -> None:
        if node.value is not None:
            self.any(node.value, scope)
        self.bind(node.target, Binding("annotated", scope, node.annotation, value=node.value), scope)

    def augmented(self, node: ast.AugAssign, scope: Scope) -> None:
        self.any(node.value, scope)
        self.bind(node.target, Binding("opaque", scope), scope)

    def walrus(self, node: ast.NamedExpr, scope: Scope) -> None:
        self.any(node.value, scope)
        self.bind(node.target, Binding("value", scope, node.value), scope)

    def loop(self, node: ast.For | ast.AsyncFor, scope: Scope) -> None:
        self.any(node.iter, scope)
        self.bind(node.target, Binding("element", scope, node.iter), scope)
        self.block(node.body, scope)
        self.block(node.orelse, scope)

    def comprehension(self, node: ast.comprehension, scope: Scope) -> None:
        self.any(node.iter, scope)
        self.bind(node.target, Binding("element", scope, node.iter), scope)
        for condition in node.ifs:
            self.any(condition, scope)

    def with_item(self, node: ast.withitem, scope: Scope) -> None:
        self.any(node.context_expr, scope)
        if node.optional_vars is not None:
            self.bind(node.optional_vars, Binding("enter", scope, node.context_expr), scope)

    def handler(self, node: ast.ExceptHandler, scope: Scope) -> None:
        if node.name:
            scope.bind(node.name, Binding("opaque", scope))
        self.children(node, scope)

    def pattern(self, node: ast.MatchAs | ast.MatchStar, scope: Scope) -> None:
        if node.name:
            scope.bind(node.name, Binding("opaque", scope))
        self.children(node, scope)

    def type_alias(self, node: ast.AST, scope: Scope) -> None:
        self.bind(node.name, Binding("alias", scope, node.value), scope)  # type: ignore[attr-defined]

    def a_return(self, node: ast.Return, scope: Scope) -> None:
        if node.value is not None:
            self.any(node.value, scope)
            if scope.function is not None:
                scope.function.returned.append(node.value)

    def a_yield(self, node: ast.Yield | ast.YieldFrom, scope: Scope) -> None:
        if scope.function is not None:
            scope.function.yielded.append(node.value if isinstance(node, ast.Yield) else None)
        self.children(node, scope)

    def bind(self, target: ast.expr, binding: Binding, scope: Scope) -> None:
        match target:
            case ast.Name(id=name):
                scope.bind(name, binding)
            case ast.Attribute(value=ast.Name(id=name), attr=attribute):
                function = scope.function
                if function is not None and function.owner is not None and function.first_parameter == name:
                    function.owner.attributes.setdefault(attribute, []).append(binding)
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                for index, part in enumerate(targets):
                    if isinstance(part, ast.Starred):
                        self.bind(part.value, Binding("opaque", scope), scope)
                    else:
                        self.bind(part, Binding("part", scope, index=index, source=binding), scope)
            case _:
                self.any(target, scope)


def _accessor(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    return next(d.attr for d in node.decorator_list if isinstance(d, ast.Attribute) and d.attr in ("setter", "deleter"))


def _declare_outward(body: list[ast.stmt], scope: Scope) -> None:
    """Notes ``global`` and ``nonlocal`` first: they hold for the whole function, wherever they stand."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Global):
            for name in node.names:
                scope.outward[name] = scope.module.scope
        elif isinstance(node, ast.Nonlocal):
            for name in node.names:
                outer = scope.parent
                while outer is not None and (outer.is_class or name not in outer.bindings):
                    outer = outer.parent
                if outer is not None:
                    scope.outward[name] = outer
        elif isinstance(node, ast.stmt) and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for name in ("body", "orelse", "finalbody", "handlers", "cases"):
                waiting.extend(getattr(node, name, ()))
        elif isinstance(node, ast.ExceptHandler | ast.match_case):
            waiting.extend(node.body)


_VISITS: dict[type[ast.AST], Callable[[Any, Any, Scope], None]] = {
    ast.FunctionDef: _Declare.function,
    ast.AsyncFunctionDef: _Declare.function,
    ast.Lambda: _Declare.a_lambda,
    ast.ClassDef: _Declare.a_class,
    ast.Import: _Declare.an_import,
    ast.ImportFrom: _Declare.an_import_from,
    ast.Assign: _Declare.assign,
    ast.AnnAssign: _Declare.annotated,
    ast.AugAssign: _Declare.augmented,
    ast.NamedExpr: _Declare.walrus,
    ast.For: _Declare.loop,
    ast.AsyncFor: _Declare.loop,
    ast.comprehension: _Declare.comprehension,
    ast.withitem: _Declare.with_item,
    ast.ExceptHandler: _Declare.handler,
    ast.MatchAs: _Declare.pattern,
    ast.MatchStar: _Declare.pattern,
    ast.Return: _Declare.a_return,
    ast.Yield: _Declare.a_yield,
    ast.YieldFrom: _Declare.a_yield,
    ast.Name: _Declare.leaf,
    ast.Constant: _Declare.leaf,
}
if (type_statement := getattr(ast, "TypeAlias", None)) is not None:  # Python 3.12
    _VISITS[type_statement] = _Declare.type_alias
