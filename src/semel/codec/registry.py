"""Which types a record may name, and finding them again: among what the app's modules define and import.

A record names a type as ``module:Qual.name``. The registry reads ``sys.modules``, never imports. ``__main__`` goes by
the name that the same file has when it is imported, so that ``python shop.py`` and ``semel worker --app shop:app`` read
each other's records.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Final, Protocol

from semel.errors import RecordUnreadable

from .errors import NotEncodable
from .namespaces import (
    MAIN,
    find_class,
    imported_packages,
    is_class,
    is_module,
    loaded,
    namespace,
    namespaces_of,
    real_name,
    top_level,
)


class Wanted(Protocol):
    """What a recorded name must lead to: a kind of class (``kind`` is its name, for messages)."""

    @property
    def kind(self) -> str: ...

    def matches(self, cls: type) -> bool: ...


class Exceptions:
    """Wanted: an exception. These may come from more places than values (see ``TypeRegistry``)."""

    kind = "exception"

    def matches(self, cls: type) -> bool:
        return BaseException in cls.__mro__


EXCEPTIONS: Final = Exceptions()


class TypeRegistry:
    """The types of an app, by name.

    ``packages`` gives the top-level names of the app's own modules, ``"__main__"`` included where the app is one. A
    type counts if such a module defines it, binds it (an import), or binds a module that holds it (``import money``,
    also for ``money.coins.Coin``). An exception also counts if it is a builtin, of the standard library, semel's own,
    of a package that an app's module imports anything from, or bound in a module of such a package (what requests
    meets of urllib3). Safe to use from any thread.
    """

    def __init__(self, packages: Callable[[], frozenset[str]]) -> None:
        self._packages = packages
        self._aliases: dict[str, type] = {}
        self._admitted: dict[type, bool] = {}

    def alias(self, old_name: str, type: type) -> None:
        """Declares that records of ``old_name`` are now of ``type`` (rule D4).

        ``"shop.Receipt"`` says one class, ``"Receipt"`` one of any module. A class that still has the name goes first.
        """
        self._aliases[old_name] = type

    def tag(self, cls: type, wanted: Wanted) -> str:
        """The name under which ``cls`` is recorded.

        Raises:
            NotEncodable: it could not be found again under that name.
        """
        name = f"{cls.__module__}.{cls.__qualname__}"
        if "<locals>" in cls.__qualname__:
            raise NotEncodable(name, "a class made in a function cannot be found again; move it to module level")
        tag = f"{real_name(cls.__module__)}:{cls.__qualname__}"
        try:
            found = self.find(tag, wanted)
        except RecordUnreadable as error:
            raise NotEncodable(name, _way_to_import(cls) or str(error)) from None
        if found is not cls:
            raise NotEncodable(
                name,
                f"its name leads to another class, {describe(found)}; give it one name, and load its module once",
            )
        return tag

    def find(self, tag: str, wanted: Wanted) -> type:
        """The class that a record names.

        Raises:
            RecordUnreadable: there is none, or more than one.
        """
        module, _, qualname = tag.partition(":")
        packages = self._packages()
        problem = ""
        for home in self._homes(module, packages):
            cls = find_class(loaded(home) or {}, qualname)
            if cls is None:
                continue
            if not wanted.matches(cls):
                problem = f"{describe(cls)} is no {wanted.kind}, and the record holds one"
            elif not self._admits(cls, home, qualname, packages, wanted):
                problem = (
                    f"no module of the app imports it; add `from {module} import {qualname.partition('.')[0]}` "
                    "to one, at its top: an import in a function may not have run when the record is read"
                )
            else:
                return cls
        hidden = _hidden_exception(module, qualname) if wanted is EXCEPTIONS else None
        if hidden is not None:
            return hidden
        renamed = self._aliases.get(f"{module}.{qualname}") or self._aliases.get(qualname)
        if renamed is not None and wanted.matches(renamed):
            return renamed
        if problem:
            raise RecordUnreadable(f"the type {module}.{qualname} cannot be used: {problem}")
        return self._moved(module, qualname, wanted, packages)

    def _homes(self, module: str, packages: frozenset[str]) -> Iterator[str]:
        if MAIN in packages and real_name(MAIN) == module:
            yield MAIN
        yield module

    def _admits(self, cls: type, home: str, qualname: str, packages: frozenset[str], wanted: Wanted) -> bool:
        if top_level(home) in packages or cls in self._admitted:
            return True
        outermost = find_class(loaded(home) or {}, qualname.partition(".")[0]) or cls
        admitted = self._reachable(outermost, home, packages)
        if not admitted and wanted is EXCEPTIONS:
            admitted = self._exception_package(outermost, top_level(home), packages)
        if admitted:
            self._admitted[cls] = True
        return admitted

    def _reachable(self, cls: type, home: str, packages: frozenset[str]) -> bool:
        for names in namespaces_of(packages):
            for value in names.copy().values():
                if value is cls:
                    return True
                if is_module(value):
                    inside = namespace(value)
                    bound = inside.get("__name__")
                    if isinstance(bound, str) and (home == bound or home.startswith(f"{bound}.")):
                        return True
                    if inside.get(cls.__name__) is cls:
                        return True
        return False

    def _exception_package(self, cls: type, package: str, packages: frozenset[str]) -> bool:
        if package == "semel" or package in sys.stdlib_module_names:
            return True
        imported = frozenset(name for names in namespaces_of(packages) for name in imported_packages(names))
        if package in imported:
            return True
        return any(value is cls for names in namespaces_of(imported) for value in names.copy().values())

    def _moved(self, module: str, qualname: str, wanted: Wanted, packages: frozenset[str]) -> type:
        """The only class of this qualified name among the app's types, whatever its module (rule D4)."""
        found: dict[type, None] = {}
        for names in namespaces_of(packages):
            _collect(names, qualname, found)
            for value in names.copy().values():
                if is_module(value):
                    _collect(namespace(value), qualname, found)
        fitting = [cls for cls in found if wanted.matches(cls)]
        if len(fitting) == 1:
            return fitting[0]
        name = f"{module}.{qualname}"
        if fitting:
            both = " and ".join(sorted(describe(cls) for cls in fitting))
            raise RecordUnreadable(
                f"the type {name} is not where it was, and {both} have its name; "
                f'say which with alias("{name}", {fitting[0].__name__})'
            )
        raise RecordUnreadable(
            f"the type {name} cannot be used: no loaded module of the app defines or imports a {wanted.kind} of this "
            f'name; import its module where the app is defined, or, if it was renamed, declare alias("{name}", NewName)'
        )


def _collect(names: dict[str, object], qualname: str, found: dict[type, None]) -> None:
    """Adds the classes that are called ``qualname``, bound under that name or under another one."""
    cls = find_class(names, qualname)
    if cls is not None:
        found[cls] = None
    first, _, rest = qualname.partition(".")
    for value in names.copy().values():
        if is_class(value) and isinstance(value, type) and value.__qualname__ in (first, qualname):
            inner = value if value.__qualname__ == qualname else find_class(dict(vars(value)), rest)
            if inner is not None:
                found[inner] = None


def _way_to_import(cls: type) -> str:
    """What to tell of a class that is not in the module which it names as its own: compiled, or published elsewhere."""
    if find_class(loaded(cls.__module__) or {}, cls.__qualname__) is not None:
        return ""
    for name, module in sorted(sys.modules.items()):
        if is_module(module) and name != MAIN:
            for bound, value in namespace(module).copy().items():
                if value is cls:
                    return f"no module of the app imports it; add `from {name} import {bound}` to one, at its top"
    return ""


def _hidden_exception(module: str, qualname: str) -> type | None:
    """An exception that a module of the standard library raises and does not bind (``decimal.ConversionSyntax``)."""
    if top_level(module) not in sys.stdlib_module_names:
        return None
    left: list[type] = [BaseException]
    seen: set[type] = set()
    while left:
        cls = left.pop()
        if cls.__module__ == module and cls.__qualname__ == qualname:
            return cls
        subclasses: list[type] = type.__subclasses__(cls)
        left += [below for below in subclasses if below not in seen]
        seen.update(subclasses)
    return None


def describe(cls: type) -> str:
    """The class as a person would write it."""
    return f"{real_name(cls.__module__)}.{cls.__qualname__}"
