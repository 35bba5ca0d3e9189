"""What the body of a class declares, those of its bases included: events, milestones, ends, and marked methods.

What a subclass declares under a name replaces what its base has there. A method that overrides a body is that body.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from .event import Event
from .places import place_of, refused
from .states import End, Mark, Milestone, marks_of


@dataclass(frozen=True, slots=True)
class Method:
    """A method that is declared as a body, by one or several decorators."""

    name: str
    function: FunctionType
    marks: tuple[Mark, ...]

    @property
    def place(self) -> str:
        return place_of(self.function)

    @property
    def is_async(self) -> bool:
        return inspect.iscoroutinefunction(self.function)

    def takes(self, count: int) -> bool:
        """Whether it can be called with so many arguments besides ``self``."""
        try:
            inspect.signature(self.function).bind(*range(count + 1))
        except TypeError:
            return False
        return True


@dataclass(frozen=True, slots=True)
class Collected:
    """By the name of the attribute."""

    events: dict[str, Event[Any]]
    milestones: dict[str, Milestone]
    ends: dict[str, End]
    methods: list[Method]


def collected(cls: type, root: type) -> Collected:
    """What ``cls`` declares; ``root`` is ``Workflow``, whose own names may not be declared anew.

    Raises:
        RegistrationError: a declaration takes a name that the root has, or two names.
    """
    found = Collected({}, {}, {}, [])
    for name, values in _attributes(cls, root):
        value = values[0]
        marks = next((marks for marks in map(marks_of, values) if marks), ())
        if isinstance(value, Event):
            if value.name != name:
                raise refused(
                    value.place,
                    f"{cls.__qualname__}.{name}",
                    f"the event is called {value.name!r} too, and an event has the name of its attribute: write "
                    f"{name} = Event[…]()",
                )
            found.events[name] = value
        elif isinstance(value, Milestone):
            found.milestones[name] = value
        elif isinstance(value, End):
            found.ends[name] = value
        elif marks and isinstance(value, FunctionType):
            found.methods.append(Method(name, value, marks))
        else:
            continue
        if hasattr(root, name):
            place = place_of(value) if isinstance(value, FunctionType) else value.place
            raise refused(place, f"{cls.__qualname__}.{name}", f"{name} is a Workflow's own: give it another name")
    return found


def _attributes(cls: type, root: type) -> Iterator[tuple[str, list[Any]]]:
    """Each name with its values, that of the class that counts first; the names in the order they are written in."""
    holders = [each for each in cls.__mro__ if each is not object and each is not root]
    names = dict.fromkeys(name for holder in reversed(holders) for name in vars(holder))
    for name in names:
        yield name, [vars(holder)[name] for holder in holders if name in vars(holder)]
