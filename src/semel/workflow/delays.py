"""The lengths of time that an entity workflow is declared with."""

from __future__ import annotations

import inspect
from datetime import timedelta
from typing import Any

from .definition import Delay
from .places import refused
from .tracking import is_mapped_attribute


def delay(given: Any, keyword: str, decorator: str, entity: type, place: str, name: str) -> Delay | None:
    """A length of time, an attribute of the item by its name, or a function of it; None if it is not given.

    Raises:
        RegistrationError: it is none of these.
    """
    what = f"{keyword} of {decorator}"
    fix = f"write {keyword}=timedelta(days=3), {keyword}={entity.__name__}.due, or a function of the item"
    if given is None:
        return None
    if isinstance(given, timedelta):
        if given <= timedelta(0):
            raise refused(place, name, f"{what} is {given}, so its time would be over before it begins: {fix}")
        return given
    if is_mapped_attribute(given):
        if not issubclass(entity, given.class_):
            raise refused(
                place,
                name,
                f"{what} is {given.class_.__name__}.{given.key}, and the item is no {given.class_.__name__}: {fix}",
            )
        return str(given.key)
    if callable(given):
        if inspect.iscoroutinefunction(given) or not _takes_the_item(given):
            raise refused(
                place, name, f"{what} is a function that cannot be called with the item alone, at once: {fix}"
            )
        return given  # type: ignore[no-any-return]
    raise refused(place, name, f"{what} is {given!r}, which is no length of time: {fix}")


def _takes_the_item(function: Any) -> bool:
    try:
        inspect.signature(function).bind(None)
    except TypeError:
        return False
    except ValueError:  # a builtin that does not say
        return True
    return True
