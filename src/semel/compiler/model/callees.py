"""Where a call leads: the candidates of a callee, and what a decorator makes of a function."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from . import foreign
from .data import Candidate, Certainty, Operation
from .infer import Inference, is_property, only_unknown
from .operations import Operations
from .program import last_name
from .scopes import ClassRecord, FunctionRecord, ModuleRecord, Scope
from .values import Cls, Fn, Foreign, ForeignInst, Inst, Unknown, Values

#: A method name that more classes share than this says too little.
_FEW = 3


@dataclass(frozen=True, slots=True)
class Callee:
    """What a called expression may be."""

    candidates: tuple[Candidate, ...]
    implicit: tuple[Candidate, ...]
    certainty: Certainty
    foreign: str | None
    leaves: bool
    calls_back: bool
    operation: Operation | None


class Callees:
    def __init__(self, inference: Inference, operations: Operations) -> None:
        self.inference = inference
        self.operations = operations
        self.program = inference.program
        self._operations: dict[FunctionRecord, Operation | None] = {}
        self._candidates: dict[FunctionRecord, tuple[Candidate, ...]] = {}
        self._names: dict[FunctionRecord, frozenset[str]] = {}
        self._calling_back: dict[FunctionRecord, bool] = {}
        #: The names of all properties of user classes.
        self.properties = frozenset(
            name for cls in self.program.classes for name, method in cls.methods.items() if is_property(method)
        )

    # -------------------------------------------------------------------------------------------------------- a callee

    def of(self, func: ast.expr, scope: Scope, *, awaited: bool) -> Callee:
        values = self.inference.of(func, scope)
        records: dict[FunctionRecord, None] = {}
        implicit: dict[FunctionRecord, None] = {}
        dotted: str | None = None
        for value in values:
            match value:
                case Fn(record):
                    if self.operation_of(record) is None:
                        records[record] = None
                case Cls(cls):
                    self._constructor(cls, records, implicit)
                case Inst(cls, exact):
                    records.update(dict.fromkeys(self.program.methods(cls, "__call__", exact=exact)))
                case Foreign(name) | ForeignInst(name):
                    dotted = name
        certainty = _certainty(len(records), dotted, open_=any(isinstance(value, Unknown) for value in values))
        if not records and dotted is None and isinstance(func, ast.Attribute) and only_unknown(values):
            records = dict.fromkeys(self._by_name(func, scope))
            certainty = "by name" if records else "unknown"
        candidates = tuple(candidate for record in sorted_records(records) for candidate in self.candidates(record))
        leaves = dotted in foreign.LEAVING if not records else all(self.leaves(r, awaited=awaited) for r in records)
        if certainty in ("by name", "likely"):
            leaves = leaves and certainty == "likely"
        hidden = tuple(Candidate(record.id, segment(record)) for record in implicit)
        calls_back = any(self.calls_back(record) for record in records)
        leaves = leaves and Unknown() not in values
        return Callee(candidates, hidden, certainty, dotted, leaves, calls_back, self.operation(values))

    def _constructor(
        self, cls: ClassRecord, records: dict[FunctionRecord, None], implicit: dict[FunctionRecord, None]
    ) -> None:
        init = self.program.find(cls, "__init__")
        if init is not None:
            records[init] = None
        elif self.program.is_dataclass(cls):
            after = self.program.find(cls, "__post_init__") or self.program.find(cls, "__attrs_post_init__")
            if after is not None:
                implicit[after] = None
        new = self.program.find(cls, "__new__")
        if new is not None:
            implicit[new] = None

    def _by_name(self, func: ast.Attribute, scope: Scope) -> list[FunctionRecord]:
        """Methods of this name where the receiver is wholly unknown and only a few user classes have one."""
        name = func.attr
        if name in foreign.COMMON_METHODS or name.startswith("__"):
            return []
        if not only_unknown(self.inference.of(func.value, scope)):
            return []
        methods = [owner.methods[name] for owner in self.program.owners(name)]
        real = [method for method in methods if not self.program.is_abstract(method)]
        return real if len(real) <= _FEW else []

    # --------------------------------------------------------------------------------------------------- an operation

    def operation(self, values: Values) -> Operation | None:
        """The operation that calling one of the values is; not sure if they are of several kinds."""
        found: dict[Operation, None] = {}
        others = False
        for value in values:
            match value:
                case Fn(record):
                    operation = self.operation_of(record)
                case Foreign():
                    operation = self.operations.of_foreign(value)
                case _:
                    operation = None
            if operation is None:
                others = True
            else:
                found[operation] = None
        if not found:
            return None
        first = min(found, key=lambda operation: operation.name)
        sure = first.sure and not others and len({operation.name for operation in found}) == 1
        return first if sure == first.sure else replace(first, sure=sure)

    def operation_of(self, record: FunctionRecord) -> Operation | None:
        """The operation that a function of user code is by itself, so that nothing in it is looked at."""
        if record not in self._operations:
            self._operations[record] = None
            if isinstance(record.node, ast.FunctionDef | ast.AsyncFunctionDef):
                names = self.decorator_names(record)
                operation = self.operations.of_function(record, names, lambda: self._is_client(record))
                self._operations[record] = operation
        return self._operations[record]

    def _is_client(self, record: FunctionRecord) -> bool:
        owner = record.owner
        return owner is not None and any(
            isinstance(base, str) and foreign.is_client(base) for base in self.program.mro(owner)
        )

    # ---------------------------------------------------------------------------------------------------- a function

    def candidates(self, record: FunctionRecord) -> tuple[Candidate, ...]:
        """The function and its wrappers. A ``functools.wraps`` wrapper and what it wraps are one segment."""
        found = self._candidates.get(record)
        if found is None:
            self._candidates[record] = (Candidate(record.id, segment(record)),)
            found = self._candidates[record] = self._decorated(record)
        return found

    def _decorated(self, record: FunctionRecord) -> tuple[Candidate, ...]:
        name = segment(record)
        prefix = ""
        found: list[Candidate] = []
        for decorator in record.decorators:
            values = self.inference.of(decorator, record.parent)
            for value in values:
                match value:
                    case Fn(function):
                        for wrapper in self._wrappers(function):
                            if self.wraps(wrapper):
                                found.append(Candidate(wrapper.id, prefix + name))
                            else:
                                prefix = f"{prefix}{segment(wrapper)}/"
                                found.append(Candidate(wrapper.id, prefix.rstrip("/")))
                    case Cls(cls):
                        for method in self.program.methods(cls, "__call__", exact=True):
                            prefix = f"{prefix}{segment(method)}/"
                            found.append(Candidate(method.id, prefix.rstrip("/")))
                    case Foreign(dotted) if not _plain(dotted, decorator):
                        prefix = f"{prefix}{dotted}/"
        return (Candidate(record.id, prefix + name), *found)

    def _wrappers(self, decorator: FunctionRecord) -> list[FunctionRecord]:
        """The functions of user code that a decorator puts in place of the one it is given."""
        found: list[FunctionRecord] = []
        for value in self.inference.result(decorator):
            if isinstance(value, Fn) and value.record is not decorator and value.record not in found:
                found.append(value.record)
        if found:
            return found
        # An annotation (`-> Callable[P, T]`) hides what is returned: look at the return statements themselves.
        for returned in decorator.returned:
            for value in self.inference.of(returned, decorator.scope):
                if isinstance(value, Fn) and value.record is not decorator and value.record not in found:
                    found.append(value.record)
        return found

    def wraps(self, record: FunctionRecord) -> bool:
        return "functools.wraps" in self.decorator_names(record)

    def decorator_names(self, record: FunctionRecord) -> frozenset[str]:
        """The dotted names of the foreign decorators, called or not."""
        found = self._names.get(record)
        if found is None:
            names: set[str] = set()
            for decorator in record.decorators:
                func = decorator.func if isinstance(decorator, ast.Call) else decorator
                names.update(v.name for v in self.inference.of(func, record.parent) if isinstance(v, Foreign))
            found = self._names[record] = frozenset(names)
        return found

    def leaves(self, record: FunctionRecord, *, awaited: bool = True) -> bool:
        """Whether the function is annotated never to return."""
        node = record.node
        if isinstance(node, ast.Lambda | ast.Module) or node.returns is None:
            return False
        if isinstance(node, ast.AsyncFunctionDef) and not awaited:
            return False
        returns = node.returns
        if isinstance(returns, ast.Constant) and isinstance(returns.value, str):
            return returns.value.rpartition(".")[2] in ("NoReturn", "Never")
        names = {v.name for v in self.inference.of(returns, record.parent) if isinstance(v, Foreign)}
        return any(name.rpartition(".")[2] in ("NoReturn", "Never") for name in names)

    def calls_back(self, record: FunctionRecord) -> bool:
        """Whether the function calls one of its parameters or gives it on, rather than keep it for later."""
        found = self._calling_back.get(record)
        if found is None:
            found = self._calling_back[record] = self._gives_on(record)
        return found

    def _gives_on(self, record: FunctionRecord) -> bool:
        if isinstance(record.node, ast.Module):
            return False
        arguments = record.node.args
        given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        names = {argument.arg for argument in given if argument is not None} - {record.first_parameter}
        for call in (node for node in ast.walk(record.node) if isinstance(node, ast.Call)):
            if isinstance(call.func, ast.Name) and call.func.id in names:
                return True
            keeps = isinstance(call.func, ast.Attribute) and call.func.attr in ("append", "add", "setdefault", "insert")
            passed = [*call.args, *(keyword.value for keyword in call.keywords)]
            bare = [value.value if isinstance(value, ast.Starred) else value for value in passed]
            if not keeps and any(isinstance(value, ast.Name) and value.id in names for value in bare):
                return True
        return False

    def is_app(self, node: ast.expr, scope: Scope, *, surely: bool) -> bool:
        """Whether the expression is an ``App``; what cannot be seen may be one in a module that speaks of semel."""
        module: ModuleRecord = scope.module
        values: Values = self.inference.of(node, scope)
        for value in values:
            match value:
                case ForeignInst(dotted) if foreign.is_app(dotted):
                    return True
                case Inst(cls, _):
                    if any(isinstance(base, str) and foreign.is_app(base) for base in self.program.mro(cls)):
                        return True
                case Foreign() | Unknown() if not surely and module.mentions_semel:
                    return True
        return False


def _certainty(count: int, dotted: str | None, *, open_: bool) -> Certainty:
    if count:
        return "sure" if count == 1 and not open_ and dotted is None else "likely"
    return "foreign" if dotted is not None else "unknown"


def _plain(dotted: str, decorator: ast.expr) -> bool:
    if dotted in foreign.PLAIN_DECORATORS or dotted.startswith("semel."):
        return True
    return last_name(decorator) in ("setter", "getter", "deleter", "workflow")


def segment(record: FunctionRecord) -> str:
    return record.qualname.replace("<locals>.", "")


def sorted_records(records: dict[FunctionRecord, None]) -> list[FunctionRecord]:
    """In the order of the source, so that a model of the same program is always the same."""
    return sorted(records, key=lambda record: record.id)
