"""What an expression may be, as far as the source shows it: the values that inference passes round.

A set of these is a *may be one of*. The empty set is something that cannot be called (None, for one); ``UNKNOWN`` in
it means that it may be anything else as well.
"""

from __future__ import annotations

from dataclasses import dataclass

from .scopes import ClassRecord, FunctionRecord, ModuleRecord


@dataclass(frozen=True, slots=True)
class Fn:
    """A function or method of user code, perhaps already bound."""

    record: FunctionRecord


@dataclass(frozen=True, slots=True)
class Cls:
    record: ClassRecord


@dataclass(frozen=True, slots=True)
class Inst:
    """An instance of a user class: of just this one, or perhaps of a subclass."""

    record: ClassRecord
    exact: bool


@dataclass(frozen=True, slots=True)
class Mod:
    record: ModuleRecord


@dataclass(frozen=True, slots=True)
class Foreign:
    """Something of a module that is not user code, by its dotted name.

    ``certain`` is false where a double may stand in for the network: a client that was given a transport.
    """

    name: str
    certain: bool = True


@dataclass(frozen=True, slots=True)
class ForeignInst:
    """An instance of a foreign class."""

    name: str
    certain: bool = True


@dataclass(frozen=True, slots=True)
class Many:
    """What can be iterated over, and its items."""

    items: Values


@dataclass(frozen=True, slots=True)
class Row:
    """A tuple of known length."""

    parts: tuple[Values, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A mapping, and its values."""

    items: Values


@dataclass(frozen=True, slots=True)
class Super:
    """``super()`` in a method of the class."""

    record: ClassRecord


@dataclass(frozen=True, slots=True)
class Unknown:
    pass


Value = Fn | Cls | Inst | Mod | Foreign | ForeignInst | Many | Row | Table | Super | Unknown
Values = frozenset[Value]

NONE: Values = frozenset()
UNKNOWN: Values = frozenset({Unknown()})


def union(sets: list[Values]) -> Values:
    return frozenset().union(*sets) if sets else NONE


def uncertain(values: Values) -> Values:
    """The same values, of which it is not sure that their calls leave: a double may stand in for the network."""
    return frozenset(_uncertain(value) for value in values)


def _uncertain(value: Value) -> Value:
    match value:
        case Foreign(name):
            return Foreign(name, False)
        case ForeignInst(name):
            return ForeignInst(name, False)
        case Many(items):
            return Many(uncertain(items))
        case Table(items):
            return Table(uncertain(items))
        case Row(parts):
            return Row(tuple(uncertain(part) for part in parts))
    return value
