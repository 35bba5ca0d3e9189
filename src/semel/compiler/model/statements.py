"""Reads the statements of a function into flow."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from . import texts
from .data import Loop, Passes
from .flow import NOTHING, Attempt, Catches, Flow, Jump, Managed, Repeat, arms, sequence
from .managers import catches
from .scopes import Scope
from .values import Inst

if TYPE_CHECKING:
    from .callees import Callees
    from .data import How
    from .infer import Inference
    from .program import Program
    from .scopes import FunctionRecord, ModuleRecord


class Statements:
    """The half of the walk that reads statements; expressions are read by the class that completes it."""

    module: ModuleRecord
    scope: Scope
    loops: list[Loop]
    within: int | None
    callees: Callees
    inference: Inference
    program: Program

    def expression(self, node: ast.expr | None) -> Flow:
        raise NotImplementedError

    def defaults(self, arguments: ast.arguments) -> Flow:
        raise NotImplementedError

    def iteration(self, iterated: ast.expr, *names: str) -> Flow:
        raise NotImplementedError

    def operator(self, node: ast.AST) -> Flow:
        raise NotImplementedError

    def implied(self, node: ast.expr, how: How, records: list[FunctionRecord]) -> Flow:
        raise NotImplementedError

    def enter_loop(self, loop: Loop) -> None:
        raise NotImplementedError

    def passes(self, iterated: ast.expr) -> Passes:
        raise NotImplementedError

    def under(self, step: int, scope: Scope, read: Callable[[], Flow]) -> Flow:
        """Reads something that runs under a step's label."""
        saved = self.scope, self.loops, self.within
        self.scope, self.loops, self.within = scope, [], step
        flow = read()
        self.scope, self.loops, self.within = saved
        return flow

    def block(self, statements: list[ast.stmt]) -> Flow:
        return sequence(*[self.statement(statement) for statement in statements])

    def statement(self, node: ast.stmt) -> Flow:
        match node:
            case ast.Expr(value=value):
                return self.expression(value)
            case ast.Assign(targets=targets, value=value):
                return sequence(self.expression(value), *[self.expression(target) for target in targets])
            case ast.AnnAssign(target=target, value=value):
                return sequence(self.expression(value), self.expression(target))
            case ast.AugAssign(target=target, value=value):
                return sequence(self.expression(target), self.expression(value), self.operator(node))
            case ast.Return(value=value):
                return sequence(self.expression(value), Jump("return"))
            case ast.Raise(exc=exc, cause=cause):
                return sequence(self.expression(exc), self.expression(cause), Jump("raise"))
            case ast.Break():
                return Jump("break")
            case ast.Continue():
                return Jump("continue")
            case ast.Assert(test=test, msg=message):
                return sequence(self.expression(test), arms(NOTHING, self.failed_assert(message)))
            case ast.Delete(targets=targets):
                return sequence(*[self.expression(target) for target in targets])
        return self.compound(node)

    def failed_assert(self, message: ast.expr | None) -> Flow:
        said = self.expression(message)
        return said if said is NOTHING else sequence(said, Jump("raise"))

    def compound(self, node: ast.stmt) -> Flow:
        match node:
            case ast.If(test=test, body=body, orelse=orelse):
                return sequence(self.expression(test), arms(self.block(body), self.block(orelse)))
            case ast.While():
                return self.while_loop(node)
            case ast.For() | ast.AsyncFor():
                return self.for_loop(node)
            case ast.With() | ast.AsyncWith():
                return self.managed(node.items, node.body)
            case ast.Try():
                return self.attempt(node, group=False)
            case ast.Match(subject=subject, cases=cases):
                return sequence(self.expression(subject), self.cases(cases))
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return sequence(*[self.expression(d) for d in node.decorator_list], self.defaults(node.args))
            case ast.ClassDef():
                return self.class_body(node)
        if isinstance(node, ast.TryStar):
            return self.attempt(node, group=True)
        return NOTHING

    def while_loop(self, node: ast.While) -> Flow:
        self.enter_loop(Loop(texts.place(self.module, node), "while", "number"))
        head = self.expression(node.test)
        body = self.block(node.body)
        self.loops.pop()
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        return Repeat(head, body, self.block(node.orelse), endless=endless)

    def for_loop(self, node: ast.For | ast.AsyncFor) -> Flow:
        before = sequence(self.expression(node.iter), self.iteration(node.iter, "__iter__", "__aiter__"))
        self.enter_loop(Loop(texts.place(self.module, node), "for", self.passes(node.iter)))
        head = sequence(self.iteration(node.iter, "__next__", "__anext__"), self.expression(node.target))
        body = self.block(node.body)
        self.loops.pop()
        return sequence(before, Repeat(head, body, self.block(node.orelse), endless=False))

    def cases(self, cases: list[ast.match_case]) -> Flow:
        """Each case is an arm; a guard runs before its own arm and before the cases after it."""
        if not cases:
            return NOTHING
        case, *rest = cases
        body = sequence(self.block(case.body))
        if case.guard is not None:
            return sequence(self.expression(case.guard), arms(body, self.cases(rest)))
        return body if _irrefutable(case.pattern) else arms(body, self.cases(rest))

    def attempt(self, node: ast.Try | ast.TryStar, *, group: bool) -> Flow:
        body = self.block(node.body)
        handlers = tuple(sequence(self.expression(h.type), self.block(h.body)) for h in node.handlers)
        orelse, final = self.block(node.orelse), self.block(node.finalbody)
        catches_all = any(_catches_all(handler.type) for handler in node.handlers)
        return Attempt(body, handlers, orelse, final, catches_all, group)

    def managed(self, items: list[ast.withitem], body: list[ast.stmt]) -> Flow:
        if not items:
            return self.block(body)
        item, *rest = items
        expression = item.context_expr
        before = sequence(self.expression(expression), self.manager(expression, "enter"))
        caught: Catches = catches(expression, self.scope, self.callees)
        inner = sequence(self.expression(item.optional_vars), self.managed(rest, body))
        return sequence(before, Managed(inner, self.manager(expression, "exit"), caught))

    def manager(self, expression: ast.expr, how: How) -> Flow:
        """The ``__enter__`` or ``__exit__`` of a user class."""
        records = []
        for value in self.inference.of(expression, self.scope):
            if isinstance(value, Inst):
                for name in (f"__{how}__", f"__a{how}__"):
                    records += self.program.methods(value.record, name, exact=value.exact)
        return self.implied(expression, how, records)

    def class_body(self, node: ast.ClassDef) -> Flow:
        """A class's own code runs where the class stands."""
        given = [*node.decorator_list, *node.bases, *[keyword.value for keyword in node.keywords]]
        before = sequence(*[self.expression(expression) for expression in given])
        saved = self.scope
        self.scope = self.module.class_nodes[id(node)].scope
        body = self.block(node.body)
        self.scope = saved
        return sequence(before, body)


def _irrefutable(pattern: ast.pattern) -> bool:
    match pattern:
        case ast.MatchAs(pattern=None):
            return True
        case ast.MatchAs(pattern=inner) if inner is not None:
            return _irrefutable(inner)
        case ast.MatchOr(patterns=patterns):
            return any(_irrefutable(choice) for choice in patterns)
    return False


def _catches_all(kind: ast.expr | None) -> bool:
    match kind:
        case None:
            return True
        case ast.Name(id="BaseException"):
            return True
        case ast.Tuple(elts=kinds):
            return any(isinstance(k, ast.Name) and k.id == "BaseException" for k in kinds)
    return False
