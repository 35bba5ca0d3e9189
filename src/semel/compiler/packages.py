"""Which code is the user's own, and so is compiled. All other code is called as it is.

It is the top-level packages and modules that register an app or a workflow, those that the settings list, and the
top-level modules that lie beside one of these, in the same folder: what is installed only if it is of the same
distribution. So a program is the same to semel as a folder of scripts, as a wheel and as a zip.
"""

from __future__ import annotations

import os
import re
import sys
from functools import lru_cache
from importlib import metadata
from types import FunctionType, ModuleType

_packages: set[str] = set()
_others: dict[str, str | None] = {}  # top-level names that were looked at, and are not the user's, with their folders
_homes: dict[str, set[str]] = {}  # the folders that user code lies in, and what of it lies there
_NEVER = sys.stdlib_module_names | {"semel"}
_INSTALLED = frozenset({"site-packages", "dist-packages"})
_TOP_LEVEL = re.compile(r"^([^/,.\n]+)(?:/|\.py,)", re.MULTILINE)


def add_package(name: str) -> None:
    """Makes a top-level package or module (``"__main__"`` included) user code. semel itself never is."""
    if name == "semel" or name in _packages:
        return
    _packages.add(name)
    folder = _folder(sys.modules.get(name))
    if folder is not None:
        _homes.setdefault(folder, set()).add(name)
        for other in [other for other, home in _others.items() if home == folder]:
            del _others[other]


def user_packages() -> frozenset[str]:
    """The top-level names of user code."""
    return frozenset(_packages)


def is_user_module(name: object) -> bool:
    """Whether a module of this name is user code."""
    if not isinstance(name, str):
        return False
    top = name.partition(".")[0]
    return top in _packages or (top not in _others and _is_beside(top))


def is_user_function(function: FunctionType) -> bool:
    """Whether a function is user code, by the module that its globals are of."""
    return is_user_module(function.__globals__.get("__name__"))


def is_user_class(kind: type) -> bool:
    """Whether a class was defined in user code."""
    return is_user_module(getattr(kind, "__module__", None))


def _is_beside(top: str) -> bool:
    """Whether a top-level module lies beside one of the user's, which makes it one of them."""
    module = sys.modules.get(top)
    if module is None:
        return False  # decided when it is there
    folder = None if top in _NEVER else _folder(module)
    if folder is not None and _is_one_of_them(top, folder):
        add_package(top)
        return True
    _others[top] = folder
    return False


def _is_one_of_them(top: str, folder: str) -> bool:
    beside = _homes.get(folder)
    if not beside:
        return False
    homes = _distributions(folder)
    if top in homes:  # also where the libraries were installed into the program's own folder
        return any(homes[top] & homes.get(name, set()) for name in beside)
    return _INSTALLED.isdisjoint(folder.split(os.sep))


def _folder(module: ModuleType | None) -> str | None:
    """The folder that a top-level module or package lies in; a zip counts as one."""
    file = getattr(module, "__file__", None)
    if isinstance(file, str):
        place = os.path.dirname(os.path.abspath(file))
        return os.path.dirname(place) if hasattr(module, "__path__") else place
    paths: list[str] = [*getattr(module, "__path__", ())]  # of a namespace package
    return os.path.dirname(os.path.abspath(paths[0])) if paths else None


@lru_cache(maxsize=64)
def _distributions(folder: str) -> dict[str, set[str]]:
    """The distributions that have installed each top-level name into this folder, as they have written down there."""
    found: dict[str, set[str]] = {}
    for number, distribution in enumerate(metadata.distributions(path=[folder])):
        for name in set(_TOP_LEVEL.findall(distribution.read_text("RECORD") or "")):
            found.setdefault(name, set()).add(str(number))
    return found
