"""The declared modules together: which module an import means, what a class inherits, who implements a protocol."""

from __future__ import annotations

import ast
import os.path
from collections.abc import Callable, Iterable

from .scopes import ClassRecord, FunctionNode, FunctionRecord, ModuleRecord
from .values import Cls, Foreign, Values

_ABSTRACT = frozenset({"abstractmethod", "abstractproperty"})


class Program:
    def __init__(self, modules: list[ModuleRecord]) -> None:
        self.modules = modules
        self._by_name: dict[str, list[ModuleRecord]] = {}
        self._roots: set[str] = set()
        for module in modules:
            name = module.name.partition("~")[0]
            self._by_name.setdefault(name, []).append(module)
            self._roots.add(name.partition(".")[0])
        self._files = {_without_suffix(module.file): module for module in modules}
        self._bases: dict[ClassRecord, list[ClassRecord | str]] = {}
        self._mro: dict[ClassRecord, list[ClassRecord | str]] = {}
        self._children: dict[ClassRecord, list[ClassRecord]] = {}
        self._implementations: dict[ClassRecord, list[ClassRecord]] = {}
        self._owners: dict[str, list[ClassRecord]] = {}
        self._subclasses: dict[ClassRecord, list[ClassRecord]] = {}
        self._methods: dict[tuple[ClassRecord, str, bool], list[FunctionRecord]] = {}

    @property
    def classes(self) -> Iterable[ClassRecord]:
        return (cls for module in self.modules for cls in module.classes)

    def module(self, name: str, importer: ModuleRecord) -> ModuleRecord | None:
        """The user module that ``import name`` in ``importer`` means, None for a foreign one."""
        found = self._by_name.get(name)
        if found is not None:
            if len(found) == 1:
                return found[0]
            here = os.path.dirname(importer.file)
            return max(found, key=lambda module: _shared(os.path.dirname(module.file), here))
        # A script's imports are looked up beside it, whatever name the script itself has here.
        beside = os.path.join(os.path.dirname(importer.file), *name.split("."))
        return self._files.get(beside)

    # -------------------------------------------------------------------------------------------------------- classes

    def link(self, bases_of: Callable[[ClassRecord], list[Values]]) -> None:
        """Resolves the bases of every class; must come before any question about inheritance."""
        for cls in self.classes:
            bases: list[ClassRecord | str] = []
            for values in bases_of(cls):
                for value in values:
                    if isinstance(value, Cls) and value.record is not cls:
                        bases.append(value.record)
                        self._children.setdefault(value.record, []).append(cls)
                    elif isinstance(value, Foreign):
                        bases.append(value.name)
            self._bases[cls] = bases
            for method in cls.methods:
                self._owners.setdefault(method, []).append(cls)
        # Resolving a base may have asked about classes whose own bases were not known yet.
        for known in (self._mro, self._implementations, self._subclasses, self._methods):
            known.clear()

    def bases(self, cls: ClassRecord) -> list[ClassRecord | str]:
        return self._bases.get(cls, [])

    def mro(self, cls: ClassRecord) -> list[ClassRecord | str]:
        """The class and what it inherits from, in order; foreign classes by name."""
        found = self._mro.get(cls)
        if found is None:
            order: list[ClassRecord | str] = []
            self._linearise(cls, order, ())
            # As in Python's own order a shared base comes after all that derive from it.
            last = {entry: position for position, entry in enumerate(order)}
            found = self._mro[cls] = sorted(last, key=lambda entry: last[entry])
        return found

    def _linearise(
        self, cls: ClassRecord | str, order: list[ClassRecord | str], above: tuple[ClassRecord, ...]
    ) -> None:
        order.append(cls)
        if not isinstance(cls, str) and cls not in above and len(above) < 50:
            for base in self.bases(cls):
                self._linearise(base, order, (*above, cls))

    def foreign_base(self, cls: ClassRecord) -> str | None:
        """The first foreign class that it inherits from, besides those that add no methods of their own."""
        plain = ("builtins.object", "typing.Generic", "typing.Protocol", "abc.ABC")
        return next((base for base in self.mro(cls) if isinstance(base, str) and base not in plain), None)

    def subclasses(self, cls: ClassRecord) -> list[ClassRecord]:
        """The classes below it; below a protocol also those that have all its members."""
        found = self._subclasses.get(cls)
        if found is None:
            below = dict.fromkeys(self._descendants(cls))
            if self.is_protocol(cls):
                below.update(dict.fromkeys(self.implementations(cls)))
            found = self._subclasses[cls] = list(below)
        return found

    def _descendants(self, cls: ClassRecord) -> list[ClassRecord]:
        found: dict[ClassRecord, None] = {}
        waiting = [*self._children.get(cls, ())]
        while waiting:
            child = waiting.pop()
            if child not in found:
                found[child] = None
                waiting.extend(self._children.get(child, ()))
        return list(found)

    def is_protocol(self, cls: ClassRecord) -> bool:
        return any(base in ("typing.Protocol", "typing_extensions.Protocol") for base in self.bases(cls))

    def implementations(self, protocol: ClassRecord) -> list[ClassRecord]:
        """The user classes that have all members of a protocol, whether they say so or not."""
        found = self._implementations.get(protocol)
        if found is None:
            wanted = [name for entry in self.mro(protocol) if isinstance(entry, ClassRecord) for name in entry.methods]
            rarest = min((self._owners.get(name, []) for name in wanted), key=len, default=[])
            owners = {child: None for owner in rarest for child in [owner, *self._descendants(owner)]}
            found = self._implementations[protocol] = [
                cls
                for cls in owners
                if cls is not protocol and not self.is_protocol(cls) and all(self.find(cls, name) for name in wanted)
            ]
        return found

    def owners(self, method: str) -> list[ClassRecord]:
        """The user classes that define a method of this name."""
        return self._owners.get(method, [])

    def find(self, cls: ClassRecord, name: str) -> FunctionRecord | None:
        """The method that an instance of exactly this class has."""
        for entry in self.mro(cls):
            if isinstance(entry, ClassRecord) and name in entry.methods:
                return entry.methods[name]
        return None

    def find_above(self, cls: ClassRecord, name: str) -> FunctionRecord | None:
        """The method that ``super()`` finds in a method of this class."""
        for entry in self.mro(cls)[1:]:
            if isinstance(entry, ClassRecord) and name in entry.methods:
                return entry.methods[name]
        return None

    def methods(self, cls: ClassRecord, name: str, *, exact: bool) -> list[FunctionRecord]:
        """The methods that a call on an instance may run, those of subclasses included unless ``exact``."""
        known = self._methods.get((cls, name, exact))
        if known is not None:
            return known
        found: dict[FunctionRecord, None] = {}
        own = self.find(cls, name)
        if own is not None:
            found[own] = None
        if not exact:
            for child in self.subclasses(cls):
                method = self.find(child, name)
                if method is not None:
                    found[method] = None
        real = [method for method in found if not self.is_abstract(method)]
        self._methods[cls, name, exact] = real or list(found)
        return self._methods[cls, name, exact]

    def is_abstract(self, method: FunctionRecord) -> bool:
        if method.owner is not None and self.is_protocol(method.owner) and _is_stub(method.node):
            return True
        names = {last_name(decorator) for decorator in method.decorators}
        return bool(names & _ABSTRACT) or _raises_not_implemented(method.node)

    def is_dataclass(self, cls: ClassRecord) -> bool:
        entries = [entry for entry in self.mro(cls) if isinstance(entry, ClassRecord)]
        return any(last_name(d) in ("dataclass", "define", "frozen", "mutable", "attrs", "s")
                   for entry in entries for d in entry.node.decorator_list)  # fmt: skip


def last_name(decorator: ast.expr) -> str:
    """``property`` of ``@property``, ``@a.b.property`` and ``@property(…)``."""
    if isinstance(decorator, ast.Call):
        decorator = decorator.func
    if isinstance(decorator, ast.Attribute):
        return decorator.attr
    return decorator.id if isinstance(decorator, ast.Name) else ""


def _shared(folder: str, other: str) -> int:
    """How many folders two paths have in common from the top."""
    pairs = zip(folder.split(os.sep), other.split(os.sep), strict=False)
    return next((count for count, (one, two) in enumerate(pairs) if one != two), 10_000)


def _without_suffix(file: str) -> str:
    stem = os.path.splitext(file)[0]
    return os.path.dirname(stem) if os.path.basename(stem) == "__init__" else stem


def _meaningful(node: FunctionNode | ast.Module) -> list[ast.stmt]:
    body = node.body if isinstance(node.body, list) else []
    return [s for s in body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]


def _is_stub(node: FunctionNode | ast.Module) -> bool:
    return not isinstance(node, ast.Lambda) and all(isinstance(s, ast.Pass) for s in _meaningful(node))


def _raises_not_implemented(node: FunctionNode | ast.Module) -> bool:
    match _meaningful(node):
        case [ast.Raise(exc=ast.Name(id="NotImplementedError") | ast.Call(func=ast.Name(id="NotImplementedError")))]:
            return True
    return False
