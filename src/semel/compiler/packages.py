"""Which code is the user's own: the packages that are compiled. All other code is called as it is."""

from __future__ import annotations

from types import FunctionType

_packages: set[str] = set()


def add_package(name: str) -> None:
    """Makes a top-level package or module (``"__main__"`` included) user code. semel itself never is."""
    if name != "semel":
        _packages.add(name)


def user_packages() -> frozenset[str]:
    """The top-level names of user code."""
    return frozenset(_packages)


def is_user_module(name: object) -> bool:
    """Whether a module of this name is user code."""
    return isinstance(name, str) and name.partition(".")[0] in _packages


def is_user_function(function: FunctionType) -> bool:
    """Whether a function is user code, by the module that its globals are of."""
    return is_user_module(function.__globals__.get("__name__"))


def is_user_class(kind: type) -> bool:
    """Whether a class was defined in user code."""
    return is_user_module(getattr(kind, "__module__", None))
