"""Looking into loaded modules without running anything in them.

Nothing here imports, and no attribute of a module or class is asked for through ``getattr``: a module's own
``__getattr__``, a lazy module and a metaclass could all import or compute. Only dictionaries are read.
"""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any, cast

MAIN = "__main__"


def is_class(thing: object) -> bool:
    """``isinstance(thing, type)``, not fooled (or set off) by a proxy's ``__class__``."""
    return issubclass(type(thing), type)


def is_module(thing: object) -> bool:
    """``isinstance(thing, ModuleType)``, in the same way."""
    return issubclass(type(thing), ModuleType)


def namespace(module: object) -> dict[str, Any]:
    """The module's dictionary; a lazy module is not loaded by it."""
    found: dict[str, Any] = object.__getattribute__(module, "__dict__")
    return found


def loaded(name: str) -> dict[str, Any] | None:
    """The namespace of a module in ``sys.modules``."""
    module = sys.modules.get(name)
    return namespace(module) if module is not None and is_module(module) else None


def top_level(module_name: str) -> str:
    """The first part of a module's name."""
    return module_name.partition(".")[0]


def real_name(module_name: str) -> str:
    """The name under which the module can be imported: ``shop`` for a ``__main__`` that is shop.py."""
    if module_name != MAIN:
        return module_name
    main = loaded(MAIN) or {}
    name = getattr(main.get("__spec__"), "name", None)
    if isinstance(name, str):
        return name
    file = main.get("__file__")
    return pathlib.PurePath(file).stem if isinstance(file, str) else MAIN


def namespaces_of(packages: frozenset[str]) -> Iterator[dict[str, Any]]:
    """The namespaces of the loaded modules of these top-level packages."""
    for name, module in sys.modules.copy().items():
        if top_level(name) in packages and module is not None and is_module(module):
            yield namespace(module)


def find_class(names: dict[str, Any], qualname: str) -> type | None:
    """The class of this qualified name in a namespace. A dot may also belong to one name (``Page[shop.Item]``)."""
    found = names.get(qualname)
    if found is None:
        first, *rest = qualname.split(".")
        found = names.get(first)
        for part in rest:
            if not is_class(found):
                return None
            found = type.__getattribute__(cast(type, found), "__dict__").get(part)
    return found if is_class(found) else None


def imported_packages(names: dict[str, Any]) -> Iterator[str]:
    """The top-level packages that a namespace has something of: a module, class or function bound in it."""
    for value in names.copy().values():
        if is_module(value):
            source = namespace(value).get("__name__")
        elif is_class(value) or type(value) is FunctionType:
            source = value.__module__
        else:
            continue
        if isinstance(source, str):
            yield top_level(source)
