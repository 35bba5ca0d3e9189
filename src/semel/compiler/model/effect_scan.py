"""The walk of a function made complete: besides steps and calls it notes what lints ask about."""

from __future__ import annotations

import ast

from . import texts
from .callees import Callees
from .changes import Changes
from .data import Call
from .effect_names import ALWAYS, BY_MODE, OF_A_PATH, PATH_METHODS
from .effects import Effect, EffectKind, Effects, Unresolved, UnresolvedKind
from .flow import Flow, Site, sequence
from .foreign import TRANSPARENT, TRANSPARENT_METHODS
from .handlers import handlers
from .infer import only_unknown
from .paths import FilePaths, bindings_of
from .reads import Reads
from .scan import FunctionScan
from .scopes import FunctionRecord
from .transactions import Transactions
from .unrecordable import Results
from .values import Cls, Fn, Foreign, ForeignInst, Inst


class EffectScan(FunctionScan):
    """Reads a function as ``FunctionScan`` does; ``effects`` gives what it noted."""

    def __init__(self, record: FunctionRecord, callees: Callees, inlined: set[FunctionRecord]) -> None:
        super().__init__(record, callees, inlined)
        self._paths = FilePaths(callees.inference)
        self._changes = Changes(record, callees.inference)
        self._transactions = Transactions(record, callees.inference)
        self._results = Results(callees)
        self._reads = Reads(record, callees.inference)
        self._effects: list[Effect] = []
        self._unresolved: list[Unresolved] = []
        self._referred: set[str] = set()
        self._last_line = getattr(record.node, "end_lineno", None) or len(record.module.lines)

    def effects(self) -> Effects:
        return Effects(
            effects=tuple(self._effects),
            changes=tuple(self._changes.found),
            handlers=tuple(handlers(self.record, self.callees)),
            transactions=tuple(self._transactions.found),
            unresolved=tuple(self._unresolved),
            unrecordable=(*self._results.found, *self._results.of_function(self.record)),
            readings=tuple(self._reads.readings),
            stores=tuple(self._reads.stores),
            referred=frozenset(self._referred),
        )

    # ---------------------------------------------------------------------------------------------------- what is read

    def expression(self, node: ast.expr | None) -> Flow:
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            self._referred.update(v.record.id for v in self.inference.of(node, self.scope) if isinstance(v, Fn))
        return super().expression(node)

    def statement(self, node: ast.stmt) -> Flow:
        self._changes.statement(node, self.scope, self.within)
        flow = super().statement(node)
        noted = self._reads.statement(node, self.scope, self.within, self.found.sites)
        return sequence(flow, Site(self.new_site())) if noted else flow

    def managed(self, items: list[ast.withitem], body: list[ast.stmt]) -> Flow:
        saved = self._last_line
        if items and body:
            last = self._transactions.block(items[0].context_expr, body, self.scope)
            self._last_line = last if last is not None else saved
        flow = super().managed(items, body)
        self._last_line = saved
        return flow

    def given_step(self, node: ast.expr, index: int) -> Flow:
        self._results.of_step(node, self.scope, index)
        return super().given_step(node, index)

    def call(self, node: ast.Call) -> Flow:
        awaited, before, steps = self._awaited is node, len(self.found.calls), len(self.found.steps)
        flow = super().call(node)
        self._note_effect(node, awaited=awaited)
        self._changes.call(node, self.scope, self.within)
        self._note_unresolved(node, self.found.calls[before:])
        site = self.found.sites
        if self._transactions.call(node, self.scope, self.within, site, self.loops, self._last_line):
            flow = sequence(flow, Site(self.new_site()))
        if self._note_store(node, self.found.calls[before:], made_step=len(self.found.steps) > steps):
            flow = sequence(flow, Site(self.new_site()))
        return flow

    def _note_store(self, node: ast.Call, calls: list[Call], *, made_step: bool) -> bool:
        """A call that may store what it is given: a step, one that leads to steps, a write of a session."""
        place, site = texts.place(self.module, node), self.found.sites
        if made_step and any(step.place == place and not step.is_wait for step in self.found.steps):
            return self._reads.call(node, "step", (), self.within, site)
        if self._transactions.writes(node, self.scope):
            return self._reads.call(node, "write", (), self.within, site)
        own = [c for c in calls if c.place == place and c.how == "call"]
        if any(call.operation is not None and call.operation.sure for call in own):
            return self._reads.call(node, "step", (), self.within, site)
        functions = tuple(c.function for call in own if call.certainty == "sure" for c in call.candidates)
        return bool(functions) and self._reads.call(node, "call", functions, self.within, site)

    # --------------------------------------------------------------------------------------------------------- effects

    def _note_effect(self, node: ast.Call, *, awaited: bool) -> None:
        found = self._effect(node.func, node.args, node.keywords)
        if found is None:
            found = self._handed_on(node)
        if found is not None:
            kind, name = found
            self._effects.append(
                Effect(kind, name, texts.place(self.module, node), texts.text(self.module, node), awaited, self.within)
            )

    def _handed_on(self, node: ast.Call) -> tuple[EffectKind, str] | None:
        """``asyncio.to_thread(shutil.copy, a, b)`` and ``pool.submit(os.remove, path)``."""
        names = self._dotted(node.func)
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if not names & TRANSPARENT and method not in TRANSPARENT_METHODS:
            return None
        skipped = 1 if method == "run_in_executor" else 0
        if len(node.args) <= skipped or not isinstance(node.args[skipped], ast.Name | ast.Attribute):
            return None
        return self._effect(node.args[skipped], node.args[skipped + 1 :], node.keywords)

    def _effect(
        self, func: ast.expr, arguments: list[ast.expr], keywords: list[ast.keyword]
    ) -> tuple[EffectKind, str] | None:
        names = self._dotted(func)
        method, receiver = (func.attr, func.value) if isinstance(func, ast.Attribute) else ("", None)
        if receiver is not None and not names and self._of_unknown_path(method, receiver):
            names = {f"pathlib.Path().{method}"}
        for name in sorted(names):
            kind = ALWAYS.get(name)
            if kind is None and name in BY_MODE and _writes(BY_MODE[name], arguments, keywords):
                kind = "file"
            if kind is None or (kind == "sleep" and _is_zero(arguments)):
                continue
            if kind == "file" and self._harmless(receiver, arguments, keywords):
                continue
            return kind, name
        return None

    def _of_unknown_path(self, method: str, receiver: ast.expr) -> bool:
        if method in OF_A_PATH:
            return only_unknown(self.inference.of(receiver, self.scope))
        return (method in PATH_METHODS or method == "open") and self._paths.is_path(receiver, self.scope)

    def _harmless(self, receiver: ast.expr | None, arguments: list[ast.expr], keywords: list[ast.keyword]) -> bool:
        """A folder that may be there already, and what stands in a temporary folder."""
        if any(k.arg == "exist_ok" and isinstance(k.value, ast.Constant) and k.value.value for k in keywords):
            return True
        spoken_of = [*([receiver] if receiver is not None else []), *arguments, *[k.value for k in keywords]]
        return any(self._paths.is_scratch(part, self.scope) for part in spoken_of)

    def _dotted(self, func: ast.expr) -> set[str]:
        return {v.name for v in self.inference.of(func, self.scope) if isinstance(v, Foreign | ForeignInst)}

    # ------------------------------------------------------------------------------------------------ unresolved calls

    def _note_unresolved(self, node: ast.Call, calls: list[Call]) -> None:
        place = texts.place(self.module, node)
        call = next((c for c in reversed(calls) if c.place == place and c.how == "call"), None)
        if call is None or call.certainty != "unknown" or call.callee != texts.text(self.module, node.func):
            return
        if isinstance(node.func, ast.Name) and self._is_parameter(node.func.id):
            return  # what is given for it is looked at where it is given
        kind, name, receiver = _manner(node.func)
        owners = self.inference.of(receiver, self.scope) if receiver is not None else frozenset()
        self._unresolved.append(
            Unresolved(
                site=call.site,
                kind=kind,
                place=place,
                text=call.callee,
                name=name,
                arguments=len(node.args) + len(node.keywords),
                owners=tuple(sorted(value.record.id for value in owners if isinstance(value, Inst | Cls))),
                within=self.within,
            )
        )

    def _is_parameter(self, name: str) -> bool:
        return {binding.kind for binding in bindings_of(name, self.scope)} == {"parameter"}


def _manner(func: ast.expr) -> tuple[UnresolvedKind, str, ast.expr | None]:
    match func:
        case ast.Attribute(value=value, attr=name):
            return "method", name, value
        case ast.Call(func=ast.Name(id="getattr"), args=[receiver, *_]):
            return "getattr", "", receiver
        case ast.Name(id=name):
            return "variable", name, None
    return "item", "", None


def _writes(position: int, arguments: list[ast.expr], keywords: list[ast.keyword]) -> bool:
    """Whether the mode is there to be read, and lets write."""
    mode = arguments[position] if len(arguments) > position else None
    mode = next((keyword.value for keyword in keywords if keyword.arg == "mode"), mode)
    return isinstance(mode, ast.Constant) and isinstance(mode.value, str) and bool(set(mode.value) & set("wax+"))


def _is_zero(arguments: list[ast.expr]) -> bool:
    return bool(arguments) and isinstance(arguments[0], ast.Constant) and arguments[0].value == 0
