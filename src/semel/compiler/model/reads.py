"""Values that no second call gives again (rule A5), kept under a name, and where the function stores them.

A name counts where all of the function gives it one value. What is only computed from such a value through a call of
unknown code is let go: it may be anything.
"""

from __future__ import annotations

import ast

from . import texts
from .effects import Reading, Store, StoreKind
from .infer import Inference
from .paths import bindings_of
from .scopes import FunctionRecord, Scope
from .values import Cls, Fn, Foreign

_DEEPEST = 3
_NAMES = frozenset(
    f"{module}.{name}"
    for module, names in {
        "datetime.datetime": ("now", "utcnow", "today"),
        "datetime.date": ("today",),
        "time": ("time", "time_ns", "localtime", "gmtime", "ctime", "strftime"),
        "uuid": ("uuid1", "uuid4", "uuid6", "uuid7"),
        "os": ("urandom",),
        "random": (
            "random", "randint", "randrange", "uniform", "choice", "choices", "sample", "getrandbits", "randbytes",
            "gauss", "normalvariate", "expovariate", "triangular", "betavariate",
        ),
        "secrets": ("token_hex", "token_bytes", "token_urlsafe", "randbelow", "randbits", "choice"),
    }.items()
    for name in names
)  # fmt: skip
#: Builtins that give their argument in another shape.
_SHAPES = frozenset(
    f"builtins.{name}"
    for name in ("str", "int", "float", "bytes", "repr", "format", "round", "hex", "list", "tuple", "dict", "sorted")
)
_PARTS = (
    ast.BinOp, ast.JoinedStr, ast.FormattedValue, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.IfExp, ast.BoolOp,
    ast.UnaryOp, ast.Subscript, ast.Starred, ast.Await,
)  # fmt: skip


class Reads:
    def __init__(self, record: FunctionRecord, inference: Inference) -> None:
        self.record = record
        self.module = record.module
        self.inference = inference
        self.readings: list[Reading] = []
        self.stores: list[Store] = []
        self._known: dict[str, int] = {}

    def statement(self, node: ast.stmt, scope: Scope, within: int | None, site: int) -> bool:
        """Notes what an assignment keeps or stores; says whether it does. ``site`` is the number it is to have."""
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                return self._keep(name, node, value, scope, within, site)
            case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
                return self._keep(name, node, value, scope, within, site)
            case ast.Assign(targets=[ast.Attribute()], value=value):
                return self._store("attribute", node, self._kept_in(value, scope), within, site)
        return False

    def call(
        self, node: ast.Call, kind: StoreKind, functions: tuple[str, ...],
        within: int | None, site: int,
    ) -> bool:  # fmt: skip
        """Notes a call that a kept value is given to; says whether it is one."""
        given = [*node.args, *[keyword.value for keyword in node.keywords]]
        names = {n.id for part in given for n in ast.walk(part) if isinstance(n, ast.Name)} & self._known.keys()
        return self._store(kind, node, frozenset(self._known[name] for name in names), within, site, functions)

    def _keep(
        self, name: str, node: ast.stmt, value: ast.expr, scope: Scope, within: int | None, site: int
    ) -> bool:  # fmt: skip
        if within is not None or len(bindings_of(name, scope)) != 1:
            return False
        read = self._read(value, scope)
        if read is None:
            return False
        if isinstance(read, int):
            self._known[name] = read
            return False
        self._known[name] = len(self.readings)
        place, text = texts.place(self.module, node), texts.text(self.module, value)
        self.readings.append(Reading(name, read, site, place, text))
        return True

    def _store(
        self, kind: StoreKind, node: ast.stmt | ast.expr, read: frozenset[int],
        within: int | None, site: int, functions: tuple[str, ...] = (),
    ) -> bool:  # fmt: skip
        if not read or within is not None:
            return False
        start, end = (node.lineno, node.col_offset), (node.end_lineno or node.lineno, node.end_col_offset or 0)
        text = texts.span(self.module, start, end)
        self.stores.append(Store(kind, read, site, texts.place(self.module, node), text, functions))
        return True

    def _kept_in(self, value: ast.expr, scope: Scope) -> frozenset[int]:
        read = self._read(value, scope)
        return frozenset({read}) if isinstance(read, int) else frozenset()

    def _read(self, node: ast.expr, scope: Scope, depth: int = 0) -> str | int | None:
        """The callee of an unrepeatable read that the value comes from, or the number of the reading that kept it."""
        match node:
            case ast.Name(id=name):
                return self._known.get(name) if depth == 0 else None
            case ast.Attribute(value=value):
                return self._read(value, scope, depth)
            case ast.Call():
                return self._called(node, scope, depth)
        if isinstance(node, _PARTS):
            parts = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
            return next((read for part in parts if (read := self._read(part, scope, depth)) is not None), None)
        return None

    def _called(self, node: ast.Call, scope: Scope, depth: int) -> str | int | None:
        given = [*node.args, *[keyword.value for keyword in node.keywords]]
        for value in self.inference.of(node.func, scope):
            match value:
                case Foreign(name) if name in _NAMES:
                    return name
                case Fn(record) if depth < _DEEPEST and record is not self.record:
                    found = [self._read(one, record.scope, depth + 1) for one in record.returned]
                    if found and all(isinstance(one, str) for one in found):
                        return found[0]
                case Foreign(name) if name in _SHAPES:
                    return self._first(given, scope, depth)
                case Cls():
                    return self._first(given, scope, depth)
        if isinstance(node.func, ast.Attribute):
            return self._read(node.func.value, scope, depth)
        return None

    def _first(self, given: list[ast.expr], scope: Scope, depth: int) -> str | int | None:
        return next((read for part in given if (read := self._read(part, scope, depth)) is not None), None)
