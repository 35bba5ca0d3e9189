"""Builds the program model from source text, without importing any of it."""

from __future__ import annotations

import ast
import os.path
from collections.abc import Iterable, Iterator
from functools import partial

from . import foreign, texts
from .callees import Callees
from .data import Body, Class, Function, Model, Module, Parameter, Place, Unreadable
from .depth import deep_recursion
from .discover import Source, parse
from .effect_scan import EffectScan
from .hooks import names_of_bodies
from .infer import Inference, is_property
from .operations import Operations
from .program import Program
from .scopes import ClassRecord, FunctionRecord, ModuleRecord, declare
from .states import Assigned, EntityStates, Method, states_of


def build(
    sources: Iterable[Source],
    *,
    external: Iterable[str] = (),
    passthrough: Iterable[str] = (),
    libraries: bool = True,
) -> Model:
    """The model of the program that the sources are.

    ``external`` and ``passthrough`` are the patterns of ``[tool.semel]``, such as ``mylib.client.*``: which other calls
    leave the process, and which do not count as if they did. Without ``libraries`` no SDK is looked into, which is
    enough for what a function shows by itself.
    """
    with deep_recursion():
        modules, unreadable = _declared(sources)
        program = Program(modules)
        operations = Operations(external, passthrough, libraries=libraries)
        return _Builder(program, operations).model(unreadable)


def _declared(sources: Iterable[Source]) -> tuple[list[ModuleRecord], list[Unreadable]]:
    modules: list[ModuleRecord] = []
    unreadable: list[Unreadable] = []
    names: dict[str, int] = {}
    for source in sources:
        if source.fault is not None:
            unreadable.append(Unreadable(Place(source.file, 1, 1), source.fault))
            continue
        try:
            tree = parse(source)
        except SyntaxError as error:
            line, column = max(error.lineno or 1, 1), max(error.offset or 1, 1)
            unreadable.append(Unreadable(Place(source.file, line, column), error.msg))
            continue
        count = names[source.module] = names.get(source.module, 0) + 1
        name = f"{source.module}~{count}" if count > 1 else source.module
        is_package = os.path.basename(source.file) == "__init__.py"
        module = ModuleRecord(name, source.file, source.text, tree, is_package=is_package)
        declare(module)
        modules.append(module)
    return modules, unreadable


class _Builder:
    def __init__(self, program: Program, operations: Operations) -> None:
        self.program = program
        self.callees = Callees(Inference(program, operations), operations)
        self.inlined: set[FunctionRecord] = set()
        self.functions: dict[str, Function] = {}
        self.bodies: dict[str, tuple[Place, str | None]] = {}

    def model(self, unreadable: list[Unreadable]) -> Model:
        for module in self.program.modules:
            self.module(module)
        bodies = tuple(
            Body(function, place, name if name is not None else self.functions[function].segment)
            for function, (place, name) in self.bodies.items()
            if function in self.functions
        )
        entities = list(self.entities())
        bodies += tuple(body for of_one, _ in entities for body in of_one)
        return Model(
            modules={m.name: Module(m.name, m.file, m.text) for m in self.program.modules},
            classes={cls.id: self.cls(cls) for cls in self.program.classes},
            functions=self.functions,
            bodies=bodies,
            unreadable=tuple(unreadable),
            entities=tuple(states for _, states in entities),
        )

    def module(self, module: ModuleRecord) -> None:
        # An outer function stands before the lambdas in it, so those given to `once` are known when their turn comes.
        for record in [module.body, *module.functions]:
            if record not in self.inlined:
                self.functions[record.id] = self.function(record)
            for decorator in record.decorators:
                if self.is_workflow(decorator, record):
                    self.bodies.setdefault(record.id, (texts.place(module, decorator), _workflow_name(decorator)))

    def is_workflow(self, decorator: ast.expr, record: FunctionRecord | ClassRecord) -> bool:
        func = decorator.func if isinstance(decorator, ast.Call) else decorator
        if not isinstance(func, ast.Attribute) or func.attr != "workflow":
            return False
        return self.callees.is_app(func.value, record.parent, surely=False)

    def entities(self) -> Iterator[tuple[list[Body], EntityStates]]:
        """The entity workflows: their bodies, methods of registered classes and of their bases; and their states."""
        for cls in self.program.classes:
            registering = next((d for d in cls.node.decorator_list if self.is_workflow(d, cls)), None)
            if registering is None:
                continue
            given = ast.Call(registering, [], [each for each in cls.node.keywords if each.arg == "name"])
            name = _workflow_name(given) or cls.qualname.replace("<locals>.", "")
            methods: dict[str, FunctionRecord] = {}
            assigned: list[Assigned] = []
            for base in self.program.mro(cls):
                if not isinstance(base, str):
                    methods |= {each: known for each, known in base.methods.items() if each not in methods}
                    at = partial(texts.place, base.module)
                    assigned += [Assigned(each, at) for each in base.node.body if isinstance(each, ast.Assign)]
            bodies = [
                Body(record.id, texts.place(record.module, decorator), name, body)
                for method, record in methods.items()
                for decorator in record.decorators
                for body in names_of_bodies(method, decorator, self.callees.decorator_names(record))
            ]
            named = [
                Method(method, record.node, self.callees.decorator_names(record), partial(texts.place, record.module))
                for method, record in methods.items()
                if isinstance(record.node, ast.FunctionDef | ast.AsyncFunctionDef)
            ]
            place = texts.place(cls.module, registering)
            yield bodies, states_of(name, place, cls.node, named, assigned, self.members)

    def members(self, enum: str) -> tuple[str, ...] | None:
        """The members of the one enum of this name, as far as its class only lists them."""
        found = [cls for cls in self.program.classes if cls.qualname == enum]
        if len(found) != 1 or not any(str(base).startswith("enum.") for base in self.program.mro(found[0])):
            return None
        names: list[str] = []
        for statement in found[0].node.body:
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                names.append(statement.targets[0].id)
            elif not isinstance(statement, ast.Expr | ast.Pass | ast.FunctionDef):
                return None
        return tuple(names) or None

    def function(self, record: FunctionRecord) -> Function:
        scan = EffectScan(record, self.callees, self.inlined)
        flow = scan.run()
        found = scan.found
        module, node = record.module, record.node
        for registered, call in found.registered:
            self.bodies.setdefault(registered, (texts.place(module, call), _workflow_name(call)))
        named = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        returns = node.returns if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else None
        return Function(
            id=record.id,
            module=module.name,
            qualname=record.qualname,
            place=Place(module.file, 1, 1) if isinstance(node, ast.Module) else texts.place(module, node),
            end_line=len(module.lines) if isinstance(node, ast.Module) else node.end_lineno or node.lineno,
            parameters=_parameters(module, node),
            returns=texts.text(module, returns) if returns is not None else None,
            is_async=isinstance(node, ast.AsyncFunctionDef),
            kind=("method" if record.owner else "function")
            if named
            else "lambda"
            if isinstance(node, ast.Lambda)
            else "module",
            owner=record.owner.id if record.owner is not None else None,
            decorators=tuple(texts.text(module, decorator) for decorator in record.decorators),
            cached_by=next(iter(sorted(self.callees.decorator_names(record) & foreign.CACHES)), None),
            is_property=is_property(record),
            leaves=self.callees.leaves(record),
            steps=tuple(found.steps),
            calls=tuple(found.calls),
            loops=tuple(found.loops),
            flow=flow,
            never_returns=frozenset(found.never_returns),
            effects=scan.effects(),
            operation=self.callees.operation_of(record),
        )

    def cls(self, record: ClassRecord) -> Class:
        bases = self.program.bases(record)
        attributes = {}
        for name, bindings in record.attributes.items():
            for binding in bindings:
                if binding.kind == "annotated" and binding.node is not None:
                    attributes[name] = texts.text(record.module, binding.node)
        return Class(
            id=record.id,
            module=record.module.name,
            qualname=record.qualname,
            place=texts.place(record.module, record.node),
            bases=tuple(base if isinstance(base, str) else base.id for base in bases),
            methods={name: method.id for name, method in record.methods.items()},
            attributes=attributes,
            is_protocol=self.program.is_protocol(record),
            is_dataclass=self.program.is_dataclass(record),
        )


def _workflow_name(node: ast.expr) -> str | None:
    """The name that ``@app.workflow(name="…")`` gives, also in ``app.workflow(name="…")(fulfil)``."""
    while isinstance(node, ast.Call):
        for keyword in node.keywords:
            if (
                keyword.arg == "name"
                and isinstance(keyword.value, ast.Constant)
                and isinstance(keyword.value.value, str)
            ):
                return keyword.value.value
        node = node.func
    return None


def _parameters(module: ModuleRecord, node: ast.AST) -> tuple[Parameter, ...]:
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return ()
    arguments = node.args
    given = [*arguments.posonlyargs, *arguments.args, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg]
    return tuple(
        Parameter(a.arg, texts.text(module, a.annotation) if a.annotation is not None else None) for a in given if a
    )
