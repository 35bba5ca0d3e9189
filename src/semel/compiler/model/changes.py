"""Notes where a function changes what outlives it in memory: globals, containers of a module, attributes of a class.

A value made once and kept (``if _client is None: _client = …``, a dict that is also looked up) is no change that
matters: doing it again gives the same. Such caches are left out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from . import texts
from .data import Place
from .effect_names import CHANGING_METHODS, CONTAINERS
from .effects import Change, ChangeKind
from .infer import Inference
from .scopes import Binding, FunctionRecord, ModuleRecord, Scope
from .values import Cls, Foreign, Inst, Many, Mod, Table

_DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)


class Changes:
    def __init__(self, record: FunctionRecord, inference: Inference) -> None:
        self.record = record
        self.module = record.module
        self.inference = inference
        self.found: list[Change] = []

    def statement(self, node: ast.stmt, scope: Scope, within: int | None) -> None:
        """Notes what an assignment or a ``del`` changes."""
        targets: list[ast.expr] = []
        match node:
            case ast.Assign(targets=given) | ast.Delete(targets=given):
                targets = given
            case ast.AugAssign():
                targets = [node.target]
            case ast.AnnAssign() if node.value is not None:
                targets = [node.target]
        if not isinstance(self.record.node, ast.Module):
            for target in targets:
                self._target(target, node, scope, within)

    def call(self, node: ast.Call, scope: Scope, within: int | None) -> None:
        """Notes ``SEEN.append(x)``."""
        func = node.func
        if isinstance(self.record.node, ast.Module) or not isinstance(func, ast.Attribute):
            return
        if func.attr in CHANGING_METHODS:
            binding = self._container(func.value, scope)
            if binding is not None:
                self._add("container", func.value, node, binding, within)

    def _target(self, target: ast.expr, node: ast.stmt, scope: Scope, within: int | None) -> None:
        match target:
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for part in parts:
                    self._target(part, node, scope, within)
            case ast.Starred(value=value):
                self._target(value, node, scope, within)
            case ast.Name(id=name) if scope.outward.get(name) is self.module.scope:
                if isinstance(node, ast.AugAssign) or not self._tested(target):
                    self._add("global", target, node, _first(self.module, name), within)
            case ast.Subscript(value=value):
                binding = self._container(value, scope)
                if binding is not None and (not isinstance(node, ast.Assign) or not self._looked_up(value)):
                    self._add("container", value, node, binding, within)
            case ast.Attribute(value=value, attr=name):
                owned = self._class_attribute(value, name, scope)
                if owned is not None and (isinstance(node, ast.AugAssign) or not self._tested(target)):
                    kind, binding = owned
                    self._add(kind, target, node, binding, within)

    def _add(
        self, kind: ChangeKind, name: ast.expr, node: ast.expr | ast.stmt, defined: Binding | None, within: int | None
    ) -> None:
        place = defined_at(defined)
        start, end = (node.lineno, node.col_offset), (node.end_lineno or node.lineno, node.end_col_offset or 0)
        shown = texts.span(self.module, start, end)
        self.found.append(
            Change(kind, texts.text(self.module, name), texts.place(self.module, node), shown, place, within)
        )

    # ------------------------------------------------------------------------------------------------ whose is it

    def _container(self, node: ast.expr, scope: Scope) -> Binding | None:
        """The binding of a container that belongs to a module or a class."""
        match node:
            case ast.Name(id=name):
                bindings = self._module_bindings(name, scope)
            case ast.Attribute(value=value, attr=name):
                bindings = self._member_bindings(value, name, scope)
            case _:
                return None
        return next((binding for binding in bindings if self._is_container(binding)), None)

    def _module_bindings(self, name: str, scope: Scope) -> list[Binding]:
        if name in scope.outward:
            return scope.outward[name].bindings.get(name, []) if scope.outward[name] is self.module.scope else []
        here: Scope | None = scope
        while here is not None and (name not in here.bindings or (here.is_class and here is not scope)):
            here = here.parent
        if here is None or here is not self.module.scope:
            return []
        return list(self._followed(here.bindings[name]))

    def _followed(self, bindings: list[Binding], depth: int = 0) -> Iterator[Binding]:
        """The bindings, with those of another user module in place of an import from it."""
        for binding in bindings:
            if binding.kind != "member":
                yield binding
                continue
            module = self.inference.program.module(binding.target, binding.scope.module)
            if module is not None and depth < 3:
                yield from self._followed(module.scope.bindings.get(binding.name, []), depth + 1)

    def _member_bindings(self, value: ast.expr, name: str, scope: Scope) -> list[Binding]:
        found: list[Binding] = []
        owners = self.inference.of(value, scope)
        for owner in owners if len(owners) == 1 else ():
            match owner:
                case Mod(record):
                    found += self._followed(record.scope.bindings.get(name, []))
                case Cls(cls) | Inst(cls, _):
                    bindings = cls.attributes.get(name, [])
                    if all(binding.scope.is_class and binding.kind == "value" for binding in bindings):
                        found += bindings
        return found

    def _is_container(self, binding: Binding) -> bool:
        if binding.node is None:
            return False
        if binding.kind == "annotated":
            values = self.inference.annotations.read(binding.node, binding.scope)
            return bool(values) and all(isinstance(value, Many | Table) for value in values)
        if binding.kind != "value":
            return False
        if isinstance(binding.node, _DISPLAYS):
            return True
        return isinstance(binding.node, ast.Call) and any(
            isinstance(value, Foreign) and value.name in CONTAINERS
            for value in self.inference.of(binding.node.func, binding.scope)
        )

    def _class_attribute(self, value: ast.expr, name: str, scope: Scope) -> tuple[ChangeKind, Binding | None] | None:
        owners = self.inference.of(value, scope)
        for owner in owners if len(owners) == 1 else ():
            match owner:
                case Cls(cls):
                    return "class attribute", next(iter(cls.attributes.get(name, [])), None)
                case Mod(record):
                    return "global", next(iter(record.scope.bindings.get(name, [])), None)
        return None

    # ---------------------------------------------------------------------------------------------------- caches

    def _tested(self, target: ast.expr) -> bool:
        """Whether the function asks first what the value is: it is made once and kept."""
        text = texts.text(self.module, target)
        for node in ast.walk(self.record.node):
            match node:
                case ast.If(test=asked) | ast.IfExp(test=asked) | ast.While(test=asked) | ast.Assert(test=asked):
                    pass
                case ast.BoolOp() as asked:
                    pass
                case _:
                    continue
            if self._speaks_of(asked, text):
                return True
        return False

    def _looked_up(self, container: ast.expr) -> bool:
        """Whether the function also reads an item of the container: it is a cache."""
        text = texts.text(self.module, container)
        for node in ast.walk(self.record.node):
            match node:
                case ast.Subscript(value=value, ctx=ast.Load()) if texts.text(self.module, value) == text:
                    return True
                case ast.Call(func=ast.Attribute(value=value, attr="get")) if texts.text(self.module, value) == text:
                    return True
        return False

    def _speaks_of(self, node: ast.expr, text: str) -> bool:
        parts = (part for part in ast.walk(node) if isinstance(part, ast.Name | ast.Attribute))
        return any(texts.text(self.module, part) == text for part in parts)


def _first(module: ModuleRecord, name: str) -> Binding | None:
    """The first binding of a module's own code."""
    return next((b for b in module.scope.bindings.get(name, []) if b.scope is module.scope), None)


def defined_at(binding: Binding | None) -> Place | None:
    if binding is None or binding.node is None:
        return None
    return texts.place(binding.scope.module, binding.node)
