"""Turns the syntax tree of one function into that of its twin.

Calls go through a helper that looks at the real callee, loops count their passes, ``with`` looks at the context
manager. Functions, lambdas and methods defined inside stay as they are: they are twinned when they are called.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterable
from typing import Any

from . import hidden
from .calls import CallTransformer
from .hidden import load, placed, with_path
from .source import FunctionNode

_PLAIN_ITERABLES = (ast.List, ast.Tuple, ast.Dict, ast.Constant, ast.JoinedStr, ast.ListComp, ast.DictComp)
_PLAIN_MAKERS = frozenset({"range", "list", "tuple", "dict", "sorted", "reversed", "str", "bytes"})


def transform(
    node: FunctionNode, module_globals: dict[str, Any], free: Iterable[str], is_user: Callable[[object], bool]
) -> FunctionNode | None:
    """A copy of ``node`` that takes the path as a hidden first argument; None if nothing in it could reach a step.

    ``is_user`` says of an object that the function's module holds whether it is a user function or class: a hint on
    which of two equal ways to call it is quicker.
    """
    twin = copy.deepcopy(node)
    first = _first_argument(twin)
    twin.args.posonlyargs.insert(0, placed(ast.arg(hidden.PATH), twin))
    worker = _Transformer(_bound_names(node) | set(free), module_globals, is_user, first)
    if isinstance(twin, ast.Lambda):
        twin.body = worker.visit(twin.body)
    else:
        twin.body = worker.block(twin.body)
    return twin if worker.emitted else None


def _first_argument(node: FunctionNode) -> str | None:
    arguments = [*node.args.posonlyargs, *node.args.args]
    return arguments[0].arg if arguments else None


def _bound_names(node: ast.AST) -> set[str]:
    """Every name that the function or anything in it binds: a builtin of that name may not be what is called."""
    names: set[str] = set()
    for child in ast.walk(node):
        match child:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.alias(name=name, asname=asname):
                names.add(asname or name.partition(".")[0])
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                names.add(name)
            case ast.MatchMapping(rest=str(name)):
                names.add(name)
    return names


class _Transformer(CallTransformer, ast.NodeTransformer):
    """Transforms loops, ``with`` and what is defined inside."""

    def visit_For(self, node: ast.For) -> ast.stmt:
        return self._for(node, hidden.NUMBERED, hidden.ITERATED)

    def visit_AsyncFor(self, node: ast.AsyncFor) -> ast.stmt:
        return self._for(node, hidden.NUMBERED_ASYNC, hidden.ITERATED_ASYNC)

    def _for(self, node: ast.For | ast.AsyncFor, numbered: str, iterated: str) -> ast.stmt:
        plain = self._is_plain_iterable(node.iter)
        numbered, iterated = _helper(numbered, node.iter), _helper(iterated, node.iter)
        iterable: ast.expr = self.visit(node.iter)
        counter = self._counter()
        self._passes.append(counter)
        before = self.emitted
        node.target = self.visit(node.target)
        node.body = self.block(node.body)
        self._passes.pop()
        if self.emitted > before:
            node.target = hidden.pair(counter, node.target)
            node.iter = with_path(numbered, iterable, self._passes, iterable)
        elif plain:
            node.iter = iterable
        else:
            node.iter = with_path(iterated, iterable, self._passes, iterable)
            self.emitted += 1
        node.orelse = self.block(node.orelse)
        return node

    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        counter = self._counter()
        self._passes.append(counter)
        before = self.emitted
        test: ast.expr = self.visit(node.test)
        node.body = self.block(node.body)
        self._passes.pop()
        node.orelse = self.block(node.orelse)
        node.test = test
        if self.emitted == before:
            return [node]
        if isinstance(test, ast.Constant):
            # A constant test leaves no code to count in; the first statement's line is the first that each pass runs.
            first = _first_line(node.body[0])
            node.body.insert(0, hidden.assign(counter, hidden.advance(counter, first), first))
        else:
            passed = placed(ast.Compare(hidden.advanced(counter, test), [ast.Lt()], [hidden.number(0, test)]), test)
            node.test = placed(ast.BoolOp(ast.Or(), [passed, test]), test)
        return [hidden.assign(counter, hidden.number(-1, node.test), node.test), node]

    def _is_plain_iterable(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return node.func.id in _PLAIN_MAKERS and self._is_builtin(node.func.id)
        return isinstance(node, _PLAIN_ITERABLES)

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:
        return self._comprehension(node, ("elt",))

    def visit_SetComp(self, node: ast.SetComp) -> ast.expr:
        return self._comprehension(node, ("elt",))

    def visit_DictComp(self, node: ast.DictComp) -> ast.expr:
        return self._comprehension(node, ("key", "value"))

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        return self._comprehension(node, ("elt",), late=True)

    def _comprehension(self, node: Any, parts: tuple[str, ...], *, late: bool = False) -> ast.expr:
        generators: list[ast.comprehension] = node.generators
        outer = list(self._passes)
        plain = [self._is_plain_iterable(generator.iter) for generator in generators]
        given = [generator.iter for generator in generators]
        self._framed += 1
        generators[0].iter = self.visit(generators[0].iter)
        frozen = [self._fresh("q") for _ in outer] if late else outer
        self._passes = list(frozen)
        before = self.emitted
        counters: list[str] = []
        enclosing: list[list[str]] = []
        for index, generator in enumerate(generators):
            if index:
                generator.iter = self.visit(generator.iter)
            enclosing.append(list(self._passes))
            counters.append(self._fresh("n"))
            self._passes.append(counters[-1])
            generator.target = self.visit(generator.target)
            generator.ifs = [self.visit(test) for test in generator.ifs]
        for part in parts:
            setattr(node, part, self.visit(getattr(node, part)))
        used = self.emitted > before
        self._passes = outer
        self._framed -= 1
        for index, generator in enumerate(generators):
            passes = enclosing[index] if index else outer
            self._number(generator, given[index], counters[index], passes, used=used, plain=plain[index])
        if late and used and outer:
            self._freeze(generators, outer, frozen)
        return node  # type: ignore[no-any-return]

    def _number(
        self,
        generator: ast.comprehension,
        given: ast.expr,
        counter: str,
        passes: list[str],
        *,
        used: bool,
        plain: bool,
    ) -> None:
        iterable = generator.iter
        if used:
            generator.target = hidden.pair(counter, generator.target)
            name = hidden.NUMBERED_ASYNC if generator.is_async else hidden.NUMBERED
        elif plain:
            return
        else:
            name = hidden.ITERATED_ASYNC if generator.is_async else hidden.ITERATED
            self.emitted += 1
        generator.iter = with_path(_helper(name, given), iterable, passes, iterable)

    def _freeze(self, generators: list[ast.comprehension], outer: list[str], frozen: list[str]) -> None:
        """A generator expression runs later, when the loops round it have gone on: it keeps the passes of then."""
        first = generators[0]
        at = first.iter
        items = self._fresh("q")
        target = placed(ast.Tuple([hidden.store(name, at) for name in (*frozen, items)], ast.Store()), at)
        kept = placed(ast.Tuple([*[load(name, at) for name in outer], first.iter], ast.Load()), at)
        once = placed(ast.Tuple([kept], ast.Load()), at)
        first.iter = load(items, at)
        generators.insert(0, ast.comprehension(target, once, [], 0))

    def visit_With(self, node: ast.With) -> ast.stmt:
        return self._with(node, hidden.ENTERED)

    def visit_AsyncWith(self, node: ast.AsyncWith) -> ast.stmt:
        return self._with(node, hidden.ENTERED_ASYNC)

    def _with(self, node: ast.With | ast.AsyncWith, name: str) -> ast.stmt:
        for item in node.items:
            named = _helper(name, item.context_expr)
            manager: ast.expr = self.visit(item.context_expr)
            item.context_expr = with_path(named, manager, self._passes, manager)
            self.emitted += 1
            if item.optional_vars is not None:
                item.optional_vars = self.visit(item.optional_vars)
        node.body = self.block(node.body)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        self._defaults(node)
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        self._defaults(node)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        self._defaults(node)
        return node

    def _defaults(self, node: FunctionNode) -> None:
        generic = bool(getattr(node, "type_params", None))
        self._framed += generic
        node.args.defaults = [self.visit(default) for default in node.args.defaults]
        node.args.kw_defaults = [default and self.visit(default) for default in node.args.kw_defaults]
        self._framed -= generic

    def visit_ClassDef(self, node: ast.ClassDef) -> list[ast.stmt]:
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        self._framed += 1
        node.bases = [self.visit(base) for base in node.bases]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        self._class_counters.append([])
        node.body = self.block(node.body)
        counters = self._class_counters.pop()
        self._framed -= 1
        if not counters:
            return [node]
        # Counters of loops in the class body are variables of the function, so that the class does not hold them.
        at = _first_line(node)
        documented = ast.get_docstring(node, clean=False) is not None
        node.body.insert(int(documented), placed(ast.Nonlocal(counters), node))
        if self._class_counters:
            self._class_counters[-1].extend(counters)
            return [node]
        return [*[hidden.assign(name, hidden.number(-1, at), at) for name in counters], node]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        node.target = self.visit(node.target)
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_TypeAlias(self, node: ast.stmt) -> ast.stmt:
        return node


def _helper(name: str, given: ast.expr) -> str:
    """The helper for an iterable or a manager, by whether a call makes it right there."""
    return name if isinstance(given, ast.Call | ast.Await) else hidden.KEPT[name]


def _first_line(statement: ast.stmt) -> ast.AST:
    """What a statement runs first."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return decorators[0] if decorators else statement
