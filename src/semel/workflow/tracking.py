"""The tracked column of an entity workflow: which class it is of, and which enum it holds.

Nothing is imported of SQLAlchemy, which is an extra: who gives an attribute of a mapped class has loaded it.
"""

from __future__ import annotations

import sys
import typing
from dataclasses import dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Any, get_args, get_origin

from .places import refused


@dataclass(frozen=True, slots=True)
class Tracked:
    """A column by the name of its attribute, the mapped class that has it, and the enum that it holds."""

    entity: type
    attribute: str
    enum: type[Enum]

    @property
    def written(self) -> str:
        """The column as it is written: ``Order.stage``."""
        return f"{self.entity.__name__}.{self.attribute}"

    def state(self, given: Any, what: str, place: str, name: str) -> Enum:
        """The state that is given to ``what``.

        Raises:
            RegistrationError: it is none of the enum's; the place and the name say where it is given.
        """
        if isinstance(given, self.enum):
            return given
        known = getattr(given, "name", given)
        meant = self.enum.__members__.get(str(known), next(iter(self.enum)))
        states = ", ".join(member.name for member in self.enum)
        raise refused(
            place,
            name,
            f"{what} names {given!s}, which is no state: {self.written} holds {self.enum.__name__} ({states}), so it "
            f"would never be in it: write {self.shown(meant)}",
        )

    def shown(self, state: Enum) -> str:
        """A state as it is written: ``Stage.PLACED``."""
        return f"{self.enum.__name__}.{state.name}"


def tracked(given: Any) -> Tracked:
    """What ``tracks=`` was given.

    Raises:
        ValueError: it is no enum column of a mapped class; the text says what it is, and shows the fix.
    """
    fix = "write tracks=Order.stage, where stage: Mapped[Stage] is an enum column"
    if not is_mapped_attribute(given):
        raise ValueError(
            f"tracks={_shown(given)} is no column of a mapped class, so there is no state to follow: {fix}"
        )
    written = f"{given.class_.__name__}.{given.key}"
    enum = getattr(getattr(given, "type", None), "enum_class", None) or _annotated(given.class_, given.key)
    if not (isinstance(enum, type) and issubclass(enum, Enum)):
        raise ValueError(f"tracks={written} holds no enum, so its states cannot be told: {fix}")
    for name in enum.__members__:
        if not name.isidentifier():
            raise ValueError(
                f"the state {name!r} of {enum.__qualname__} cannot stand in a path: give the member a name that is an "
                f"identifier, and {name!r} as its value"
            )
    return Tracked(given.class_, given.key, enum)


def is_mapped_attribute(given: object) -> bool:
    """Whether it is an attribute of a mapped class, such as ``Order.stage``."""
    orm = sys.modules.get("sqlalchemy.orm")
    return orm is not None and isinstance(given, orm.InstrumentedAttribute)


def item_class(cls: type, root: type) -> type | None:
    """``Order`` in ``class OrderFlow(Workflow[Order], …)``; None where no class is said, or a Protocol."""
    item = _argument_of(root, cls)
    return item if isinstance(item, type) and not getattr(item, "_is_protocol", False) else None


def _argument_of(root: type, cls: type) -> Any:
    """What stands in the brackets of the generic class ``root`` in the bases of ``cls``, through those between."""
    for base in vars(cls).get("__orig_bases__", cls.__bases__):
        origin, arguments = get_origin(base) or base, get_args(base)
        if origin is root:
            return (arguments or (None,))[0]
        inner = _argument_of(root, origin) if isinstance(origin, type) and issubclass(origin, root) else None
        parameters = getattr(origin, "__parameters__", ())
        if inner in parameters and arguments:
            return arguments[parameters.index(inner)]
        if inner is not None:
            return inner
    return None


def _annotated(entity: type, key: str) -> Any:
    """The enum of ``stage: Mapped[Stage]``, where the type of the column does not tell."""
    try:
        hint = typing.get_type_hints(entity).get(key)
    except Exception:  # an annotation names what does not exist yet
        return None
    inside = (get_args(hint) or (None,))[0]
    if get_origin(inside) in (typing.Union, UnionType):
        inside = next((each for each in get_args(inside) if each is not NoneType), None)
    return inside


def _shown(given: object) -> str:
    return repr(given) if len(repr(given)) < 60 else f"a {type(given).__qualname__}"
