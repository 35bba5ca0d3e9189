"""Annotations, resolved and taken apart: aliases, ``Annotated``, unions, and what a type is made of."""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Iterator, Mapping
from types import FunctionType, UnionType
from typing import Annotated, Any, NewType, TypeVar, Union, get_args, get_origin, get_type_hints, is_typeddict

import msgspec

_MODULES = re.compile(r"(?:\w+\.|<locals>\.)+(?=\w)")

#: What stands for anything that JSON can say.
ANYTHING = (Any, object)


def annotations_of(function: FunctionType, names: Mapping[str, Any]) -> dict[str, Any]:
    """The resolved annotations of a function, ``Annotated`` kept; ``names`` are those of the function it is made in.

    Raises:
        NameError, SyntaxError, TypeError: one of them is no type that is known by now.
    """
    return get_type_hints(function, localns=dict(names), include_extras=True)


def plain(hint: Any) -> Any:
    """The type itself, without ``Annotated``, ``NewType`` and ``type X = …``."""
    while True:
        if get_origin(hint) is Annotated:
            hint = get_args(hint)[0]
        elif isinstance(hint, NewType):
            hint = hint.__supertype__
        elif type(hint).__name__ == "TypeAliasType":
            hint = hint.__value__
        else:
            return hint


def members(hint: Any) -> Iterator[Any]:
    """The types of a union, or the one type."""
    hint = plain(hint)
    if get_origin(hint) in (Union, UnionType):
        for member in get_args(hint):
            yield from members(member)
    else:
        yield hint


def parts(hint: Any) -> Iterator[Any]:
    """The type and all that it is written with: ``list[Receipt]``, ``list``, ``Receipt``."""
    for member in members(hint):
        yield member
        if get_origin(member) is not None:
            yield get_origin(member)
            for argument in get_args(member):
                yield from parts(argument)


def notes(hint: Any) -> Iterator[Any]:
    """What ``Annotated`` says, of the type and of all that it is written with."""
    inside = get_args(hint)
    if get_origin(hint) is Annotated:
        yield from inside[1:]
        inside = inside[:1]
    for part in inside:
        yield from notes(part)


def is_record(hint: Any) -> bool:
    """Whether it is a class whose objects are JSON objects: a dataclass, a Struct, a model, a TypedDict, attrs."""
    hint = get_origin(hint) or hint
    return isinstance(hint, type) and (
        dataclasses.is_dataclass(hint)
        or issubclass(hint, msgspec.Struct)
        or is_pydantic(hint)
        or is_typeddict(hint)
        or hasattr(hint, "__attrs_attrs__")
    )


def is_pydantic(hint: Any) -> bool:
    """Whether it is a model or a dataclass of pydantic, seen without importing it."""
    return isinstance(hint, type) and hasattr(hint, "__pydantic_validator__")


def is_variable(hint: Any) -> bool:
    """Whether it is a type variable, which says nothing of the JSON."""
    return isinstance(hint, TypeVar)


def is_response(hint: Any) -> bool:
    """Whether it is ``httpx.Response``; whoever names it has imported httpx."""
    httpx = sys.modules.get("httpx")
    return httpx is not None and hint is httpx.Response


def shown(hint: Any) -> str:
    """A type as a person would write it."""
    if hint is None or hint is type(None):
        return "None"
    if isinstance(hint, type) and get_origin(hint) is None:
        return hint.__name__
    return _MODULES.sub("", str(hint))
