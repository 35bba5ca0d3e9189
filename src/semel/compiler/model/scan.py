"""Reads one function: its steps, its calls, its loops and its flow. The second of the two walks that build the model.

A lambda given straight to ``once`` is read as part of the function that gives it, under the step's label; any other
lambda and any nested function is a function of its own.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from . import foreign, steps, texts
from .callees import Callee, Callees, segment
from .data import Call, Candidate, Certainty, How, Loop, Operation, Passes
from .flow import NOTHING, Flow, Repeat, Site, arms, sequence
from .infer import is_property
from .operators import operators_of
from .scopes import FunctionRecord, Scope
from .step_scan import Scanned, StepScan
from .unknown import why_unknown
from .values import Cls, Fn, Foreign, Inst, Row, Unknown

_NUMBERED = frozenset({"range", "enumerate", "zip", "sorted", "list", "tuple", "reversed", "map", "filter"})
_NAMED = frozenset({"set", "frozenset"})


class FunctionScan(StepScan):
    """The walk; ``inlined`` collects the lambdas that were read as part of the function."""

    def __init__(self, record: FunctionRecord, callees: Callees, inlined: set[FunctionRecord]) -> None:
        self.record = record
        self.module = record.module
        self.callees = callees
        self.inference = callees.inference
        self.program = callees.program
        self.inlined = inlined
        self.found = Scanned()
        self.scope: Scope = record.scope
        self.loops: list[Loop] = []
        self.within: int | None = None
        self.managers: list[ast.withitem] = []
        self.sagas: dict[int, int] = {}
        self._awaited: ast.expr | None = None

    def run(self) -> Flow:
        node = self.record.node
        return self.expression(node.body) if isinstance(node, ast.Lambda) else self.block(node.body)

    # --------------------------------------------------------------------------------------------------- expressions

    def expression(self, node: ast.expr | None) -> Flow:
        match node:
            case None | ast.Name() | ast.Constant():
                return NOTHING
            case ast.Call():
                return self.call(node)
            case ast.Attribute(value=value):
                return sequence(self.expression(value), self.attribute(node))
            case ast.Await(value=value):
                self._awaited = value
                return self.expression(value)
            case ast.Lambda(args=arguments):
                return self.defaults(arguments)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return sequence(self.expression(test), arms(self.expression(body), self.expression(orelse)))
            case ast.BoolOp(values=values):
                # The right side of `and` and `or` may be skipped, but it is no arm: both sides may run.
                first, *rest = values
                return sequence(self.expression(first), *[arms(self.expression(value), NOTHING) for value in rest])
            case ast.ListComp(elt=item) | ast.SetComp(elt=item) | ast.GeneratorExp(elt=item):
                return self.comprehension(node.generators, [item])
            case ast.DictComp(key=key, value=value):
                return self.comprehension(node.generators, [key, value])
        return sequence(*[self.expression(child) for child in _children(node)], self.operator(node))

    def defaults(self, arguments: ast.arguments) -> Flow:
        return sequence(*[self.expression(d) for d in [*arguments.defaults, *arguments.kw_defaults] if d is not None])

    def comprehension(self, generators: list[ast.comprehension], items: list[ast.expr]) -> Flow:
        if not generators:
            return sequence(*[self.expression(item) for item in items])
        generator, *rest = generators
        before = sequence(self.expression(generator.iter), self.iteration(generator.iter, "__iter__", "__aiter__"))
        loop = Loop(texts.place(self.module, generator), "comprehension", self.passes(generator.iter))
        self.enter_loop(loop)
        head = self.iteration(generator.iter, "__next__", "__anext__")
        body = self.conditions(generator.ifs, rest, items)
        self.loops.pop()
        return sequence(before, _repeat(head, body))

    def conditions(self, tests: list[ast.expr], rest: list[ast.comprehension], items: list[ast.expr]) -> Flow:
        if not tests:
            return self.comprehension(rest, items)
        return sequence(self.expression(tests[0]), arms(self.conditions(tests[1:], rest, items), NOTHING))

    def enter_loop(self, loop: Loop) -> None:
        self.loops.append(loop)
        self.found.loops.append(loop)

    def passes(self, iterated: ast.expr) -> Passes:
        """How the loop over the expression names its passes (rule O16)."""
        match iterated:
            case ast.Set() | ast.SetComp():
                return "key"
            case ast.List() | ast.Tuple() | ast.ListComp() | ast.GeneratorExp() | ast.Constant() | ast.Dict():
                return "number"
            case ast.Call(func=func):
                names = {v.name for v in self.inference.of(func, self.scope) if isinstance(v, Foreign)}
                if names & {"semel.each", "semel.workflow.each.each"} or names & {f"builtins.{n}" for n in _NAMED}:
                    return "key"
                if names & {f"builtins.{n}" for n in _NUMBERED}:
                    return "number"
        values = self.inference.of(iterated, self.scope)
        return "number" if values and all(isinstance(value, Row) for value in values) else "unknown"

    # --------------------------------------------------------------------------------------------------------- calls

    def call(self, node: ast.Call) -> Flow:
        awaited = self._awaited is node
        self._awaited = None
        made = self.step_of(node)
        if made is not None:
            return self.step(node, *made, awaited=awaited)
        before = self.expression(node.func.value if isinstance(node.func, ast.Attribute) else node.func)
        given = [*node.args, *[keyword.value for keyword in node.keywords]]
        before = sequence(before, *[self.expression(argument) for argument in given])
        callee = self.callees.of(node.func, self.scope, awaited=awaited)
        self.registration(node)
        site = self.new_site()
        flow = before
        if callee.candidates or callee.leaves or callee.operation is not None:
            flow = sequence(before, Site(site))
        self.add(
            site, node, node.func, "call", callee.candidates, callee.certainty, callee.foreign,
            awaited=awaited, operation=callee.operation,
        )  # fmt: skip
        if callee.implicit:
            self.add(site, node, node.func, "operator", callee.implicit, "sure", None)
        if self.callbacks(site, node, callee) or self.started_thread(site, node, callee):
            flow = sequence(before, Site(site))
        if callee.leaves:
            self.found.never_returns.add(site)
        return flow

    def started_thread(self, site: int, node: ast.Call, callee: Callee) -> bool:
        """``Later().start()``, where Later is a thread with a ``run`` of its own."""
        owner, _, method = (callee.foreign or "").rpartition(".")
        if method != "start" or owner not in foreign.THREADS or not isinstance(node.func, ast.Attribute):
            return False
        instances = [v for v in self.inference.of(node.func.value, self.scope) if isinstance(v, Inst)]
        records = [m for v in instances for m in self.program.methods(v.record, "run", exact=v.exact)]
        if records:
            candidates = tuple(Candidate(record.id, segment(record)) for record in records)
            self.add(site, node, node.func.value, "thread", candidates, "foreign", owner)
        return bool(records)

    def callbacks(self, site: int, node: ast.Call, callee: Callee) -> bool:
        """Adds the functions given to a call, as functions that it calls; says whether there are any."""
        dotted = callee.foreign
        if dotted is not None and (dotted in foreign.INERT or dotted.startswith(foreign.INERT_ROOTS)):
            return False
        prefix, certainty = self.callback_prefix(node, callee)
        how: How = "thread" if dotted in foreign.THREADS else "callback"
        any_found = False
        for argument in [*node.args, *[keyword.value for keyword in node.keywords]]:
            if not isinstance(argument, ast.Name | ast.Attribute | ast.Lambda | ast.Call | ast.IfExp):
                continue
            if isinstance(argument, ast.Call) and not steps.is_partial(argument.func, self.inference, self.scope):
                continue
            values = self.inference.of(argument, self.scope)
            operation = self.callees.operation(values)
            if operation is not None:
                any_found = True
                operation = operation if prefix == "" and certainty == "sure" else replace(operation, sure=False)
                self.add(site, node, argument, how, (), certainty, dotted, operation=operation)
            records = sorted(
                (v.record for v in values if isinstance(v, Fn) and self.callees.operation_of(v.record) is None),
                key=lambda r: r.id,
            )
            candidates = tuple(
                Candidate(c.function, prefix + c.segment) for record in records for c in self.callees.candidates(record)
            )
            if candidates:
                any_found = True
                sure = certainty if len(records) == 1 or certainty == "unknown" else "likely"
                self.add(site, node, argument, how, candidates, sure, dotted)
        return any_found

    def callback_prefix(self, node: ast.Call, callee: Callee) -> tuple[str, Certainty]:
        """What the path has between this function and one that the callee calls back."""
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if callee.foreign in foreign.TRANSPARENT or (not callee.candidates and method in foreign.TRANSPARENT_METHODS):
            return "", "sure"
        if callee.candidates:
            return f"{callee.candidates[0].segment}/", callee.certainty if callee.calls_back else "unknown"
        if callee.foreign is not None:
            return f"{callee.foreign}/", "foreign"
        return "?/", "unknown"

    def new_site(self) -> int:
        self.found.sites += 1
        return self.found.sites - 1

    def add(
        self,
        site: int,
        node: ast.expr,
        callee: ast.expr,
        how: How,
        candidates: tuple[Candidate, ...],
        certainty: Certainty,
        dotted: str | None,
        *,
        awaited: bool = False,
        operation: Operation | None = None,
    ) -> None:
        called = bool(candidates) or operation is not None
        self.found.calls.append(
            Call(
                site=site,
                place=texts.place(self.module, node),
                callee=texts.text(self.module, callee),
                arguments=self.arguments(node) if called and how == "call" else (),
                awaited=awaited,
                how=how,
                candidates=candidates,
                certainty=certainty,
                foreign=dotted,
                loops=tuple(self.loops),
                within=self.within,
                stable=called and self.stable(callee),
                operation=self.doubtful(operation),
                lost=None if called else self.lost(callee, how, certainty, dotted),
            )
        )

    def doubtful(self, operation: Operation | None) -> Operation | None:
        """Where a module speaks of doubles of the network, a call in it may be answered by one."""
        return replace(operation, sure=False) if operation is not None and self.module.has_doubles else operation

    def lost(self, callee: ast.expr, how: How, certainty: Certainty, dotted: str | None) -> str | None:
        if how not in ("call", "callback"):
            return None
        if certainty == "unknown":
            values = self.inference.of(callee, self.scope)
            return why_unknown(callee, self.scope, self.inference) if not values or Unknown() in values else None
        return self.callees.operations.lost(dotted) if dotted is not None else None

    def arguments(self, node: ast.expr) -> tuple[str, ...]:
        if not isinstance(node, ast.Call):
            return ()
        keywords = [(f"{k.arg}=" if k.arg else "**") + texts.text(self.module, k.value) for k in node.keywords]
        return (*[texts.text(self.module, argument) for argument in node.args], *keywords)

    def stable(self, callee: ast.expr) -> bool:
        """Whether the text of the callee means one callable wherever it stands in this function."""
        node = callee
        while isinstance(node, ast.Attribute):
            node = node.value
        if not isinstance(node, ast.Name):
            return False
        here: Scope | None = self.scope
        while here is not None and (node.id not in here.bindings):
            here = here.parent
        return here is None or len(here.bindings[node.id]) == 1 or here.function is not self.record

    def registration(self, node: ast.Call) -> None:
        """``app.workflow(fulfil)``, or a class, written as a call."""
        func = node.func.func if isinstance(node.func, ast.Call) else node.func
        if not isinstance(func, ast.Attribute) or func.attr != "workflow" or not node.args:
            return
        if self.callees.is_app(func.value, self.scope, surely=True):
            for value in self.inference.of(node.args[0], self.scope):
                if isinstance(value, Fn | Cls):
                    self.found.registered.append((value.record.id, node))

    # ------------------------------------------------------------------------------------- what the language calls

    def attribute(self, node: ast.Attribute) -> Flow:
        """Reading a property runs its function."""
        if not isinstance(node.ctx, ast.Load) or node.attr not in self.callees.properties:
            return NOTHING
        records = []
        for value in self.inference.of(node.value, self.scope):
            if isinstance(value, Inst):
                methods = self.program.methods(value.record, node.attr, exact=value.exact)
                records += [method for method in methods if is_property(method)]
        return self.implied(node, "property", records)

    def operator(self, node: ast.AST) -> Flow:
        flows = []
        for operand, names in operators_of(node):
            if not any(self.program.owners(name) for name in names):
                continue
            for value in self.inference.of(operand, self.scope):
                if isinstance(value, Inst):
                    methods = [m for n in names for m in self.program.methods(value.record, n, exact=value.exact)]
                    flows.append(self.implied(operand, "operator", methods))
        return sequence(*flows)

    def iteration(self, iterated: ast.expr, *names: str) -> Flow:
        records = []
        for value in self.inference.of(iterated, self.scope):
            if isinstance(value, Inst):
                for name in names:
                    records += self.program.methods(value.record, name, exact=value.exact)
        return self.implied(iterated, "iterate", records)

    def implied(self, node: ast.expr, how: How, records: list[FunctionRecord]) -> Flow:
        if not records:
            return NOTHING
        site = self.new_site()
        candidates = tuple(Candidate(record.id, segment(record)) for record in records)
        self.add(site, node, node, how, candidates, "sure" if len(records) == 1 else "likely", None)
        return Site(site)


def _repeat(head: Flow, body: Flow) -> Flow:
    """A comprehension's loop: without anything that runs in it, there is nothing to say."""
    if head is NOTHING and body is NOTHING:
        return NOTHING
    return Repeat(head, body, NOTHING, endless=False)


def _children(node: ast.AST) -> list[ast.expr]:
    found: list[ast.expr] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, ast.expr):
            found.append(value)
        elif isinstance(value, list):
            found.extend(item for item in value if isinstance(item, ast.expr))
    return found
