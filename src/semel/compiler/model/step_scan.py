"""Reads the calls of semel that make a step, and what they are given: the part of the walk that is about steps."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from . import intrinsics, policies, steps, texts
from .data import Call, Candidate, Certainty, Form, How, Loop, Operation, Step
from .flow import Flow, Site, arms, sequence
from .paths import bindings_of
from .scopes import FunctionRecord
from .statements import Statements
from .values import Foreign, ForeignInst, Values

#: The forms that take a function, which is read under the step's label.
_WITH_WORK: tuple[Form, ...] = ("once", "transaction", "saga step")


@dataclass(slots=True)
class Scanned:
    """What the walk of one function finds."""

    steps: list[Step] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    never_returns: set[int] = field(default_factory=set)
    registered: list[tuple[str, ast.expr]] = field(default_factory=list)
    sites: int = 0


class StepScan(Statements):
    """``managers`` are the ``with`` items round the place, ``sagas`` the sagas' steps by the id of their call."""

    found: Scanned
    inlined: set[FunctionRecord]
    managers: list[ast.withitem]
    sagas: dict[int, int]

    def new_site(self) -> int:
        raise NotImplementedError

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
        raise NotImplementedError

    def managed(self, items: list[ast.withitem], body: list[ast.stmt]) -> Flow:
        if not items:
            return super().managed(items, body)
        self.managers.append(items[0])
        flow = super().managed(items, body)
        self.managers.pop()
        return flow

    def step_of(self, node: ast.Call) -> tuple[str, Form] | None:
        """The function of semel that is called, if it makes a step, and the form of that."""
        for value in self.inference.of(node.func, self.scope):
            form = intrinsics.form_of(value.name) if isinstance(value, Foreign) else None
            if isinstance(value, Foreign) and form is not None:
                return value.name, form
        return None

    def step(self, node: ast.Call, dotted: str, form: Form, *, awaited: bool) -> Flow:
        shape = self.shape(node, form)
        last = shape.step
        others = [*(a for a in node.args if a is not last), *[keyword.value for keyword in node.keywords]]
        before = sequence(*[self.expression(argument) for argument in others])
        index = len(self.found.steps)
        site = self.new_site()
        label = steps.literal(shape.label)
        segment, named = label, shape.label
        if shape.label is None and form in ("sleep", "event", "first"):
            segment, named = self.derived(node, dotted, form)
        self.found.steps.append(
            Step(
                index=index,
                site=site,
                place=texts.place(self.module, node),
                text=texts.text(self.module, node),
                label=label,
                label_expression=texts.expression(self.module, named) if named is not None else None,
                label_hint=steps.label_hint(shape, self.scope),
                step=texts.expression(self.module, last) if last is not None else None,
                step_kind=shape.kind,
                corrected=steps.corrected(node, shape, self.scope, awaited=awaited)
                if named is shape.label
                else steps.labelled(node, named, self.scope),
                within=self.within,
                loops=tuple(self.loops),
                form=form,
                callee=texts.text(self.module, node.func),
                segment=segment,
                awaited=awaited,
                saga=self.saga(node.func) if form == "saga step" else None,
                retry=policies.retry(node, self.scope, self.inference),
                undo=policies.undo(node, self.scope, self.inference) if form == "saga step" else None,
            )
        )
        if form == "saga":
            self.sagas[id(node)] = index
        inner = self.given_step(last, index) if shape.kind == "function" and last is not None else self.expression(last)
        return sequence(before, Site(site), inner)

    def shape(self, node: ast.Call, form: Form) -> steps.Shape:
        if form in _WITH_WORK:
            return steps.shape(node, form, self.inference, self.scope)
        if form in ("child", "saga"):
            first = node.args[0] if node.args and not isinstance(node.args[0], ast.Starred) else None
            return steps.Shape("none", first, None)
        given = next((k.value for k in node.keywords if k.arg == "label"), None)
        return steps.Shape("none", None if isinstance(given, ast.Constant) and given.value is None else given, None)

    def derived(self, node: ast.Call, dotted: str, form: Form) -> tuple[str | None, ast.expr | None]:
        """What names a wait without a label; and the event, where its name is surely made at run time."""
        name = intrinsics.derived(dotted)
        if form != "event":
            return name, None
        given = node.args[0] if node.args else next((k.value for k in node.keywords if k.arg == "event"), None)
        event = policies.event_name(given, self.scope, self.inference) if given is not None else None
        if event is not None:
            return f"{name}:{event}", None
        values = self.inference.of(given, self.scope) if given is not None else frozenset()
        is_text = bool(values) and all(isinstance(v, ForeignInst) and v.name == "builtins.str" for v in values)
        return None, given if is_text else None

    def saga(self, func: ast.expr) -> int | None:
        """The saga that ``trip.step`` is called on: the innermost ``with`` that binds the name, or its one binding."""
        if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name):
            return None
        name = func.value.id
        for item in reversed(self.managers):
            bound = item.optional_vars
            if isinstance(bound, ast.Name) and bound.id == name and id(item.context_expr) in self.sagas:
                return self.sagas[id(item.context_expr)]
        bindings = [b for b in bindings_of(name, self.scope) if b.kind in ("value", "enter")]
        return self.sagas.get(id(bindings[0].node)) if len(bindings) == 1 else None

    def given_step(self, node: ast.expr, index: int) -> Flow:
        """Reads what a step calls: under the step's label, in no loop of its own."""
        match node:
            case ast.IfExp(test=test, body=body, orelse=orelse):
                choice = arms(self.given_step(body, index), self.given_step(orelse, index))
                return sequence(self.expression(test), choice)
            case ast.NamedExpr(value=value):
                return self.given_step(value, index)
            case ast.BoolOp(values=choices):
                return sequence(*[self.given_step(value, index) for value in choices])
            case ast.Lambda(args=arguments, body=body):
                before = self.defaults(arguments)
                record = self.module.lambdas[id(node)]
                self.inlined.add(record)
                return sequence(before, self.under(index, record.scope, lambda: self.expression(body)))
        values = self.inference.of(node, self.scope)
        func = node.args[0] if isinstance(node, ast.Call) and node.args else node
        return sequence(self.expression(node), self.under(index, self.scope, lambda: self.step_function(func, values)))

    def step_function(self, node: ast.expr, values: Values) -> Flow:
        callee = self.callees.of(node, self.scope, awaited=True)
        site = self.new_site()
        # A lambda that reaches `once` through a name runs under the label itself.
        candidates = tuple(
            Candidate(c.function, "" if c.segment.endswith("<lambda>") else c.segment) for c in callee.candidates
        )
        self.add(site, node, node, "call", candidates, callee.certainty, callee.foreign, operation=callee.operation)
        if callee.leaves:
            self.found.never_returns.add(site)
        return Site(site)
