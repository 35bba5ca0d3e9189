"""The decorators of operations: ``@get("/charges")`` and so on. They note what was written; the class reads it."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, ParamSpec, TypeVar, cast

from semel.errors import ClientDeclarationError

P = ParamSpec("P")
R = TypeVar("R")


def get(path: str, /) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """An operation with GET: parameters that are not in the path are in the query."""
    return _verb("GET", path)


def head(path: str, /) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """An operation with HEAD, as ``get``; the result is None or ``httpx.Response``."""
    return _verb("HEAD", path)


def options(path: str, /) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """An operation with OPTIONS, as ``get``."""
    return _verb("OPTIONS", path)


def delete(path: str, /) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """An operation with DELETE, as ``get``, and with a body if a parameter is marked as one."""
    return _verb("DELETE", path)


def post(path: str, /) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """An operation with POST: parameters that are not in the path are the fields of a JSON object.

    A single one that is a record (dataclass, Struct, pydantic model, TypedDict) or bytes is the whole body.
    """
    return _verb("POST", path)


def put(path: str, /) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """An operation with PUT, as ``post``."""
    return _verb("PUT", path)


def patch(path: str, /) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """An operation with PATCH, as ``post``."""
    return _verb("PATCH", path)


class Declared:
    """What a decorator leaves in the body of a class: the class puts the operation's function in its place."""

    def __init__(self, method: str, path: str, function: FunctionType) -> None:
        self.method = method
        self.path = path
        self.function = function

    def __set_name__(self, owner: type, name: str) -> None:
        from .client import Client

        if not issubclass(owner, Client):
            raise refused(self.function, f"{owner.__qualname__} is no Client: write class {owner.__name__}(Client, …)")
        if name != self.function.__name__:
            raise refused(self.function, f"it is also called {name}: declare a function of that name")


def refused(function: FunctionType, problem: str) -> ClientDeclarationError:
    """The error of one operation, with its place."""
    code = function.__code__
    return ClientDeclarationError(f"{code.co_filename}:{code.co_firstlineno}: {function.__qualname__}: {problem}")


def _verb(method: str, path: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    verb = method.lower()
    if isinstance(path, FunctionType):
        raise refused(path, f'@{verb} takes the path: write @{verb}("/{path.__name__}")')
    if not isinstance(path, str):
        raise ClientDeclarationError(f'@{verb} takes the path, not {path!r}: write @{verb}("/charges")')

    def declare(function: Callable[P, R]) -> Callable[P, R]:
        return cast("Callable[P, R]", Declared(method, path, _target(verb, path, function)))

    return declare


def _target(verb: str, path: str, function: Any) -> FunctionType:
    at = f"@{verb}({path!r})"
    if isinstance(function, Declared):
        raise refused(function.function, f"{at} is its second method: declare two functions")
    if not isinstance(function, FunctionType):
        raise ClientDeclarationError(
            f"{at} stands on a {type(function).__name__}, and must be nearest to the `def` of an operation: put it "
            f"directly above, and no @classmethod, @staticmethod or @property on it"
        )
    holder = function.__qualname__.rpartition(".")[0]
    if not holder or holder.endswith("<locals>"):
        raise refused(function, f"{at} stands outside of a class: put it into class …(Client, base_url=…)")
    return function
