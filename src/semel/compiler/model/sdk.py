"""Looks into the source of a library, so that a call of an SDK is named by the function that it ends in.

The same inference as for user code follows the names, but modules are read only when a name leads into them, and a
class has no subclasses but those beside it. ``Sdk.leaves`` then asks whether a function makes a call of an HTTP client.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Literal

from . import libraries, seams
from .depth import deep_recursion
from .infer import Inference
from .program import Program, last_name
from .scopes import Binding, ClassRecord, FunctionRecord, ModuleRecord, Scope, declare
from .values import NONE, UNKNOWN, Cls, Fn, Foreign, ForeignInst, Inst, Many, Mod, Row, Table, Value, Values, union

#: How SDKs name the functions of their own that make a request.
_REQUESTS = frozenset(
    {
        "request", "_request", "request_async", "_request_async", "arequest", "request_stream", "_request_stream",
        "request_raw", "request_raw_async", "_static_request", "_static_request_async", "_request_and_refresh",
        "_request_and_refresh_async", "request_with_retries", "api_request", "make_request", "_make_request",
        "perform_request", "send_request", "_send_request", "execute_request", "urlopen", "api_call", "_api_call",
        "_make_api_call", "http_request", "_http_request",
    }
)  # fmt: skip
_OWN_VERBS = frozenset({"_get", "_post", "_put", "_patch", "_delete"})
#: Methods that make a request for what is made to be used so; what is iterated over may be left alone.
_OPENING = ("__enter__", "__aenter__", "__await__")
_ITERATING = ("__aiter__", "__iter__")
_DEEPEST = 10
#: Whether every call of a function makes a request, or some may.
Leaves = Literal["no", "perhaps", "always"]


class _LibraryProgram(Program):
    """Library modules, each read when it is first asked for."""

    def __init__(self, readable: Callable[[str], bool]) -> None:
        super().__init__([])
        self.readable = readable
        self.base_of: Callable[[ast.expr, ClassRecord], Values] = lambda base, cls: UNKNOWN
        self._loaded: dict[str, ModuleRecord | None] = {}

    def module(self, name: str, importer: ModuleRecord | None = None) -> ModuleRecord | None:
        if name not in self._loaded:
            self._loaded[name] = None
            if self.readable(name.partition(".")[0]):
                self._loaded[name] = _read(name)
        return self._loaded[name]

    def bases(self, cls: ClassRecord) -> list[ClassRecord | str]:
        found = self._bases.get(cls)
        if found is None:
            found = self._bases[cls] = []
            for base in cls.node.bases:
                for value in self.base_of(base, cls):
                    if isinstance(value, Cls) and value.record is not cls:
                        found.append(value.record)
                    elif isinstance(value, Foreign):
                        found.append(value.name)
        return found

    def subclasses(self, cls: ClassRecord) -> list[ClassRecord]:
        return [other for other in cls.module.classes if other is not cls and cls in self.bases(other)]


class _LibraryInference(Inference):
    def _imported(self, binding: Binding) -> Values:
        # `from stripe import checkout`, written in stripe itself.
        if binding.target == binding.scope.module.name.partition("~")[0]:
            submodule = self.program.module(f"{binding.target}.{binding.name}", binding.scope.module)
            if submodule is not None:
                return frozenset({Mod(submodule)})
        return super()._imported(binding)

    def _call(self, value: Value, node: ast.Call, scope: Scope) -> Values:
        # What `to_raw_response_wrapper(completions.create)` gives is named like what it wraps.
        if isinstance(value, Fn) and node.args and _wraps_its_argument(value.record):
            return self.of(node.args[0], scope)
        return super()._call(value, node, scope)


class Sdk:
    """What is known of libraries from their source.

    ``readable`` says which top-level packages are looked into, ``passes`` what is passed over as telemetry.
    """

    def __init__(self, readable: Callable[[str], bool], passes: Callable[[str], bool]) -> None:
        self._passes = passes
        self._program = _LibraryProgram(readable)
        self._inference = _LibraryInference(self._program)
        self._program.base_of = self._inference.base
        self._found: dict[str, Values] = {}
        self._given: dict[str, Value] = {}
        self._leaving: dict[FunctionRecord, Leaves] = {}

    # ----------------------------------------------------------------------------------------------------- looking up

    def functions(self, dotted: str) -> list[FunctionRecord]:
        """The functions of the library that a dotted name such as ``openai.OpenAI().chat.completions.create`` means."""
        found = []
        for value in self._look_up(dotted):
            if isinstance(value, Fn):
                found.append(value.record)
            elif isinstance(value, Inst):
                found += self._program.methods(value.record, "__call__", exact=value.exact)
        return found

    def by_class(self, dotted: str) -> list[str]:
        """A method by the classes of the object that it is called on, wherever they inherit it from."""
        owner, _, name = dotted.rpartition(".")
        instances = [value.record for value in self._look_up(owner) if isinstance(value, Inst)] if owner else []
        return [f"{record.module.name}.{record.qualname}.{name}" for record in instances]

    def is_class(self, dotted: str) -> bool:
        return any(isinstance(value, Cls) for value in self._look_up(dotted))

    def result(self, dotted: str) -> Values:
        """What calling it gives, in names of the library."""
        found: list[Values] = []
        with deep_recursion():
            for value in self._look_up(dotted):
                match value:
                    case Fn(record):
                        found.append(self._inference.result(record))
                    case Cls(record):
                        found.append(frozenset({Inst(record, True)}))
        return self._outside(union(found))

    def entered(self, dotted: str) -> Values:
        """What ``with`` binds for an instance of this class."""
        instances = [value for value in self._look_up(f"{dotted}()") if isinstance(value, Inst)]
        with deep_recursion():
            return self._outside(self._inference.entered(frozenset(instances)))

    def _look_up(self, dotted: str) -> Values:
        known = self._found.get(dotted)
        if known is None:
            with deep_recursion():
                known = self._found[dotted] = self._follow(dotted.split("."))
        return known

    def _follow(self, parts: list[str]) -> Values:
        values, rest = self._start(parts)
        for part in rest:
            name = part.removesuffix("()")
            if name:
                values = self._inference.attribute(values, name)
            if part != name:
                values = frozenset(Inst(value.record, True) for value in values if isinstance(value, Cls))
        return values

    def _start(self, parts: list[str]) -> tuple[Values, list[str]]:
        """What the first parts mean: something that was given out by its own name, or else the top-level package."""
        for end in range(len(parts), 1, -1):
            last = parts[end - 1].removesuffix("()")
            value = self._given.get(".".join([*parts[: end - 1], last]))
            if value is not None:
                return frozenset({value}), [*(["()"] if last != parts[end - 1] else []), *parts[end:]]
        root = self._program.module(parts[0].removesuffix("()"))
        return (frozenset({Mod(root)}) if root is not None else NONE), parts[1:]

    def _outside(self, values: Values) -> Values:
        """Values of library code, as user code's inference passes them on: by their dotted names."""
        return union([self._named(value) for value in values])

    def _named(self, value: Value) -> Values:
        match value:
            case Inst(record) | Cls(record) | Fn(record):
                name = f"{record.module.name}.{record.qualname}"
                self._given[name] = Cls(record) if isinstance(record, ClassRecord) else Fn(record)
                return frozenset({ForeignInst(name) if isinstance(value, Inst) else Foreign(name)})
            case Mod(record):
                return frozenset({Foreign(record.name)})
            case Many(items):
                return frozenset({Many(self._outside(items))})
            case Table(items):
                return frozenset({Table(self._outside(items))})
            case Row(parts):
                return frozenset({Row(tuple(self._outside(part) for part in parts))})
            case Foreign() | ForeignInst():
                return frozenset({value})
        return UNKNOWN

    # --------------------------------------------------------------------------------------------- what a function does

    def leaves(self, record: FunctionRecord, depth: int = 0) -> Leaves:
        """Whether the function makes a call that leaves the process, as far as its source shows."""
        found = self._leaving.get(record)
        if found is None:
            self._leaving[record] = "no"
            with deep_recursion():
                found = self._leaving[record] = self._calls_out(record, depth)
        return found

    def _calls_out(self, record: FunctionRecord, depth: int) -> Leaves:
        if depth > _DEEPEST or self._passes(f"{record.module.name}.{record.qualname}"):
            return "no"
        always = list(_always(record.node))
        told = [self._call_out(call, record, depth) for call in always]
        if "always" in told:
            return "always"
        done = {id(call) for call in always}
        others = (node for node in ast.walk(record.node) if isinstance(node, ast.Call) and id(node) not in done)
        if "perhaps" in told or any(self._call_out(call, record, depth) != "no" for call in others):
            return "perhaps"
        return "no"

    def _call_out(self, call: ast.Call, record: FunctionRecord, depth: int) -> Leaves:
        if _is_request(call.func):
            return "always"
        asked = [call.func, *[argument for argument in call.args if isinstance(argument, ast.Attribute)]]
        told = [self._leads_out(value, depth) for node in asked for value in self._inference.of(node, record.scope)]
        return "always" if "always" in told else "perhaps" if "perhaps" in told else "no"

    def _leads_out(self, value: Value, depth: int) -> Leaves:
        match value:
            case Foreign(dotted):
                root, *names = dotted.replace("()", "").split(".")
                return "always" if seams.name_of(root, names) is not None else "no"
            case Fn(record):
                return self.leaves(record, depth + 1)
            case Cls(record):
                return self._opens(record, depth)
        return "no"

    def _opens(self, record: ClassRecord, depth: int) -> Leaves:
        """Whether an instance makes a request when it is used for what it is made for."""
        found: Leaves = "no"
        for name in (*_OPENING, *_ITERATING):
            method = self._program.find(record, name)
            told = self.leaves(method, depth + 1) if method is not None else "no"
            if told == "always" and name in _OPENING:
                return "always"
            found = "perhaps" if told != "no" else found
        return found


def _always(node: ast.AST) -> Iterator[ast.Call]:
    """The calls that every call of a function makes: none in an arm, a loop, a handler or an inner function."""
    match node:
        case ast.If(test=part) | ast.IfExp(test=part) | ast.While(test=part):
            yield from _always(part)
        case ast.For(iter=part) | ast.AsyncFor(iter=part):
            yield from _always(part)
        case ast.BoolOp(values=[first, *_]):
            yield from _always(first)
        case ast.Try(body=body, finalbody=final):
            for statement in [*body, *final]:
                yield from _always(statement)
        case ast.FunctionDef(body=body) | ast.AsyncFunctionDef(body=body):
            for statement in body:
                if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                    yield from _always(statement)
        case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp() | ast.Match():
            return
        case _:
            if isinstance(node, ast.Call):
                yield node
            for child in ast.iter_child_nodes(node):
                yield from _always(child)


def _is_request(func: ast.expr) -> bool:
    if not isinstance(func, ast.Attribute):
        return False
    if func.attr in _OWN_VERBS:
        return isinstance(func.value, ast.Name) and func.value.id in ("self", "cls")
    return func.attr in _REQUESTS


def _read(name: str) -> ModuleRecord | None:
    found = libraries.source_of(name)
    if found is None:
        return None
    file, text, is_package = found
    try:
        tree = ast.parse(text, file)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    module = ModuleRecord(name, file, text, tree, is_package=is_package)
    declare(module)
    return module


def _wraps_its_argument(record: FunctionRecord) -> bool:
    """Whether the function returns a ``functools.wraps`` wrapper of its first parameter."""
    node = record.node
    if not isinstance(node, ast.FunctionDef) or not node.args.args:
        return False
    first = node.args.args[0].arg
    wraps = [d for inner in node.body if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef)
             for d in inner.decorator_list]  # fmt: skip
    return any(
        isinstance(d, ast.Call)
        and last_name(d) == "wraps"
        and isinstance(d.args[0], ast.Name)
        and d.args[0].id == first
        for d in wraps
        if isinstance(d, ast.Call) and d.args
    )
