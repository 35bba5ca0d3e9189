"""The protocol of a kind, and what kinds share: taking the attributes of an object, and putting them back."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from types import MemberDescriptorType
from typing import Any, Protocol

from semel.codec.errors import Misfit
from semel.codec.format import ABSENT, Mark

Fields = dict[str, Any]


class Shape(Protocol):
    """One class of a kind, ready for its objects."""

    @property
    def type(self) -> type: ...

    def take(self, value: Any) -> tuple[Fields, Fields]:
        """The fields of an object by name, and what else it holds. Either may be the object's own dictionary."""
        ...

    def make(self, fields: Fields, side: Fields) -> object:
        """The object of these; the dictionaries are the caller's no more. Raises Misfit (rule D4)."""


class Kind(Protocol):
    """A kind of class."""

    @property
    def code(self) -> int: ...

    @property
    def kind(self) -> str: ...

    def matches(self, cls: type) -> bool: ...

    def shape(self, cls: type) -> Shape:
        """Raises Misfit if objects of this class cannot be made without its constructor."""
        ...


class Layout:
    """Where the objects of a class keep their fields and other attributes: a dictionary, slots, or both."""

    def __init__(self, cls: type, order: tuple[str, ...]) -> None:
        self.order = order
        self.names = frozenset(order)
        self.has_dict = cls.__dictoffset__ != 0
        inherited = {name: value for base in reversed(cls.__mro__) for name, value in vars(base).items()}
        self.cached = frozenset(n for n, value in inherited.items() if isinstance(value, functools.cached_property))
        self.slots = frozenset(
            name
            for name, value in inherited.items()
            if isinstance(value, MemberDescriptorType) and name not in self.names and not _is_dunder(name)
        )
        #: Every field is an entry of the object's dictionary, and nothing in the class stands before it.
        self.plain = (
            self.has_dict
            and not self.slots
            and not any(hasattr(type(inherited.get(name)), "__set__") for name in order)
        )

    def take(self, value: Any) -> tuple[Fields, Fields]:
        """The fields, in order, and the other attributes. A ``cached_property`` is left out: it is computed again."""
        if not self.has_dict:
            held: Fields = {}
        else:
            held = value.__dict__
            if self.plain and tuple(held) == self.order:
                return held, {}
        fields = {name: getattr(value, name, ABSENT) for name in self.order}
        side = {name: item for name, item in held.items() if name not in self.names and name not in self.cached}
        for name in sorted(self.slots):
            item = getattr(value, name, ABSENT)
            if item is not ABSENT:
                side[name] = item
        return fields, side

    def put(self, value: Any, fields: Fields, side: Fields) -> None:
        """Gives an empty object its attributes, whatever its class has to say about setting them."""
        if self.plain and Mark not in map(type, fields.values()):
            value.__dict__.update(fields)
        else:
            for name, item in fields.items():
                if item is not ABSENT:
                    object.__setattr__(value, name, item)
        for name, item in side.items():
            if name in self.slots:
                object.__setattr__(value, name, item)
            elif self.has_dict:
                value.__dict__[name] = item
            else:
                raise Misfit(f"it has no attribute {name!r} any more; give it back")


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def empty(cls: type) -> Callable[[], Any]:
    """Makes objects of ``cls`` without its constructor. Raises Misfit if that leaves out what a base keeps in C."""
    try:
        object.__new__(cls)
    except TypeError as error:
        raise Misfit(
            f"an object of it cannot be made without its constructor ({error}); return a plain dataclass or a dict"
        ) from None
    return functools.partial(object.__new__, cls)


def complete(fields: Fields, names: Iterable[str], default: Callable[[str], Any]) -> Fields:
    """The recorded fields and the defaults of those that the class has gained since (rule D4).

    ``default`` raises KeyError for a field without one.
    """
    complete: Fields = {}
    for name in names:
        if name in fields:
            complete[name] = fields.pop(name)
            continue
        try:
            complete[name] = default(name)
        except KeyError:
            raise Misfit(f"its field {name!r} is not in the record and has no default; give it one") from None
    if fields:
        lost = ", ".join(repr(name) for name in fields)
        raise Misfit(f"the record has {lost}, which the class has no field for; give it back with a default")
    return complete
